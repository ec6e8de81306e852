#include "intercept/queue/launches.h"

#include "common/pages.h"
#include "common/stamp.h"
#include "intercept/base/account.h"
#include "intercept/base/account_lanes.h"
#include "intercept/base/emit.h"
#include "intercept/base/recording.h"
#include "intercept/base/stall.h"
#include "intercept/base/thread_context.h"

#include <stdatomic.h>

#define LAUNCHES 4096u /* in flight at once; power of two */
#define AHEAD    1024u /* places that have memory before they are used */
#define TRIES    64u   /* to find an id whose place is free */
#define LOOKS    512u  /* of who waits for others to send: about a microsecond */
#define WAITS    16u   /* for so long, if they come on */
#define SMALL    8u    /* packets: a batch of fewer costs the ring as much as its kernels */

/* Packets that are still to pass, and while it is open, OPEN_BIAS more. Of 31 bits: gcc 16.2 ends
 * with an internal error where a larger constant is subtracted atomically and compared with what
 * was there before. */
#define OPEN_BIAS INT64_C(0x40000000)

/* Instead of packets that are still to pass, of a launch that is done: its record is in the ring,
 * as a draft at least. Before that, done_mark. */
#define SENT INT64_MIN

struct launch {
    /* The place is taken: by the launch, and by each thread that sends it while another one has it
     * in hand. 0: it is free. */
    _Alignas(64) _Atomic uint32_t users;
    _Atomic int64_t remaining;
    _Atomic uint32_t kernels, left_out, unseen;
    _Atomic uint32_t next; /* id of the one that was done before it, 0: none */
    _Atomic bool waits;    /* a batch that is counted as waiting */
    bool early;            /* it was begun while recording was stopped, and is not counted yet */
    /* Written by who begins it, or (head, fingerprint, flags) who submits its packets. */
    struct rtl_wire_launch wire;
};

static struct launch *launches; /* LAUNCHES; NULL before rtl_launches_begin */
static _Atomic uint32_t next_id = 1;
static _Atomic bool crowded;     /* the ring: small launches that would be inferred are left out */
static _Atomic uint32_t senders; /* threads that have launches in hand */
static _Atomic uint32_t sent;    /* launches that these are through with, more or less */
static _Atomic uint32_t done;    /* id of the last one that is done and not sent, 0: none */
static _Atomic uint32_t backlog; /* id of the first one that found no room, 0: none */

bool rtl_launches_begin(void)
{
    if (launches == NULL)
        launches = rtl_pages(LAUNCHES * sizeof *launches);
    return launches != NULL;
}

static struct launch *place_of(uint32_t id)
{
    return &launches[id % LAUNCHES];
}

/* The id of a launch whose place is now the caller's, or RTL_NONE. */
static uint32_t find_place(void)
{
    for (unsigned i = 0; i < TRIES; i++) {
        uint32_t id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
        uint32_t none = 0;
        if (id != RTL_NONE && id != 0 &&
            atomic_compare_exchange_strong_explicit(&place_of(id)->users, &none, 1,
                                                    memory_order_acquire, memory_order_relaxed))
            return id;
    }
    return RTL_NONE;
}

/* Places may wait for nothing but to be sent. */
static uint32_t take_place(void)
{
    uint32_t id = find_place();
    if (id != RTL_NONE)
        return id;
    (void)rtl_launches_send();
    return find_place();
}

/* The worker has had it since it was used last, and to take a place is a locked instruction. */
static void prefetch(const struct launch *launch)
{
    __builtin_prefetch(launch, 1);
    __builtin_prefetch((const unsigned char *)launch + 64, 1);
}

