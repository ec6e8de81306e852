/**
 * What tells a kernel of a graph from others by its packet: kernel object, kernarg address, grid
 * and workgroup. A replay repeats them, kernarg address included; an eager launch has fresh
 * kernargs.
 */
#ifndef RTL_GRAPH_FINGERPRINT_H
#define RTL_GRAPH_FINGERPRINT_H

#include <stdint.h>

/** Adds a kernel to the fingerprint of the ones before it; the first has `before` 0. Never 0. */
static inline uint64_t rtl_fingerprint(uint64_t before, uint64_t kernel_object, uint64_t kernarg,
                                       const uint32_t grid[3], const uint16_t block[3])
{
    uint64_t hash = before * UINT64_C(0x9E3779B97F4A7C15) + kernel_object;
    hash = (hash ^ (hash >> 29)) * UINT64_C(0xBF58476D1CE4E5B9) + kernarg;
    hash = (hash ^ (hash >> 32)) * UINT64_C(0x94D049BB133111EB);
    hash += grid[0] | (uint64_t)grid[1] << 32;
    hash = (hash ^ (hash >> 29)) * UINT64_C(0xD6E8FEB86659FD93);
    hash += grid[2] | (uint64_t)block[0] << 32 | (uint64_t)block[1] << 48;
    hash = (hash ^ (hash >> 32)) * UINT64_C(0x9E3779B97F4A7C15) + block[2];
    return hash != 0 ? hash : 1;
}

#endif
