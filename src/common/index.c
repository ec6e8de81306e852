#include "common/index.h"

#include <stdlib.h>
#include <string.h>

static size_t home(const struct rtl_index *index, uint64_t key)
{
    /* Multiplicative hashing with 2^64 divided by the golden ratio (Knuth, TAOCP 3, 6.4). */
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (index->capacity - 1);
}

/* Where `key` is, or the free slot where it belongs: linear probing, never more than half full. */
static size_t find(const struct rtl_index *index, uint64_t key)
{
    size_t slot = home(index, key);
    while (index->values[slot] != RTL_INDEX_MISSING && index->keys[slot] != key)
        slot = (slot + 1) & (index->capacity - 1);
    return slot;
}

static int grow(struct rtl_index *index)
{
    struct rtl_index larger = {.capacity = index->capacity ? index->capacity * 2 : 64};
    larger.keys = malloc(larger.capacity * sizeof *larger.keys);
    larger.values = malloc(larger.capacity * sizeof *larger.values);
    if (!larger.keys || !larger.values) {
        rtl_index_free(&larger);
        return -1;
    }
    memset(larger.values, 0xff, larger.capacity * sizeof *larger.values);
    for (size_t i = 0; i < index->capacity; i++) {
        if (index->values[i] == RTL_INDEX_MISSING)
            continue;
        size_t slot = find(&larger, index->keys[i]);
        larger.keys[slot] = index->keys[i];
        larger.values[slot] = index->values[i];
    }
    larger.count = index->count;
    struct rtl_index old = *index;
    *index = larger;
    rtl_index_free(&old);
    return 0;
}

int rtl_index_put(struct rtl_index *index, uint64_t key, uint32_t value)
{
    if (index->count * 2 >= index->capacity && grow(index) != 0)
        return -1;
    size_t slot = find(index, key);
    if (index->values[slot] == RTL_INDEX_MISSING)
        index->count++;
    index->keys[slot] = key;
    index->values[slot] = value;
    return 0;
}

uint32_t rtl_index_get(const struct rtl_index *index, uint64_t key)
{
    return index->capacity ? index->values[find(index, key)] : RTL_INDEX_MISSING;
}

void rtl_index_remove(struct rtl_index *index, uint64_t key)
{
    if (index->capacity == 0)
        return;
    size_t mask = index->capacity - 1;
    size_t hole = find(index, key);
    if (index->values[hole] == RTL_INDEX_MISSING)
        return;
    index->count--;
    /* What was pushed away by the entry moves back, so that probing finds no hole before it. */
    for (size_t slot = (hole + 1) & mask; index->values[slot] != RTL_INDEX_MISSING;
         slot = (slot + 1) & mask) {
        size_t wanted = home(index, index->keys[slot]);
        if (((slot - wanted) & mask) < ((slot - hole) & mask))
            continue;
        index->keys[hole] = index->keys[slot];
        index->values[hole] = index->values[slot];
        hole = slot;
    }
    index->values[hole] = RTL_INDEX_MISSING;
}

void rtl_index_free(struct rtl_index *index)
{
    free(index->keys);
    free(index->values);
    *index = (struct rtl_index){0};
}
