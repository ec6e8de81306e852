/**
 * Is it UTF-8?
 */
#ifndef RTL_TOOLS_EXPORT_UTF8_H
#define RTL_TOOLS_EXPORT_UTF8_H

#include <stddef.h>

/** Bytes of the UTF-8 sequence at the begin of a text that is not empty; 0 if it is none. */
size_t utf8_sequence(const char *text);

#endif
