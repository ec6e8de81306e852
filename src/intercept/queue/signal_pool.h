/**
 * The completion signals of this process, which are free or those that are borrowed, and how many
 * are made, and when.
 *
 * Signals are made ahead of need, by the worker, and by a submitter that finds none. Each takes
 * memory of the runtime's (300 bytes in ROCr 5.2.3), and a moment in which others wait for it.
 */
#ifndef RTL_INTERCEPT_QUEUE_SIGNAL_POOL_H
#define RTL_INTERCEPT_QUEUE_SIGNAL_POOL_H

#include "intercept/queue/borrow.h"
#include "pool/pool.h"

#include <stdbool.h>
#include <stdint.h>

/** The signals of this process. */
extern struct rtl_pool rtl_signals;

/** The program's signals that are borrowed; NULL before rtl_harvest_begin (harvest.h), which says
 * what it does with a record. */
extern struct rtl_borrow_table *rtl_borrows;

/** Makes what each of the queues that live now needs before it is used. By the maker of one; any
 * thread. */
void rtl_signal_pool_open_queue(void);

/** From now on only threads of the program make signals, when they need one: the runtime allocates
 * memory for them, which no thread of RTL's is to do (tasks.h). Before there is a queue. */
void rtl_signal_pool_leave_to_program(void);

/** Before signals are made `most` is asked how many of them there may be. It is called by any
 * thread, by several at once, and cheap. Before there is a queue. */
void rtl_signal_pool_limit_by(uint32_t (*most)(void));

/** The runtime has refused to make a signal: it is asked for no more of them. Each request would
 * fail, say so on stderr, and take what memory there comes to be before the program has it. Any
 * thread. */
void rtl_signal_pool_refused(void);

/** It may be asked again: its memory has another limit, or it is another one. Any thread. */
void rtl_signal_pool_resume(void);

/** rtl_pool_grow, as far as there is memory. Any thread. */
unsigned rtl_signal_pool_grow(uint32_t target);

/** The calling thread is one of RTL's own. */
void rtl_signal_pool_is_of_rtl(void);

/** How many signals there should be by now, if nobody is in a hurry. For the worker. */
uint32_t rtl_signal_pool_wanted(void);

/** True if no kernel has a signal just now. Any thread; a hint. */
bool rtl_signal_pool_is_idle(void);

/** A submitter found no free signal: makes some, unless others have given some back meanwhile.
 * With `even_if_many` also where there are many already, whose kernels may finish any moment. Takes
 * the runtime's lock for signals, as a signal of the program's own does. Keeps errno. Returns how
 * many.
 */
unsigned rtl_signal_pool_make_now(bool even_if_many);

#endif
