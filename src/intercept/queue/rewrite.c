#include "intercept/queue/rewrite.h"

#include "intercept/queue/ledger.h"
#include "intercept/queue/packet_read.h"
#include "intercept/queue/pending_add.h"
#include "intercept/queue/rewrite_run.h"
#include "intercept/queue/shared_signal.h"

#include <hsa/hsa_ext_amd.h>

#define RECLAIM_TRIES 4u
#define MOST_TRIES    64u /* that gained something, but others took it */
#define SHARES        8   /* of the free signals: a queue takes one at a time */

void rtl_rewrite_skip(struct rtl_rewriter *rewriter, uint64_t first, uint64_t end)
{
    struct rtl_batch_counts counts = {.launch.launch = RTL_NONE};
    for (; first < end; first++) {
        rtl_run_enter(rewriter, first);
        rtl_run_count(rewriter, &counts, 1, 0, 0);
        counts.launch.unseen = counts.launch.packets;
    }
    rtl_run_tell(rewriter, &counts);
}

/* ---- kernels ---- */

static bool is_of_mode(const struct rtl_rewriter *rewriter, const hsa_signal_t *signal)
{
    if (rewriter->mode == RTL_MODE_FULL)
        return true;
    if (rewriter->mode == RTL_MODE_LITE && signal->handle != 0)
        return false;
    return rewriter->run.reservation.count == 1;
}

static bool is_withheld(const struct rtl_rewriter *rewriter)
{
    return (rewriter->run.reservation.flags & RTL_RESERVED_LEFT_OUT) != 0;
}

static bool wanted(const struct rtl_rewriter *rewriter, const hsa_signal_t *signal)
{
    return !rewriter->paused && !is_withheld(rewriter) && is_of_mode(rewriter, signal);
}

/* A kernel that is not wanted, and why: one that the mode leaves out anyway is no other's. */
static void skip(const struct rtl_rewriter *rewriter, const hsa_signal_t *signal,
                 struct rtl_batch_counts *counts)
{
    counts->skipped++;
    if (!is_of_mode(rewriter, signal))
        return;
    if (is_withheld(rewriter))
        counts->withheld++;
    else
        counts->stopped++;
}

/* Even to reclaim nothing may be of use: then another thread has just harvested the same
 * records. */
static bool have_room(struct rtl_rewriter *rewriter)
{
    for (unsigned tries = 0; rtl_pending_room(rewriter->pending) == 0; tries++) {
        if (tries == RECLAIM_TRIES)
            return false;
        (void)rewriter->reclaim(rewriter->context);
    }
    return true;
}

/* How many signals to have at hand: the other queues must find some too. */
static unsigned piece_of(const struct rtl_pool *pool)
{
    int64_t share = atomic_load_explicit(&pool->free, memory_order_relaxed) / SHARES;
    unsigned piece = rtl_pool_share(pool, RTL_REWRITE_CACHE);
    if (share < 1)
        return 1;
    return share < piece ? (unsigned)share : piece;
}

/* Signals of kernels that have finished, but were not harvested, are in use, too. */
static void tell_low_watermark(const struct rtl_rewriter *rewriter)
{
    const struct rtl_pool *pool = rewriter->pool;
    int64_t idle = atomic_load_explicit(&pool->free, memory_order_relaxed);
    if (rewriter->on_low_watermark != NULL &&
        idle < atomic_load_explicit(&pool->made, memory_order_relaxed) / 2)
        rewriter->on_low_watermark();
}

/* Where none is at hand. Not a part of the functions that most packets go through: these need few
 * registers. */
static __attribute__((noinline)) bool refill(struct rtl_rewriter *rewriter)
{
    unsigned vain = 0;
    tell_low_watermark(rewriter);
    for (unsigned tries = 0;; tries++) {
        rewriter->id_count = rtl_pool_take(rewriter->pool, rewriter->ids, piece_of(rewriter->pool));
        if (rewriter->id_count > 0)
            break;
        if (vain == RECLAIM_TRIES || tries == MOST_TRIES)
            return false;
        vain += rewriter->reclaim(rewriter->context) == 0;
    }
    return true;
}

