/**
 * How much memory RTL may hold in a program that was given a limit of it (RLIMIT_AS, RLIMIT_DATA).
 *
 * The program may need all that its limit leaves, and then ends otherwise than without RTL: so RTL
 * holds at most one part in 32 of what is left when recording begins, with all that comes later,
 * and nothing where that is too little to record with. The limits stay as they are: to raise one
 * would show in the program, and in what it starts.
 *
 * A program may also give itself a limit later, near to what it has by then. So the limits are
 * looked at whenever signals are made (not what is left, which would be a file to read), and after
 * a change RTL takes more only as far as a part in 32 of what is left then allows.
 */
#ifndef RTL_INTERCEPT_RUNTIME_SHARE_H
#define RTL_INTERCEPT_RUNTIME_SHARE_H

#include "intercept/base/config.h"

#include <stdbool.h>

/** Looks at the limits, and fits the ring and the most signals that there may be into the share;
 * from then on no more memory is taken (pages.h, signal_pool.h). Where there is no limit nothing
 * changes, until the program sets one. False:
 * the share is too small to record with, and `ring_bytes` is that of the smallest ring. Once,
 * before anything is taken. */
bool rtl_share_begin(struct rtl_config *config);

/** Tells the reader of the trace, in a note for each limit, how much RTL may hold. When there is a
 * ring. */
void rtl_share_tell(void);

/** True where a limit leaves the process hardly any memory: what is given back to the runtime may
 * need some. Reads a file of the system's where there is a limit. Any thread; keeps errno. */
bool rtl_share_is_used_up(void);

#endif
