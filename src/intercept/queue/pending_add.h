/**
 * The submitter's side of the pending records (pending.h), in a header because it is inlined into
 * the rewriting of packets: what is known of a packet then goes from registers into its record.
 */
#ifndef RTL_INTERCEPT_QUEUE_PENDING_ADD_H
#define RTL_INTERCEPT_QUEUE_PENDING_ADD_H

#include "intercept/queue/pending.h"
#include "intercept/queue/store2.h"
#include "ring/wire.h"

#include <stddef.h>

/** The word with the packet has, from below: the place of the origin, flags, the index. */
#define RTL_ORIGIN_BITS 6u
#define RTL_FLAG_BITS   10u
#define RTL_INDEX_SHIFT (RTL_ORIGIN_BITS + RTL_FLAG_BITS)

/** Records that are added alone are prefetched so many before. */
#define RTL_SOON 8u

_Static_assert(RTL_SLAB == 1u << RTL_ORIGIN_BITS, "the place fits");

/** In the low bits of a record's state. */
enum rtl_record_phase { RTL_RECORD_PENDING = 1, RTL_RECORD_DONE = 2 };

/** A record's state; the same phase of the next record has one that is RTL_RECORD_STATES more. */
#define RTL_RECORD_STATES UINT64_C(4)

static inline uint64_t rtl_record_state(uint64_t sequence, enum rtl_record_phase phase)
{
    return sequence * RTL_RECORD_STATES + phase;
}

/** The slab in which the record `sequence` is if it is pending; any if it is done or not added
 * yet. Any thread. */
static inline struct rtl_record_slab *rtl_record_slab_at(const struct rtl_pending *pending,
                                                         uint64_t sequence)
{
    _Atomic uint32_t *slot = &pending->table[sequence / RTL_SLAB & pending->table_mask];
    return rtl_slabs_at(pending->slabs, atomic_load_explicit(slot, memory_order_acquire));
}

static inline struct rtl_record *rtl_record_at(const struct rtl_pending *pending, uint64_t sequence)
{
    return &rtl_record_slab_at(pending, sequence)->records[sequence % RTL_SLAB];
}

static inline void rtl_pending_put(_Atomic uint64_t *field, uint64_t value)
{
    atomic_store_explicit(field, value, memory_order_relaxed);
}