static bool take_signal(struct rtl_rewriter *rewriter, uint32_t *id)
{
    if (rewriter->id_count == 0 && !refill(rewriter))
        return false;
    *id = rewriter->ids[--rewriter->id_count];
    return true;
}

void rtl_rewrite_release(struct rtl_rewriter *rewriter)
{
    rtl_pool_give(rewriter->pool, rewriter->ids, rewriter->id_count);
    rewriter->id_count = 0;
}

/* A signal may be read in place if the device's decrement is the only thing that can happen to it.
 */
static bool may_borrow(struct rtl_rewriter *rewriter, uint64_t handle)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    if (atomic_load_explicit(&rewriter->pending->to_forward, memory_order_relaxed) != 0 ||
        signal->kind != AMD_SIGNAL_KIND_USER ||
        __atomic_load_n(&signal->value, __ATOMIC_RELAXED) != 1)
        return false;
    struct rtl_record_id id = {rewriter->queue_index, atomic_load_explicit(&rewriter->pending->tail,
                                                                           memory_order_relaxed)};
    return rtl_borrow_enter(rewriter->borrows, handle, id);
}

static RTL_ALWAYS_INLINE void put_signal(struct rtl_rewriter *rewriter, hsa_signal_t *signal,
                                         uint32_t id)
{
    signal->handle = rtl_pool_handle(rewriter->pool, id);
}

/* A signal of the pool's that the program names is one that it has destroyed and we have got:
 * nobody waits for it, and a decrement would spoil the kernel that it serves now. */
static void drop_stale(hsa_signal_t *signal)
{
    if (signal != NULL && signal->handle != 0 && rtl_signal_is_ours(signal->handle))
        signal->handle = 0;
}

/* True if a packet with a pool signal is due. A borrowed signal does not count: the program may
 * take it back. */
static bool progress_is_due(const struct rtl_rewriter *rewriter)
{
    return rewriter->progress_every != 0 &&
           rewriter->since_progress + 1 >= rewriter->progress_every;
}

/* The baseline goes by the times that are there: those of an earlier copy are cleared, as the
 * runtime is about to do. */
static void borrow(struct rtl_kernel_facts *facts)
{
    if ((facts->flags & RTL_RECORD_COPY) != 0)
        rtl_shared_signal_clear_copy(facts->app_signal);
    facts->baseline_end = rtl_signal_end_low32(facts->app_signal);
}

static inline void add_record(struct rtl_rewriter *rewriter, const struct rtl_kernel_facts *facts)
{
    rtl_pending_add(rewriter->pending, facts);
    if (rtl_is_replaced(facts) && rewriter->on_replaced != NULL)
        rewriter->on_replaced();
}

static inline enum rtl_followed follow(struct rtl_rewriter *rewriter, hsa_signal_t *signal,
                                       struct rtl_kernel_facts *facts)
{
    enum rtl_followed followed = RTL_FOLLOWED_BORROWED;
    if (!have_room(rewriter))
        return RTL_FOLLOWED_NO_ROOM;
    facts->pool_id = UINT32_MAX;
    if (facts->app_signal != 0 && !progress_is_due(rewriter) &&
        may_borrow(rewriter, facts->app_signal)) {
        borrow(facts);
    } else if (take_signal(rewriter, &facts->pool_id)) {
        put_signal(rewriter, signal, facts->pool_id);
        followed = RTL_FOLLOWED_POOL;
    } else {
        return RTL_FOLLOWED_NO_SIGNAL;
    }
    add_record(rewriter, facts);
    return followed;
}

