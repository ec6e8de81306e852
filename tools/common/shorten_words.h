/**
 * Names without arguments, such as those of Tensile, word by word. For shorten_parts.c.
 */
#ifndef RTL_TOOLS_SHORTEN_WORDS_H
#define RTL_TOOLS_SHORTEN_WORDS_H

#include "common/shorten_pieces.h"

/** Lets the words go that parsed expressions, whose identifiers have the same first word, have in
 * common; the first one stays. Takes numbers from `number` on. */
void shorten_words(const struct piece *pieces, size_t count, unsigned *number);

#endif
