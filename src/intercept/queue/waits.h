/**
 * The program's waits, for signals and within HIP.
 *
 * A program may end without notice (_exit, a signal) as soon as it knows that its work is done. So
 * the records of that work have to be in the ring before it knows: a thread of the program that has
 * waited for a signal, or has loaded one and found it completed, harvests what the worker has not
 * harvested yet, before its call returns.
 *
 * A thread that waits for a replaced signal also forwards the completion itself. Otherwise its wait
 * would last until the worker's next round. As long as no signal was ever replaced a wait costs one
 * load more.
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