enum rtl_followed rtl_rewrite_follow(struct rtl_rewriter *rewriter, hsa_signal_t *signal,
                                     struct rtl_kernel_facts *facts)
{
    return follow(rewriter, signal, facts);
}

/* The device completes the signal of a packet without a record: until the program arms it again,
 * nobody may read times from it. In lite mode nobody does. False if that cannot be noted. */
static bool may_pass(struct rtl_rewriter *rewriter, uint64_t handle)
{
    return handle == 0 || rewriter->mode == RTL_MODE_LITE ||
           rtl_borrow_set_busy(rewriter->borrows, handle);
}

static void set_origin(const struct rtl_rewrite_run *run, struct rtl_kernel_facts *facts)
{
    const struct rtl_reservation *reservation = &run->reservation;
    bool launched = reservation->launch != RTL_NONE;
    facts->correlation = reservation->correlation;
    facts->launch = reservation->launch;
    facts->ordinal =
        launched ? reservation->ordinal + (uint32_t)(facts->packet - run->first) : RTL_NONE;
}

/* True if the packet has a pool signal now. */
static bool rewrite_kernel(struct rtl_rewriter *rewriter, void *packet, bool extended,
                           uint64_t index, uint32_t epoch, struct rtl_batch_counts *counts)
{
    hsa_signal_t *signal = &((hsa_kernel_dispatch_packet_t *)packet)->completion_signal;
    struct rtl_kernel_facts facts = {.app_signal = signal->handle, .packet = index, .epoch = epoch};
    if (extended)
        rtl_packet_read_extended(packet, &facts);
    else
        rtl_packet_read_dispatch(packet, &facts);
    rtl_run_note_kernel(rewriter, packet, extended, &facts);
    set_origin(&rewriter->run, &facts);
    enum rtl_followed followed = follow(rewriter, signal, &facts);
    counts->borrowed += followed == RTL_FOLLOWED_BORROWED;
    counts->pending += followed == RTL_FOLLOWED_NO_ROOM;
    counts->pool += followed == RTL_FOLLOWED_NO_SIGNAL;
    if (followed == RTL_FOLLOWED_NO_ROOM || followed == RTL_FOLLOWED_NO_SIGNAL)
        (void)may_pass(rewriter, facts.app_signal);
    return followed == RTL_FOLLOWED_POOL;
}

/* Puts a pool signal into a packet that is not recorded: to forward its own signal in order, or to
 * see how far the device is. */
static bool watch(struct rtl_rewriter *rewriter, hsa_signal_t *signal, uint64_t index)
{
    uint32_t id;
    if (!have_room(rewriter) || !take_signal(rewriter, &id))
        return false;
    struct rtl_kernel_facts facts = {
        .app_signal = signal->handle, .packet = index, .flags = RTL_RECORD_BARRIER, .pool_id = id};
    put_signal(rewriter, signal, id);
    add_record(rewriter, &facts);
    return true;
}

/* The device may complete a signal behind forwards only in their turn, and must not write over the
 * times of a kernel that are yet to be read. */
static bool must_watch(struct rtl_rewriter *rewriter, uint64_t handle)
{
    return handle != 0 &&
           (atomic_load_explicit(&rewriter->pending->to_forward, memory_order_relaxed) != 0 ||
            rtl_borrow_in_use(rewriter->borrows, handle));
}

/* A packet that is not recorded. True if it has a pool signal now. */
static bool rewrite_other(struct rtl_rewriter *rewriter, hsa_signal_t *signal, uint64_t index)
{
    return signal != NULL &&
           (progress_is_due(rewriter) || must_watch(rewriter, signal->handle) ||
            !may_pass(rewriter, signal->handle)) &&
           watch(rewriter, signal, index);
}

static inline void add(_Atomic uint64_t *counter, uint64_t value, bool shared)
{
    if (shared)
        rtl_ledger_add(counter, value);
    else
        rtl_ledger_add_private(counter, value);
}

