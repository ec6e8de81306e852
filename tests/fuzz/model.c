/*
 * What is checked:
 *
 *   - a packet differs from what the program wrote in nothing but the completion signal, and that
 *     only in kernels that the mode wants, behind an owed forward, or for a mark
 *   - a pool signal that is put in is at 1, without times, and in no other packet in flight
 *   - a kernel in the ring was completed by the device, has the device's times and the packet's own
 *     geometry, and is there once
 *   - the program's signals are decremented once per packet, not before the device is done, in
 * order, and carry the times of their kernel
 *   - seen = recorded + skipped + lost, and lost only where something was short
 *   - all pool signals are back in the end
 *   - nothing is written to a packet after its submission, or to a signal that is destroyed
 *     (AddressSanitizer)
 */
#include "model.h"

#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/pending_add.h"
#include "intercept/queue/record_out.h"
#include "intercept/queue/shapes.h"

#include <hsa/amd_hsa_signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKETS      1024u /* of a queue in a run */
#define POOL         512u
#define SHAPES       4096u
#define SHARED_OWNS  8
#define NEAR         16u /* notes: batches that come in time find room, others do not */
#define EPOCH        7u
#define SIGNAL_AT    56u
#define RECLAIM      64u
#define ROUNDS       100000u /* that the end may take */
#define QUEUE_STRIDE (UINT64_C(1) << 32)

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            broken(__LINE__, #condition);                                                          \
    } while (0)

/* One packet, as the program and the device see it. */
struct truth {
    unsigned char written[64];
    unsigned char submitted[64];
    int own;    /* -1: none */
    bool stale; /* names a signal of the pool */
    bool known; /* the device knows its format and decrements its signal */
    bool kernel;
    bool alone, wanted;
    uint64_t correlation;
    bool replaced; /* its own signal is owed */
    bool borrowed; /* its own signal was left to a kernel that is recorded */
    bool excused;  /* something was short at its submission */
    bool launched, completed, forwarded;
    bool finished; /* in the ring, or refused by it */
    uint64_t completion;
    uint64_t start, end;
};

struct own {
    amd_signal_t *signal; /* NULL: destroyed */
    int64_t armed;
    uint64_t uses;   /* packets since it was armed */
    unsigned asleep; /* times that it was lowered since somebody who sleeps on it was woken */
    const struct truth *last;
};

struct side {
    struct rtl_queue state;
    struct rtl_wire_ledger ledger;
    unsigned char *ring;
    struct rtl_reserved slots[256], near[NEAR];
    struct rtl_reservations reservations;
    unsigned run_left; /* packets of the last reservation that are to be written */
    uint64_t run_correlation;
    bool run_alone;
    struct truth packets[PACKETS];
    uint64_t first, written, submitted, launched;
    uint64_t since_progress;
};

static struct model_settings settings;
static struct side sides[MODEL_QUEUES];
static struct rtl_graph_pages graph_pages;
static struct own owns[MODEL_OWNS];
static _Alignas(64) amd_signal_t pool_signals[POOL];
static bool in_flight[POOL];
static struct rtl_kernel_facts shapes[SHAPES];
static struct side *forwarding; /* NULL: either */
static uint64_t shape_count, order, ticks, helps;
static uint64_t given_up; /* records of earlier packets, to make room */
static unsigned ring_kernels;
static bool ring_shapes, aborted;

__attribute__((noreturn)) static void broken(int line, const char *what)
{
    (void)fprintf(stderr, "fuzz: model.c:%d: %s does not hold\n", line, what);
    abort();
}

/* ---- small things ---- */

static uint64_t field(const unsigned char *packet, unsigned at, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, packet + at, size);
    return value;
}

static unsigned char *slot_of(const struct side *side, uint64_t at)
{
    return side->ring + ((side->first + at) & (settings.queue_size - 1)) * 64;
}

static uint64_t lost(const struct rtl_wire_ledger *ledger)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < RTL_LOST_REASONS; i++)
        sum += ledger->lost[i];
    return sum;
}

