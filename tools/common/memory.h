/**
 * Memory for subcommands that cannot go on without: when it is short the program ends with a
 * sentence.
 */
#ifndef RTL_TOOLS_MEMORY_H
#define RTL_TOOLS_MEMORY_H

#include <stddef.h>

/** Zeroed memory for `count` elements (at least one). The caller frees it. */
void *memory_new(size_t count, size_t size);

/** `memory` (may be NULL) with room for `count` elements. */
void *memory_grown(void *memory, size_t count, size_t size);

/** Ends the program with the sentence. */
_Noreturn void memory_is_short(void);

#endif
