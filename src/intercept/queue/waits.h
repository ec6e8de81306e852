/**
 * The program's waits, for signals and within HIP.
 *
 * What is done is in the ring when the program learns that it is done: it may end the next moment,
 * in a way that asks nobody (_exit, a signal). So who has waited, or has looked and found a signal
 * down, harvests what has completed and the worker has not come by for.
 *
 * A thread that waits for a replaced signal forwards it itself. Otherwise the wait would end when
 * the worker comes by, and while it waits the program's thread has nothing better to do. A wait
 * costs nothing more as long as no signal was ever replaced.
 */
#ifndef RTL_INTERCEPT_QUEUE_WAITS_H
#define RTL_INTERCEPT_QUEUE_WAITS_H

#include <stdbool.h>

/** Hooks hsa_signal_wait_*, hsa_signal_load_* and their relatives. `replaced` is called by
 * rtl_waits_signal_replaced. */
void rtl_waits_hook(void (*replaced)(void));

/** The program is about to be told that something is done: all that it may know to be done then is
 * in the ring afterwards, with what is needed to read it. Where nothing is pending this costs some
 * loads for each queue, else what the worker would have had to do. Any thread of the program's;
 * keeps errno. Without system calls, but before the first clock point of a device, and where
 * records are parked. */
void rtl_waits_ended(void);

/** A signal was replaced, for the first time or again: it has to be forwarded as soon as its packet
 * has completed. Any thread, no system call. */
void rtl_waits_signal_replaced(void);

/** True while a thread of the program forwards what it waits for: the worker need not hurry. Any
 * thread. */
bool rtl_waits_are_forwarding(void);

/** In a forked child: nobody waits. */
void rtl_waits_forked(void);

#endif
