/**
 * What is left out or lost of all that is neither kernel nor copy, in shared memory (ring/wire.h):
 * counts outlive a process that is killed.
 *
 * What goes into the ring is not counted here. Before the ring is there, and in a forked child,
 * nothing is counted. Any thread, lock-free, no system call.
 */
#ifndef RTL_INTERCEPT_BASE_ACCOUNT_H
#define RTL_INTERCEPT_BASE_ACCOUNT_H

#include "ring/ring.h"

/** The ring of this process; NULL: there is none (any more). Async-signal-safe. */
void rtl_account_open(struct rtl_ring *ring);

/** Where it is counted, NULL if there is no ring. */
struct rtl_ring_header *rtl_account_header(void);

/** So many were lost. */
void rtl_account_lose(enum rtl_kind kind, enum rtl_lost why, uint64_t count);

/** So many wait in the process's memory, and no longer. */
void rtl_account_wait(enum rtl_kind kind, uint64_t count);
void rtl_account_waited(enum rtl_kind kind, uint64_t count);

#endif
