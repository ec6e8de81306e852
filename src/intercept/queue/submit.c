#include "intercept/queue/submit.h"

#include "common/clock.h"
#include "common/tsan.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/base/recording.h"
#include "intercept/base/symbols.h"
#include "intercept/queue/aql.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/ledger.h"
#include "intercept/queue/pending_add.h"
#include "intercept/queue/signal_pool.h"

#include <string.h>
#include <time.h>

#define PIECES     64u /* that a producer submits in one go */
#define FEW_PIECES 2u
#define RECLAIM    64u   /* records that a submitter harvests when short */
#define END_NAP_NS 20000 /* while the last submitter is at it */

static _Atomic bool deferred; /* packets, to the worker */

static unsigned char *slot_of(const struct rtl_queue *queue, uint64_t index)
{
    return (unsigned char *)queue->queue->base_address +
           (index & (queue->size - 1)) * RTL_PACKET_SIZE;
}

/* ---- how far ---- */

/* Packets before it have left the hardware's ring: the command processor takes packets in order, so
 * one that has completed tells of all before it. Where nothing could be watched for long, all that
 * were submitted: ROCr then has to cope. */
static uint64_t retired(const struct rtl_queue *queue, uint64_t submitted)
{
    if (queue->rewriter.since_progress >= 2 * queue->rewriter.progress_every)
        return submitted;
    return atomic_load_explicit(&queue->retired, memory_order_acquire);
}

/* By interception: the hardware's ring is as large as the one that producers see, but nothing tells
 * them that it is full, and ROCr's way out when it is loses order or wake-ups in most releases. A
 * quarter stays empty. Where ROCr handles a batch that wraps wrongly, no batch does. */
static uint64_t throttle(struct rtl_queue *queue, uint64_t first, uint64_t end)
{
    uint64_t own_most =
        rtl_queue_is_observed(queue) ? rtl_queues_observer()->most(queue) : UINT64_MAX;
    if (end - first > own_most)
        end = first + own_most;
    uint64_t most = retired(queue, first) + (queue->size - queue->size / 4) / queue->max_expansion;
    if (end > most)
        end = most > first ? most : first;
    uint64_t wrap = (first | (queue->size - 1)) + 1;
    return queue->never_wraps && end > wrap ? wrap : end;
}

/* The packet behind the last that producers have reserved, but none of the last lap: those still
 * look valid until the device has taken them. */
static uint64_t reserved_end(struct rtl_queue *queue)
{
    uint64_t end = atomic_load_explicit(&queue->virtual_index, memory_order_acquire);
    uint64_t read = atomic_load_explicit(&queue->read_index, memory_order_relaxed);
    if (end > read + queue->size) {
        read = rtl_api.hsa_queue_load_read_index_scacquire(queue->queue);
        atomic_store_explicit(&queue->read_index, read, memory_order_relaxed);
        if (end > read + queue->size)
            end = read + queue->size;
    }
    return end;
}

/* The packets that are written, from `first` on, up to `end`. */
static uint64_t scan(const struct rtl_queue *queue, uint64_t first, uint64_t end)
{
    const unsigned char *ring = queue->queue->base_address;
    uint64_t mask = queue->size - 1;
    uint64_t at = first;
    while (at < end && rtl_packet_type(rtl_packet_header(ring + (at & mask) * RTL_PACKET_SIZE)) !=
                           HSA_PACKET_TYPE_INVALID)
        at++;
    return at;
}

/* The same where not all may go at once. */
static uint64_t scan_throttled(struct rtl_queue *queue, uint64_t first)
{
    uint64_t wanted = reserved_end(queue);
    if (first >= wanted)
        return first;
    uint64_t end = throttle(queue, first, wanted);
    if (end == first && rtl_harvest(queue, RECLAIM, RECLAIM) > 0)
        end = throttle(queue, first, wanted);
    return scan(queue, first, end);
}

/* ---- submission ---- */

/* Rewrites the packets [first, end) where they lie: one piece, or two where the ring wraps. */
static void rewrite(struct rtl_queue *queue, uint64_t first, uint64_t end)
{
    uint32_t epoch = rtl_symbols_epoch();
    queue->rewriter.paused = rtl_recording_is_stopped();
    uint64_t wrap = (first | (queue->size - 1)) + 1;
    uint64_t middle = end < wrap ? end : wrap;
    rtl_rewrite(&queue->rewriter, slot_of(queue, first), first, middle - first, epoch);
    if (middle < end)
        rtl_rewrite(&queue->rewriter, slot_of(queue, middle), middle, end - middle, epoch);
}