/* Losses are counted by harvesters as well. */
static inline void account(const struct rtl_rewriter *rewriter,
                           const struct rtl_batch_counts *counts, uint64_t packets)
{
    struct rtl_wire_ledger *ledger = rewriter->ledger;
    bool shared = rewriter->shared_ledger;
    add(&ledger->packets, packets, shared);
    add(&ledger->seen, counts->seen, shared);
    add(&ledger->skipped, counts->skipped, shared);
    add(&ledger->stopped, counts->stopped, shared);
    add(&ledger->withheld, counts->withheld, shared);
    add(&ledger->borrowed, counts->borrowed, shared);
    rtl_ledger_add(&ledger->lost[RTL_LOST_PENDING], counts->pending);
    rtl_ledger_add(&ledger->lost[RTL_LOST_POOL], counts->pool);
    rtl_ledger_add(&ledger->lost[RTL_LOST_NOT_FOLLOWED], counts->taken);
}

/* The same for kernels that were all followed. */
static inline void account_followed(const struct rtl_rewriter *rewriter, uint64_t kernels,
                                    uint64_t borrowed)
{
    struct rtl_wire_ledger *ledger = rewriter->ledger;
    bool shared = rewriter->shared_ledger;
    add(&ledger->packets, kernels, shared);
    add(&ledger->seen, kernels, shared);
    add(&ledger->borrowed, borrowed, shared);
}

static enum rtl_opaque opaque_kind(unsigned format)
{
    if (format == RTL_AMD_FORMAT_PM4_IB)
        return RTL_OPAQUE_PM4;
    return format >= RTL_AMD_FORMAT_INDIRECT_FIRST && format <= RTL_AMD_FORMAT_INDIRECT_LAST
               ? RTL_OPAQUE_INDIRECT
               : RTL_OPAQUE_VENDOR;
}

/* A vendor's packet that is no kernel: what it leads to, a whole graph perhaps, has no packets that
 * RTL could see. Within a graph launch it is the graph's, since HIP puts none in there otherwise.
 */
static __attribute__((noinline)) void note_opaque(const struct rtl_rewriter *rewriter,
                                                  const void *packet,
                                                  struct rtl_batch_counts *counts)
{
    const struct rtl_reservation *reservation = &rewriter->run.reservation;
    unsigned format = rtl_packet_amd_format(packet);
    if (format == HSA_AMD_PACKET_TYPE_BARRIER_VALUE || rewriter->paused || is_withheld(rewriter))
        return;
    enum rtl_opaque kind = opaque_kind(format);
    rtl_ledger_add(&rewriter->ledger->opaque[kind], 1);
    if (reservation->launch == RTL_NONE || (reservation->flags & RTL_RESERVED_INFERRED) != 0)
        return;
    rtl_ledger_add(&rewriter->ledger->opaque_of_graphs[kind], 1);
    counts->launch.unseen++;
}

/* A packet that was valid when it was found, and is not any more: a producer has rung for it past
 * the runtime, and the device has it. It counts as a kernel. */
static void miss_packet(struct rtl_rewriter *rewriter, struct rtl_batch_counts *counts)
{
    counts->seen++;
    counts->taken++;
    rtl_ledger_add(&rewriter->ledger->opaque[RTL_OPAQUE_DIRECT], 1);
    rtl_run_count(rewriter, counts, 1, 0, 0);
    rewriter->since_progress++;
}

