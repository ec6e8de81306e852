/** Cache lines that threads take from each other. */
#ifndef RTL_COMMON_LINES_H
#define RTL_COMMON_LINES_H

/** Bytes between what one thread writes and what another one does, if both do so all the time: two
 * cache lines, since processors fetch the other line of an aligned pair along with the one that
 * they need (Intel 64 and IA-32 Architectures Optimization Reference Manual, "spatial prefetcher").
 * For _Alignas. */
#define RTL_FALSE_SHARING_BYTES 128

#endif
