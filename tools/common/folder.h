/**
 * Folders for what a command needs while it runs.
 */
#ifndef RTL_TOOLS_FOLDER_H
#define RTL_TOOLS_FOLDER_H

#include <stddef.h>

/** Room for the name of one. */
#define FOLDER_SIZE 64u

/** Makes a folder in TMPDIR, or in /tmp, whose name begins with `name` (up to 12 letters). 0, or
 * EXIT_USAGE when a sentence has been said. */
int folder_make(const char *name, char *folder, size_t size);

/** Removes a folder with all that is in it. */
void folder_remove(const char *folder);

#endif
