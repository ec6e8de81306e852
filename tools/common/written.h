/**
 * What became of the standard output.
 */
#ifndef RTL_TOOLS_WRITTEN_H
#define RTL_TOOLS_WRITTEN_H

#include <stdbool.h>

/** Writes out what the standard output still has in memory. Returns `status`, or EXIT_USAGE if not
 * all that was printed since the command began could be written: with a sentence, said once, unless
 * whoever read it went away (EPIPE). main calls it for every command, and at the end of --help; a
 * command does where it goes on to something else. One thread. */
int written(int status);

/** True if the standard output was closed when rtl began. A command whose result is a file then
 * does not tell of it: nothing that was asked for is missing. */
bool written_to_none(void);

#endif
