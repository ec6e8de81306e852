/**
 * Memory of which only a part may ever be used.
 */
#ifndef RTL_INTERCEPT_PAGES_H
#define RTL_INTERCEPT_PAGES_H

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

/** Zeros that take memory when, and as far as, they are written to. In small pages: where the
 * system gives large ones of itself, the first byte would take two megabytes. NULL: there are none.
 * To be given back, if at all, by munmap. Any thread; keeps errno. */
static inline void *rtl_pages(size_t bytes)
{
    int saved = errno;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        memory = NULL;
    else
        (void)madvise(memory, bytes, MADV_NOHUGEPAGE); /* a kernel without large pages refuses */
    errno = saved;
    return memory;
}

#endif
