/**
 * What the kernels of the random AQL programs are given; shared by the program and by plugin.c.
 */
#ifndef E2E_RANDOM_KERNEL_H
#define E2E_RANDOM_KERNEL_H

#include <stdatomic.h>
#include <stdint.h>

/** Where the kernels of one producer leave their traces. */
struct random_tally {
    _Atomic uint64_t count;  /**< kernels that ran */
    _Atomic uint64_t sum;    /**< of random_mix over their ids */
    _Atomic uint64_t broken; /**< kernels that ran before the one they were to follow */
    _Atomic uint32_t *runs;  /**< how often each packet ran, by id */
};

/** A kernarg segment, one per packet. */
struct random_arguments {
    struct random_tally *tally;
    uint32_t id;
    uint32_t after; /**< id of a kernel that must have run before; the own id: none */
};

/** A number that tells one packet from another in a sum. */
static inline uint64_t random_mix(uint64_t id)
{
    id = (id ^ (id >> 15)) * UINT64_C(0x9E3779B97F4A7C15);
    return id ^ (id >> 31);
}

#endif
