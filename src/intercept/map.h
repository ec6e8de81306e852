/**
 * A small map from an address or handle to a queue: look-ups are lock-free, changes happen under
 * the caller's lock.
 */
#ifndef RTL_INTERCEPT_MAP_H
#define RTL_INTERCEPT_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RTL_MAP_PLACES UINT64_C(4096)

struct rtl_map {
    struct {
        _Atomic uint64_t key; /* 0: never used; 1: removed */
        void *_Atomic value;
    } places[RTL_MAP_PLACES];
};

/** The value of a key, NULL if it has none. Any thread. */
void *rtl_map_find(const struct rtl_map *map, uint64_t key);

/** Sets a key's value; the key must be above 1. False if the map is full. Under a lock. */
bool rtl_map_put(struct rtl_map *map, uint64_t key, void *value);

/** Removes a key. Under a lock. */
void rtl_map_remove(struct rtl_map *map, uint64_t key);

#endif
