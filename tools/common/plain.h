/**
 * Texts from outside on a terminal: names come from the program that was recorded, so they may hold
 * anything; so may names of files and arguments.
 *
 * What is not text is written as an escape: \n and its like, \x1b for other controls below 0x80
 * and for each byte that is not UTF-8, \u009b for the controls above (C1) and for what changes the
 * direction of writing or is no more than a mark (Unicode's Bidi_Control, line separators, U+FEFF).
 * A backslash stays one.
 */
#ifndef RTL_TOOLS_PLAIN_H
#define RTL_TOOLS_PLAIN_H

#include <stddef.h>

#define PLAIN_COPIES 16u

/** The text with its escapes: itself if it needs none, else a copy that holds until the
 * PLAIN_COPIES-th call after. One thread. Ends the program without memory. */
const char *plain(const char *text);

/** The same into a buffer, cut off where it does not fit `size` bytes with the terminator. Returns
 * `buffer`. */
char *plain_text(const char *text, char *buffer, size_t size);

/** Room for any text with its escapes, bytes. */
size_t plain_size(const char *text);

/** The character at `text` if it is one of those that JSON allows as they are and terminals do not:
 * its code, at most 0xffff; else 0. */
unsigned plain_unsafe(const char *text);

/** Columns that a text takes on a terminal. */
unsigned plain_width(const char *text);

/** Bytes of the beginning of a text that fit into `width` columns; no character is parted. */
size_t plain_head(const char *text, unsigned width);

/** Where, in bytes, the longest end of a text begins that fits into `width` columns. */
size_t plain_tail(const char *text, unsigned width);

/** Fits a text with its escapes into `width` columns, the middle cut out where it is longer ("..."
 * instead). Writes to `buffer` and returns it. */
char *plain_fit(const char *text, unsigned width, char *buffer, size_t size);

#endif
