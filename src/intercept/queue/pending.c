#include "common/pages.h"
#include "common/tsan.h"
#include "intercept/queue/pending_add.h"
#include "intercept/queue/shared_signal.h"

#define OURS         UINT32_C(0x52544c73)
#define SIGNALS_SOON 6u /* records ahead whose signals a harvester prefetches */
#define RECORDS_SOON 12u
#define OF_RECORD                                                                                  \
    (RTL_RECORD_BORROWED | RTL_RECORD_PLAIN | RTL_RECORD_HAS_APP_SIGNAL) /* not of facts */

/* Why a harvester may look for a record without a lock, while the submitter reuses its slab:
 *
 * - A slab stays in its slot of the table until `passed` and `head` are beyond all its records,
 *   which the table's size sees to. So any thread that knows that a record was added, through
 *   `tail` or through an entry of the borrow table that was made after the slab was begun, finds
 *   the record in the table as long as it is pending. A slab that it finds in any other case has
 *   no record of that state: numbers are not used twice, and memory that is new is zeros.
 * - A record is written when the former one of its place is done: the submitter passed the slab
 *   because it read so in `head`, with acquire, and with that came after all claims in it. A thread
 *   that claims a record has changed its state from pending, so nobody has written to the record
 *   since it was added, and what the thread read before is that record's.
 * - A thread that only looks reads `state` again behind a fence. Had it read a word of a later
 *   record, the submitter's fence at the beginning of that record's slab would come before, and
 *   with it the end of the former record: the state would be another one.
 */

static const struct rtl_last_origin no_origin = {.launch = RTL_NONE, .place = UINT64_MAX};

/* The table goes far enough for the slabs that are begun or next, rounded up. */
static uint64_t table_for(uint64_t records)
{
    return records == RTL_SLAB ? 4 : 2 * records / RTL_SLAB;
}

bool rtl_pending_init(struct rtl_pending *pending, struct rtl_slabs *slabs, uint64_t capacity)
{
    uint64_t records = RTL_SLAB;
    while (records < capacity)
        records *= 2;
    uint64_t slots = table_for(records);
    uint64_t spares = records / RTL_SLAB + 2; /* those begun, and the next one */
    uint64_t far = slots > RTL_INLINE_SLOTS ? slots : 0;
    uint64_t bytes = far * sizeof *pending->table + spares * sizeof *pending->spares + records / 8;
    void *memory = rtl_pages(bytes);
    if (memory == NULL)
        return false;
    pending->slabs = slabs;
    pending->table = far > 0 ? (_Atomic uint32_t *)memory : pending->inline_slots;
    pending->spares = (uint32_t *)memory + far;
    pending->ready = (uint8_t *)(pending->spares + spares);
    pending->table_mask = slots - 1;
    pending->mask = records - 1;
    pending->memory = memory;
    pending->mapped = bytes;
    pending->last = no_origin;
    rtl_prefault(memory, (unsigned char *)memory + bytes);
    return true;
}

static _Atomic uint32_t *slot_of(const struct rtl_pending *pending, uint64_t at)
{
    return &pending->table[at & pending->table_mask];
}

/* Slabs whose records are all done become spares. They stay in the table until others come to
 * their slots. */
static void pass_done_slabs(struct rtl_pending *pending, uint64_t head)
{
    for (; (pending->passed + 1) * RTL_SLAB <= head; pending->passed++)
        pending->spares[pending->spare_count++] =
            atomic_load_explicit(slot_of(pending, pending->passed), memory_order_relaxed);
}

void rtl_pending_end(struct rtl_pending *pending)
{
    for (; pending->passed < pending->chosen; pending->passed++)
        rtl_slabs_give(pending->slabs, atomic_load_explicit(slot_of(pending, pending->passed),
                                                            memory_order_relaxed));
    while (pending->spare_count > 0)
        rtl_slabs_give(pending->slabs, pending->spares[--pending->spare_count]);
    rtl_pages_give(pending->memory, pending->mapped);
}

/* Of the spares, the one that was done last is in the nearest cache. */
static unsigned take_slabs(struct rtl_pending *pending, uint32_t *numbers, unsigned count)
{
    unsigned taken = 0;
    while (taken < count && pending->spare_count > 0)
        numbers[taken++] = pending->spares[--pending->spare_count];
    if (taken < count)
        taken += rtl_slabs_take(pending->slabs, numbers + taken, count - taken);
    return taken;
}

/* Sees to it that there are slabs for all slots of the table before `end`, at most two more. All
 * are taken before the first is written there: to take one has a locked instruction, which would
 * wait for that. False without memory. */
