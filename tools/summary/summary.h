/**
 * The summary of a trace, for `rtl summary` and for the end of `rtl trace` and `rtl demo`.
 */
#ifndef RTL_TOOLS_SUMMARY_H
#define RTL_TOOLS_SUMMARY_H

#include <stdio.h>

/** Writes the summary of the trace at `path` with the `top` largest kernels (0: all) to `out`.
 * Returns an exit status. */
int summary_show(const char *path, unsigned top, FILE *out);

#endif
