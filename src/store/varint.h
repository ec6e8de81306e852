/**
 * Integers of variable length: seven bits a byte, low bits first, the top bit set in all bytes but
 * the last (LEB128, as in DWARF 5, 7.6). Signed differences are folded so that small ones of either
 * sign are short: 0, -1, 1, -2, … become 0, 1, 2, 3, ….
 */
#ifndef RTL_STORE_VARINT_H
#define RTL_STORE_VARINT_H

#include <stddef.h>
#include <stdint.h>

/** Longest encoding of 64 bits, bytes. */
#define RTL_VARINT_MAX 10u

static inline uint64_t rtl_zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t rtl_unzigzag(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/** Writes `value` at `to`, which has room for RTL_VARINT_MAX bytes; returns the byte after it. */
static inline unsigned char *rtl_varint_put(unsigned char *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *to++ = (unsigned char)value;
    return to;
}

/** Reads a value at `from`, never at or beyond `end`. Returns the byte after it, or NULL if it is
 * cut off or does not fit 64 bits. */
static inline const unsigned char *rtl_varint_get(const unsigned char *from,
                                                  const unsigned char *end, uint64_t *value)
{
    uint64_t result = 0;
    for (unsigned shift = 0; from < end && shift < 64; shift += 7) {
        uint64_t byte = *from++;
        if (shift == 63 && byte > 1)
            return NULL;
        result |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return from;
        }
    }
    return NULL;
}

#endif