static bool choose(struct rtl_pending *pending, uint64_t end)
{
    uint32_t numbers[2];
    unsigned wanted = (unsigned)(end - pending->chosen);
    unsigned taken = take_slabs(pending, numbers, wanted);
    for (unsigned i = 0; i < taken; i++)
        atomic_store_explicit(slot_of(pending, pending->chosen++), numbers[i],
                              memory_order_release);
    return taken == wanted;
}

/* Goes on in the slab of `tail`, and chooses the one behind it, so that its lines can be
 * prefetched. False without memory. */
static bool begin_slab(struct rtl_pending *pending, uint64_t tail, uint64_t head)
{
    pass_done_slabs(pending, head);
    bool has_next = choose(pending, tail / RTL_SLAB + 2);
    if (pending->chosen * RTL_SLAB <= tail)
        return false;
    unsigned char *slab = (unsigned char *)rtl_record_slab_at(pending, tail);
    unsigned char *next = (unsigned char *)rtl_record_slab_at(pending, tail + RTL_SLAB);
    pending->next = (struct rtl_record *)(void *)slab;
    pending->ahead = has_next ? next - slab : 0;
    pending->last = no_origin;
    rtl_fence(memory_order_release); /* see above */
    return true;
}

uint64_t rtl_pending_find_room(struct rtl_pending *pending)
{
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&pending->head, memory_order_acquire);
    if (tail - head > pending->mask)
        return 0;
    if (tail % RTL_SLAB == 0 && !begin_slab(pending, tail, head))
        return 0;
    uint64_t full = head + pending->mask + 1;
    uint64_t end = (tail / RTL_SLAB + 1) * RTL_SLAB;
    pending->limit = full < end ? full : end;
    return pending->limit - tail;
}

/* Where a record is if it is pending, and its state then. */
struct record_ref {
    struct rtl_record_slab *slab;
    struct rtl_record *record;
    uint64_t pending;
};

static inline struct record_ref find(const struct rtl_pending *pending, uint64_t sequence)
{
    struct rtl_record_slab *slab = rtl_record_slab_at(pending, sequence);
    return (struct record_ref){slab, &slab->records[sequence % RTL_SLAB],
                               rtl_record_state(sequence, RTL_RECORD_PENDING)};
}

/* The state of the same record when it is done. */
static uint64_t done(const struct record_ref *ref)
{
    return ref->pending - RTL_RECORD_PENDING + RTL_RECORD_DONE;
}

static uint64_t state_at(const struct record_ref *ref)
{
    return atomic_load_explicit(&ref->record->state, memory_order_acquire);
}

static bool is_pending(const struct record_ref *ref)
{
    return state_at(ref) == ref->pending;
}

/* What tells whether a record's kernel has completed: less than all that is in it, since it is
 * looked at again and again until then. */
struct record_snapshot {
    uint64_t packet, tag; /* as in the record */
    uint64_t app_signal;  /* the program's signal, 0 if there is none */
};

static bool has_flag(const struct record_snapshot *snapshot, uint32_t flag)
{
    return (rtl_record_flags(snapshot->packet) & flag) != 0;
}

/* False if the record is not pending there. */
static inline bool take_snapshot(const struct record_ref *ref, struct record_snapshot *snapshot)
{
    if (!is_pending(ref))
        return false;
    snapshot->packet = rtl_pending_get(&ref->record->packet);
    snapshot->tag = rtl_pending_get(&ref->record->tag);
    snapshot->app_signal = rtl_record_app_signal(ref->record);
    /* The place may have been used again since: look before following a pointer. */
    rtl_fence(memory_order_acquire);
    return is_pending(ref);
}

static void read_origin(struct rtl_record_origin *origin, struct rtl_kernel_facts *facts)
{
    uint64_t launch = rtl_pending_get(&origin->launch_base);
    facts->correlation = rtl_pending_get(&origin->correlation);
    facts->launch = (uint32_t)launch;
    if (facts->launch != RTL_NONE)
        facts->ordinal = (uint32_t)(launch >> 32) + (uint32_t)facts->packet;
}

