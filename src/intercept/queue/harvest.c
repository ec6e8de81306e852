/*
 * One file: a batch takes records that are harvested, forwarded or parked alike, and to forward a
 * queue's signals in their order the parked records before them must be finished first.
 */
#include "intercept/queue/harvest.h"

#include "common/clock.h"
#include "common/pages.h"
#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/queue/ledger.h"
#include "intercept/queue/record_out.h"
#include "intercept/queue/shared_signal.h"

#include <inttypes.h>

#define BATCH          64u
#define FORWARD_WINDOW 512u
#define NAP_NS         50000 /* a step */
#define HELPER_STEPS   2000
#define SUSPECTS       512u
#define WAKING         64u
#define WAKING_STEPS   20000
#define MOST_PARKED    16384u
#define MOST_WAKEUPS   64u

#define CLAIMED UINT64_MAX /* for a sequence: the record was parked */

/* What has to be done with a record besides sending it. */
struct claim {
    uint64_t sequence;
    uint32_t pool_id;
    bool copy;
};

/* Kernels on their way into the ring and signals on their way back into the pool, of one queue. The
 * id and the ledger are taken when the batch begins: a slow thread may still be at it when the
 * state serves another queue.
 *
 * The program may be told at any moment that all this is done, and end: what is claimed is in the
 * ring before, as a draft (ring.h), so that it is in the trace even if whoever has claimed it never
 * comes to commit it. */
struct batch {
    struct rtl_queue *queue;
    struct rtl_wire_ledger *ledger;
    uint32_t id;
    struct rtl_wire_kernel kernels[BATCH];
    struct claim claims[BATCH]; /* of the kernels: not made yet */
    uint32_t ids[BATCH];
    unsigned kernel_count, id_count;
    unsigned taken;
    uint64_t last_end; /* ticks */
    uint64_t given_up; /* kernels, when the queue is closed */
    uint64_t retired;  /* packet after the last that completed */
};

struct parked_record {
    struct rtl_queue *queue;
    bool ready; /* to be finished; of who looks after them */
    struct rtl_kernel_facts facts;
};

static struct parked_record *parked; /* NULL before the first; its taker's */
static _Atomic unsigned parked_count;
static _Atomic bool parked_taken;

static enum rtl_borrower classify(struct rtl_record_id id, uint64_t handle)
{
    return rtl_pending_classify(&rtl_queues_at(id.queue_index)->pending, id.sequence, handle);
}

/* Not an initialiser: that would clear four kilobytes each time. */
static void begin(struct batch *batch, struct rtl_queue *queue)
{
    batch->queue = queue;
    /* A parked record has a queue, though the table that it lies in was zeros. */
    batch->ledger = queue->ledger; // NOLINT(clang-analyzer-core.NullDereference)
    batch->id = queue->id;
    batch->kernel_count = 0;
    batch->id_count = 0;
    batch->taken = 0;
    batch->last_end = 0;
    batch->given_up = 0;
    batch->retired = 0;
}

