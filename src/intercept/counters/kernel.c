#include "intercept/counters/kernel.h"

#include "common/clock.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/counters/chosen.h"
#include "intercept/counters/internal_queue.h"
#include "intercept/queue/aql.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/submit.h"

#include <hsa/amd_hsa_signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define START         INT64_C(0x4000000000000000) /* of signals that count down */
#define PATIENCE_NS   UINT64_C(2000000000)        /* with a kernel that others wait for */
#define COUNTED       1u                          /* in an ask: packet << 1 | counted */
#define HARVEST       16u
#define MAX_EXPANSION 6u /* packets on the hardware for one of the program's */

/* What a queue has asked for and not got yet. Two signals to grant, in turn: one is armed again
 * when its kernel has ended, before the next but one can look at it. */
struct rtl_counters_kernels {
    uint64_t *asks; /* a ring */
    uint64_t mask;
    _Atomic uint64_t tail; /* the submitter's */
    _Atomic uint64_t head; /* of the counter thread */
    uint64_t ready, done;  /* signals: asks whose turn in the queue it is; that have ended */
    uint64_t grant[2];
    bool granted, spoiled; /* the counter thread's */
    uint64_t turn;         /* the counter thread's: when the next one could run; 0: it cannot yet */
    bool after;            /* the last packet was an ask's; the submitter's */
};

/* The counter thread's. */
static struct device {
    struct rtl_aql_block *block;
    struct rtl_aql_profile *profile; /* of it */
    unsigned granted;                /* queues that have the device */
    uint64_t granted_at;             /* when the last got it, ns */
    bool open;                       /* a kernel does not end: everybody goes on */
    uint32_t next;                   /* queue to look at first */
} devices[RTL_MOST_COUNTED];

static struct device *device_of(const struct rtl_counters_queue *queue)
{
    return &devices[rtl_counters_place(queue->device)];
}

/* ---- signals ---- */

static uint64_t passed(uint64_t signal)
{
    return (uint64_t)(START - rtl_internal_value(signal));
}

static void destroy_signals(struct rtl_counters_kernels *kernels)
{
    uint64_t *signals[] = {&kernels->ready, &kernels->done, &kernels->grant[0], &kernels->grant[1]};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (*signals[i] != 0)
            rtl_api.hsa_signal_destroy((hsa_signal_t){*signals[i]});
        *signals[i] = 0;
    }
}

static bool make_signals(struct rtl_counters_kernels *kernels)
{
    kernels->ready = rtl_internal_signal(START);
    kernels->done = rtl_internal_signal(START);
    kernels->grant[0] = rtl_internal_signal(1);
    kernels->grant[1] = rtl_internal_signal(1);
    if (kernels->ready != 0 && kernels->done != 0 && kernels->grant[0] != 0 &&
        kernels->grant[1] != 0)
        return true;
    destroy_signals(kernels);
    return false;
}

/* ---- queues ---- */

static bool make_kernels(struct rtl_counters_queue *queue)
{
    struct rtl_counters_kernels *kernels = calloc(1, sizeof *kernels);
    if (kernels == NULL)
        return false;
    kernels->mask = queue->queue->reserved_size - 1;
    kernels->asks = calloc(queue->queue->reserved_size, sizeof *kernels->asks);
    if (kernels->asks == NULL) {
        free(kernels);
        return false;
    }
    queue->kernels = kernels;
    return true;
}

static bool open_queue(struct rtl_counters_queue *queue)
{
    struct device *device = device_of(queue);
    if (device->block == NULL && rtl_internal_try(queue->device))
        device->block = rtl_counters_profiles(queue->device, 1);
    if (device->block != NULL)
        device->profile = rtl_aql_profile(device->block, 0);
    if (device->block == NULL || (queue->kernels == NULL && !make_kernels(queue)))
        return false;
    struct rtl_counters_kernels *kernels = queue->kernels;
    atomic_store(&kernels->head, 0);
    atomic_store(&kernels->tail, 0);
    kernels->granted = false;
    kernels->spoiled = false;
    kernels->turn = 0;
    kernels->after = false;
    return make_signals(kernels);
}