/* The rest of a record. */
static inline void read_facts(const struct record_ref *ref, const struct record_snapshot *snapshot,
                              struct rtl_kernel_facts *facts)
{
    struct rtl_record *record = ref->record;
    uint64_t packet = snapshot->packet;
    uint64_t tag = snapshot->tag;
    uint64_t block = rtl_pending_get(&record->block);
    uint64_t z_x = rtl_pending_get(&record->block_z_grid_x);
    uint64_t y_z = rtl_pending_get(&record->grid_y_z);
    uint32_t flags = rtl_record_flags(packet);
    bool borrowed = (flags & RTL_RECORD_BORROWED) != 0;
    facts->app_signal = snapshot->app_signal;
    facts->kernel_object = rtl_pending_get(&record->kernel_object);
    facts->packet = packet >> RTL_INDEX_SHIFT;
    facts->grid[0] = (uint32_t)(z_x >> 32);
    facts->grid[1] = (uint32_t)y_z;
    facts->grid[2] = (uint32_t)(y_z >> 32);
    facts->group_size = (uint32_t)(rtl_pending_get(&record->group) >> 32);
    facts->block[0] = (uint16_t)(block >> 32);
    facts->block[1] = (uint16_t)(block >> 48);
    facts->block[2] = (uint16_t)z_x;
    facts->flags = (uint16_t)(flags & ~(uint32_t)OF_RECORD);
    facts->pool_id = borrowed ? UINT32_MAX : (uint32_t)tag;
    facts->baseline_end = borrowed ? (uint32_t)tag : 0;
    facts->epoch = (uint32_t)(tag >> 32);
    facts->start = 0;
    facts->end = 0;
    facts->correlation = 0;
    facts->launch = RTL_NONE;
    facts->ordinal = RTL_NONE;
    if ((flags & RTL_RECORD_PLAIN) == 0)
        read_origin(&ref->slab->origins[packet % RTL_SLAB], facts);
}

/* The record may be done, or half written: to prefetch memory that is not there does nothing. */
static inline void prefetch_signal(const struct rtl_pending *pending, const struct rtl_pool *pool,
                                   uint64_t sequence)
{
    struct rtl_record *record = rtl_record_at(pending, sequence);
    uint32_t id = (uint32_t)rtl_pending_get(&record->tag);
    uint64_t handle = 0;
    if ((rtl_record_flags(rtl_pending_get(&record->packet)) & RTL_RECORD_BORROWED) != 0)
        handle = rtl_record_app_signal(record);
    else if (id < pool->limit)
        handle = rtl_pool_handle(pool, id);
    __builtin_prefetch((const void *)(uintptr_t)handle, 1);
}

void rtl_pending_prefetch(const struct rtl_pending *pending, const struct rtl_pool *pool,
                          uint64_t sequence, uint64_t end)
{
    if (end - sequence > SIGNALS_SOON)
        prefetch_signal(pending, pool, sequence + SIGNALS_SOON);
    if (end - sequence > RECORDS_SOON)
        __builtin_prefetch(rtl_record_at(pending, sequence + RECORDS_SOON), 1);
}

static bool claim(const struct record_ref *ref)
{
    uint64_t expected = ref->pending;
    return atomic_compare_exchange_strong_explicit(&ref->record->state, &expected, done(ref),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

bool rtl_signal_completed(uint64_t handle)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < 1;
}

/* A copy by an SDMA engine has its times there; the runtime clears them when it submits a copy. */
static bool sdma_times(uint64_t handle, struct rtl_kernel_facts *facts)
{
    const struct rtl_shared_signal *shared = rtl_shared_signal(handle);
    uint64_t end = __atomic_load_n(&shared->sdma_end, __ATOMIC_ACQUIRE);
    if (end == 0)
        return false;
    facts->start = __atomic_load_n(&shared->sdma_start, __ATOMIC_RELAXED);
    facts->end = end;
    facts->flags |= RTL_RECORD_SDMA;
    return true;
}

void rtl_signal_times(uint64_t handle, struct rtl_kernel_facts *facts)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    if ((facts->flags & RTL_RECORD_UNTIMED) != 0 ||
        ((facts->flags & RTL_RECORD_COPY) != 0 && sdma_times(handle, facts)))
        return;
    facts->start = __atomic_load_n(&signal->start_ts, __ATOMIC_RELAXED);
    facts->end = __atomic_load_n(&signal->end_ts, __ATOMIC_RELAXED);
}

/* A device that completes the same signal by itself, since not all of its packets could be
 * followed, may put both of its times between our two: then the start is put again, and whatever
 * end there is or comes lies behind it. */
static void put_pair(uint64_t *start, uint64_t *end, const struct rtl_kernel_facts *facts)
{
    __atomic_store_n(start, facts->start, __ATOMIC_RELAXED);
    __atomic_store_n(end, facts->end, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(start, __ATOMIC_SEQ_CST) != facts->start)
        __atomic_store_n(start, facts->start, __ATOMIC_RELEASE);
}

/* Without an end of theirs, the times of an SDMA engine do not count; their start stays, as an
 * engine may be about to put the end to it. */
