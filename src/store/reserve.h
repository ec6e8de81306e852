/**
 * A little of a disk, kept for a last word.
 */
#ifndef RTL_STORE_RESERVE_H
#define RTL_STORE_RESERVE_H

/** Takes 256 KiB, or less if there is less, of the file system that has the file `path`, without a
 * name. A descriptor, to be closed when they are needed; -1 if that cannot be. */
int rtl_reserve(const char *path);

#endif
