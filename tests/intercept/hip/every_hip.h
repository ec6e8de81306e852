/**
 * A HIP library with every function of the table, made from it: each tells what it was called with
 * and gives what it is told to.
 */
#ifndef RTL_TESTS_EVERY_HIP_H
#define RTL_TESTS_EVERY_HIP_H

#include "intercept/hip/hip.h"

#include <stddef.h>
#include <stdint.h>

#define EVERY_ERRNO 4711

struct every_hip {
    const char *name;     /**< of the function that was called last */
    uint64_t hash;        /**< of its arguments' bytes, by every_hash */
    unsigned calls;       /**< of all functions */
    hipError_t result;    /**< what to return */
    void (*within)(void); /**< called by every function, if not NULL */
    unsigned kernels;     /**< that each library has; the handle of each is that of its name */
};

/** The library's state. */
RTL_EXPORTED extern struct every_hip every_hip;

static inline uint64_t every_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