/* One packet of any kind. Not a part of rewrite_all, whose fast ways need the registers. */
static __attribute__((noinline)) void rewrite_packet(struct rtl_rewriter *rewriter, void *packet,
                                                     uint64_t index, uint32_t epoch,
                                                     struct rtl_batch_counts *counts)
{
    unsigned type = rtl_packet_type(rtl_packet_header_relaxed(packet));
    if (type == HSA_PACKET_TYPE_INVALID) {
        miss_packet(rewriter, counts);
        return;
    }
    bool extended = rtl_packet_is_extended(packet, type);
    bool kernel = type == HSA_PACKET_TYPE_KERNEL_DISPATCH || extended;
    hsa_signal_t *signal = rtl_packet_signal(packet, type);
    bool has_pool_signal;
    drop_stale(signal);
    counts->seen += kernel;
    bool profiled = kernel && wanted(rewriter, signal);
    if (profiled) {
        has_pool_signal = rewrite_kernel(rewriter, packet, extended, index, epoch, counts);
    } else {
        if (kernel)
            skip(rewriter, signal, counts);
        has_pool_signal = rewrite_other(rewriter, signal, index);
    }
    rtl_run_count(rewriter, counts, 1, kernel, kernel && !profiled);
    if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && !extended)
        note_opaque(rewriter, packet, counts);
    rewriter->since_progress = has_pool_signal ? 0 : rewriter->since_progress + 1;
}

/* ---- kernels without a signal of their own: most of them, and all of a graph's ---- */

/* True if a signal is at hand. Whoever finds none in the pool either goes the long way, where there
 * is reclaiming, and losses are counted. */
static RTL_ALWAYS_INLINE bool have_signal(struct rtl_rewriter *rewriter)
{
    return rewriter->id_count > 0 || (!rtl_pool_is_empty(rewriter->pool) && refill(rewriter));
}

/* A dispatch whose signal nobody waits for, and a signal and room for its record. */
static RTL_ALWAYS_INLINE bool is_unsignalled(struct rtl_rewriter *rewriter,
                                             const hsa_kernel_dispatch_packet_t *packet)
{
    return rtl_packet_is_dispatch(packet) && packet->completion_signal.handle == 0 &&
           have_signal(rewriter) && rtl_pending_room(rewriter->pending) > 0;
}

/* Adds the packet's record, of which the index, the tag and some flags are still missing. */
static RTL_ALWAYS_INLINE void record_packet(struct rtl_rewriter *rewriter,
                                            struct rtl_record_words *words, uint64_t index,
                                            uint64_t tag, const struct rtl_origin_words *origin)
{
    words->index = index;
    words->tag = tag;
    if (origin->correlation != 0 || origin->launch != RTL_NONE) {
        uint64_t place = rtl_pending_place_origin(rewriter->pending, origin);
        (void)rtl_pending_put_words(rewriter->pending, words, place);
    } else {
        words->flags |= RTL_RECORD_PLAIN;
        (void)rtl_pending_put_words(rewriter->pending, words, 0);
    }
}

static RTL_ALWAYS_INLINE void record_unsignalled(struct rtl_rewriter *rewriter,
                                                 hsa_kernel_dispatch_packet_t *packet,
                                                 struct rtl_record_words *words, uint64_t index,
                                                 uint32_t epoch,
                                                 const struct rtl_origin_words *origin)
{
    uint32_t id = rewriter->ids[--rewriter->id_count];
    put_signal(rewriter, &packet->completion_signal, id);
    record_packet(rewriter, words, index, id | (uint64_t)epoch << 32, origin);
}

static struct rtl_origin_words origin_of(const struct rtl_rewrite_run *run)
{
    const struct rtl_reservation *reservation = &run->reservation;
    bool launched = reservation->launch != RTL_NONE;
    return (struct rtl_origin_words){reservation->correlation, reservation->launch,
                                     launched ? reservation->ordinal - (uint32_t)run->first : 0};
}

/* Of the first and the last of the packets. */
static __attribute__((noinline)) void add_arguments(struct rtl_rewriter *rewriter,
                                                    const unsigned char *packets, uint64_t count)
{
    rtl_run_add_arguments(rewriter, rtl_packet_kernarg(packets, false));
    rtl_run_add_arguments(rewriter,
                          rtl_packet_kernarg(packets + (count - 1) * RTL_PACKET_SIZE, false));
}

