/**
 * Memory of which only a part may ever be used.
 */
#ifndef RTL_COMMON_PAGES_H
#define RTL_COMMON_PAGES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/** Bytes of one, on the processors that there are ROCm for (x86-64). */
#define RTL_PAGE 4096u

/** Bytes that rtl_prefault asks for at once, a multiple of a page. */
#define RTL_PAGES_AT_ONCE ((uintptr_t)16 * RTL_PAGE)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14, asm-generic/mman-common.h */
#endif

/** Zeros that take memory when, and as far as, they are written to. In small pages: where the
 * system gives large ones of itself, the first byte would take two megabytes. NULL: there are none,
 * or no more are allowed. Where data are limited (RLIMIT_DATA) they do not count as such. The
 * child of a fork has a copy. Any thread; keeps errno. */
void *rtl_pages(size_t bytes);

/** Gives back what rtl_pages(bytes) has returned. Any thread; keeps errno. */
void rtl_pages_give(void *memory, size_t bytes);

/** From now on at most so many bytes are held at a time, with those that are held already;
 * UINT64_MAX, as at first: as many as there are. */
void rtl_pages_allow(uint64_t most);

/** Counts so many bytes, which were or will be taken in another way, as held. False, and not
 * counted: they are more than is allowed. Any thread. */
bool rtl_pages_charge(uint64_t bytes);

/** Takes back what rtl_pages_charge has counted. Any thread. */
void rtl_pages_discharge(uint64_t bytes);

/** Bytes of addresses that are held. Any thread. */
uint64_t rtl_pages_held(void);

/** Takes memory for a part of a shared mapping of a file that is in memory, from `begin` to `end`,
 * a few pages at a time. 0, or -1 with errno: ENOSPC if there is none, EINVAL if the system cannot
 * do so (before Linux 5.14). Any thread. */
static inline int rtl_pages_make(void *begin, void *end)
{
    uintptr_t first = (uintptr_t)begin & ~(uintptr_t)(RTL_PAGE - 1);
    uintptr_t last = (uintptr_t)end;
    for (uintptr_t step; first < last; first += step) {
        step = last - first < RTL_PAGES_AT_ONCE ? last - first : RTL_PAGES_AT_ONCE;
        if (madvise((void *)first, step, MADV_POPULATE_WRITE) == 0)
            continue;
        if (errno == EFAULT || errno == ENOMEM)
            errno = ENOSPC;
        return -1;
    }
    return 0;
}

/** Takes memory for a part of it, from `begin` to `end`, before somebody writes there, whatever is
 * in it. A few pages at a time: who maps memory meanwhile waits for all that is asked for at once.
 * An advice: a system before Linux 5.14 takes it when it is written to, as without. Any thread;
 * keeps errno. */
static inline void rtl_prefault(void *begin, void *end)
{
    uintptr_t first = (uintptr_t)begin & ~(uintptr_t)(RTL_PAGE - 1);
    uintptr_t last = (uintptr_t)end;
    int saved = errno;
    for (uintptr_t step; first < last; first += step) {
        step = last - first < RTL_PAGES_AT_ONCE ? last - first : RTL_PAGES_AT_ONCE;
        (void)madvise((void *)first, step, MADV_POPULATE_WRITE);
    }
    errno = saved;
}

#endif
