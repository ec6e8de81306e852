/**
 * Texts of a trace on a terminal: names come from the program that was recorded, so they may hold
 * anything.
 */
#ifndef RTL_TOOLS_PLAIN_H
#define RTL_TOOLS_PLAIN_H

#include <stddef.h>

/** Copies a text, cut off to fit `size` bytes with the terminator, so that it is nothing but text:
 * what is not UTF-8, controls (terminal escapes begin with one) and changes of the direction of
 * writing become '?'. Returns `buffer`. */
char *plain_text(const char *text, char *buffer, size_t size);

/** Columns that a text takes on a terminal. */
unsigned plain_width(const char *text);

/** Fits a text into `width` columns, the middle cut out where it is longer ("..." instead). Writes
 * to `buffer` and returns it. */
char *plain_fit(const char *text, unsigned width, char *buffer, size_t size);

#endif
