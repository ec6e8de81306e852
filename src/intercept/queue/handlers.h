/**
 * The program's handlers of signals (hsa_amd_signal_async_handler): a thread of the runtime's calls
 * them, and what they tell the program has to be in the ring before (waits.h).
 *
 * A registration takes a place until its handler says that it is done with. Where there is none
 * left, the handler is called as without RTL.
 */
#ifndef RTL_INTERCEPT_QUEUE_HANDLERS_H
#define RTL_INTERCEPT_QUEUE_HANDLERS_H

#include <stdbool.h>

/** Takes memory for the places, before the entry is hooked. False: there is none. */
bool rtl_handlers_begin(void);

/** Hooks the entry. Each time the tool is loaded. */
void rtl_handlers_hook(void);

#endif