static inline uint64_t rtl_pending_get(_Atomic uint64_t *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

/** The flags in the word with the packet. */
static inline uint32_t rtl_record_flags(uint64_t packet)
{
    return packet >> RTL_ORIGIN_BITS & ((1u << RTL_FLAG_BITS) - 1);
}

/** The program's signal in a record, 0 if it has none. */
static inline uint64_t rtl_record_app_signal(struct rtl_record *record)
{
    if ((rtl_record_flags(rtl_pending_get(&record->packet)) & RTL_RECORD_HAS_APP_SIGNAL) == 0)
        return 0;
    return (rtl_pending_get(&record->block) & UINT32_MAX) | rtl_pending_get(&record->group) << 32;
}

/** How many more records find room at least. Looks for more only when it is none, so that the
 * submitter does not fetch what harvesters write for each packet. */
static inline uint64_t rtl_pending_room(struct rtl_pending *pending)
{
    uint64_t known = pending->limit - atomic_load_explicit(&pending->tail, memory_order_relaxed);
    return known != 0 ? known : rtl_pending_find_room(pending);
}

/** True if nothing is known of where the packet came from, or nobody wants to know. */
static inline bool rtl_pending_is_plain(const struct rtl_kernel_facts *facts)
{
    return (facts->flags & RTL_RECORD_BARRIER) != 0 ||
           (facts->correlation == 0 && facts->launch == RTL_NONE);
}

/** Where packets that follow each other come from: the same for all of them. */
struct rtl_origin_words {
    uint64_t correlation;
    uint32_t launch;
    uint32_t base; /**< ordinal - packet index, 0 without a launch */
};

static inline struct rtl_origin_words rtl_pending_origin(const struct rtl_kernel_facts *facts)
{
    uint32_t base = facts->launch == RTL_NONE ? 0 : facts->ordinal - (uint32_t)facts->packet;
    return (struct rtl_origin_words){facts->correlation, facts->launch, base};
}

/** The slab that a record is in, by its place there. */
static inline struct rtl_record_slab *rtl_record_slab_of(struct rtl_record *record, uint64_t place)
{
    return (struct rtl_record_slab *)(void *)(record - place);
}

/** The place of the next record's origin in its slab; writes one if need be. For one that has
 * room.
 */
static inline uint64_t rtl_pending_place_origin(struct rtl_pending *pending,
                                                const struct rtl_origin_words *words)
{
    struct rtl_last_origin *last = &pending->last;
    if (last->correlation == words->correlation && last->launch == words->launch &&
        last->base == words->base)
        return last->place;
    uint64_t place = last->place + 1;
    uint64_t sequence = rtl_pending_get(&pending->tail);
    struct rtl_record_origin *origin =
        &rtl_record_slab_of(pending->next, sequence % RTL_SLAB)->origins[place];
    rtl_pending_put(&origin->correlation, words->correlation);
    rtl_pending_put(&origin->launch_base, words->launch | (uint64_t)words->base << 32);
    *last = (struct rtl_last_origin){words->correlation, words->launch, words->base, place};
    return place;
}

/** What goes into a record's words, but for the state. `flags`: those of the record itself, too. */
struct rtl_record_words {
    uint64_t index, tag, block, block_z_grid_x, grid_y_z, group, kernel_object;
    uint32_t flags;
};

/** Fills a record; `origin`: the place of its origin. `state`: the one that it is pending in. */
static inline __attribute__((always_inline)) void
rtl_record_fill(struct rtl_record *record, const struct rtl_record_words *words, uint64_t state,
                uint64_t origin)
{
    uint64_t packet = words->index << RTL_INDEX_SHIFT | (uint64_t)words->flags << RTL_ORIGIN_BITS;
    rtl_store2_relaxed(&record->tag, &record->block, words->tag, words->block);
    rtl_store2_relaxed(&record->block_z_grid_x, &record->grid_y_z, words->block_z_grid_x,
                       words->grid_y_z);
    rtl_store2_relaxed(&record->group, &record->kernel_object, words->group, words->kernel_object);
    rtl_store2_release(&record->state, &record->packet, state, packet | origin);
}

#define RTL_WORD_OF_RECORD(field) (offsetof(struct rtl_record, field) / sizeof(uint64_t))

_Static_assert(RTL_WORD_OF_RECORD(state) == 0 && RTL_WORD_OF_RECORD(packet) == 1 &&
                   RTL_WORD_OF_RECORD(tag) == 2 && RTL_WORD_OF_RECORD(block) == 3 &&
                   RTL_WORD_OF_RECORD(block_z_grid_x) == 4 && RTL_WORD_OF_RECORD(grid_y_z) == 5 &&
                   RTL_WORD_OF_RECORD(group) == 6 && RTL_WORD_OF_RECORD(kernel_object) == 7,
               "words that are written together lie in aligned 16 bytes of a record's line");

/** Prefetches the record in the next slab that has the place of this one, `ahead` bytes away:
 * harvesters have it in their caches. */
static inline void rtl_record_prefetch_ahead(const struct rtl_record *record, int64_t ahead)
{
    __builtin_prefetch((const unsigned char *)record + ahead, 1);
}

/** Prefetches the record RTL_SOON after this one, as above. A slab later, a thread that adds one
 * record to each of many queues in turn has lost it again. */
static inline void rtl_record_prefetch_soon(const struct rtl_record *record, uint64_t sequence,
                                            int64_t ahead)
{
    bool here = sequence % RTL_SLAB < RTL_SLAB - RTL_SOON;
    rtl_record_prefetch_ahead(here ? record + RTL_SOON : record - (RTL_SLAB - RTL_SOON),
                              here ? 0 : ahead);
}

/** Fills the next record; rtl_pending_room must have told of room for it. `origin`: the place of
 * its origin. Returns its sequence number. */
static inline __attribute__((always_inline)) uint64_t
rtl_pending_put_words(struct rtl_pending *pending, const struct rtl_record_words *words,
                      uint64_t origin)
{
    uint64_t sequence = rtl_pending_get(&pending->tail);
    struct rtl_record *record = pending->next;
    rtl_record_fill(record, words, rtl_record_state(sequence, RTL_RECORD_PENDING), origin);
    pending->next = record + 1;
    atomic_store_explicit(&pending->tail, sequence + 1, memory_order_release);
    rtl_record_prefetch_soon(record, sequence, pending->ahead);
    return sequence;
}

/** Records that follow each other in one slab and have one origin: those who harvest are told of
 * all of them at once. */
struct rtl_record_batch {
    struct rtl_record *next;
    uint64_t state; /**< that `next` will be pending in */
    uint64_t place; /**< of the origin */
    uint32_t flags; /**< of all records */
    int64_t ahead;  /**< bytes, as in rtl_pending */
};

/** Begins a batch of at least one record, and of at most as many as rtl_pending_room has told of
 * room for. By the submitter, who adds no other record before it is committed. */
static inline struct rtl_record_batch rtl_record_batch_begin(struct rtl_pending *pending,
                                                             const struct rtl_origin_words *origin)
{
    bool plain = origin->correlation == 0 && origin->launch == RTL_NONE;
    return (struct rtl_record_batch){
        .next = pending->next,
        .state = rtl_record_state(rtl_pending_get(&pending->tail), RTL_RECORD_PENDING),
        .place = plain ? 0 : rtl_pending_place_origin(pending, origin),
        .flags = plain ? RTL_RECORD_PLAIN : 0,
        .ahead = pending->ahead,
    };
}

/** Fills the next record of a batch; its flags are added to those of the words. */
static inline __attribute__((always_inline)) void
rtl_record_batch_add(struct rtl_record_batch *batch, struct rtl_record_words *words)
{
    words->flags |= batch->flags;
    rtl_record_fill(batch->next, words, batch->state, batch->place);
    batch->state += RTL_RECORD_STATES;
    rtl_record_prefetch_ahead(batch->next++, batch->ahead);
}

/** Commits a batch: harvesters find its records from now on. */
static inline void rtl_record_batch_commit(struct rtl_pending *pending,
                                           const struct rtl_record_batch *batch)
{
    uint64_t tail = rtl_pending_get(&pending->tail) + (uint64_t)(batch->next - pending->next);
    pending->next = batch->next;
    atomic_store_explicit(&pending->tail, tail, memory_order_release);
}

/** The program's signal in the halves that are for it. */
static inline void rtl_record_set_app_signal(struct rtl_record_words *words, uint64_t app_signal)
{
    words->block |= app_signal & UINT32_MAX;
    words->group = (words->group >> 32 << 32) | app_signal >> 32;
    words->flags |= RTL_RECORD_HAS_APP_SIGNAL;
}

/** Adds a record; rtl_pending_room must have told of room for it. Returns its sequence number. */
static inline uint64_t rtl_pending_add(struct rtl_pending *pending,
                                       const struct rtl_kernel_facts *facts)
{
    bool borrowed = facts->pool_id == UINT32_MAX;
    bool plain = rtl_pending_is_plain(facts);
    struct rtl_record_words words = {
        .flags =
            facts->flags | (borrowed ? RTL_RECORD_BORROWED : 0u) | (plain ? RTL_RECORD_PLAIN : 0u),
        .index = facts->packet,
        .tag = (borrowed ? facts->baseline_end : facts->pool_id) | (uint64_t)facts->epoch << 32,
        .block = (uint64_t)facts->block[0] << 32 | (uint64_t)facts->block[1] << 48,
        .block_z_grid_x = facts->block[2] | (uint64_t)facts->grid[0] << 32,
        .grid_y_z = facts->grid[1] | (uint64_t)facts->grid[2] << 32,
        .group = (uint64_t)facts->group_size << 32,
        .kernel_object = facts->kernel_object,
    };
    if (facts->app_signal != 0)
        rtl_record_set_app_signal(&words, facts->app_signal);
    if (rtl_is_replaced(facts))
        atomic_fetch_add_explicit(&pending->to_forward, 1, memory_order_relaxed);
    struct rtl_origin_words origin = rtl_pending_origin(facts);
    return rtl_pending_put_words(pending, &words,
                                 plain ? 0 : rtl_pending_place_origin(pending, &origin));
}

#endif
