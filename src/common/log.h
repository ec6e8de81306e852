/**
 * Messages of the library inside somebody's program: a debug stream that is off unless RTL_DEBUG
 * asks for it, and complaints for what is broken. Both write one line to stderr with one system
 * call, keep errno, take no lock and allocate nothing; any thread may call them.
 */
#ifndef RTL_COMMON_LOG_H
#define RTL_COMMON_LOG_H

#include <stdbool.h>

/** Switches the debug stream on or off. */
void rtl_log_debug(bool on);

/** True if the debug stream is on: ask before computing costly arguments. */
bool rtl_log_debugging(void);

/** One line for somebody who debugs RTL: "rtl[pid]: …". */
void rtl_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** One sentence for the user, "rtl: …": something is broken or was set wrongly. */
void rtl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
