/**
 * A hash map from 64-bit keys to 32-bit values, from which entries can be taken out. Zeroed memory
 * is an empty map. Not thread safe.
 */
#ifndef RTL_COMMON_INDEX_H
#define RTL_COMMON_INDEX_H

#include <stddef.h>
#include <stdint.h>

/** What a look-up gives for a missing key; not allowed as a value. */
#define RTL_INDEX_MISSING UINT32_MAX

struct rtl_index {
    uint64_t *keys;
    uint32_t *values;
    size_t capacity; /**< power of two, or 0 */
    size_t count;
};

/** Sets `key` to `value`. 0, or -1 when memory is short (the map is as before). */
int rtl_index_put(struct rtl_index *index, uint64_t key, uint32_t value);

/** The value of `key`, or RTL_INDEX_MISSING. */
uint32_t rtl_index_get(const struct rtl_index *index, uint64_t key);

/** Takes `key` out, if it is there. */
void rtl_index_remove(struct rtl_index *index, uint64_t key);

/** Frees what the map holds and makes it empty. */
void rtl_index_free(struct rtl_index *index);

/** Key of an object of a process. */
static inline uint64_t rtl_index_key(uint32_t process, uint32_t id)
{
    return (uint64_t)process << 32 | id;
}

/** Mixes a number into a hash so that each bit of it changes half of the result (SplitMix64,
 * Steele, Lea and Flood 2014). */
static inline uint64_t rtl_index_mix(uint64_t hash, uint64_t number)
{
    uint64_t z = hash * UINT64_C(0xD1342543DE82EF95) + number + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

#endif
