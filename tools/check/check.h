/**
 * The verdict of `rtl check`, for `rtl demo` too.
 */
#ifndef RTL_TOOLS_CHECK_H
#define RTL_TOOLS_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/** Checks the trace at `path`, against truth logs if there are any, and writes what it found to
 * stdout. Returns an exit status. */
int check_show(const char *path, const char *const *logs, size_t log_count, bool json);

#endif
