/**
 * Folders and files for what a command needs while it runs.
 */
#ifndef RTL_TOOLS_FOLDER_H
#define RTL_TOOLS_FOLDER_H

#include <stddef.h>
#include <stdio.h>

/** Room for the name of one. */
#define FOLDER_SIZE 2048u

/** Makes a folder in TMPDIR, or in /tmp, whose name begins with `name` (up to 12 letters). 0, or
 * EXIT_USAGE when a sentence has been said. */
int folder_make(const char *name, char *folder, size_t size);

/** TMPDIR, or /tmp: where temporary files go. A program with more rights than its user has /tmp. */
const char *folder_temporary(void);

/** Opens a file without a name in folder_temporary(), for reading and writing; it is gone when it
 * is closed. tmpfile() does not look at TMPDIR, and /tmp may be small. NULL with errno. */
FILE *folder_file(void);

/** Removes a folder with all that is in it. */
void folder_remove(const char *folder);

#endif