/* As many packets as are unsignalled, of which there is one, and signals and room for all. */
static RTL_ALWAYS_INLINE uint64_t fast_batch(struct rtl_rewriter *rewriter, unsigned char *packets,
                                             uint64_t first, uint64_t count, uint32_t epoch,
                                             const struct rtl_origin_words *origin)
{
    struct rtl_rewrite_run *run = &rewriter->run;
    bool inferred = (run->reservation.flags & RTL_RESERVED_INFERRED) != 0;
    uint64_t hash = run->fingerprint;
    const uint32_t *id = rewriter->ids + rewriter->id_count;
    struct rtl_record_batch batch = rtl_record_batch_begin(rewriter->pending, origin);
    uint64_t done = 0;
    for (; done < count; done++) {
        hsa_kernel_dispatch_packet_t *packet = (void *)(packets + done * RTL_PACKET_SIZE);
        if (!rtl_packet_is_dispatch(packet) || packet->completion_signal.handle != 0)
            break;
        struct rtl_record_words words = rtl_packet_words(packet);
        struct rtl_kernel_key key = rtl_packet_key(packet, &words);
        hash = inferred ? rtl_run_fingerprint(hash, &key) : hash;
        put_signal(rewriter, &packet->completion_signal, *--id);
        words.index = first + done;
        words.tag = *id | (uint64_t)epoch << 32;
        rtl_record_batch_add(&batch, &words);
    }
    rtl_record_batch_commit(rewriter->pending, &batch);
    rewriter->id_count -= (uint32_t)done;
    run->fingerprint = hash;
    if (inferred && done > 0)
        add_arguments(rewriter, packets, done);
    return done;
}

/* For how many packets there are signals at hand, and room in one slab. */
static RTL_ALWAYS_INLINE uint64_t batch_for(struct rtl_rewriter *rewriter, uint64_t count)
{
    uint64_t room = rtl_pending_room(rewriter->pending);
    uint64_t most = room < rewriter->id_count ? room : rewriter->id_count;
    return count < most ? count : most;
}

/* Packets of one run, as long as they are unsignalled; returns how many. */
static uint64_t fast_run(struct rtl_rewriter *rewriter, unsigned char *packets, uint64_t first,
                         uint64_t count, uint32_t epoch, struct rtl_batch_counts *counts)
{
    struct rtl_origin_words origin = origin_of(&rewriter->run);
    uint64_t done = 0;
    while (done < count) {
        unsigned char *packet = packets + done * RTL_PACKET_SIZE;
        if (!is_unsignalled(rewriter, (void *)packet))
            break;
        uint64_t most = batch_for(rewriter, count - done);
        done += fast_batch(rewriter, packet, first + done, most, epoch, &origin);
    }
    if (done > 0) {
        counts->seen += done;
        rtl_run_count(rewriter, counts, (uint32_t)done, (uint32_t)done, 0);
        rewriter->since_progress = 0;
    }
    return done;
}

/* Whether all kernels of the run are to be recorded, and none has to be looked at as one that may
 * be a launch of its own. */
static bool may_run_fast(const struct rtl_rewriter *rewriter)
{
    const struct rtl_reservation *reservation = &rewriter->run.reservation;
    bool may_be_launch =
        (reservation->flags & RTL_RESERVED_OUTSIDE) != 0 && reservation->count == 1;
    return rewriter->mode == RTL_MODE_FULL && !rewriter->paused && !may_be_launch &&
           (reservation->flags & RTL_RESERVED_LEFT_OUT) == 0;
}

/* True if a packet that was reserved alone is a launch of its own. Reads the packet once more: few
 * programs come here, and the others need few registers. */
static __attribute__((noinline)) bool is_launch(struct rtl_rewriter *rewriter,
                                                const hsa_kernel_dispatch_packet_t *packet)
{
    struct rtl_record_words words = rtl_packet_words(packet);
    struct rtl_kernel_key key = rtl_packet_key(packet, &words);
    return rtl_run_launch_key(rewriter, &key) != 0;
}