/* The state may serve another queue by now. */
static void tell_retired(const struct batch *batch)
{
    struct rtl_queue *queue = batch->queue;
    uint64_t known = atomic_load_explicit(&queue->retired, memory_order_relaxed);
    while (known < batch->retired && queue->id == batch->id &&
           !atomic_compare_exchange_weak_explicit(&queue->retired, &known, batch->retired,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static void give_back(struct batch *batch)
{
    rtl_pool_give(&rtl_signals, batch->ids, batch->id_count);
    batch->id_count = 0;
}

/* Readies a pool signal for its next use. The times are cleared so that a device that writes none
 * is noticed. */
static void recycle(struct batch *batch, uint32_t pool_id, bool copy)
{
    uint64_t handle = rtl_pool_handle(&rtl_signals, pool_id);
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)handle;
    if (copy)
        rtl_shared_signal_clear_copy(handle);
    /* Another harvester may be reading them for a record that it then fails to claim. */
    __atomic_store_n(&signal->start_ts, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&signal->end_ts, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&signal->value, 1, __ATOMIC_RELAXED);
    batch->ids[batch->id_count++] = pool_id;
    if (batch->id_count >= rtl_pool_share(&rtl_signals, BATCH))
        give_back(batch);
}

static bool claim(struct batch *batch, const struct claim *record)
{
    if (record->sequence != CLAIMED && !rtl_pending_claim(&batch->queue->pending, record->sequence))
        return false;
    batch->taken++;
    if (record->pool_id != RTL_NONE)
        recycle(batch, record->pool_id, record->copy);
    return true;
}

/* Claims the first kernels of some; those that are the caller's are moved to the front. Returns how
 * many. */
static unsigned claim_kernels(struct batch *batch, unsigned first, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = first; i < first + count; i++)
        if (claim(batch, &batch->claims[i]))
            batch->kernels[first + kept++] = batch->kernels[i];
    return kept;
}

/* Claims drafted kernels and commits them. They are counted before that: a reader that finds the
 * draft of a dead process counts anew. */
static void send(struct batch *batch, unsigned first, unsigned count,
                 const struct rtl_emit_draft *draft)
{
    struct rtl_wire_ledger *ledger = batch->ledger;
    unsigned kept = claim_kernels(batch, first, count);
    rtl_ledger_add(&ledger->recorded, kept);
    if (kept == count) {
        rtl_emit_commit_kernels(draft, &batch->kernels[first], count);
        return;
    }
    unsigned lost = kept - rtl_emit_kernels(&batch->kernels[first], kept);
    atomic_fetch_sub_explicit(&ledger->recorded, lost, memory_order_relaxed);
    rtl_ledger_add(&ledger->lost[rtl_emit_why()], lost);
    rtl_emit_give_up(draft);
}

/* The last end first: a thread that finds a record claimed is to know that there is one. */
static void tell_last_end(struct batch *batch)
{
    _Atomic uint64_t *last_end = &batch->queue->last_end_ticks;
    if (batch->last_end > atomic_load_explicit(last_end, memory_order_relaxed))
        atomic_store_explicit(last_end, batch->last_end, memory_order_relaxed);
}

static void send_all(struct batch *batch)
{
    unsigned done = 0;
    tell_last_end(batch);
    while (done < batch->kernel_count) {
        struct rtl_emit_draft draft;
        unsigned some =
            rtl_emit_draft_kernels(&batch->kernels[done], batch->kernel_count - done, &draft);
        if (some == 0)
            break;
        send(batch, done, some, &draft);
        done += some;
    }
    rtl_ledger_add(&batch->ledger->lost[rtl_emit_why()],
                   claim_kernels(batch, done, batch->kernel_count - done));
    batch->kernel_count = 0;
}

static void flush(struct batch *batch)
{
    send_all(batch);
    give_back(batch);
    if (batch->queue->interception == RTL_INTERCEPTED)
        tell_retired(batch);
}

/* Adds a kernel to those that will be claimed; false if there is nothing to send of it: it is
 * claimed now, and counted as lost for `*why`. */
static bool append(struct batch *batch, const struct claim *record,
                   const struct rtl_kernel_facts *facts, enum rtl_lost *why)
{
    if (batch->kernel_count == BATCH)
        send_all(batch);
    if (!rtl_out_kernel(&batch->kernels[batch->kernel_count], batch->id, facts, why))
        return false;
    batch->claims[batch->kernel_count++] = *record;
    if (facts->end > batch->last_end)
        batch->last_end = facts->end;
    return true;
}

static void finish_kernel(struct batch *batch, const struct claim *record,
                          const struct rtl_kernel_facts *facts)
{
    enum rtl_lost why;
    if (!append(batch, record, facts, &why) && claim(batch, record))
        rtl_ledger_add(&batch->ledger->lost[why], 1);
}

static void finish_copy(struct batch *batch, const struct claim *record,
                        const struct rtl_kernel_facts *facts)
{
    struct rtl_wire_ledger *ledger = batch->ledger;
    struct rtl_copy_draft copy;
    enum rtl_copy_sent sent = rtl_out_draft_copy(batch->id, facts, &copy);
    if (sent != RTL_COPY_NO_TIME && facts->end > batch->last_end)
        batch->last_end = facts->end;
    tell_last_end(batch);
    bool claimed = claim(batch, record);
    if (sent != RTL_COPY_SENT) {
        rtl_ledger_add(&ledger->lost[sent == RTL_COPY_NO_ROOM ? rtl_emit_why() : RTL_LOST_NO_TIME],
                       claimed);
        return;
    }
    rtl_ledger_add(&ledger->recorded, claimed);
    if (claimed)
        rtl_out_commit_copy(&copy);
    else
        rtl_emit_give_up(&copy.draft);
}

/* Everything that follows from a record's being complete. A kernel's is claimed when the batch is
 * sent. */
static void finish(struct batch *batch, uint64_t sequence, const struct rtl_kernel_facts *facts)
{
    struct claim record = {sequence, facts->pool_id, (facts->flags & RTL_RECORD_COPY) != 0};
    if (facts->packet >= batch->retired)
        batch->retired = facts->packet + 1;
    if (record.copy)
        finish_copy(batch, &record, facts);
    else if ((facts->flags & RTL_RECORD_BARRIER) == 0)
        finish_kernel(batch, &record, facts);
    else
        (void)claim(batch, &record);
}

/* Looks at a finished record that needs no forwarding, one that was armed again unseen included. */
static enum rtl_take look_thoroughly(struct rtl_pending *pending, uint64_t sequence,
                                     struct rtl_kernel_facts *facts)
{
    enum rtl_take found = rtl_pending_look(pending, &rtl_signals, sequence, false, facts);
    if (found == RTL_TAKE_WAITING && rtl_pending_look_rearmed(pending, sequence, facts))
        return RTL_TAKE_TAKEN;
    return found;
}

unsigned rtl_harvest(struct rtl_queue *queue, unsigned most, unsigned max_incomplete)
{
    struct rtl_pending *pending = &queue->pending;
    struct batch batch;
    begin(&batch, queue);
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&pending->head, memory_order_acquire);
    unsigned found = 0;
    unsigned waiting = 0;
    for (; at < tail && found < most && waiting < max_incomplete; at++) {
        struct rtl_kernel_facts facts;
        rtl_pending_prefetch(pending, &rtl_signals, at, tail);
        enum rtl_take take = max_incomplete == RTL_HARVEST_ALL
                                 ? look_thoroughly(pending, at, &facts)
                                 : rtl_pending_look(pending, &rtl_signals, at, false, &facts);
        if (take == RTL_TAKE_TAKEN) {
            finish(&batch, at, &facts);
            found++;
            waiting = 0;
        } else if (take == RTL_TAKE_WAITING) {
            waiting++;
        }
    }
    flush(&batch);
    rtl_pending_advance(pending);
    return batch.taken;
}

