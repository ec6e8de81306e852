/**
 * What is counted for each begin or omission of a host call, range or launch (account.h), in lanes,
 * so that threads do not fight over a line of shared memory.
 *
 * The lane is the calling thread's, and so is what has stopped recording. Any thread, lock-free, no
 * system call but a thread's first (threads.h).
 */
#ifndef RTL_INTERCEPT_BASE_ACCOUNT_LANES_H
#define RTL_INTERCEPT_BASE_ACCOUNT_LANES_H

#include "ring/wire.h"

/** One has begun, of a kind that tells so. */
void rtl_account_begin(enum rtl_kind kind);

/** One is not recorded because recording is stopped: by the calling thread for itself, or for the
 * process. */
void rtl_account_leave_out(enum rtl_kind kind);

#endif