static void ring(struct rtl_queue *queue, uint64_t end)
{
    hsa_signal_t doorbell = {queue->doorbell};
    rtl_api.hsa_signal_store_screlease(doorbell, (hsa_signal_value_t)(end - 1));
    queue->unrung = false;
}

static void publish(struct rtl_queue *queue, uint64_t end)
{
    atomic_store_explicit(&queue->submitted, end, memory_order_release); /* reservations.h */
    rtl_tsan_release(queue->queue->base_address);
    rtl_api.hsa_queue_store_write_index_screlease(queue->queue, end);
    ring(queue, end);
}

/* The device has, or may take, the packets [first, end) without us: a producer moved the real index
 * itself, or rang the register behind the doorbell. What it published is not followed; the device
 * may have taken it, so that every packet counts as a kernel. What comes through the runtime from
 * now on is followed. */
static void resynchronise(struct rtl_queue *queue, uint64_t first, uint64_t end)
{
    rtl_ledger_add_not_followed(queue->ledger, end - first, end - first);
    rtl_rewrite_skip(&queue->rewriter, first, end);
    atomic_store_explicit(&queue->submitted, end, memory_order_release);
    uint64_t seen = atomic_load_explicit(&queue->virtual_index, memory_order_relaxed);
    while (seen < end &&
           !atomic_compare_exchange_weak_explicit(&queue->virtual_index, &seen, end,
                                                  memory_order_acq_rel, memory_order_relaxed))
        ;
    if (!queue->bypassed)
        rtl_emit_note(queue->id,
                      "a producer moves this queue's write index, or rings its doorbell, "
                      "without the runtime: its packets are not followed (HIP does so where "
                      "DEBUG_CLR_DIRECT_DOORBELL is 1)");
    queue->bypassed = true;
}

/* The first packet that is not submitted. */
static uint64_t first_to_submit(struct rtl_queue *queue)
{
    uint64_t first = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    uint64_t real = rtl_real_index(queue);
    if (real <= first)
        return first;
    resynchronise(queue, first, real);
    queue->unrung = true;
    return real;
}

/* The same where what was reserved at `first` is not to be submitted: perhaps the device has had
 * it.
 */
static uint64_t first_it_left(struct rtl_queue *queue, uint64_t first)
{
    uint64_t taken = rtl_api.hsa_queue_load_read_index_scacquire(queue->queue);
    if (taken <= first)
        return first;
    rtl_ledger_add(&queue->ledger->opaque[RTL_OPAQUE_DIRECT], taken - first);
    resynchronise(queue, first, taken);
    return taken;
}

/* A producer that moves the index itself may ring as all do, and its doorbell has come to us. Not
 * where nobody has rung: one that rings the register is not to find an older value in it. */
static void pass_ring_on(struct rtl_queue *queue, uint64_t end, bool rung)
{
    if (!queue->unrung || !rung)
        return;
    rtl_tsan_release(queue->queue->base_address);
    ring(queue, end);
}

static unsigned submit_intercepted(struct rtl_queue *queue, unsigned pieces, bool rung)
{
    uint64_t first = first_to_submit(queue);
    for (; pieces > 0; pieces--) {
        uint64_t end = scan_throttled(queue, first);
        if (end == first) {
            pass_ring_on(queue, end, rung);
            return pieces;
        }
        publish(queue, end);
        first = end;
    }
    return 0;
}

/* At most `pieces` of them; returns how many are left. By interception there may be several.
 * `rung`: a producer may have rung, not the worker alone has come by. */
static unsigned submit_ready(struct rtl_queue *queue, unsigned pieces, bool rung)
{
    if (queue->interception != RTL_INTERPOSED)
        return submit_intercepted(queue, pieces, rung);
    if (pieces == 0)
        return 0;
    uint64_t first = first_to_submit(queue);
    uint64_t reserved = reserved_end(queue);
    uint64_t end = scan(queue, first, reserved);
    if (end == first && first < reserved) {
        first = first_it_left(queue, first);
        end = scan(queue, first, reserved_end(queue));
    }
    if (end == first) {
        pass_ring_on(queue, end, rung);
        return pieces;
    }
    rewrite(queue, first, end);
    publish(queue, end);
    return pieces - 1;
}

