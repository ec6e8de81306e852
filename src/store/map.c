#include "store/map.h"

#include <stdlib.h>
#include <string.h>

/* Where `key` is, or the free slot where it belongs: linear probing, never more than half full. */
static size_t find(const struct rtl_map *map, uint64_t key)
{
    /* Multiplicative hashing with 2^64 divided by the golden ratio (Knuth, TAOCP 3, 6.4). */
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t)(hash >> 32) & (map->capacity - 1);
    while (map->values[slot] != RTL_MAP_MISSING && map->keys[slot] != key)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

static int grow(struct rtl_map *map)
{
    struct rtl_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64};
    larger.keys = malloc(larger.capacity * sizeof *larger.keys);
    larger.values = malloc(larger.capacity * sizeof *larger.values);
    if (!larger.keys || !larger.values) {
        free(larger.keys);
        free(larger.values);
        return -1;
    }
    memset(larger.values, 0xff, larger.capacity * sizeof *larger.values);
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->values[i] == RTL_MAP_MISSING)
            continue;
        size_t slot = find(&larger, map->keys[i]);
        larger.keys[slot] = map->keys[i];
        larger.values[slot] = map->values[i];
    }
    larger.count = map->count;
    struct rtl_map old = *map;
    *map = larger;
    rtl_map_clear(&old);
    return 0;
}

int rtl_map_put(struct rtl_map *map, uint64_t key, uint32_t value)
{
    if (map->count * 2 >= map->capacity && grow(map) != 0)
        return -1;
    size_t slot = find(map, key);
    if (map->values[slot] == RTL_MAP_MISSING)
        map->count++;
    map->keys[slot] = key;
    map->values[slot] = value;
    return 0;
}

uint32_t rtl_map_get(const struct rtl_map *map, uint64_t key)
{
    return map->capacity ? map->values[find(map, key)] : RTL_MAP_MISSING;
}

void rtl_map_clear(struct rtl_map *map)
{
    free(map->keys);
    free(map->values);
    *map = (struct rtl_map){0};
}
