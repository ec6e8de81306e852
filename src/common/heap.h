/**
 * Memory of our own for records that wait, apart from the C library's: a thread of ours that calls
 * malloc or free, once, has glibc set 64 MiB of addresses aside for it, which the limit of a
 * program (RLIMIT_AS) may not allow.
 *
 * Pieces are powers of two and are used again for others of their size; what is larger than a slab
 * is taken from the system, and given back. All of it is from rtl_pages.
 */
#ifndef RTL_COMMON_HEAP_H
#define RTL_COMMON_HEAP_H

#include <stddef.h>

/** So many bytes, aligned for every type; NULL if there are none. For rtl_heap_give. Any thread,
 * but in no signal handler; keeps errno. */
void *rtl_heap_take(size_t bytes);

/** Gives back what rtl_heap_take(bytes) has returned. As that. */
void rtl_heap_give(void *memory, size_t bytes);

/** In the child of a fork: whatever another thread was at, the heap can be used. What was free is
 * not used any more. */
void rtl_heap_forked(void);

#endif