/* What submit_ready does in the most frequent case, in few instructions: one packet is there, by
 * interposition. False: that is not the case, or it is not written yet. */
static inline bool submit_one(struct rtl_queue *queue)
{
    uint64_t first = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    if (atomic_load_explicit(&queue->virtual_index, memory_order_acquire) != first + 1 ||
        first - atomic_load_explicit(&queue->read_index, memory_order_relaxed) >= queue->size ||
        rtl_real_index(queue) != first ||
        rtl_packet_type(rtl_packet_header(slot_of(queue, first))) == HSA_PACKET_TYPE_INVALID)
        return false;
    queue->rewriter.paused = rtl_recording_is_stopped();
    rtl_rewrite(&queue->rewriter, slot_of(queue, first), first, 1, rtl_symbols_epoch());
    publish(queue, first + 1);
    return true;
}

/* The other ways to submit. The submitter also submits what others ask for meanwhile, but not for
 * ever: it has other work to do. What is left then is the worker's, or the next producer's that
 * rings. */
static __attribute__((noinline)) bool submit_asking(struct rtl_queue *queue, unsigned pieces,
                                                    bool stays, bool rung)
{
    if (!rtl_submit_lock_try_or_delegate(&queue->submit_lock))
        return true;
    do {
        pieces = submit_ready(queue, pieces, rung);
        if (pieces == 0) {
            rtl_submit_lock_unlock(&queue->submit_lock);
            atomic_store_explicit(&deferred, true, memory_order_relaxed);
            return false;
        }
        rung = true; /* who asked meanwhile may have */
    } while (!rtl_submit_lock_unlock_or_repeat(&queue->submit_lock, stays));
    return true;
}

/* By interception the worker requests the lock all the time, as long as the ring is full. */
void rtl_submit(struct rtl_queue *queue)
{
    unsigned pieces = PIECES;
    if (rtl_submit_lock_try_fast(&queue->submit_lock)) { /* only by interposition */
        if (!submit_one(queue))
            pieces = submit_ready(queue, pieces, true);
        if (!rtl_submit_lock_unlock_fast(&queue->submit_lock))
            return;
    }
    (void)submit_asking(queue, pieces, queue->interception == RTL_INTERPOSED, true);
}

bool rtl_submit_some(struct rtl_queue *queue)
{
    return submit_asking(queue, FEW_PIECES, false, false);
}

bool rtl_submit_is_behind(const struct rtl_queue *queue)
{
    uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    return atomic_load_explicit(&queue->virtual_index, memory_order_relaxed) != submitted;
}

bool rtl_submit_take_deferred(void)
{
    return atomic_load_explicit(&deferred, memory_order_relaxed) &&
           atomic_exchange(&deferred, false);
}

void rtl_submit_begin(struct rtl_queue *queue)
{
    rtl_submit_lock_begin(&queue->submit_lock);
}

/* Nobody will write, or ring for, what was reserved and not submitted, but what the device has had
 * since somebody looked. */
static void skip_the_rest(struct rtl_queue *queue)
{
    if (queue->interception == RTL_COPIES_ONLY)
        return;
    uint64_t submitted = first_to_submit(queue);
    uint64_t reserved = atomic_load_explicit(&queue->virtual_index, memory_order_relaxed);
    if (reserved <= submitted)
        return;
    if (queue->interception == RTL_INTERPOSED)
        submitted = first_it_left(queue, submitted);
    if (reserved > submitted && reserved - submitted <= queue->size)
        rtl_rewrite_skip(&queue->rewriter, submitted, reserved);
}

/* Packets of the queue that are not submitted, and that the device has, or may take. */
static uint64_t count_taken(const struct rtl_queue *queue, uint64_t submitted)
{
    uint64_t real = rtl_real_index(queue);
    uint64_t taken = rtl_api.hsa_queue_load_read_index_scacquire(queue->queue);
    uint64_t end = real > taken ? real : taken;
    return end > submitted ? end - submitted : 0;
}

void rtl_submit_account(struct rtl_queue *queue)
{
    if (queue->interception != RTL_INTERPOSED ||
        !rtl_submit_lock_try_or_delegate(&queue->submit_lock))
        return;
    uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    uint64_t taken = count_taken(queue, submitted);
    if (taken > 0) {
        rtl_ledger_add_not_followed(queue->ledger, taken, taken);
        atomic_store_explicit(&queue->submitted, submitted + taken, memory_order_release);
    }
    rtl_submit_lock_unlock(&queue->submit_lock);
}

