/**
 * A small map from an address or handle to a queue: look-ups are lock-free, changes happen under
 * the caller's lock.
 */
#ifndef RTL_INTERCEPT_BASE_QUEUE_MAP_H
#define RTL_INTERCEPT_BASE_QUEUE_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RTL_MAP_PLACES UINT64_C(4096)

struct rtl_queue_map {
    struct {
        _Atomic uint64_t key; /* 0: never used; 1: removed */
        void *_Atomic value;
    } places[RTL_MAP_PLACES];
};

/** Where a key is put unless another one is there. */
static inline unsigned rtl_queue_map_place(uint64_t key)
{
    return (unsigned)(((key >> 4) * UINT64_C(0x9E3779B97F4A7C15)) >> 52);
}

_Static_assert(RTL_MAP_PLACES == 1u << (64 - 52), "rtl_queue_map_place yields 12 bits");

/** rtl_queue_map_find for a key that is not in its place. */
void *rtl_queue_map_find_further(const struct rtl_queue_map *map, uint64_t key);

/** The value of a key, NULL if it has none. Any thread. */
static inline void *rtl_queue_map_find(const struct rtl_queue_map *map, uint64_t key)
{
    unsigned at = rtl_queue_map_place(key);
    if (atomic_load_explicit(&map->places[at].key, memory_order_acquire) == key)
        return atomic_load_explicit(&map->places[at].value, memory_order_acquire);
    return rtl_queue_map_find_further(map, key);
}

/** Sets a key's value; the key must be above 1. False if the map is full. Under a lock. */
bool rtl_queue_map_put(struct rtl_queue_map *map, uint64_t key, void *value);

/** Removes a key. Under a lock. */
void rtl_queue_map_remove(struct rtl_queue_map *map, uint64_t key);

/** A key that has this value, 0 if none has. Under a lock; looks at all places. */
uint64_t rtl_queue_map_key_of(const struct rtl_queue_map *map, const void *value);

/** Removes all keys that have this value. Under a lock; looks at all places. */
void rtl_queue_map_remove_value(struct rtl_queue_map *map, const void *value);

#endif