/* Where a packet that was reserved alone comes from: outside of everything, or a host call that is
 * no graph launch. What rewrite_runs finds out of it, in one piece; the run before it is over,
 * which its index tells. False: it is another one, or may be a launch. */
static RTL_ALWAYS_INLINE bool is_single(struct rtl_rewriter *rewriter,
                                        const hsa_kernel_dispatch_packet_t *packet,
                                        const struct rtl_record_words *words, uint64_t index,
                                        struct rtl_origin_words *origin)
{
    const struct rtl_rewrite_run *run = &rewriter->run;
    const struct rtl_reserved *slot = rtl_reservations_find(rewriter->reservations, index);
    if (slot != NULL) {
        struct rtl_reservation note = rtl_reserved_read(slot);
        origin->correlation = note.correlation;
        return note.count == 1 && note.launch == RTL_NONE && note.flags == 0;
    }
    if ((rtl_run_may_be_launch(rewriter) && is_launch(rewriter, packet)) ||
        (index == run->end && rtl_run_is_full_batch(run)))
        return false;
    rewriter->last_single = rtl_packet_key(packet, words);
    rewriter->last_single_at = index + 1;
    return true;
}

/* A dispatch with a signal of the program's, and room for its record. */
static bool has_app_signal(struct rtl_rewriter *rewriter,
                           const hsa_kernel_dispatch_packet_t *packet)
{
    uint64_t app_signal = packet->completion_signal.handle;
    return app_signal != 0 && rtl_packet_is_dispatch(packet) && rewriter->progress_every == 0 &&
           !rtl_signal_is_ours(app_signal) && rtl_pending_room(rewriter->pending) > 0;
}

/* Most packets of a program without graphs, which all modes want. False: it is none of these. */
static RTL_ALWAYS_INLINE bool fast_single(struct rtl_rewriter *rewriter,
                                          hsa_kernel_dispatch_packet_t *packet, uint64_t index,
                                          uint32_t epoch)
{
    struct rtl_origin_words origin = {0, RTL_NONE, 0};
    if (index < rewriter->run.end || !is_unsignalled(rewriter, packet))
        return false;
    struct rtl_record_words words = rtl_packet_words(packet);
    if (!is_single(rewriter, packet, &words, index, &origin))
        return false;
    record_unsignalled(rewriter, packet, &words, index, epoch, &origin);
    rewriter->since_progress = 0;
    return true;
}

static void fast_borrow(struct rtl_rewriter *rewriter, struct rtl_record_words *words,
                        uint64_t app_signal, uint64_t index, uint32_t epoch,
                        const struct rtl_origin_words *origin)
{
    words->flags = RTL_RECORD_BORROWED;
    rtl_record_set_app_signal(words, app_signal);
    record_packet(rewriter, words, index, rtl_signal_end_low32(app_signal) | (uint64_t)epoch << 32,
                  origin);
    rewriter->since_progress++;
}

static void fast_replace(struct rtl_rewriter *rewriter, hsa_kernel_dispatch_packet_t *packet,
                         struct rtl_record_words *words, uint64_t index, uint32_t epoch,
                         const struct rtl_origin_words *origin)
{
    rtl_record_set_app_signal(words, packet->completion_signal.handle);
    atomic_fetch_add_explicit(&rewriter->pending->to_forward, 1, memory_order_relaxed);
    record_unsignalled(rewriter, packet, words, index, epoch, origin);
    if (rewriter->on_replaced != NULL)
        rewriter->on_replaced();
    rewriter->since_progress = 0;
}

/* The same for one with a signal of the program's, in full mode. `*borrowed` counts those whose
 * signal is read in place. */
