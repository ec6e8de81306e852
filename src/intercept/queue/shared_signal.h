/**
 * What ROCr keeps behind a signal's handle: the public amd_signal_t, and after it the times of a
 * copy that an SDMA engine did (a copy by a kernel leaves its times where kernels do).
 *
 * Source: SharedSignal in core/inc/signal.h of ROCr 5.2.3 and 6.2.4, where GetRawTs says which
 * times are the right ones. Each has a magic number that tells the layout; nothing is read or
 * written beyond amd_signal_t where it is another.
 */
#ifndef RTL_INTERCEPT_QUEUE_SHARED_SIGNAL_H
#define RTL_INTERCEPT_QUEUE_SHARED_SIGNAL_H

#include <hsa/amd_hsa_signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTL_SHARED_SIGNAL_MAGIC UINT64_C(0x71FCCA6A3D5D5276)

struct rtl_shared_signal {
    amd_signal_t signal;
    uint64_t sdma_start; /**< ticks of the copying agent; 0 unless an SDMA engine did it */
    void *core_signal;
    uint64_t magic;
    uint64_t reserved;
    uint64_t sdma_end;
    uint64_t reserved2[3];
};

_Static_assert(sizeof(amd_signal_t) == 64 && offsetof(struct rtl_shared_signal, magic) == 80 &&
                   offsetof(struct rtl_shared_signal, sdma_end) == 96,
               "the layout of ROCr's SharedSignal");

static inline struct rtl_shared_signal *rtl_shared_signal(uint64_t handle)
{
    return (struct rtl_shared_signal *)(uintptr_t)handle;
}

/** True if the signal is laid out as above. */
static inline bool rtl_shared_signal_known(uint64_t handle)
{
    return rtl_shared_signal(handle)->magic == RTL_SHARED_SIGNAL_MAGIC;
}

/** Clears the times of an SDMA engine. The signal must be idle; a late harvester may still read it,
 * in vain. */
static inline void rtl_shared_signal_clear_copy(uint64_t handle)
{
    struct rtl_shared_signal *shared = rtl_shared_signal(handle);
    __atomic_store_n(&shared->sdma_start, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->sdma_end, 0, __ATOMIC_RELAXED);
}

#endif