/* Finishes a borrowed record that is named; true if it is gone. */
static bool finish_borrowed(struct rtl_record_id id)
{
    struct rtl_queue *queue = rtl_queues_at(id.queue_index);
    struct rtl_kernel_facts facts;
    enum rtl_take found = look_thoroughly(&queue->pending, id.sequence, &facts);
    if (found == RTL_TAKE_TAKEN) {
        struct batch batch;
        begin(&batch, queue);
        finish(&batch, id.sequence, &facts);
        flush(&batch);
        rtl_ledger_add(&queue->ledger->helped, batch.taken);
    }
    return found == RTL_TAKE_TAKEN || found == RTL_TAKE_DONE;
}

bool rtl_harvest_begin(void)
{
    struct rtl_borrow_table *table =
        rtl_borrows != NULL ? rtl_borrows : rtl_pages(sizeof *rtl_borrows);
    if (table == NULL)
        return false;
    table->classify = classify;
    table->finish = finish_borrowed;
    rtl_borrows = table;
    return true;
}

/* ---- the program's signals ---- */

/* How many threads are inside the runtime to wake waiters, by signal. The runtime's objects
 * go with hsa_signal_destroy, and the program may call that as soon as it sees the new value. */
static _Atomic uint32_t waking[WAKING];

static _Atomic uint32_t *waking_of(uint64_t handle)
{
    return &waking[(handle >> 7) % WAKING]; /* ROCr's signals are 128 bytes apart */
}