static uint64_t asked(const struct rtl_counters_kernels *kernels)
{
    return atomic_load_explicit(&kernels->tail, memory_order_acquire) -
           atomic_load_explicit(&kernels->head, memory_order_relaxed);
}

static uint64_t front(const struct rtl_counters_kernels *kernels)
{
    return kernels
        ->asks[atomic_load_explicit(&kernels->head, memory_order_relaxed) & kernels->mask];
}

static void count_unfinished(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_counters_queue *queue = rtl_counters_queue_at(i);
        if (queue == NULL)
            continue;
        const struct rtl_counters_kernels *kernels = queue->kernels;
        uint64_t tail = atomic_load(&kernels->tail);
        for (uint64_t at = atomic_load(&kernels->head); at < tail; at++)
            rtl_counters_miss(queue->device, RTL_UNCOUNTED_SHUTDOWN,
                              kernels->asks[at & kernels->mask] & COUNTED);
    }
}

static void end_all(void)
{
    for (uint32_t i = 0; i < RTL_MOST_COUNTED; i++) {
        rtl_aql_free(devices[i].block);
        devices[i] = (struct device){0};
    }
}

/* ---- packets ---- */

static bool is_kernel(const void *packet)
{
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    return rtl_packet_is_kernel(packet, rtl_packet_type(header));
}

/* The rewriter looks a reservation up, and what it is found to be, where it needs that. */
static struct rtl_reservation reservation_of(const struct rtl_rewriter *rewriter, uint64_t packet)
{
    const struct rtl_rewrite_run *run = &rewriter->run;
    return packet >= run->first && packet < run->end
               ? run->reservation
               : rtl_reservations_at(rewriter->reservations, packet);
}

/* Whether the packet that was rewritten last is counted, and if not why. */
static bool is_counted(const struct rtl_counters_queue *queue, const void *packet, uint64_t index,
                       enum rtl_uncounted_why *why)
{
    struct rtl_reservation reservation = reservation_of(&queue->queue->rewriter, index);
    *why = RTL_UNCOUNTED_NAME;
    if (!rtl_counters_is_chosen(((const hsa_kernel_dispatch_packet_t *)packet)->kernel_object))
        return false;
    if (reservation.launch != RTL_NONE && (reservation.flags & RTL_RESERVED_INFERRED) == 0) {
        *why = RTL_UNCOUNTED_GRAPH;
        return false;
    }
    *why = RTL_UNCOUNTED_STOPPED;
    return (reservation.flags & RTL_RESERVED_LEFT_OUT) == 0;
}

static void copy(unsigned char *out, const void *packet)
{
    memcpy(out, packet, RTL_PACKET_SIZE);
}

static uint64_t put_plain(struct rtl_counters_kernels *kernels, const void *packet,
                          unsigned char *out)
{
    copy(out, packet);
    if (kernels->after)
        rtl_aql_set_barrier(out);
    kernels->after = false;
    return 1;
}

static uint64_t put_ask(struct rtl_counters_queue *queue, const void *packet, bool counted,
                        unsigned char *out)
{
    struct rtl_counters_kernels *kernels = queue->kernels;
    const struct rtl_aql_profile *profile = device_of(queue)->profile;
    uint64_t tail = atomic_load_explicit(&kernels->tail, memory_order_relaxed);
    unsigned char *at = out;
    rtl_aql_barrier(at, 0, kernels->ready);
    at += RTL_PACKET_SIZE;
    rtl_aql_barrier(at, kernels->grant[tail % 2], 0);
    at += RTL_PACKET_SIZE;
    if (counted) {
        copy(at, rtl_aql_start(profile));
        at += RTL_PACKET_SIZE;
    }
    copy(at, packet);
    rtl_aql_set_barrier(at);
    at += RTL_PACKET_SIZE;
    if (counted) {
        copy(at, rtl_aql_read(profile));
        at += RTL_PACKET_SIZE;
        copy(at, rtl_aql_stop(profile));
        rtl_aql_set_signal(at, kernels->done);
    } else {
        rtl_aql_barrier(at, 0, kernels->done);
    }
    at += RTL_PACKET_SIZE;
    kernels->after = true;
    return (uint64_t)(at - out) / RTL_PACKET_SIZE;
}

