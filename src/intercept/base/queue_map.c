#include "intercept/base/queue_map.h"

#include <stddef.h>

#define REMOVED 1u

void *rtl_queue_map_find_further(const struct rtl_queue_map *map, uint64_t key)
{
    uint64_t at = rtl_queue_map_place(key);
    for (uint64_t i = 0; i < RTL_MAP_PLACES; i++, at = (at + 1) % RTL_MAP_PLACES) {
        uint64_t found = atomic_load_explicit(&map->places[at].key, memory_order_acquire);
        if (found == key)
            return atomic_load_explicit(&map->places[at].value, memory_order_acquire);
        if (found == 0)
            break;
    }
    return NULL;
}

bool rtl_queue_map_put(struct rtl_queue_map *map, uint64_t key, void *value)
{
    rtl_queue_map_remove(map, key);
    uint64_t at = rtl_queue_map_place(key);
    for (uint64_t i = 0; i < RTL_MAP_PLACES; i++, at = (at + 1) % RTL_MAP_PLACES) {
        if (atomic_load_explicit(&map->places[at].key, memory_order_relaxed) > REMOVED)
            continue;
        atomic_store_explicit(&map->places[at].value, value, memory_order_release);
        atomic_store_explicit(&map->places[at].key, key, memory_order_release);
        return true;
    }
    return false;
}

void rtl_queue_map_remove(struct rtl_queue_map *map, uint64_t key)
{
    uint64_t at = rtl_queue_map_place(key);
    for (uint64_t i = 0; i < RTL_MAP_PLACES; i++, at = (at + 1) % RTL_MAP_PLACES) {
        uint64_t found = atomic_load_explicit(&map->places[at].key, memory_order_relaxed);
        if (found == 0)
            return;
        if (found == key) {
            atomic_store_explicit(&map->places[at].key, REMOVED, memory_order_release);
            return;
        }
    }
}

uint64_t rtl_queue_map_key_of(const struct rtl_queue_map *map, const void *value)
{
    for (uint64_t i = 0; i < RTL_MAP_PLACES; i++) {
        uint64_t key = atomic_load_explicit(&map->places[i].key, memory_order_relaxed);
        if (key > REMOVED &&
            atomic_load_explicit(&map->places[i].value, memory_order_relaxed) == value)
            return key;
    }
    return 0;
}

void rtl_queue_map_remove_value(struct rtl_queue_map *map, const void *value)
{
    for (uint64_t i = 0; i < RTL_MAP_PLACES; i++)
        if (atomic_load_explicit(&map->places[i].key, memory_order_relaxed) > REMOVED &&
            atomic_load_explicit(&map->places[i].value, memory_order_relaxed) == value)
            atomic_store_explicit(&map->places[i].key, REMOVED, memory_order_release);
}
