/**
 * Which kernels are counted in kernel mode (RTL_METRICS_KERNEL), by their names.
 */
#ifndef RTL_INTERCEPT_COUNTERS_CHOSEN_H
#define RTL_INTERCEPT_COUNTERS_CHOSEN_H

#include <stdbool.h>
#include <stdint.h>

/** From now on symbols whose names match the pattern are marked (rtl_symbols_mark): a POSIX
 * extended regular expression, looked for in the demangled name. Call it once, before kernels are
 * loaded. A pattern that is none is complained of, and all are counted. */
void rtl_counters_choose(const char *pattern);

/** Whether the kernel that is loaded at this kernel object is to be counted; every one is where no
 * pattern was given. Any thread, lock-free. */
bool rtl_counters_is_chosen(uint64_t kernel_object);

#endif