static uint64_t put_packet(struct rtl_counters_queue *queue, const void *packet, uint64_t index,
                           unsigned char *out)
{
    struct rtl_counters_kernels *kernels = queue->kernels;
    enum rtl_uncounted_why why;
    if (!is_kernel(packet))
        return put_plain(kernels, packet, out);
    bool counted = is_counted(queue, packet, index, &why);
    bool room = asked(kernels) <= kernels->mask;
    if (queue->queue->rewriter.paused || !room) {
        rtl_counters_miss(queue->device, room ? RTL_UNCOUNTED_STOPPED : RTL_UNCOUNTED_MEMORY, 1);
        return put_plain(kernels, packet, out);
    }
    if (!counted)
        rtl_counters_miss(queue->device, why, 1);
    uint64_t packets = put_ask(queue, packet, counted, out);
    uint64_t tail = atomic_load_explicit(&kernels->tail, memory_order_relaxed);
    kernels->asks[tail & kernels->mask] = index << 1 | counted;
    atomic_store_explicit(&kernels->tail, tail + 1, memory_order_release);
    return packets;
}

/* ---- the counter thread ---- */

static bool is_ready(const struct rtl_counters_kernels *kernels)
{
    return asked(kernels) > 0 && !kernels->granted &&
           passed(kernels->ready) > atomic_load_explicit(&kernels->head, memory_order_relaxed);
}

static bool has_ended(const struct rtl_counters_kernels *kernels)
{
    return kernels->granted &&
           passed(kernels->done) > atomic_load_explicit(&kernels->head, memory_order_relaxed);
}

static void grant(struct rtl_counters_queue *queue)
{
    struct rtl_counters_kernels *kernels = queue->kernels;
    struct device *device = device_of(queue);
    kernels->turn = 0;
    kernels->granted = true;
    kernels->spoiled = device->open;
    device->granted++;
    device->granted_at = rtl_now();
    rtl_internal_set(kernels->grant[atomic_load_explicit(&kernels->head, memory_order_relaxed) % 2],
                     0);
}

static void send(struct rtl_counters_queue *queue, uint64_t packet)
{
    uint64_t values[RTL_MOST_COUNTERS];
    if (queue->kernels->spoiled || !rtl_aql_values(device_of(queue)->profile, values)) {
        rtl_counters_miss(queue->device, RTL_UNCOUNTED_DEVICE, 1);
        return;
    }
    struct rtl_wire_sample sample = {.owner = packet,
                                     .queue = queue->queue->id,
                                     .agent = queue->device->agent,
                                     .values = (uint16_t)queue->device->event_count};
    (void)rtl_counters_send(queue->device, &sample, values);
}

static void end(struct rtl_counters_queue *queue)
{
    struct rtl_counters_kernels *kernels = queue->kernels;
    struct device *device = device_of(queue);
    uint64_t head = atomic_load_explicit(&kernels->head, memory_order_relaxed);
    uint64_t ask = front(kernels);
    rtl_internal_set(kernels->grant[head % 2], 1);
    if (ask & COUNTED)
        send(queue, ask >> 1);
    kernels->granted = false;
    atomic_store_explicit(&kernels->head, head + 1, memory_order_release);
    if (--device->granted == 0)
        device->open = false;
}

