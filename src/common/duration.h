/**
 * Lengths of time as users write them.
 */
#ifndef RTL_COMMON_DURATION_H
#define RTL_COMMON_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/** Reads "2", "2.5" (seconds), "500ms", "1.5s", "10us", "3m" or "1h", whatever the locale, into ns;
 * what is below a millionth of the unit is dropped. False for anything else and for more than 100
 * years: *ns is untouched. */
bool rtl_duration_read(const char *text, uint64_t *ns);

#endif