static bool is_pool(uint64_t handle)
{
    return handle >= (uintptr_t)pool_signals && handle < (uintptr_t)(pool_signals + POOL);
}

static unsigned pool_index(uint64_t handle)
{
    return (unsigned)((handle - (uintptr_t)pool_signals) / sizeof *pool_signals);
}

static int64_t outstanding(const struct own *own)
{
    return (int64_t)own->uses - (own->armed - own->signal->value);
}

/* ---- what librtl needs from the rest of itself ---- */

struct rtl_queue *rtl_queues_at(uint32_t slot)
{
    return &sides[slot].state;
}

uint32_t rtl_queues_count(void)
{
    return MODEL_QUEUES;
}

enum rtl_copy_sent rtl_out_draft_copy(uint32_t queue, const struct rtl_kernel_facts *facts,
                                      struct rtl_copy_draft *copy)
{
    (void)queue;
    (void)facts;
    (void)copy;
    return RTL_COPY_NO_ROOM; /* there are none here */
}

void rtl_out_commit_copy(const struct rtl_copy_draft *copy)
{
    (void)copy;
}

bool rtl_shapes_find(const struct rtl_kernel_facts *facts, uint32_t *shape)
{
    *shape = (uint32_t)(shape_count++ % SHAPES);
    shapes[*shape] = *facts;
    return ring_shapes;
}

/* Byte by byte as the formats have it: HSA 1.2, 2.9.6; ROCm 7's hsa_ext_amd.h. */
static void check_geometry(const struct truth *truth, const struct rtl_kernel_facts *facts)
{
    const unsigned char *packet = truth->written;
    bool extended = field(packet, 0, 1) == HSA_PACKET_TYPE_VENDOR_SPECIFIC;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t block = (uint32_t)field(packet, 4 + 2 * i, 2);
        uint32_t clusters =
            (uint32_t)(i == 0 ? field(packet, 12, 4) : field(packet, 14 + 2 * i, 2));
        uint32_t grid = extended ? clusters * (uint32_t)field(packet, 20 + i, 1) * block
                                 : (uint32_t)field(packet, 12 + 4 * i, 4);
        MUST(facts->block[i] == block);
        MUST(facts->grid[i] == grid);
    }
    MUST(facts->group_size == field(packet, 28, 4));
    MUST(facts->kernel_object == field(packet, 32, 8));
    MUST(facts->epoch == EPOCH);
}

static void check_kernel(const struct rtl_wire_kernel *kernel)
{
    MUST(kernel->queue < MODEL_QUEUES);
    struct side *side = &sides[kernel->queue];
    uint64_t at = kernel->packet - side->first;
    MUST(at < side->submitted);
    struct truth *truth = &side->packets[at];
    MUST(truth->kernel && truth->wanted);
    MUST(settings.rude || truth->completed);
    MUST(!truth->finished);
    MUST(settings.rude || (settings.crowded && helps > 0) ||
         (kernel->start == truth->start && kernel->end == truth->end));
    MUST(kernel->launch == RTL_NONE && kernel->ordinal == RTL_NONE);
    MUST(kernel->correlation == truth->correlation);
    check_geometry(truth, &shapes[kernel->shape]);
    truth->finished = true;
}

void rtl_emit_note(uint32_t queue, const char *format, ...)
{
    (void)queue;
    (void)format;
}

enum rtl_lost rtl_emit_why(void)
{
    return RTL_LOST_RING;
}

/* Those that find no room are offered again, and then lost: all of them at once. */
unsigned rtl_emit_draft_kernels(const struct rtl_wire_kernel *kernels, unsigned count,
                                struct rtl_emit_draft *draft)
{
    unsigned sent = count < ring_kernels ? count : ring_kernels;
    (void)draft;
    ring_kernels -= sent;
    for (unsigned i = 0; i < (sent > 0 ? sent : count); i++)
        check_kernel(&kernels[i]);
    return sent;
}

void rtl_emit_commit_kernels(const struct rtl_emit_draft *draft,
                             const struct rtl_wire_kernel *kernels, unsigned count)
{
    (void)draft;
    (void)kernels;
    (void)count;
}

