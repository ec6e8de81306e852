#include "pool/pool.h"

#include <stdlib.h>

bool rtl_pool_init(struct rtl_pool *pool, uint32_t limit, struct rtl_pool_backend backend)
{
    pool->handles = calloc(limit, sizeof *pool->handles);
    pool->next = calloc(limit, sizeof *pool->next);
    if (pool->handles == NULL || pool->next == NULL) {
        free(pool->handles);
        free(pool->next);
        return false;
    }
    pool->limit = limit;
    pool->backend = backend;
    atomic_init(&pool->named, 0);
    atomic_init(&pool->made, 0);
    atomic_init(&pool->head, 0);
    atomic_init(&pool->free, 0);
    return true;
}

uint32_t rtl_pool_end(struct rtl_pool *pool)
{
    uint32_t left = atomic_load(&pool->made);
    uint32_t id;
    while (rtl_pool_take(pool, &id, 1) == 1) {
        pool->backend.destroy(pool->backend.context, rtl_pool_handle(pool, id));
        left--;
    }
    free(pool->handles);
    free(pool->next);
    pool->handles = NULL;
    pool->next = NULL;
    return left;
}

/* Another thread may change the links while they are walked; then the head's tag has changed as
 * well and the exchange fails. A link read in vain is still a valid id or 0. */
static unsigned walk(const struct rtl_pool *pool, uint64_t head, uint32_t *ids, unsigned count,
                     uint64_t *after)
{
    uint32_t link = (uint32_t)head;
    unsigned got = 0;
    while (got < count && link != 0) {
        ids[got++] = link - 1;
        link = atomic_load_explicit(&pool->next[link - 1], memory_order_relaxed);
    }
    *after = (((head >> 32) + 1) << 32) | link;
    return got;
}

unsigned rtl_pool_take(struct rtl_pool *pool, uint32_t *ids, unsigned count)
{
    uint64_t head = atomic_load_explicit(&pool->head, memory_order_acquire);
    uint64_t after;
    unsigned got;
    do {
        got = walk(pool, head, ids, count, &after);
        if (got == 0)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&pool->head, &head, after, memory_order_acq_rel,
                                                    memory_order_acquire));
    atomic_fetch_sub_explicit(&pool->free, got, memory_order_relaxed);
    return got;
}

void rtl_pool_give(struct rtl_pool *pool, const uint32_t *ids, unsigned count)
{
    if (count == 0)
        return;
    for (unsigned i = 0; i + 1 < count; i++)
        atomic_store_explicit(&pool->next[ids[i]], ids[i + 1] + 1, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&pool->head, memory_order_relaxed);
    uint64_t after;
    do {
        atomic_store_explicit(&pool->next[ids[count - 1]], (uint32_t)head, memory_order_relaxed);
        after = (((head >> 32) + 1) << 32) | (ids[0] + 1);
    } while (!atomic_compare_exchange_weak_explicit(&pool->head, &head, after, memory_order_acq_rel,
                                                    memory_order_relaxed));
    atomic_fetch_add_explicit(&pool->free, count, memory_order_relaxed);
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

unsigned rtl_pool_grow(struct rtl_pool *pool, uint32_t target)
{
    uint32_t end = target < pool->limit ? target : pool->limit;
    unsigned made = 0;
    uint32_t id;
    while (name(pool, end, &id)) {
        uint64_t handle;
        if (!pool->backend.create(pool->backend.context, &handle)) {
            unname(pool, id);
            break;
        }
        atomic_store_explicit(&pool->handles[id], handle, memory_order_relaxed);
        rtl_pool_give(pool, &id, 1);
        atomic_fetch_add_explicit(&pool->made, 1, memory_order_relaxed);
        made++;
    }
    return made;
}
