/**
 * The program's waits for signals: who waits for one that was replaced forwards it himself.
 *
 * Otherwise the wait would end when the worker comes by, and while it waits the program's thread
 * has nothing better to do. A wait costs nothing more as long as no signal was ever replaced.
 */
#ifndef RTL_INTERCEPT_WAITS_H
#define RTL_INTERCEPT_WAITS_H

#include <stdbool.h>

/** Hooks hsa_signal_wait_*. */
void rtl_waits_hook(void);

/** A signal was replaced, for the first time or again. Any thread. */
void rtl_waits_expect(void);

/** True while a thread of the program forwards what it waits for: the worker need not hurry. Any
 * thread. */
bool rtl_waits_help(void);

/** In a forked child: nobody waits. */
void rtl_waits_forked(void);

#endif