/* Not here, where one thread does all: each claims what it has drafted. */
unsigned rtl_emit_kernels(const struct rtl_wire_kernel *kernels, unsigned count)
{
    (void)kernels;
    MUST(count == 0);
    return 0;
}

void rtl_emit_give_up(const struct rtl_emit_draft *draft)
{
    (void)draft;
    MUST(false);
}

/* An earlier packet whose signal is owed although the device was done with it earlier. */
static bool overtakes(const struct side *side, const struct truth *truth)
{
    for (const struct truth *before = side->packets; before < truth; before++)
        if (before->replaced && !before->forwarded && before->completed &&
            before->completion < truth->completion)
            return true;
    return false;
}

/* The oldest packet of the queue whose completion may be forwarded to `own` now; with `timed`, one
 * whose times have just been written to it. */
static struct truth *find_owed(struct side *side, int own, bool timed)
{
    for (uint64_t at = 0; at < side->submitted; at++) {
        struct truth *truth = &side->packets[at];
        if (truth->own == own && truth->replaced && truth->completed && !truth->forwarded &&
            (!timed || truth->start == owns[own].signal->start_ts))
            return truth;
    }
    return NULL;
}

/* The packet that is being forwarded, of the queue that is at it or of one whose records were set
 * aside; by the times that have just been written if there is a choice. */
