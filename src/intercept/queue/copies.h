/**
 * Asynchronous copies: the entries that start them, and their records.
 *
 * The copies of an agent are followed like the kernels of a queue: a record in a ring of pending
 * records, a completion signal that is borrowed or replaced, harvested by the same threads, with a
 * row of the ledger. The agent that copies (the source's GPU, else the destination's, else the
 * destination's CPU) has such a queue from its first copy on; there is no hardware queue behind it.
 *
 * Which agent that is, and that its clock is the one of the times: Runtime::CopyMemory of ROCr
 * 5.2.3 and 6.2.4.
 */
#ifndef RTL_INTERCEPT_QUEUE_COPIES_H
#define RTL_INTERCEPT_QUEUE_COPIES_H

#include "intercept/base/config.h"

#include <stdbool.h>

/** Takes memory for what is known of agents, before the entries are hooked. False: there is none.
 */
bool rtl_copies_begin(void);

/** Hooks the copy entries and has the runtime write timestamps. Each time the tool is loaded. */
void rtl_copies_hook(const struct rtl_config *config);

/** In a forked child: copies pass from now on. */
void rtl_copies_forked(void);

/** Ordinal of the next copy of an agent. Any thread. */
uint64_t rtl_copies_next(uint32_t agent);

#endif
