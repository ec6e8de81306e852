/**
 * Recordings of other profilers that are given where a trace is wanted.
 */
#ifndef RTL_TOOLS_FOREIGN_H
#define RTL_TOOLS_FOREIGN_H

/** Says what to do with a file that is no trace, if it is a recording that `rtl import` takes;
 * nothing otherwise. It is opened for reading only. */
void foreign_say(const char *path);

#endif
