/**
 * What ThreadSanitizer cannot see: order that is made by libraries that are not built with it.
 */
#ifndef RTL_COMMON_TSAN_H
#define RTL_COMMON_TSAN_H

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

#endif
