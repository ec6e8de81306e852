/**
 * The program that opens pages.
 */
#ifndef RTL_TOOLS_VIEW_BROWSER_H
#define RTL_TOOLS_VIEW_BROWSER_H

#include <stdbool.h>
#include <sys/types.h>

/** What it is called: `browser`, or xdg-open if that is NULL. */
const char *browser_name(const char *browser);

/** Begins to open a file or an address. With `apart` the program is of a session of its own, so
 * that Ctrl-C does not reach it. -1 when a sentence has been said. */
pid_t browser_begin(const char *browser, const char *address, bool apart);

/** Waits until that has ended. True if it was opened. */
bool browser_end(pid_t pid);

#endif