static struct truth *find_forwarded(int own, struct side **side)
{
    for (unsigned i = 0; i < 2 * (MODEL_QUEUES + 1); i++) {
        bool timed = i <= MODEL_QUEUES;
        unsigned at = i % (MODEL_QUEUES + 1);
        *side = at == 0 ? forwarding : &sides[at - 1];
        struct truth *found = *side != NULL ? find_owed(*side, own, timed) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

static int own_of(uint64_t handle)
{
    int own = 0;
    while (own < (int)MODEL_OWNS && (uintptr_t)owns[own].signal != handle)
        own++;
    MUST(own < (int)MODEL_OWNS);
    return own;
}

void model_lowered(uint64_t handle)
{
    int own = own_of(handle);
    struct side *side;
    struct truth *truth = find_forwarded(own, &side);
    MUST(truth != NULL);
    MUST(settings.rude || aborted || truth->excused || !overtakes(side, truth));
    truth->forwarded = true;
    owns[own].asleep += owns[own].signal->event_mailbox_ptr != 0;
}

/* Who sleeps on a signal is woken, once for each time that it was lowered. */
static void subtract(hsa_signal_t signal, hsa_signal_value_t value)
{
    struct own *own = &owns[own_of(signal.handle)];
    MUST(value == 0 && own->asleep > 0);
    own->asleep--;
}

static unsigned forward(unsigned slot, bool quiet)
{
    struct side *outer = forwarding;
    forwarding = &sides[slot];
    unsigned forwarded = rtl_harvest_forward(&forwarding->state, quiet);
    forwarding = outer;
    for (unsigned i = 0; i < MODEL_OWNS; i++)
        MUST(owns[i].asleep == 0);
    return forwarded;
}

static unsigned reclaim(void *context)
{
    struct rtl_queue *queue = context;
    helps++;
    unsigned taken =
        rtl_harvest(queue, RECLAIM, RECLAIM) + forward(queue->index, (helps & 1u) != 0);
    uint64_t lost = queue->ledger->lost[RTL_LOST_PENDING];
    if (rtl_pending_room(&queue->pending) == 0)
        rtl_harvest_park(queue);
    given_up += queue->ledger->lost[RTL_LOST_PENDING] - lost;
    return taken;
}

/* ---- begin ---- */

static bool create(void *context, uint64_t *handle)
{
    uint32_t *made = context;
    if (*made == settings.pool)
        return false;
    amd_signal_t *signal = &pool_signals[(*made)++];
    *signal = (amd_signal_t){.kind = AMD_SIGNAL_KIND_USER, .value = 1};
    *handle = (uintptr_t)signal;
    rtl_signal_tag_as_ours(*handle);
    return true;
}

static void destroy(void *context, uint64_t handle)
{
    (void)context;
    MUST(is_pool(handle));
}

static void begin_side(unsigned slot)
{
    struct side *side = &sides[slot];
    side->ledger = (struct rtl_wire_ledger){0};
    side->first = settings.first + slot * QUEUE_STRIDE;
    side->reservations.slots = side->slots;
    rtl_reservations_clear(&side->reservations);
    side->reservations.mask = settings.queue_size - 1;
    side->reservations.near = side->near;
    side->reservations.near_mask = NEAR - 1;
    side->reservations.submitted = &side->state.submitted;
    side->run_left = 0;
    side->written = side->submitted = side->launched = side->since_progress = 0;
    side->ring = malloc((size_t)settings.queue_size * 64);
    side->state = (struct rtl_queue){.id = slot,
                                     .index = slot,
                                     .size = settings.queue_size,
                                     .ledger = &side->ledger,
                                     .submitted = side->first,
                                     .phase = RTL_QUEUE_LIVE};
    MUST(side->ring != NULL);
    MUST(rtl_slabs.regions != NULL || rtl_slabs_init(&rtl_slabs));
    MUST(rtl_pending_init(&side->state.pending, &rtl_slabs, settings.records));
    side->state.rewriter = (struct rtl_rewriter){.pending = &side->state.pending,
                                                 .pool = &rtl_signals,
                                                 .borrows = rtl_borrows,
                                                 .pages = &graph_pages,
                                                 .ledger = &side->ledger,
                                                 .mode = (enum rtl_mode)settings.mode,
                                                 .reservations = &side->reservations,
                                                 .queue_index = slot,
                                                 .reclaim = reclaim,
                                                 .context = &side->state};
}

void model_begin(const struct model_settings *with)
{
    static uint32_t made;
    settings = *with;
    made = 0;
    order = helps = shape_count = 0;
    ticks = 1;
    ring_kernels = UINT32_MAX;
    ring_shapes = true;
    aborted = false;
    memset(owns, 0, sizeof owns);
    memset(&graph_pages, 0, sizeof graph_pages);
    memset(in_flight, 0, sizeof in_flight);
    memset(pool_signals, 0, sizeof pool_signals);
    MUST(rtl_harvest_begin());
    memset((void *)rtl_borrows->sets, 0, sizeof rtl_borrows->sets);
    rtl_api.hsa_signal_subtract_screlease = subtract;
    MUST(rtl_pool_init(&rtl_signals, POOL, (struct rtl_pool_backend){create, destroy, &made}));
    for (unsigned i = 0; i < MODEL_QUEUES; i++)
        begin_side(i);
}

/* ---- the program ---- */

static void make_own(unsigned which, int64_t value)
{
    struct own *own = &owns[which];
    own->signal = aligned_alloc(64, sizeof *own->signal);
    MUST(own->signal != NULL);
    /* With an event, so that its decrement goes through the runtime (see subtract). */
    *own->signal = (amd_signal_t){
        .kind = AMD_SIGNAL_KIND_USER, .event_mailbox_ptr = (uintptr_t)own, .value = value};
    own->armed = value;
    own->uses = 0;
    own->last = NULL;
}

static void use_own(struct truth *truth)
{
    struct own *own = &owns[truth->own];
    if (own->signal == NULL)
        make_own((unsigned)truth->own, 1);
    uint64_t handle = (uintptr_t)own->signal;
    memcpy(truth->written + SIGNAL_AT, &handle, sizeof handle);
    if (truth->known) {
        own->uses++;
        own->last = truth;
    }
}

static bool device_knows(uint8_t type, uint8_t format)
{
    return type == HSA_PACKET_TYPE_KERNEL_DISPATCH || type == HSA_PACKET_TYPE_BARRIER_AND ||
           type == HSA_PACKET_TYPE_BARRIER_OR || type == HSA_PACKET_TYPE_AGENT_DISPATCH ||
           (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && format >= 1 && format <= 3);
}

/* The signal that the packet gets, -1 for none. Signals from SHARED_OWNS on serve both queues, for
 * kernels of a polite program only: which packet is forwarded can then be told by its times. */
static int choose_own(unsigned queue, int own, bool kernel)
{
    if (own < 0 || (settings.crowded && !kernel))
        return -1;
    if (own < SHARED_OWNS || settings.rude || settings.crowded || !kernel)
        own = (own % SHARED_OWNS & ~1) | (int)queue;
    bool may_use = settings.rude || settings.crowded || owns[own].signal == NULL ||
                   owns[own].armed < 1 || (int64_t)owns[own].uses < owns[own].armed;
    return may_use ? own : -1;
}

static bool mode_wants(const struct side *side, const struct truth *truth)
{
    if (!truth->kernel || side->state.rewriter.paused)
        return false;
    switch (settings.mode) {
    case RTL_MODE_FULL:
        return true;
    case RTL_MODE_LITE:
        return truth->alone && truth->own < 0; /* a stale one is none */
    default:
        return truth->alone;
    }
}

static void fill(unsigned char *packet, uint64_t noise)
{
    for (unsigned at = 0; at < 64; at += 8) {
        noise = noise * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t word = noise ^ (noise >> 29);
        memcpy(packet + at, &word, sizeof word);
    }
}

/* A batch is two packets. */
static void reserve(struct side *side, uint64_t at, bool alone, struct truth *truth)
{
    if (side->run_left > 0) {
        side->run_left--;
    } else {
        uint64_t index = side->first + at;
        struct rtl_reservation note = {
            .correlation = at + 1, .launch = RTL_NONE, .count = alone ? 1 : 2};
        rtl_reservations_note(&side->reservations, index, &note);
        side->run_left = note.count - 1;
        side->run_correlation = note.correlation;
        side->run_alone = alone;
    }
    truth->alone = side->run_alone;
    truth->correlation = side->run_correlation;
}

void model_write(unsigned queue, const struct model_packet *packet)
{
    struct side *side = &sides[queue];
    uint64_t at = side->written;
    if (at == PACKETS || at - side->launched == settings.queue_size)
        return;
    struct truth *truth = &side->packets[at];
    *truth = (struct truth){
        .known = device_knows(packet->type, packet->format),
        .kernel = packet->type == HSA_PACKET_TYPE_KERNEL_DISPATCH ||
                  (packet->type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && packet->format == 3)};
    reserve(side, at, packet->alone, truth);
    truth->own = choose_own(queue, packet->own, truth->kernel);
    fill(truth->written, packet->noise);
    truth->written[0] = packet->type;
    if (packet->type == HSA_PACKET_TYPE_VENDOR_SPECIFIC)
        truth->written[2] = packet->format;
    if (truth->own >= 0)
        use_own(truth);
    else if (truth->known)
        memset(truth->written + SIGNAL_AT, 0, 8);
    if (packet->stale && truth->known && truth->own < 0) {
        uint64_t handle = (uintptr_t)&pool_signals[packet->noise % POOL];
        truth->stale = rtl_signal_is_ours(handle);
        if (truth->stale)
            memcpy(truth->written + SIGNAL_AT, &handle, sizeof handle);
    }
    memcpy(slot_of(side, at), truth->written, 64);
    side->written++;
}

/* A signal of the program, seen by the program when all its packets are done. */
static void look_at_own(const struct own *own)
{
    if (settings.rude || own->uses != 1 || outstanding(own) != 0 || own->last == NULL ||
        !own->last->kernel)
        return;
    MUST(own->signal->start_ts == own->last->start && own->signal->end_ts == own->last->end);
}

/* Whether the program may write to its signal now; a rude one always may, but no program destroys
 * a signal that the device has yet to write to. */
static bool may_touch(const struct own *own, bool destroys)
{
    return own->signal != NULL && ((settings.rude && !destroys) || outstanding(own) == 0);
}

void model_arm(unsigned which, int64_t value, bool unseen)
{
    struct own *own = &owns[which];
    if (!may_touch(own, false))
        return;
    look_at_own(own);
    if (!(unseen && settings.rude))
        rtl_harvest_finish_borrowed((uintptr_t)own->signal, false);
    own->uses = (uint64_t)outstanding(own);
    own->armed = own->signal->value = value;
    own->last = NULL;
}

void model_destroy(unsigned which)
{
    struct own *own = &owns[which];
    if (!may_touch(own, true))
        return;
    look_at_own(own);
    rtl_harvest_finish_borrowed((uintptr_t)own->signal, true);
    free(own->signal);
    own->signal = NULL;
}

/* ---- submission ---- */

/* How many forwards of the queue are owed. */
static uint64_t count_owed(const struct side *side)
{
    uint64_t owed = 0;
    for (uint64_t at = 0; at < side->submitted; at++)
        owed += side->packets[at].replaced && !side->packets[at].forwarded;
    return owed;
}

static void check_put(uint64_t handle)
{
    MUST(is_pool(handle));
    unsigned id = pool_index(handle);
    MUST(!in_flight[id]);
    MUST(pool_signals[id].value == 1);
    MUST(pool_signals[id].start_ts == 0 && pool_signals[id].end_ts == 0);
    in_flight[id] = true;
}

/* A packet that the device has not completed, and whose own signal it will. */
static bool holds(const struct truth *truth, int own)
{
    return truth->known && truth->own == own && !truth->completed && !truth->replaced;
}

/* May a wanted kernel's own signal have been left to it? Not while another packet in flight
 * completes the same. */
static void check_borrowed(const struct side *side, const struct truth *truth)
{
    MUST(truth->own >= 0);
    const struct own *own = &owns[truth->own];
    MUST(own->signal->kind == AMD_SIGNAL_KIND_USER && own->signal->value == 1);
    for (unsigned i = 0; i < MODEL_QUEUES; i++)
        for (uint64_t at = 0; at < sides[i].submitted; at++) {
            const struct truth *other = &sides[i].packets[at];
            bool earlier = &sides[i] != side || other < truth;
            MUST(!earlier || !holds(other, truth->own));
        }
}

/* Looks at one packet after a submission, in which nothing was short unless `helped`. `owed`
 * counts the forwards that were owed when its turn came. */
static void check_packet(struct side *side, struct truth *truth, bool helped, uint64_t *owed,
                         uint64_t *records)
{
    bool own = truth->known && truth->own >= 0;
    uint64_t handle = field(truth->submitted, SIGNAL_AT, 8);
    bool put = handle != (truth->stale ? 0 : field(truth->written, SIGNAL_AT, 8));
    MUST(memcmp(truth->submitted, truth->written, SIGNAL_AT) == 0);
    MUST(!put || truth->known);
    truth->excused = helped;
    bool due = side->state.rewriter.progress_every != 0 &&
               side->since_progress + 1 >= side->state.rewriter.progress_every;
    if (put) {
        check_put(handle);
        MUST(truth->wanted || due || helped || (own && (*owed > 0 || settings.rude)));
        truth->replaced = own;
        *owed += own;
        *records += truth->wanted;
    } else if (!helped) {
        MUST(!own || *owed == 0 || settings.rude);
        MUST(!truth->known || !due);
        truth->borrowed = truth->wanted;
        if (truth->wanted && !settings.rude)
            check_borrowed(side, truth);
    }
    side->since_progress = put ? 0 : side->since_progress + 1;
}

void model_submit(unsigned queue)
{
    struct side *side = &sides[queue];
    struct rtl_wire_ledger before = side->ledger;
    struct rtl_rewriter *rewriter = &side->state.rewriter;
    uint64_t helps_before = helps;
    uint64_t given_up_before = given_up;
    uint64_t owed = count_owed(side);
    uint64_t first = side->submitted;
    uint64_t end = side->written;
    uint64_t kernels = 0;
    uint64_t taken = 0; /* by the device, before they were looked at */
    uint64_t wanted = 0;
    uint64_t records = 0;
    for (uint64_t at = first; at < end; at++) {
        struct truth *truth = &side->packets[at];
        truth->wanted = mode_wants(side, truth);
        kernels += truth->kernel;
        taken += truth->written[0] == HSA_PACKET_TYPE_INVALID;
        wanted += truth->wanted;
    }
    for (uint64_t at = first; at < end;) {
        uint64_t slot = (side->first + at) & (settings.queue_size - 1);
        uint64_t count = settings.queue_size - slot;
        if (count > end - at)
            count = end - at;
        rtl_rewrite(rewriter, side->ring + slot * 64, side->first + at, count, EPOCH);
        at += count;
    }
    side->submitted = end;
    atomic_store(&side->state.submitted, side->first + end);
    for (uint64_t at = first; at < end; at++) {
        memcpy(side->packets[at].submitted, slot_of(side, at), 64);
        check_packet(side, &side->packets[at], helps != helps_before, &owed, &records);
    }
    if (helps != helps_before)
        side->since_progress = rewriter->since_progress;
    const struct rtl_wire_ledger *after = &side->ledger;
    uint64_t short_of = after->lost[RTL_LOST_POOL] - before.lost[RTL_LOST_POOL] +
                        after->lost[RTL_LOST_PENDING] - before.lost[RTL_LOST_PENDING] -
                        (given_up - given_up_before);
    MUST(after->packets - before.packets == end - first);
    MUST(after->seen - before.seen == kernels + taken);
    MUST(after->lost[RTL_LOST_NOT_FOLLOWED] - before.lost[RTL_LOST_NOT_FOLLOWED] == taken);
    MUST(after->skipped - before.skipped == kernels - wanted);
    MUST(after->borrowed - before.borrowed + short_of + records == wanted);
    MUST(short_of == 0 || helps != helps_before);
}

/* ---- the device ---- */

void model_launch(unsigned queue, unsigned count)
{
    struct side *side = &sides[queue];
    for (; count > 0 && side->launched < side->submitted; count--) {
        struct truth *truth = &side->packets[side->launched];
        unsigned char *slot = slot_of(side, side->launched);
        MUST(memcmp(slot, truth->submitted, 64) == 0);
        slot[0] = HSA_PACKET_TYPE_INVALID;
        truth->launched = true;
        side->launched++;
    }
}

static void complete(struct side *side, struct truth *truth)
{
    uint64_t handle = truth->known ? field(truth->submitted, SIGNAL_AT, 8) : 0;
    truth->completed = true;
    truth->completion = ++order;
    truth->start = ++ticks;
    truth->end = ++ticks;
    if (handle == 0)
        return;
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)handle;
    if (truth->kernel) {
        signal->start_ts = truth->start;
        signal->end_ts = truth->end;
    }
    signal->value--;
    if (is_pool(handle))
        in_flight[pool_index(handle)] = false;
    else
        MUST(settings.rude || truth->excused || !overtakes(side, truth));
}

void model_complete(unsigned queue, unsigned skip)
{
    struct side *side = &sides[queue];
    if (settings.crowded)
        skip = 0;
    for (uint64_t at = 0; at < side->launched; at++) {
        if (side->packets[at].completed || skip-- > 0)
            continue;
        complete(side, &side->packets[at]);
        return;
    }
}

/* ---- the worker ---- */

void model_harvest(unsigned queue, unsigned most, unsigned max_incomplete)
{
    (void)rtl_harvest(&sides[queue].state, most, max_incomplete);
}

void model_forward(unsigned queue)
{
    (void)rtl_harvest_finish_parked();
    (void)forward(queue, false);
}

void model_stall(unsigned queue, bool stalled)
{
    atomic_store(&sides[queue].state.forwarding, stalled);
}

static void end_stalls(void)
{
    for (unsigned i = 0; i < MODEL_QUEUES; i++)
        model_stall(i, false);
}

static unsigned round_of_work(void)
{
    unsigned finished = rtl_harvest_finish_parked();
    for (unsigned i = 0; i < MODEL_QUEUES; i++) {
        finished += forward(i, false);
        finished += rtl_harvest(&sides[i].state, RECLAIM, RECLAIM);
        rtl_harvest_park(&sides[i].state);
    }
    return finished;
}

void model_round(void)
{
    (void)round_of_work();
}

void model_pause(bool paused)
{
    if (settings.crowded)
        return;
    for (unsigned i = 0; i < MODEL_QUEUES; i++)
        sides[i].state.rewriter.paused = paused;
}

void model_mark(uint64_t every)
{
    for (unsigned i = 0; i < MODEL_QUEUES; i++)
        sides[i].state.rewriter.progress_every = every;
}

void model_ring(unsigned kernels, bool with_shapes)
{
    ring_kernels = kernels;
    ring_shapes = with_shapes;
}

void model_grow(unsigned to)
{
    (void)rtl_pool_grow(&rtl_signals, to);
}

/* ---- end ---- */

static void balance(const struct side *side)
{
    const struct rtl_wire_ledger *ledger = &side->ledger;
    MUST(ledger->seen == ledger->recorded + ledger->skipped + lost(ledger));
    MUST(settings.rude || (settings.crowded && helps > 0) || ledger->lost[RTL_LOST_NO_TIME] == 0);
    MUST(ledger->lost[RTL_LOST_KILLED] == 0);
    uint64_t finished = 0;
    for (uint64_t at = 0; at < side->submitted; at++)
        finished += side->packets[at].finished;
    MUST(finished <= ledger->recorded + ledger->lost[RTL_LOST_RING]);
    MUST(finished >= ledger->recorded);
    MUST(atomic_load(&side->state.pending.head) == atomic_load(&side->state.pending.tail));
    if (aborted || settings.rude)
        return;
    MUST(ledger->lost[RTL_LOST_SHUTDOWN] == 0 && ledger->lost[RTL_LOST_REARMED] == 0);
    MUST(count_owed(side) == 0);
}

/* Every signal of the pool is back, once. */
static void check_pool(void)
{
    static uint32_t ids[POOL + 1];
    static bool seen[POOL];
    uint32_t made = atomic_load(&rtl_signals.made);
    memset(seen, 0, sizeof seen);
    MUST(rtl_pool_take(&rtl_signals, ids, POOL + 1) == made);
    MUST(atomic_load(&rtl_signals.free) == 0);
    for (uint32_t i = 0; i < made; i++) {
        MUST(ids[i] < made && !seen[ids[i]]);
        MUST(pool_signals[ids[i]].value == 1);
        seen[ids[i]] = true;
    }
    rtl_pool_give(&rtl_signals, ids, made);
}

static void end(void)
{
    for (unsigned i = 0; i < MODEL_QUEUES; i++) {
        rtl_harvest_close(&sides[i].state);
        rtl_rewrite_release(&sides[i].state.rewriter);
    }
    for (unsigned i = 0; i < MODEL_QUEUES; i++) {
        balance(&sides[i]);
        free(sides[i].ring);
        rtl_pending_end(&sides[i].state.pending);
    }
    if (!aborted && !settings.rude)
        check_pool();
    for (unsigned i = 0; i < MODEL_OWNS; i++) {
        if (owns[i].signal == NULL)
            continue;
        MUST(aborted || settings.rude || outstanding(&owns[i]) == 0);
        if (!aborted)
            look_at_own(&owns[i]);
        free(owns[i].signal);
    }
    (void)rtl_pool_end(&rtl_signals);
}

void model_end(void)
{
    end_stalls();
    for (unsigned i = 0; i < MODEL_QUEUES; i++) {
        model_submit(i);
        model_launch(i, UINT32_MAX);
        while (sides[i].submitted > 0 && !aborted) {
            uint64_t open = 0;
            for (uint64_t at = 0; at < sides[i].submitted; at++)
                if (!sides[i].packets[at].completed) {
                    complete(&sides[i], &sides[i].packets[at]);
                    open++;
                }
            if (open == 0)
                break;
        }
    }
    for (unsigned rounds = 0; round_of_work() > 0; rounds++)
        MUST(rounds < ROUNDS);
    end();
}

void model_abort(void)
{
    aborted = true;
    end_stalls();
    for (unsigned i = 0; i < MODEL_QUEUES; i++)
        model_submit(i);
    end();
}
