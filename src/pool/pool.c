#include "pool/pool.h"

#include <stdlib.h>

#define SPARE_BLOCKS 64u /* that threads may just be filling or emptying */

static bool make_stack(struct rtl_stack *stack, uint32_t limit)
{
    atomic_init(&stack->head, 0);
    stack->next = calloc(limit, sizeof *stack->next);
    return stack->next != NULL;
}

/* ---- blocks ---- */

static bool take_block(struct rtl_pool *pool, uint32_t *ids)
{
    uint32_t block;
    if (rtl_stack_pop(&pool->full, &block, 1) == 0)
        return false;
    for (unsigned i = 0; i < RTL_POOL_BLOCK; i++)
        ids[i] = atomic_load_explicit(&pool->blocks[block].ids[i], memory_order_relaxed);
    rtl_stack_push(&pool->empty, &block, 1);
    return true;
}

static bool give_block(struct rtl_pool *pool, const uint32_t *ids)
{
    uint32_t block;
    if (rtl_stack_pop(&pool->empty, &block, 1) == 0)
        return false;
    for (unsigned i = 0; i < RTL_POOL_BLOCK; i++)
        atomic_store_explicit(&pool->blocks[block].ids[i], ids[i], memory_order_relaxed);
    rtl_stack_push(&pool->full, &block, 1);
    return true;
}

/* What is wanted of a block when there are no others; its rest becomes single. */
static unsigned split_block(struct rtl_pool *pool, uint32_t *ids, unsigned count)
{
    uint32_t all[RTL_POOL_BLOCK];
    unsigned taken = count < RTL_POOL_BLOCK ? count : RTL_POOL_BLOCK;
    if (!take_block(pool, all))
        return 0;
    for (unsigned i = 0; i < taken; i++)
        ids[i] = all[i];
    if (taken < RTL_POOL_BLOCK)
        rtl_stack_push(&pool->single, all + taken, RTL_POOL_BLOCK - taken);
    return taken;
}

/* ---- the pool ---- */

bool rtl_pool_init(struct rtl_pool *pool, uint32_t limit, struct rtl_pool_backend backend)
{
    uint32_t blocks = limit / RTL_POOL_BLOCK + SPARE_BLOCKS;
    pool->limit = limit;
    pool->backend = backend;
    atomic_init(&pool->named, 0);
    atomic_init(&pool->made, 0);
    atomic_init(&pool->free, 0);
    pool->handles = calloc(limit, sizeof *pool->handles);
    pool->blocks = aligned_alloc(64, blocks * sizeof *pool->blocks);
    bool made = make_stack(&pool->single, limit);
    made = make_stack(&pool->full, blocks) && made;
    made = make_stack(&pool->empty, blocks) && made;
    if (!made || pool->handles == NULL || pool->blocks == NULL) {
        (void)rtl_pool_end(pool);
        return false;
    }
    for (uint32_t i = blocks; i-- > 0;)
        rtl_stack_push(&pool->empty, &i, 1);
    return true;
}

uint32_t rtl_pool_end(struct rtl_pool *pool)
{
    uint32_t left = atomic_load(&pool->made);
    uint32_t id;
    while (left > 0 && rtl_pool_take(pool, &id, 1) == 1) {
        pool->backend.destroy(pool->backend.context, rtl_pool_handle(pool, id));
        left--;
    }
    rtl_pool_abandon(pool);
    return left;
}

void rtl_pool_abandon(struct rtl_pool *pool)
{
    free(pool->handles);
    free(pool->blocks);
    free(pool->single.next);
    free(pool->full.next);
    free(pool->empty.next);
    pool->handles = NULL;
    pool->blocks = NULL;
    pool->single.next = pool->full.next = pool->empty.next = NULL;
}

