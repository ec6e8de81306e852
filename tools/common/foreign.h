/**
 * Recordings of other profilers that are given where a trace is wanted.
 */
#ifndef RTL_TOOLS_FOREIGN_H
#define RTL_TOOLS_FOREIGN_H

#include <stdbool.h>

/** Says what to do with a file that is no trace, if it is a recording that `rtl import` takes;
 * false otherwise. It is opened for reading only. */
bool foreign_say(const char *path);

#endif
