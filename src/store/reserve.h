/**
 * Disk space kept aside, so that when the disk is full the trace can still be told so.
 */
#ifndef RTL_STORE_RESERVE_H
#define RTL_STORE_RESERVE_H

#include <stdbool.h>

/** Takes 256 KiB, or a quarter of what there is, of the file system that has the file `path`,
 * without a name. A descriptor, to be closed when they are needed; -1 with errno if that cannot be,
 * ENOSPC where there are not even 32 KiB. */
int rtl_reserve(const char *path);

/** Whether less than 1 MiB is left there. */
bool rtl_reserve_is_short(const char *path);

#endif
