/**
 * Names of functions side by side: which parts may go from each so that what tells them apart
 * stays. For shorten.c.
 *
 * Names are alike in their parts: the same function's template arguments are compared place by
 * place, and their own arguments in turn; names without template arguments, such as those of
 * Tensile, are compared word by word where they begin with the same word. A part may go where all
 * that are compared have the same there.
 */
#ifndef RTL_TOOLS_SHORTEN_PARTS_H
#define RTL_TOOLS_SHORTEN_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/** What a part is, in the order in which parts go. */
enum shorten_kind {
    SHORTEN_RETURN,
    SHORTEN_PARAMETERS,  /**< the whole list; where names differ by it alone, it stays */
    SHORTEN_INNER_SCOPE, /**< namespaces and casts in arguments */
    SHORTEN_SCOPE,       /**< namespaces */
    SHORTEN_ARGUMENT,    /**< "..." in its place */
    SHORTEN_WORD,        /**< of a name without arguments, the same */
    SHORTEN_HEAD,        /**< of an argument its own name and brackets: its arguments stay */
    SHORTEN_DOTS         /**< no text, and at the beginning: the dots themselves */
};

/** A part that may go: bytes [from, to) of the text. */
struct shorten_part {
    unsigned from, to;
    unsigned number; /**< the same in all names that have this part in common */
    enum shorten_kind kind;
};

/** A name and, once they were looked at, its parts in the order of the text. */
struct shorten_name {
    const char *text;
    struct shorten_part *parts;
    size_t part_count, part_capacity;
    unsigned *match; /**< of each opening bracket the place of the closing one, else 0 */
};

/** Fills in the parts of different names, whose texts are at most UINT32_MAX bytes long. Returns
 * one more than the largest number of a part. The caller frees each `parts`; memory that is short
 * ends the program with a sentence. */
unsigned shorten_compare(struct shorten_name *names, size_t count);

#endif