static bool has_waiter(uint64_t handle)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    return signal->kind == AMD_SIGNAL_KIND_USER && signal->event_mailbox_ptr != 0;
}

/* Signals that are down and on which somebody may be asleep. To wake him takes a system call, in
 * which the thread may lose its processor: that comes when nothing is held any more that others
 * need to go on. */
struct wakeups {
    uint64_t handles[MOST_WAKEUPS];
    unsigned count;
};

#ifdef RTL_TEST_LOWERED
void RTL_TEST_LOWERED(uint64_t handle); /* compiled in by the fuzzer alone: its model sees each */
#else
#define RTL_TEST_LOWERED(handle) ((void)(handle))
#endif

/* A device knows memory alone, and so do we: a signal that was destroyed before (recorded packets
 * keep such handles) is not the runtime's any more. There must be room among the wakeups. */
static void decrement(uint64_t handle, struct wakeups *wakeups)
{
    amd_signal_t *memory = (amd_signal_t *)(uintptr_t)handle;
    bool waited_on = has_waiter(handle);
    if (waited_on) {
        atomic_fetch_add(waking_of(handle), 1);
        wakeups->handles[wakeups->count++] = handle;
    }
    __atomic_fetch_sub(&memory->value, 1, __ATOMIC_RELEASE);
    RTL_TEST_LOWERED(handle);
}

/* The runtime wakes waiters when it is told to change the signal, by nothing here. */
static void send_wakeups(struct wakeups *wakeups)
{
    for (unsigned i = 0; i < wakeups->count; i++) {
        hsa_signal_t signal = {wakeups->handles[i]};
        rtl_api.hsa_signal_subtract_screlease(signal, 0);
        atomic_fetch_sub(waking_of(signal.handle), 1);
    }
    wakeups->count = 0;
}

static void wait_for_wakeups(uint64_t handle)
{
    for (int i = 0; i < WAKING_STEPS && atomic_load(waking_of(handle)) != 0; i++)
        rtl_nap(NAP_NS);
}

void rtl_harvest_forked(void)
{
    for (unsigned i = 0; i < WAKING; i++)
        atomic_store(&waking[i], 0);
    rtl_borrow_forked(rtl_borrows);
}

/* Completes the program's signal, which is held, as the device would have: times first, then the
 * decrement. Times that a borrower has not read yet stay. */
static void forward(struct rtl_queue *queue, const struct rtl_kernel_facts *facts,
                    struct wakeups *wakeups)
{
    struct rtl_record_id id;
    if (!rtl_borrow_find(rtl_borrows, facts->app_signal, &id) || finish_borrowed(id))
        rtl_signal_put_times(facts->app_signal, facts);
    decrement(facts->app_signal, wakeups);
    rtl_borrow_let_go(rtl_borrows, facts->app_signal);
    atomic_fetch_sub_explicit(&queue->pending.to_forward, 1, memory_order_release);
    rtl_ledger_add(&queue->ledger->forwarded, 1);
}

static void set_ready(struct rtl_pending *pending, uint64_t sequence, bool on)
{
    uint64_t place = sequence & pending->mask;
    uint8_t bit = (uint8_t)(1u << place % 8);
    if (on)
        pending->ready[place / 8] |= bit;
    else
        pending->ready[place / 8] &= (uint8_t)~bit;
}

static bool is_ready(const struct rtl_pending *pending, uint64_t sequence)
{
    uint64_t place = sequence & pending->mask;
    return (pending->ready[place / 8] >> place % 8 & 1) != 0;
}

/* Newest first: what is found complete then has all its predecessors complete when they are looked
 * at. */
static void note_ready(struct rtl_pending *pending, uint64_t head, uint64_t tail)
{
    for (uint64_t at = tail; at-- > head;)
        set_ready(pending, at, rtl_pending_must_forward(pending, &rtl_signals, at));
}