static struct launch *make(uint32_t *id)
{
    *id = take_place();
    if (*id == RTL_NONE)
        return NULL;
    prefetch(place_of(*id + 1));
    struct launch *launch = place_of(*id);
    launch->wire = (struct rtl_wire_launch){
        .time_ns = rtl_stamp(),
        .correlation = rtl_thread_context_correlation(),
        .range = rtl_thread_context.range,
        .launch = *id,
        .graph = RTL_NONE,
        .queue = RTL_NONE,
        .thread = rtl_thread_context_thread(),
    };
    atomic_store_explicit(&launch->kernels, 0, memory_order_relaxed);
    atomic_store_explicit(&launch->left_out, 0, memory_order_relaxed);
    atomic_store_explicit(&launch->unseen, 0, memory_order_relaxed);
    launch->early = false;
    return launch;
}

/* For the places that come next, in the first lap. */
static void prefault(void)
{
    static uint32_t taken; /* the worker's */
    uint32_t ahead = atomic_load_explicit(&next_id, memory_order_relaxed) + AHEAD;
    uint32_t end = ahead < LAUNCHES ? ahead : LAUNCHES;
    if (taken < end && (end - taken >= AHEAD / 2 || end == LAUNCHES)) {
        rtl_prefault(&launches[taken], &launches[end]);
        taken = end;
    }
}

void rtl_launches_poll(void)
{
    (void)rtl_launches_send();
    prefault();
    atomic_store_explicit(&crowded, !rtl_emit_has_spare(RTL_SPARE_MOST), memory_order_relaxed);
}

/* By its packets, and so by their submitter: one thread at a time. */
static bool is_inferred(const struct launch *launch)
{
    return launch->wire.graph == RTL_NONE;
}

/* What is left of a launch that is done and not sent: of this one and no other. */
static int64_t done_mark(uint32_t id)
{
    return -(int64_t)id;
}

static void wait_no_more(struct launch *launch)
{
    if (atomic_load_explicit(&launch->waits, memory_order_relaxed) &&
        atomic_exchange_explicit(&launch->waits, false, memory_order_relaxed))
        rtl_account_waited(RTL_KIND_BATCHES, 1);
}

