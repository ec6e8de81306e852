/**
 * The signal pool: completion signals that are made once and used over and over.
 *
 * Any thread takes and gives in batches, without locks and without a system call. What changes
 * hands in large batches does so in blocks of ids that lie side by side: who takes one gets some
 * cache lines from the core of who gave it, all at once, and not a line for each link of a list.
 * Other ids are in such a list. Both are stacks, whose heads carry a tag against re-use, so that
 * the signals that were used last are used next. Any thread makes signals (rtl_pool_grow), several
 * at the same time: the completion worker ahead of need, and who needs one that is not there. How a
 * signal is made is the caller's affair, so that the pool can be tested and fuzzed alone.
 */
#ifndef RTL_POOL_H
#define RTL_POOL_H

#include "pool/stack.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** What the pool needs from its owner. `create` writes a new signal's handle (value 1) and returns
 * true, or returns false; any thread, several at once. `destroy` gives one back. */
struct rtl_pool_backend {
    bool (*create)(void *context, uint64_t *handle);
    void (*destroy)(void *context, uint64_t handle);
    void *context;
};

/** Ids in a block. */
#define RTL_POOL_BLOCK 64u

struct rtl_pool_block {
    _Alignas(64) _Atomic uint32_t ids[RTL_POOL_BLOCK];
};

struct rtl_pool {
    _Atomic uint64_t *handles; /**< by id; written before the id is first given */
    struct rtl_pool_block *blocks;
    uint32_t limit;
    struct rtl_pool_backend backend;
    struct rtl_stack single; /**< free ids that are in no block */
    struct rtl_stack full;   /**< blocks of free ids */
    struct rtl_stack empty;  /**< and without */
    /** Ids below it have a signal, or somebody is making one. Not beside what is read for each
     * signal. */
    _Alignas(64) _Atomic uint32_t named;
    _Atomic uint32_t made;             /**< signals that there are, in use or free */
    _Alignas(64) _Atomic int64_t free; /**< how many can be taken; may lag for a moment */
};

/** Makes an empty pool of at most `limit` signals. False without memory. */
bool rtl_pool_init(struct rtl_pool *pool, uint32_t limit, struct rtl_pool_backend backend);

/** Destroys the free signals and the pool's memory. Signals that were taken and not given are left
 * alone, since a device may still write to them. No other thread may use the pool. Returns how many
 * were left. */
uint32_t rtl_pool_end(struct rtl_pool *pool);

/** The same, but leaves all signals to the runtime. */
void rtl_pool_abandon(struct rtl_pool *pool);

/** Takes up to `count` signals; returns how many. Any thread, lock-free. */
unsigned rtl_pool_take(struct rtl_pool *pool, uint32_t *ids, unsigned count);

/** Gives signals back; their value must be 1 again. Any thread, lock-free. */
void rtl_pool_give(struct rtl_pool *pool, const uint32_t *ids, unsigned count);

/** Makes blocks of ids that came in small batches, as long as there are enough of those. For who
 * gives most of them, and has them in its cache. */
void rtl_pool_repack(struct rtl_pool *pool);

/** Makes signals until there are `target`, those that other threads are just making included (or
 * the limit is reached, or the backend fails). Any thread, without a lock of its own; the backend
 * may have one. Returns how many it has made. */
unsigned rtl_pool_grow(struct rtl_pool *pool, uint32_t target);

/** Destroys up to `count` free signals, for which there are none later; returns how many. Any
 * thread, as the backend. */
unsigned rtl_pool_shrink(struct rtl_pool *pool, unsigned count);

/** True if none is free just now, whatever `free` says, which a thread without a processor may owe
 * a correction. Any thread. */
static inline bool rtl_pool_is_empty(const struct rtl_pool *pool)
{
    return rtl_stack_is_empty(&pool->full) && rtl_stack_is_empty(&pool->single);
}

/** How many signals somebody may keep at hand: of a small pool so few that all queues and
 * harvesters together, some of them without a processor for a while, leave most of it to the rest;
 * of a large one as many as pay, `most`. At least 1. Any thread. */
static inline unsigned rtl_pool_share(const struct rtl_pool *pool, unsigned most)
{
    unsigned piece = atomic_load_explicit(&pool->made, memory_order_relaxed) / 64;
    if (piece == 0)
        return 1;
    return piece < most ? piece : most;
}

/** Handle of a taken signal. */
static inline uint64_t rtl_pool_handle(const struct rtl_pool *pool, uint32_t id)
{
    return atomic_load_explicit(&pool->handles[id], memory_order_relaxed);
}

#endif