/* The list of parked records is one thread's at a time. */
static bool enter_parked(void)
{
    return !atomic_exchange_explicit(&parked_taken, true, memory_order_acquire);
}

static void leave_parked(void)
{
    atomic_store_explicit(&parked_taken, false, memory_order_release);
}

/* The signals of a queue are forwarded by one thread at a time. */
static bool enter_forwarding(struct rtl_queue *queue)
{
    return !atomic_exchange_explicit(&queue->forwarding, true, memory_order_acquire);
}

static void leave_forwarding(struct rtl_queue *queue)
{
    atomic_store_explicit(&queue->forwarding, false, memory_order_release);
}

static void send_parked(const struct parked_record *record)
{
    struct batch batch;
    begin(&batch, record->queue);
    finish(&batch, CLAIMED, &record->facts);
    flush(&batch);
}

/* False if another thread is just forwarding for its queue, of which what that one has in hand
 * comes first, or to its signal, or borrowing that. `forwarding`: queue that the caller forwards
 * for. */
static bool forward_parked(struct parked_record *record, const struct rtl_queue *forwarding,
                           struct wakeups *wakeups)
{
    struct rtl_queue *queue = record->queue;
    bool entered = queue != forwarding;
    if (wakeups->count == MOST_WAKEUPS || (entered && !enter_forwarding(queue)))
        return false;
    bool holds = rtl_borrow_hold(rtl_borrows, record->facts.app_signal);
    if (holds) {
        send_parked(record);
        forward(queue, &record->facts, wakeups);
    }
    if (entered)
        leave_forwarding(queue);
    return holds;
}

/* False if it has to be forwarded and cannot be just now. */
static bool finish_parked(struct parked_record *record, const struct rtl_queue *forwarding,
                          struct wakeups *wakeups)
{
    rtl_signal_times(rtl_pool_handle(&rtl_signals, record->facts.pool_id), &record->facts);
    if (rtl_is_replaced(&record->facts))
        return forward_parked(record, forwarding, wakeups);
    send_parked(record);
    return true;
}

/* What stands behind one that could not be finished waits for its turn. */
static void hold_back(unsigned from, unsigned all)
{
    for (unsigned i = from + 1; i < all; i++)
        if (parked[i].queue == parked[from].queue)
            parked[i].ready = false;
}

/* In the order of submission, and newest first where completion is looked at, as in note_ready. */
static unsigned finish_all_parked(const struct rtl_queue *forwarding, struct wakeups *wakeups)
{
    unsigned all = parked_count;
    unsigned kept = 0;
    for (unsigned i = all; i-- > 0;)
        parked[i].ready =
            rtl_signal_completed(rtl_pool_handle(&rtl_signals, parked[i].facts.pool_id));
    for (unsigned i = 0; i < all; i++) {
        if (parked[i].ready && finish_parked(&parked[i], forwarding, wakeups))
            continue;
        if (parked[i].ready)
            hold_back(i, all);
        parked[kept++] = parked[i];
    }
    parked_count = kept;
    return all - kept;
}

/* The signal of the first of the queue's parked records that could be forwarded, or 0. */
static uint64_t first_parked(const struct rtl_queue *queue)
{
    for (unsigned i = 0; i < parked_count; i++)
        if (parked[i].queue == queue && rtl_is_replaced(&parked[i].facts) &&
            rtl_signal_completed(rtl_pool_handle(&rtl_signals, parked[i].facts.pool_id)))
            return parked[i].facts.app_signal;
    return 0;
}

/* Parked records are older than all that are pending: those that had completed when the others were
 * looked at go first. Not by a quiet helper, who may raise nothing. */
static bool finish_parked_first(const struct rtl_queue *queue, bool quiet, struct wakeups *wakeups)
{
    if (parked_count == 0 && !atomic_load_explicit(&parked_taken, memory_order_acquire))
        return true;
    if (quiet || !enter_parked())
        return false;
    (void)finish_all_parked(queue, wakeups);
    bool all = first_parked(queue) == 0;
    leave_parked();
    return all;
}