void rtl_signal_put_times(uint64_t handle, const struct rtl_kernel_facts *facts)
{
    struct rtl_shared_signal *shared = rtl_shared_signal(handle);
    if ((facts->flags & RTL_RECORD_UNTIMED) != 0)
        return;
    if ((facts->flags & RTL_RECORD_SDMA) != 0) {
        put_pair(&shared->sdma_start, &shared->sdma_end, facts);
        return;
    }
    if ((facts->flags & RTL_RECORD_COPY) != 0)
        __atomic_store_n(&shared->sdma_end, 0, __ATOMIC_RELAXED);
    put_pair(&shared->signal.start_ts, &shared->signal.end_ts, facts);
}

uint32_t rtl_signal_end_low32(uint64_t handle)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    return (uint32_t)__atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE);
}

/* The memory of a new signal was something else before, and its former user has given it back
 * to the runtime, perhaps from another thread. */
RTL_TSAN_BLIND void rtl_signal_tag_as_ours(uint64_t handle)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)handle;
    __atomic_store_n(&signal->reserved3[0], OURS, __ATOMIC_RELAXED);
}

RTL_TSAN_BLIND bool rtl_signal_is_ours(uint64_t handle)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    return __atomic_load_n(&signal->reserved3[0], __ATOMIC_RELAXED) == OURS;
}

/* Copies a record, but for its times; false if it is not pending. */
static bool copy_facts(const struct rtl_pending *pending, uint64_t sequence,
                       struct rtl_kernel_facts *facts)
{
    struct record_ref ref = find(pending, sequence);
    struct record_snapshot snapshot;
    if (!take_snapshot(&ref, &snapshot))
        return false;
    read_facts(&ref, &snapshot, facts);
    rtl_fence(memory_order_acquire);
    return is_pending(&ref);
}

/* True if the device has written an end that was not there when the record was added. */
static bool has_new_end(const struct record_snapshot *snapshot)
{
    struct rtl_kernel_facts copy;
    copy.flags = 0;
    if (has_flag(snapshot, RTL_RECORD_COPY) && sdma_times(snapshot->app_signal, &copy))
        return true;
    return rtl_signal_end_low32(snapshot->app_signal) != (uint32_t)snapshot->tag;
}

/* True if its times are read from the program's own signal. */
static bool reads_app_signal(const struct record_snapshot *snapshot)
{
    return has_flag(snapshot, RTL_RECORD_BORROWED) && !has_flag(snapshot, RTL_RECORD_UNTIMED);
}

/* Looks at a record without claiming it. */
static inline enum rtl_take classify(const struct record_ref *ref, const struct rtl_pool *pool,
                                     struct record_snapshot *snapshot, uint64_t *signal)
{
    if (!take_snapshot(ref, snapshot))
        return RTL_TAKE_DONE;
    bool borrowed = has_flag(snapshot, RTL_RECORD_BORROWED);
    *signal = borrowed ? snapshot->app_signal : rtl_pool_handle(pool, (uint32_t)snapshot->tag);
    if (!rtl_signal_completed(*signal))
        return RTL_TAKE_WAITING;
    if (reads_app_signal(snapshot) && !has_new_end(snapshot))
        return RTL_TAKE_WAITING; /* the program brought it down, not the device */
    return snapshot->app_signal != 0 && !borrowed ? RTL_TAKE_FORWARD : RTL_TAKE_TAKEN;
}

/* Reads the rest of the record, with the times in the signal; false if it is not pending any more,
 * and what was read may be of another. */
static inline bool read_all(const struct record_ref *ref, const struct record_snapshot *snapshot,
                            uint64_t signal, struct rtl_kernel_facts *facts)
{
    read_facts(ref, snapshot, facts);
    rtl_signal_times(signal, facts);
    rtl_fence(memory_order_acquire);
    return is_pending(ref);
}

bool rtl_pending_must_forward(struct rtl_pending *pending, const struct rtl_pool *pool,
                              uint64_t sequence)
{
    struct record_ref ref = find(pending, sequence);
    struct record_snapshot snapshot;
    uint64_t signal;
    return classify(&ref, pool, &snapshot, &signal) == RTL_TAKE_FORWARD;
}

uint64_t rtl_pending_app_signal(struct rtl_pending *pending, uint64_t sequence)
{
    struct record_ref ref = find(pending, sequence);
    struct record_snapshot snapshot;
    return take_snapshot(&ref, &snapshot) ? snapshot.app_signal : 0;
}

