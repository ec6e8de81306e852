/**
 * A small hash map from 64-bit keys to 32-bit indexes. Zeroed memory is an empty map. Not thread
 * safe.
 */
#ifndef RTL_STORE_MAP_H
#define RTL_STORE_MAP_H

#include <stddef.h>
#include <stdint.h>

/** What a lookup gives for a missing key; not allowed as a value. */
#define RTL_MAP_MISSING UINT32_MAX

struct rtl_map {
    uint64_t *keys;
    uint32_t *values;
    size_t capacity; /**< power of two, or 0 */
    size_t count;
};

/** Sets `key` to `value`. 0, or -1 when memory is short (the map is as before). */
int rtl_map_put(struct rtl_map *map, uint64_t key, uint32_t value);

/** The value of `key`, or RTL_MAP_MISSING. */
uint32_t rtl_map_get(const struct rtl_map *map, uint64_t key);

/** Frees what the map holds and makes it empty. */
void rtl_map_clear(struct rtl_map *map);

/** Key of an object of a process. */
static inline uint64_t rtl_map_key(uint32_t process, uint32_t id)
{
    return (uint64_t)process << 32 | id;
}

#endif
