/**
 * What the contract's cases (contract.c) have work done by: a device, in the way of its own
 * programs.
 */
#ifndef TESTS_KINETO_BACKEND_H
#define TESTS_KINETO_BACKEND_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct backend {
    const char *vendor; /**< as it calls itself */
    /** Names of the calls that launch one of each. */
    const char *kernel_call, *copy_call, *set_call;
    /** Launch so many, and do not wait; each kernel takes so long. */
    void (*kernels)(unsigned count, unsigned microseconds);
    void (*copies)(unsigned count);
    void (*sets)(unsigned count);
    void (*wait)(void);
    /** What the backend itself says of its devices. */
    uint32_t devices, compute_units, wave_size;
    uint64_t memory_bytes;
};

/** Opens the device, has it do one of everything, and says how to have it do more. */
struct backend backend_open(void);

#ifdef __cplusplus
}
#endif

#endif