static bool fast_single_signalled(struct rtl_rewriter *rewriter,
                                  hsa_kernel_dispatch_packet_t *packet, uint64_t index,
                                  uint32_t epoch, uint64_t *borrowed)
{
    struct rtl_origin_words origin = {0, RTL_NONE, 0};
    struct rtl_record_words words = rtl_packet_words(packet);
    uint64_t app_signal = packet->completion_signal.handle;
    if (rewriter->mode != RTL_MODE_FULL || index < rewriter->run.end ||
        !has_app_signal(rewriter, packet) || !is_single(rewriter, packet, &words, index, &origin))
        return false;
    if (may_borrow(rewriter, app_signal)) {
        fast_borrow(rewriter, &words, app_signal, index, epoch, &origin);
        ++*borrowed;
    } else if (rewriter->id_count > 0) {
        fast_replace(rewriter, packet, &words, index, epoch, &origin);
    } else {
        return false;
    }
    return true;
}

/* As many packets as were reserved alone; how many. */
static uint64_t fast_singles(struct rtl_rewriter *rewriter, unsigned char *packets, uint64_t first,
                             uint64_t count, uint32_t epoch)
{
    uint64_t done = 0;
    uint64_t borrowed = 0;
    for (; done < count; done++) {
        hsa_kernel_dispatch_packet_t *packet = (void *)(packets + done * RTL_PACKET_SIZE);
        bool rewritten =
            packet->completion_signal.handle == 0
                ? fast_single(rewriter, packet, first + done, epoch)
                : fast_single_signalled(rewriter, packet, first + done, epoch, &borrowed);
        if (!rewritten)
            break;
    }
    account_followed(rewriter, done, borrowed);
    return done;
}

/* Packets of any kind, one reservation after the other. */
static void rewrite_runs(struct rtl_rewriter *rewriter, unsigned char *packets, uint64_t first,
                         uint64_t count, uint32_t epoch)
{
    struct rtl_batch_counts counts = {.launch.launch = RTL_NONE};
    for (uint64_t i = 0; i < count;) {
        unsigned char *packet = packets + i * RTL_PACKET_SIZE;
        rtl_run_enter(rewriter, first + i);
        uint64_t left = rewriter->run.end - (first + i);
        uint64_t run = left < count - i ? left : count - i;
        uint64_t done =
            may_run_fast(rewriter) ? fast_run(rewriter, packet, first + i, run, epoch, &counts) : 0;
        if (done < run) {
            rewrite_packet(rewriter, packet + done * RTL_PACKET_SIZE, first + i + done, epoch,
                           &counts);
            done++;
        }
        i += done;
    }
    rtl_run_tell(rewriter, &counts);
    account(rewriter, &counts, count);
}

/* Whether it is worth while to look for packets that were reserved alone. */
static bool may_be_single(const struct rtl_rewriter *rewriter, uint64_t first)
{
    const struct rtl_reserved *slot;
    if (rewriter->paused || first < rewriter->run.end)
        return false;
    slot = rtl_reservations_find(rewriter->reservations, first);
    return slot == NULL || rtl_reserved_read(slot).count == 1;
}

static __attribute__((noinline)) void rewrite_all(struct rtl_rewriter *rewriter, void *packets,
                                                  uint64_t first, uint64_t count, uint32_t epoch)
{
    uint64_t singles =
        may_be_single(rewriter, first) ? fast_singles(rewriter, packets, first, count, epoch) : 0;
    if (singles < count)
        rewrite_runs(rewriter, (unsigned char *)packets + singles * RTL_PACKET_SIZE,
                     first + singles, count - singles, epoch);
}

/* One packet, in a function that needs few registers; all else in another one. */
void rtl_rewrite(struct rtl_rewriter *rewriter, void *packets, uint64_t first, uint64_t count,
                 uint32_t epoch)
{
    if (count == 1 && !rewriter->paused && fast_single(rewriter, packets, first, epoch))
        account_followed(rewriter, 1, 0);
    else
        rewrite_all(rewriter, packets, first, count, epoch);
}