static bool end_lock(void *lock)
{
    return rtl_submit_lock_end(lock);
}

void rtl_submit_end(struct rtl_queue *queue, uint64_t deadline_ns)
{
    if (rtl_wait_until(end_lock, &queue->submit_lock, deadline_ns, END_NAP_NS))
        skip_the_rest(queue);
}

void rtl_submit_by(struct rtl_queue *queue, hsa_queue_t *handle, uint64_t deadline_ns)
{
    if (!rtl_wait_until(end_lock, &queue->submit_lock, deadline_ns, END_NAP_NS))
        return;
    queue->queue = handle;
    rtl_submit_lock_begin(&queue->submit_lock);
    rtl_submit(queue); /* what was asked for meanwhile */
}

/* ---- interception ---- */

/* Input is read-only and may be a piece of the ring that runs over its end (ROCr's first batching
 * releases). */
static void copy_packets(const struct rtl_queue *queue, const unsigned char *packets,
                         uint64_t count)
{
    const unsigned char *base = queue->queue->base_address;
    uint64_t bytes = count * RTL_PACKET_SIZE;
    uint64_t ring = queue->size * RTL_PACKET_SIZE;
    uint64_t first = bytes;
    if (packets >= base && packets < base + ring && bytes > (uint64_t)(base + ring - packets))
        first = (uint64_t)(base + ring - packets);
    memcpy(queue->staging, packets, first);
    memcpy(queue->staging + first, base, bytes - first);
}

void rtl_submit_intercepted(const void *packets, uint64_t count, uint64_t index, void *queue,
                            rtl_packet_writer_t writer)
{
    struct rtl_queue *state = queue;
    if (count == 0 || count > state->size) { /* not what the queue can hold: let it pass */
        writer(packets, count);
        return;
    }
    copy_packets(state, packets, count);
    rtl_tsan_release(state->queue->base_address);
    state->rewriter.paused = rtl_recording_is_stopped();
    uint64_t written = count;
    const void *out = state->staging;
    if (rtl_queue_is_observed(state))
        written = rtl_queues_observer()->rewrite(state, index, count, rtl_symbols_epoch(), &out);
    else
        rtl_rewrite(&state->rewriter, state->staging, index, count, rtl_symbols_epoch());
    writer(out, written);
}

/* ---- reclaiming ---- */

static unsigned reclaim_from(struct rtl_queue *queue, bool quiet)
{
    unsigned taken = rtl_harvest(queue, RECLAIM, RECLAIM);
    taken += rtl_harvest_forward(queue, quiet);
    rtl_ledger_add(&queue->ledger->helped, taken);
    return taken;
}

/* The signals may all be with other queues, so those come next, from the neighbour on. */
static unsigned reclaim_from_others(struct rtl_queue *own, unsigned enough, bool quiet)
{
    unsigned taken = 0;
    uint32_t queues = rtl_queues_count();
    for (uint32_t i = 1; i < queues && taken + enough < RECLAIM; i++) {
        struct rtl_queue *other = rtl_queues_at((own->index + i) % queues);
        if (rtl_queue_is_in(other, RTL_QUEUE_LIVE))
            taken += reclaim_from(other, quiet);
    }
    return taken;
}

static bool has_what_it_needs(struct rtl_queue *queue)
{
    return rtl_pending_room(&queue->pending) > 0 && !rtl_pool_is_empty(&rtl_signals);
}

/* To wake somebody who sleeps on a forwarded signal takes a system call: the worker's affair,
 * unless nothing else is left before a loss. What is taken from behind such a record makes no room.
 * New signals come before the records of other queues, as long as there are few; then only where
 * nothing has finished anywhere. */
unsigned rtl_submit_reclaim(void *queue)
{
    struct rtl_queue *own = queue;
    unsigned gained = reclaim_from(own, true);
    gained += rtl_signal_pool_make_now(false);
    if (has_what_it_needs(own))
        return gained;
    gained += reclaim_from_others(own, gained, true);
    if (has_what_it_needs(own))
        return gained;
    gained += reclaim_from(own, false);
    gained += reclaim_from_others(own, gained, false);
    gained += rtl_signal_pool_make_now(true);
    /* A kernel that runs on and on is the oldest, or one whose signal another thread would forward.
     */
    if (rtl_pending_room(&own->pending) == 0)
        rtl_harvest_park(own);
    return gained;
}