enum rtl_take rtl_pending_look(struct rtl_pending *pending, const struct rtl_pool *pool,
                               uint64_t sequence, bool forwards, struct rtl_kernel_facts *facts)
{
    struct record_ref ref = find(pending, sequence);
    struct record_snapshot snapshot;
    uint64_t signal;
    enum rtl_take found = classify(&ref, pool, &snapshot, &signal);
    if (found != RTL_TAKE_TAKEN && (found != RTL_TAKE_FORWARD || !forwards))
        return found;
    return read_all(&ref, &snapshot, signal, facts) ? RTL_TAKE_TAKEN : RTL_TAKE_DONE;
}

bool rtl_pending_claim(struct rtl_pending *pending, uint64_t sequence)
{
    struct record_ref ref = find(pending, sequence);
    return claim(&ref);
}

static bool looks_rearmed(const struct record_ref *ref, struct record_snapshot *snapshot)
{
    return take_snapshot(ref, snapshot) && reads_app_signal(snapshot) && has_new_end(snapshot) &&
           !rtl_signal_completed(snapshot->app_signal);
}

bool rtl_pending_is_rearmed(struct rtl_pending *pending, uint64_t sequence)
{
    struct record_ref ref = find(pending, sequence);
    struct record_snapshot snapshot;
    return looks_rearmed(&ref, &snapshot);
}

bool rtl_pending_look_rearmed(struct rtl_pending *pending, uint64_t sequence,
                              struct rtl_kernel_facts *facts)
{
    struct record_ref ref = find(pending, sequence);
    struct record_snapshot snapshot;
    return looks_rearmed(&ref, &snapshot) && read_all(&ref, &snapshot, snapshot.app_signal, facts);
}

bool rtl_pending_abandon(struct rtl_pending *pending, uint64_t sequence,
                         struct rtl_kernel_facts *facts)
{
    struct record_ref ref = find(pending, sequence);
    struct record_snapshot snapshot;
    if (!take_snapshot(&ref, &snapshot))
        return false;
    read_facts(&ref, &snapshot, facts);
    return claim(&ref);
}

/* The first record from `at` on that is not done. */
static uint64_t pass_done(const struct rtl_pending *pending, uint64_t at, uint64_t tail)
{
    while (at != tail) {
        struct record_ref ref = find(pending, at);
        uint64_t left = RTL_SLAB - at % RTL_SLAB;
        uint64_t end = left < tail - at ? at + left : tail;
        for (; at != end; at++, ref.record++, ref.pending += RTL_RECORD_STATES)
            if (state_at(&ref) != done(&ref))
                return at;
    }
    return at;
}

void rtl_pending_advance(struct rtl_pending *pending)
{
    uint64_t head = atomic_load_explicit(&pending->head, memory_order_acquire);
    for (;;) {
        uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
        uint64_t next = pass_done(pending, head, tail);
        if (next == head)
            break;
        if (atomic_compare_exchange_strong_explicit(&pending->head, &head, next,
                                                    memory_order_acq_rel, memory_order_acquire))
            break;
    }
}

uint64_t rtl_pending_unfinished(struct rtl_pending *pending)
{
    uint64_t unfinished = 0;
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    for (uint64_t at = atomic_load_explicit(&pending->head, memory_order_acquire); at < tail;
         at++) {
        struct rtl_kernel_facts facts;
        unfinished +=
            copy_facts(pending, at, &facts) && (facts.flags & RTL_RECORD_BARRIER) == 0 ? 1u : 0u;
    }
    return unfinished;
}

bool rtl_pending_has_since(struct rtl_pending *pending, uint64_t end, uint64_t least)
{
    for (uint64_t at = atomic_load_explicit(&pending->head, memory_order_acquire); at < end; at++) {
        struct rtl_kernel_facts facts;
        if (copy_facts(pending, at, &facts) && (facts.flags & RTL_RECORD_BARRIER) == 0 &&
            facts.correlation >= least)
            return true;
    }
    return false;
}

enum rtl_borrower rtl_pending_classify(const struct rtl_pending *pending, uint64_t sequence,
                                       uint64_t handle)
{
    bool added = sequence < atomic_load_explicit(&pending->tail, memory_order_acquire);
    struct record_ref ref = find(pending, sequence);
    uint64_t state = state_at(&ref);
    if (state != ref.pending) {
        added = added || state == done(&ref);
        return added ? RTL_BORROWER_STALE : RTL_BORROWER_COMING;
    }
    uint64_t app_signal = rtl_record_app_signal(ref.record);
    return app_signal == handle ? RTL_BORROWER_LIVE : RTL_BORROWER_OTHER;
}
