/**
 * The signal entries of the API: doorbells of followed queues, and writes to signals that a record
 * borrows.
 */
#ifndef RTL_INTERCEPT_QUEUE_SIGNALS_H
#define RTL_INTERCEPT_QUEUE_SIGNALS_H

/** Hooks the stores (doorbells and re-arming), exchanges, compare-and-swaps, additions and the
 * destruction of signals. */
void rtl_signals_hook(void);

#endif
