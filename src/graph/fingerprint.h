/**
 * What tells a kernel of a graph from others by its packet: kernel object, kernarg address, grid
 * and workgroup. A replay repeats them, kernarg address included; an eager launch has fresh
 * kernargs.
 *
 * Fingerprints join: that of two batches, one after the other, follows from theirs. The runtime
 * cuts the packets of one graph into batches by how far the device is behind (infer.h), so that
 * batches differ from replay to replay where their join does not.
 */
#ifndef RTL_GRAPH_FINGERPRINT_H
#define RTL_GRAPH_FINGERPRINT_H

#include <stdint.h>

/** A fingerprint is a polynomial in this, modulo 2^64, with the kernels' hashes as coefficients. */
#define RTL_FINGERPRINT_BASE UINT64_C(0xD1342543DE82EF95)

static inline uint64_t rtl_fingerprint_turn(uint64_t value)
{
    return value << 32 | value >> 32;
}

/** Adds a kernel to the fingerprint of the ones before it; the first has `before` 0. `plane`: grid
 * x and y; `rest`: grid z, workgroup x and y; `depth`: workgroup z. Only one multiplication waits
 * for `before`, and few for each other. */
static inline uint64_t rtl_fingerprint_words(uint64_t before, uint64_t kernel_object,
                                             uint64_t kernarg, uint64_t plane, uint64_t rest,
                                             uint64_t depth)
{
    uint64_t code = kernel_object * UINT64_C(0x9E3779B97F4A7C15);
    uint64_t data = kernarg * UINT64_C(0xBF58476D1CE4E5B9);
    plane *= UINT64_C(0x94D049BB133111EB);
    rest = rest * UINT64_C(0xD6E8FEB86659FD93) + depth;
    uint64_t hash = code + rtl_fingerprint_turn(data) + (plane ^ rtl_fingerprint_turn(rest));
    hash = (hash ^ (hash >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return before * RTL_FINGERPRINT_BASE + (hash ^ (hash >> 31));
}

/** The same for a kernel in parts. */
static inline uint64_t rtl_fingerprint(uint64_t before, uint64_t kernel_object, uint64_t kernarg,
                                       const uint32_t grid[3], const uint16_t block[3])
{
    return rtl_fingerprint_words(before, kernel_object, kernarg, grid[0] | (uint64_t)grid[1] << 32,
                                 grid[2] | (uint64_t)block[0] << 32 | (uint64_t)block[1] << 48,
                                 block[2]);
}

/** The fingerprint of `left` followed by `right`, which is of `kernels` kernels. */
static inline uint64_t rtl_fingerprint_join(uint64_t left, uint64_t right, uint32_t kernels)
{
    uint64_t power = 1;
    for (uint64_t square = RTL_FINGERPRINT_BASE; kernels; kernels >>= 1, square *= square)
        if (kernels & 1)
            power *= square;
    return left * power + right;
}

#endif