/* False: another thread has claimed it. */
static bool claim(struct launch *launch)
{
    int64_t mark = done_mark(launch->wire.launch);
    if (!atomic_compare_exchange_strong_explicit(&launch->remaining, &mark, SENT,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    wait_no_more(launch);
    return true;
}

/* Whether recording was stopped all the time, as far as the launch can tell: it has no kernel that
 * was recorded, nor a packet of which nobody knows. */
static bool is_left_out(const struct launch *launch, const struct rtl_wire_launch *wire)
{
    return launch->early && wire->kernels == wire->left_out &&
           (wire->unseen == 0 || rtl_recording_is_stopped());
}

/* Whoever has claimed it. */
static void count_early(const struct launch *launch, bool left_out)
{
    if (left_out)
        rtl_account_leave_out(RTL_KIND_LAUNCHES);
    else if (launch->early)
        rtl_account_begin(RTL_KIND_LAUNCHES);
}

/* Sends a launch that is done, unless another thread does. Its record is in the ring as a draft
 * before it is claimed: who finds it claimed knows that it will be in the trace, even if who has
 * claimed it never comes to commit it. One that was inferred and has no kernels is none, and one
 * that is left out is counted. False: there is no room for it. */
static bool hand_over(struct launch *launch)
{
    struct rtl_wire_launch wire = launch->wire;
    struct rtl_piece piece = {&wire, sizeof wire};
    struct rtl_emit_draft draft;
    wire.kernels = atomic_load_explicit(&launch->kernels, memory_order_relaxed);
    wire.left_out = atomic_load_explicit(&launch->left_out, memory_order_relaxed);
    wire.unseen = atomic_load_explicit(&launch->unseen, memory_order_relaxed);
    bool left_out = is_left_out(launch, &wire);
    if (left_out || (is_inferred(launch) && wire.kernels == 0)) {
        if (claim(launch))
            count_early(launch, left_out);
        return true;
    }
    if (!rtl_emit_draft(RTL_WIRE_LAUNCH, &piece, 1, RTL_SPARE_FEW, &draft))
        return false;
    rtl_stall_at("drafted");
    if (!claim(launch)) {
        rtl_emit_give_up(&draft);
        return true;
    }
    count_early(launch, false);
    rtl_stall_at("claimed");
    rtl_emit_commit(&draft, RTL_WIRE_LAUNCH, &piece, 1);
    return true;
}

static void let_go(struct launch *launch)
{
    atomic_fetch_sub_explicit(&launch->users, 1, memory_order_release);
}

/* A launch that the caller has in hand. False: there is no room for it. */
static bool send(struct launch *launch)
{
    if (atomic_load_explicit(&launch->remaining, memory_order_acquire) != SENT &&
        !hand_over(launch))
        return false;
    wait_no_more(launch); /* it may have been counted behind another thread's claim */
    atomic_store_explicit(&sent, atomic_load_explicit(&sent, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    let_go(launch);
    return true;
}

/* A thread that finds none there any more sees that another has them. */
static struct launch *take_done(void)
{
    uint32_t id = atomic_exchange_explicit(&done, 0, memory_order_acq_rel);
    return id != 0 ? place_of(id) : NULL;
}

static struct launch *next_done(const struct launch *launch)
{
    uint32_t id = atomic_load_explicit(&launch->next, memory_order_relaxed);
    return id != 0 ? place_of(id) : NULL;
}

/* What is done, in its order. The list has the last one first. */
static struct launch *take_in_order(void)
{
    struct launch *last = take_done();
    struct launch *first = NULL;
    while (last != NULL) {
        struct launch *before = next_done(last);
        uint32_t id = first != NULL ? first->wire.launch : 0;
        atomic_store_explicit(&last->next, id, memory_order_relaxed);
        first = last;
        last = before;
    }
    return first;
}

/* The launches from `first` on, with those from `second` on behind them. */
static struct launch *join(struct launch *first, struct launch *second)
{
    struct launch *last = first;
    if (first == NULL)
        return second;
    while (next_done(last) != NULL)
        last = next_done(last);
    atomic_store_explicit(&last->next, second != NULL ? second->wire.launch : 0,
                          memory_order_relaxed);
    return first;
}

static struct launch *take_backlog(void)
{
    uint32_t id = atomic_exchange_explicit(&backlog, 0, memory_order_acq_rel);
    return id != 0 ? place_of(id) : NULL;
}

/* Of launches that HIP tells of their begin was counted. */
static void count_waiting(struct launch *first)
{
    for (struct launch *launch = first; launch != NULL; launch = next_done(launch)) {
        if (!is_inferred(launch) || atomic_load_explicit(&launch->waits, memory_order_relaxed) ||
            atomic_load_explicit(&launch->remaining, memory_order_relaxed) == SENT)
            continue;
        rtl_account_wait(RTL_KIND_BATCHES, 1);
        atomic_store_explicit(&launch->waits, true, memory_order_relaxed);
    }
}

/* Another thread may have added some meanwhile. */
static void hold(struct launch *first)
{
    uint32_t none = 0;
    count_waiting(first);
    while (!atomic_compare_exchange_weak_explicit(&backlog, &none, first->wire.launch,
                                                  memory_order_release, memory_order_relaxed)) {
        first = join(take_backlog(), first);
        none = 0;
    }
}

static bool send_in_hand(void)
{
    struct launch *waiting = take_backlog();
    struct launch *next = join(waiting, take_in_order());
    if (next != NULL)
        rtl_stall_at("taken");
    while (next != NULL) {
        struct launch *after = next_done(next);
        if (!send(next)) {
            hold(next);
            return false;
        }
        next = after;
    }
    return true;
}

/* What finds no room is tried again in the next round, as long as there are places. */
bool rtl_launches_send(void)
{
    if (atomic_load_explicit(&done, memory_order_acquire) == 0 &&
        atomic_load_explicit(&backlog, memory_order_acquire) == 0)
        return true;
    atomic_fetch_add_explicit(&senders, 1, memory_order_relaxed);
    bool all = send_in_hand();
    atomic_fetch_sub_explicit(&senders, 1, memory_order_release);
    return all;
}

/* Whether somebody has launches in hand and does not come on, or has very many. */
static bool are_stuck(void)
{
    uint32_t before = atomic_load_explicit(&sent, memory_order_relaxed);
    for (unsigned i = 1; i <= WAITS * LOOKS; i++) {
        if (atomic_load_explicit(&senders, memory_order_acquire) == 0)
            return false;
        uint32_t now = atomic_load_explicit(&sent, memory_order_relaxed);
        if (i % LOOKS == 0 && now == before)
            return true;
        before = i % LOOKS == 0 ? now : before;
    }
    return true;
}

/* Uses a place that another launch has: it is not given to the next one meanwhile. False: it is
 * free. */
static bool hold_on(struct launch *launch)
{
    uint32_t users = atomic_load_explicit(&launch->users, memory_order_relaxed);
    while (users != 0)
        if (atomic_compare_exchange_weak_explicit(&launch->users, &users, users + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

/* Whether it is done and nobody has sent it. */
static bool is_due(const struct launch *launch)
{
    int64_t left = atomic_load_explicit(&launch->remaining, memory_order_acquire);
    return left < 0 && left != SENT;
}

/* Sends what is done, whoever has it in hand: he finds it sent, and gives the places back. */
static void send_of_others(void)
{
    uint32_t used = atomic_load_explicit(&next_id, memory_order_relaxed);
    bool has_room = true;
    for (uint32_t i = 0; i < LAUNCHES && i < used && has_room; i++) {
        struct launch *launch = &launches[i];
        if (!is_due(launch) || !hold_on(launch))
            continue;
        has_room = !is_due(launch) || hand_over(launch);
        let_go(launch);
    }
}

/* Who has launches in hand may have lost his processor, perhaps to us: nobody waits for that. */
void rtl_launches_drain(void)
{
    (void)rtl_launches_send();
    if (atomic_load_explicit(&senders, memory_order_acquire) != 0 && are_stuck())
        send_of_others();
}

/* What is in the ring travels between cores, and the thread that submits would wait for it: the
 * worker sends. */
static void finish(struct launch *launch)
{
    atomic_store_explicit(&launch->remaining, done_mark(launch->wire.launch), memory_order_release);
    uint32_t last = atomic_load_explicit(&done, memory_order_relaxed);
    do
        atomic_store_explicit(&launch->next, last, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&done, &last, launch->wire.launch,
                                                  memory_order_release, memory_order_relaxed));
}

static void put_refs(struct launch *launch, int64_t passed)
{
    if (atomic_fetch_sub_explicit(&launch->remaining, passed, memory_order_acq_rel) == passed)
        finish(launch);
}

static void no_place(bool early)
{
    if (early)
        rtl_account_leave_out(RTL_KIND_LAUNCHES);
    else
        rtl_account_lose(RTL_KIND_LAUNCHES, RTL_LOST_PENDING, 1);
}

/* While recording is stopped it is begun as well: recording may be started before its last packet.
 */
uint32_t rtl_launch_begin(uint32_t graph, uint32_t generation)
{
    uint32_t id = RTL_NONE;
    if (launches == NULL || rtl_thread_context.launch != RTL_NONE)
        return RTL_NONE;
    if (rtl_thread_context.paused) {
        rtl_account_leave_out(RTL_KIND_LAUNCHES);
        return RTL_NONE;
    }
    bool early = rtl_recording_is_stopped();
    if (!early)
        rtl_account_begin(RTL_KIND_LAUNCHES);
    struct launch *launch = make(&id);
    if (launch == NULL) {
        no_place(early);
        return RTL_NONE;
    }
    launch->early = early;
    launch->wire.graph = graph;
    launch->wire.generation = generation;
    atomic_store_explicit(&launch->remaining, OPEN_BIAS, memory_order_relaxed);
    rtl_thread_context.launch = id;
    rtl_thread_context.packets = 0;
    return id;
}

void rtl_launch_end(void)
{
    if (rtl_thread_context.launch == RTL_NONE)
        return;
    struct launch *launch = place_of(rtl_thread_context.launch);
    launch->wire.packets = rtl_thread_context.packets;
    rtl_thread_context.launch = RTL_NONE;
    put_refs(launch, OPEN_BIAS);
}

uint32_t rtl_launch_reserve(uint32_t queue, uint64_t first, uint32_t packets)
{
    struct launch *launch = place_of(rtl_thread_context.launch);
    uint32_t ordinal = rtl_thread_context.packets;
    rtl_thread_context.packets += packets;
    atomic_fetch_add_explicit(&launch->remaining, packets, memory_order_relaxed);
    if (launch->wire.queue == RTL_NONE) {
        launch->wire.queue = queue;
        launch->wire.first = first;
    }
    return ordinal;
}

uint32_t rtl_launch_infer(uint32_t queue, uint64_t first, uint32_t packets)
{
    uint32_t id = RTL_NONE;
    if (rtl_recording_is_stopped_here())
        return RTL_NONE;
    if (packets < SMALL && atomic_load_explicit(&crowded, memory_order_relaxed)) {
        rtl_account_lose(RTL_KIND_BATCHES, rtl_emit_why(), 1);
        return RTL_NONE;
    }
    struct launch *launch = make(&id);
    if (launch == NULL) {
        rtl_account_lose(RTL_KIND_BATCHES, RTL_LOST_PENDING, 1);
        return RTL_NONE;
    }
    launch->wire.queue = queue;
    launch->wire.first = first;
    launch->wire.packets = packets;
    atomic_store_explicit(&launch->remaining, packets, memory_order_relaxed);
    return id;
}

void rtl_launch_set_head(uint32_t launch, uint64_t head)
{
    struct rtl_wire_launch *wire = &place_of(launch)->wire;
    wire->head = head;
    wire->flags |= RTL_LAUNCH_HEADED;
}

static void pass_shared(struct launch *launch, const struct rtl_launch_part *part)
{
    atomic_fetch_add_explicit(&launch->kernels, part->kernels, memory_order_relaxed);
    if (part->left_out != 0)
        atomic_fetch_add_explicit(&launch->left_out, part->left_out, memory_order_relaxed);
    if (part->unseen != 0)
        atomic_fetch_add_explicit(&launch->unseen, part->unseen, memory_order_relaxed);
    put_refs(launch, part->packets);
}

/* Without locked instructions, which would wait for the records of the packets: their lines may
 * come from another core. */
static void pass_inferred(struct launch *launch, const struct rtl_launch_part *part)
{
    uint32_t kernels = atomic_load_explicit(&launch->kernels, memory_order_relaxed);
    uint32_t unseen = atomic_load_explicit(&launch->unseen, memory_order_relaxed);
    int64_t remaining =
        atomic_load_explicit(&launch->remaining, memory_order_relaxed) - part->packets;
    if (part->fingerprint != 0) {
        launch->wire.fingerprint = part->fingerprint;
        launch->wire.arguments[0] = part->arguments[0];
        launch->wire.arguments[1] = part->arguments[1];
    }
    kernels += part->kernels - part->left_out; /* what its fingerprint is of */
    if (part->left_out != 0)
        launch->wire.flags |= RTL_LAUNCH_CUT;
    atomic_store_explicit(&launch->kernels, kernels, memory_order_relaxed);
    atomic_store_explicit(&launch->unseen, unseen + part->unseen, memory_order_relaxed);
    if (remaining == 0)
        finish(launch);
    else
        atomic_store_explicit(&launch->remaining, remaining, memory_order_relaxed);
}

void rtl_launch_submitted(const struct rtl_launch_part *part)
{
    struct launch *launch = place_of(part->launch);
    if (is_inferred(launch))
        pass_inferred(launch, part);
    else
        pass_shared(launch, part);
}