/* What has ended is still read. */
static void close_queue(struct rtl_counters_queue *queue)
{
    struct rtl_counters_kernels *kernels = queue->kernels;
    if (has_ended(kernels))
        end(queue);
    for (; asked(kernels) > 0; atomic_fetch_add(&kernels->head, 1))
        rtl_counters_miss(queue->device, RTL_UNCOUNTED_SHUTDOWN, front(kernels) & COUNTED);
    device_of(queue)->granted -= kernels->granted;
    kernels->granted = false;
    if (queue->queue->hw_destroyed)
        destroy_signals(kernels);
}

/* A kernel has had the device for long, and others wait: it may be waiting for one of them. */
static void let_go(struct device *device)
{
    if (device->open || device->granted == 0 || rtl_now() - device->granted_at < PATIENCE_NS)
        return;
    bool waiting = false;
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_counters_queue *queue = rtl_counters_queue_at(i);
        waiting =
            waiting || (queue != NULL && device_of(queue) == device && is_ready(queue->kernels));
    }
    if (!waiting)
        return;
    device->open = true;
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_counters_queue *queue = rtl_counters_queue_at(i);
        if (queue != NULL && device_of(queue) == device)
            queue->kernels->spoiled = true;
    }
}

/* Room was made in the hardware's ring: packets that wait for it go on. */
static void submit_more(struct rtl_queue *queue)
{
    if (!rtl_submit_is_behind(queue))
        return;
    (void)rtl_harvest(queue, HARVEST, HARVEST);
    (void)rtl_submit_some(queue);
}

/* Ends what has ended, and notes whose turn has come. */
static unsigned look_at(struct rtl_counters_queue *queue)
{
    static uint64_t next_turn = 1;
    struct rtl_counters_kernels *kernels = queue->kernels;
    bool ended = has_ended(kernels);
    if (ended)
        end(queue);
    if (kernels->turn == 0 && is_ready(kernels))
        kernels->turn = next_turn++;
    return ended;
}

static bool may_have(const struct device *device)
{
    return device->granted == 0 || device->open;
}

/* Who has been waiting for the device for longest, NULL: nobody. */
static struct rtl_counters_queue *next_of(const struct device *device)
{
    struct rtl_counters_queue *first = NULL;
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_counters_queue *queue = rtl_counters_queue_at(i);
        if (queue != NULL && device_of(queue) == device && queue->kernels->turn != 0 &&
            (first == NULL || queue->kernels->turn < first->kernels->turn))
            first = queue;
    }
    return first;
}

static void grant_next(struct device *device)
{
    while (may_have(device)) {
        struct rtl_counters_queue *queue = next_of(device);
        if (queue == NULL)
            return;
        grant(queue);
    }
}

static unsigned round_of_all(bool *busy)
{
    uint32_t count = rtl_queues_count();
    unsigned ended = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct rtl_counters_queue *counted = rtl_counters_queue_at(i);
        if (counted == NULL)
            continue;
        unsigned here = look_at(counted);
        *busy = *busy || asked(counted->kernels) > 0;
        if (here > 0)
            submit_more(counted->queue);
        ended += here;
    }
    for (uint32_t i = 0; i < RTL_MOST_COUNTED; i++) {
        if (devices[i].block == NULL)
            continue;
        grant_next(&devices[i]);
        let_go(&devices[i]);
    }
    return ended;
}

/* A packet that waits for the device holds back those behind it by itself. */
static uint64_t most(const struct rtl_counters_queue *queue)
{
    (void)queue;
    return UINT64_MAX;
}

static void reserve(struct rtl_counters_queue *queue, uint64_t first, uint64_t count)
{
    (void)queue;
    (void)first;
    (void)count;
}

const struct rtl_counting rtl_counting_kernels = {.max_expansion = MAX_EXPANSION,
                                                  .is_hurried = true,
                                                  .open = open_queue,
                                                  .reserve = reserve,
                                                  .most = most,
                                                  .put = put_packet,
                                                  .round = round_of_all,
                                                  .close = close_queue,
                                                  .count_unfinished = count_unfinished,
                                                  .end = end_all};