/* Forwards a record that is ready and was noted as such: what the program is told of is in the ring
 * before. False: the rest of the queue has to wait. */
static bool forward_record(struct batch *batch, uint64_t sequence, bool quiet,
                           struct wakeups *wakeups)
{
    struct rtl_queue *queue = batch->queue;
    struct rtl_kernel_facts facts;
    uint64_t app_signal = rtl_pending_app_signal(&queue->pending, sequence);
    if (app_signal == 0 || (quiet && has_waiter(app_signal)) ||
        !rtl_borrow_hold(rtl_borrows, app_signal))
        return false; /* without a signal: it was parked, and comes first the next time */
    unsigned before = batch->taken;
    if (rtl_pending_look(&queue->pending, &rtl_signals, sequence, true, &facts) == RTL_TAKE_TAKEN) {
        finish(batch, sequence, &facts);
        send_all(batch);
    }
    if (batch->taken == before) {
        rtl_borrow_let_go(rtl_borrows, app_signal);
        return false;
    }
    forward(queue, &facts, wakeups);
    return true;
}

/* Not only a piece behind the oldest record: that one's kernel may run for ever, and the program
 * may be waiting for the last. */
static unsigned forward_ready(struct rtl_queue *queue, bool quiet, struct wakeups *wakeups)
{
    struct rtl_pending *pending = &queue->pending;
    uint64_t head = atomic_load_explicit(&pending->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    if (quiet && tail - head > FORWARD_WINDOW)
        tail = head + FORWARD_WINDOW;
    note_ready(pending, head, tail);
    if (!finish_parked_first(queue, quiet, wakeups))
        return 0;
    struct batch batch;
    begin(&batch, queue);
    for (uint64_t at = head; at < tail && wakeups->count < MOST_WAKEUPS; at++)
        if (is_ready(pending, at) && !forward_record(&batch, at, quiet, wakeups))
            break;
    flush(&batch);
    rtl_pending_advance(pending);
    return batch.taken;
}

unsigned rtl_harvest_forward(struct rtl_queue *queue, bool quiet)
{
    struct wakeups wakeups;
    unsigned taken = 0;
    bool more = true;
    while (more && atomic_load_explicit(&queue->pending.to_forward, memory_order_relaxed) != 0 &&
           enter_forwarding(queue)) {
        wakeups.count = 0;
        taken += forward_ready(queue, quiet, &wakeups);
        leave_forwarding(queue);
        more = wakeups.count == MOST_WAKEUPS;
        send_wakeups(&wakeups);
    }
    return taken;
}

static bool has_to_forward(const struct rtl_queue *queue)
{
    return rtl_queue_is_in(queue, RTL_QUEUE_LIVE) &&
           atomic_load_explicit(&queue->pending.to_forward, memory_order_relaxed) != 0;
}

bool rtl_forwards_pending(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        if (has_to_forward(rtl_queues_at(i)))
            return true;
    return false;
}

unsigned rtl_forward_ready_all(void)
{
    unsigned taken = 0;
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        if (has_to_forward(rtl_queues_at(i)))
            taken += rtl_harvest_forward(rtl_queues_at(i), false);
    return taken;
}

/* Counts a record that is given up. A borrowed signal that is below 1 has been brought there, but
 * no times are in it. */
static void give_up(struct rtl_queue *queue, const struct rtl_kernel_facts *facts,
                    enum rtl_lost why)
{
    if (facts->pool_id == RTL_NONE && rtl_signal_completed(facts->app_signal))
        why = RTL_LOST_NO_TIME;
    if ((facts->flags & RTL_RECORD_BARRIER) == 0)
        rtl_ledger_add(&queue->ledger->lost[why], 1);
}

/* There is room for twice the queue: half of it may be kernels in flight in their turn. */
static bool is_crowded(const struct rtl_queue *queue)
{
    const struct rtl_pending *pending = &queue->pending;
    uint64_t head = atomic_load_explicit(&pending->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    return tail - head > (pending->mask + 1) / 4 * 3 && parked_count < MOST_PARKED;
}

/* One that is to be forwarded in its turn, which another thread would do that has no processor just
 * now, is parked as well. */
static void clear_head(struct batch *batch, uint64_t head)
{
    struct rtl_queue *queue = batch->queue;
    struct rtl_kernel_facts facts;
    enum rtl_take found = look_thoroughly(&queue->pending, head, &facts);
    if (found == RTL_TAKE_TAKEN) { /* it has just completed */
        finish(batch, head, &facts);
        send_all(batch);
    }
    if (found == RTL_TAKE_TAKEN || found == RTL_TAKE_DONE ||
        !rtl_pending_abandon(&queue->pending, head, &facts))
        return;
    if (facts.pool_id == RTL_NONE) { /* the program may re-arm its signal unseen */
        give_up(queue, &facts, RTL_LOST_PENDING);
        (void)rtl_borrow_set_busy(rtl_borrows, facts.app_signal);
    } else {
        parked[parked_count++] = (struct parked_record){.queue = queue, .facts = facts};
    }
}

/* The list's taker's. */
static bool can_park(void)
{
    if (parked == NULL)
        parked = rtl_pages(MOST_PARKED * sizeof *parked);
    return parked != NULL;
}

void rtl_harvest_park(struct rtl_queue *queue)
{
    struct rtl_pending *pending = &queue->pending;
    struct batch batch;
    if (!is_crowded(queue) || !enter_parked())
        return;
    begin(&batch, queue);
    for (unsigned cleared = 0; cleared < BATCH && is_crowded(queue) && can_park(); cleared++) {
        clear_head(&batch, atomic_load_explicit(&pending->head, memory_order_acquire));
        rtl_pending_advance(pending);
    }
    flush(&batch);
    leave_parked();
}

/* A record that looks re-armed in two rounds is: the device is not just completing its kernel. */
void rtl_harvest_rearmed(struct rtl_queue *queue)
{
    struct rtl_pending *pending = &queue->pending;
    struct rtl_kernel_facts facts;
    struct batch batch;
    begin(&batch, queue);
    for (uint64_t at = pending->suspect; at < pending->suspect_end; at++)
        if (rtl_pending_look_rearmed(pending, at, &facts))
            finish(&batch, at, &facts);
    flush(&batch);
    rtl_pending_advance(pending);
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&pending->head, memory_order_acquire);
    pending->suspect = at;
    while (at < tail && at - pending->suspect < SUSPECTS && rtl_pending_is_rearmed(pending, at))
        at++;
    pending->suspect_end = at;
}

unsigned rtl_harvest_finish_parked(void)
{
    struct wakeups wakeups = {.count = 0};
    if (parked_count == 0 || !enter_parked())
        return 0;
    unsigned finished = finish_all_parked(NULL, &wakeups);
    leave_parked();
    send_wakeups(&wakeups);
    return finished;
}

/* A helper has microseconds left to go; without a processor, some more. */
static void wait_for_helper(_Atomic bool *busy)
{
    for (int i = 0; i < HELPER_STEPS && atomic_load(busy); i++)
        rtl_nap(NAP_NS);
}

/* The signal of the first record that could be forwarded, or 0. */
static uint64_t first_to_forward(struct rtl_pending *pending)
{
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    for (uint64_t at = atomic_load_explicit(&pending->head, memory_order_acquire); at < tail; at++)
        if (rtl_pending_must_forward(pending, &rtl_signals, at))
            return rtl_pending_app_signal(pending, at);
    return 0;
}

/* True after a nap, if a signal could not be forwarded because somebody else forwards to it, or is
 * about to borrow it. He has as long to go as a helper; the naps are counted. */
static bool wait_for_other(uint64_t app_signal, int *naps)
{
    if (app_signal == 0 || *naps == HELPER_STEPS ||
        !rtl_borrow_is_contended(rtl_borrows, app_signal))
        return false;
    ++*naps;
    rtl_nap(NAP_NS);
    return true;
}

/* The pool signal can serve again if the device is done with it. */
static void close_record(struct batch *batch, const struct rtl_kernel_facts *facts)
{
    give_up(batch->queue, facts, RTL_LOST_SHUTDOWN);
    batch->given_up += (facts->flags & RTL_RECORD_BARRIER) == 0;
    if (facts->pool_id == RTL_NONE || !batch->queue->hw_destroyed)
        return;
    recycle(batch, facts->pool_id, (facts->flags & RTL_RECORD_COPY) != 0);
}

static void close_parked(struct batch *batch)
{
    struct wakeups wakeups = {.count = 0};
    int naps = 0;
    wait_for_helper(&parked_taken);
    if (!enter_parked())
        return;
    do
        send_wakeups(&wakeups);
    while ((finish_all_parked(NULL, &wakeups) > 0 && wakeups.count == MOST_WAKEUPS) ||
           wait_for_other(first_parked(batch->queue), &naps));
    unsigned kept = 0;
    for (unsigned i = 0; i < parked_count; i++) {
        if (parked[i].queue == batch->queue)
            close_record(batch, &parked[i].facts);
        else
            parked[kept++] = parked[i];
    }
    parked_count = kept;
    leave_parked();
    send_wakeups(&wakeups);
}

void rtl_harvest_close(struct rtl_queue *queue)
{
    struct rtl_pending *pending = &queue->pending;
    int naps = 0;
    wait_for_helper(&queue->forwarding);
    while (rtl_harvest_forward(queue, false) > 0 ||
           rtl_harvest(queue, UINT32_MAX, RTL_HARVEST_ALL) > 0 ||
           wait_for_other(first_to_forward(pending), &naps))
        continue;
    struct batch batch;
    begin(&batch, queue);
    close_parked(&batch);
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    for (uint64_t at = atomic_load_explicit(&pending->head, memory_order_acquire); at < tail;
         at++) {
        struct rtl_kernel_facts facts;
        if (rtl_pending_abandon(pending, at, &facts))
            close_record(&batch, &facts);
    }
    flush(&batch);
    if (!queue->hw_destroyed && batch.given_up > 0)
        rtl_emit_note(queue->id,
                      "%" PRIu64 " kernels had not completed when the runtime was shut down, and "
                      "were given up",
                      batch.given_up);
    atomic_store_explicit(&pending->to_forward, 0, memory_order_relaxed);
    rtl_pending_advance(pending);
}

void rtl_harvest_finish_borrowed(uint64_t handle, bool destroyed)
{
    struct rtl_record_id id;
    struct rtl_kernel_facts facts;
    if (destroyed)
        wait_for_wakeups(handle);
    if (destroyed || rtl_signal_completed(handle))
        rtl_borrow_clear_busy(rtl_borrows, handle);
    if (!rtl_borrow_find(rtl_borrows, handle, &id) || finish_borrowed(id) || !destroyed)
        return;
    struct rtl_queue *queue = rtl_queues_at(id.queue_index);
    /* Before the record goes: the worker may be closing the queue at this moment. */
    bool live = rtl_queue_is_in(queue, RTL_QUEUE_LIVE);
    if (rtl_pending_abandon(&queue->pending, id.sequence, &facts))
        give_up(queue, &facts, live ? RTL_LOST_REARMED : RTL_LOST_SHUTDOWN);
}

bool rtl_harvest_has_parked(void)
{
    return atomic_load(&parked_count) > 0;
}

bool rtl_harvest_has_parked_since(uint64_t least)
{
    bool found = false;
    if (!rtl_harvest_has_parked())
        return false;
    if (!enter_parked())
        return true;
    for (unsigned i = 0; i < parked_count && !found; i++)
        found = (parked[i].facts.flags & RTL_RECORD_BARRIER) == 0 &&
                parked[i].facts.correlation >= least;
    leave_parked();
    return found;
}

uint64_t rtl_harvest_unfinished(void)
{
    uint64_t unfinished = parked_count;
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        unfinished += rtl_pending_unfinished(&rtl_queues_at(i)->pending);
    return unfinished;
}