static unsigned take_some(struct rtl_pool *pool, uint32_t *ids, unsigned count)
{
    if (count >= RTL_POOL_BLOCK && take_block(pool, ids))
        return RTL_POOL_BLOCK;
    unsigned got = rtl_stack_pop(&pool->single, ids, count);
    return got > 0 ? got : split_block(pool, ids, count);
}

unsigned rtl_pool_take(struct rtl_pool *pool, uint32_t *ids, unsigned count)
{
    unsigned all = 0;
    unsigned got = 1;
    for (; all < count && got > 0; all += got)
        got = take_some(pool, ids + all, count - all);
    if (all > 0)
        atomic_fetch_sub_explicit(&pool->free, all, memory_order_relaxed);
    return all;
}

void rtl_pool_give(struct rtl_pool *pool, const uint32_t *ids, unsigned count)
{
    unsigned given = 0;
    while (count - given >= RTL_POOL_BLOCK && give_block(pool, ids + given))
        given += RTL_POOL_BLOCK;
    if (count > given)
        rtl_stack_push(&pool->single, ids + given, count - given);
    if (count > 0)
        atomic_fetch_add_explicit(&pool->free, count, memory_order_relaxed);
}

void rtl_pool_repack(struct rtl_pool *pool)
{
    uint32_t ids[RTL_POOL_BLOCK];
    unsigned got = RTL_POOL_BLOCK;
    if (rtl_pool_share(pool, RTL_POOL_BLOCK) < RTL_POOL_BLOCK)
        return; /* nobody takes a block */
    while (got == RTL_POOL_BLOCK) {
        got = rtl_stack_pop(&pool->single, ids, RTL_POOL_BLOCK);
        if (got > 0 && (got < RTL_POOL_BLOCK || !give_block(pool, ids))) {
            rtl_stack_push(&pool->single, ids, got);
            return;
        }
    }
}

/* The next id that has no signal, below `end`. */
static bool name(struct rtl_pool *pool, uint32_t end, uint32_t *id)
{
    *id = atomic_load_explicit(&pool->named, memory_order_relaxed);
    while (*id < end)
        if (atomic_compare_exchange_weak_explicit(&pool->named, id, *id + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Nobody has a signal for the id. Another thread may have gone on to the next: then it stays
 * without one. */
static void unname(struct rtl_pool *pool, uint32_t id)
{
    uint32_t next = id + 1;
    (void)atomic_compare_exchange_strong_explicit(&pool->named, &next, id, memory_order_relaxed,
                                                  memory_order_relaxed);
}

/* Makes a signal; false if there are enough, or the backend fails. */
static bool make(struct rtl_pool *pool, uint32_t end, uint32_t *id)
{
    uint64_t handle;
    if (!name(pool, end, id))
        return false;
    if (!pool->backend.create(pool->backend.context, &handle)) {
        unname(pool, *id);
        return false;
    }
    atomic_store_explicit(&pool->handles[*id], handle, memory_order_relaxed);
    return true;
}

unsigned rtl_pool_grow(struct rtl_pool *pool, uint32_t target)
{
    uint32_t end = target < pool->limit ? target : pool->limit;
    uint32_t ids[RTL_POOL_BLOCK];
    unsigned made = 0;
    unsigned count;
    do {
        count = 0;
        while (count < RTL_POOL_BLOCK && make(pool, end, &ids[count]))
            count++;
        atomic_fetch_add_explicit(&pool->made, count, memory_order_relaxed);
        rtl_pool_give(pool, ids, count);
        made += count;
    } while (count == RTL_POOL_BLOCK);
    return made;
}

unsigned rtl_pool_shrink(struct rtl_pool *pool, unsigned count)
{
    unsigned destroyed = 0;
    uint32_t id;
    for (; destroyed < count && rtl_pool_take(pool, &id, 1) == 1; destroyed++)
        pool->backend.destroy(pool->backend.context, rtl_pool_handle(pool, id));
    atomic_fetch_sub_explicit(&pool->made, destroyed, memory_order_relaxed);
    return destroyed;
}
