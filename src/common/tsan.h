/**
 * What ThreadSanitizer cannot see: order that is made by libraries that are not built with it.
 */
#ifndef RTL_COMMON_TSAN_H
#define RTL_COMMON_TSAN_H

#include <stdatomic.h>

/** Of a function whose accesses ThreadSanitizer is not to look at, since they are to memory that
 * went from one thread to another behind its back. Not the same as a suppression, for which it
 * makes a report that it throws away, and leaves another errno. */
#define RTL_TSAN_BLIND __attribute__((no_sanitize("thread")))

#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *address);
void __tsan_release(void *address);

/** Everything this thread did so far comes before what follows a later rtl_tsan_acquire of the
 * address, in any thread. Only for places where that is so, by way of code that is not instrumented
 * (ROCr's write index, the device, ROCr's read index). Nothing without ThreadSanitizer. */
static inline void rtl_tsan_release(const void *address)
{
    __tsan_release((void *)(unsigned long)address);
}

/** The other end of rtl_tsan_release. */
static inline void rtl_tsan_acquire(const void *address)
{
    __tsan_acquire((void *)(unsigned long)address);
}
#else
static inline void rtl_tsan_release(const void *address)
{
    (void)address;
}

static inline void rtl_tsan_acquire(const void *address)
{
    (void)address;
}
#endif

/** atomic_thread_fence, of which ThreadSanitizer knows nothing: gcc says so for each. What a fence
 * orders must be atomic on its own account, and right without the fence as far as ThreadSanitizer
 * can tell. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
static inline void rtl_fence(memory_order order)
{
    atomic_thread_fence(order);
}
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
