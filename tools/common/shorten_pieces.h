/**
 * Names of functions in pieces: brackets, lists, expressions. For shorten_parts.c.
 */
#ifndef RTL_TOOLS_SHORTEN_PIECES_H
#define RTL_TOOLS_SHORTEN_PIECES_H

#include "common/shorten_parts.h"

/** Bytes [from, to) of a name. */
struct piece_range {
    unsigned from, to;
};

/** A part of a name that is compared with the same part of others. */
struct piece {
    struct shorten_name *name;
    struct piece_range at;
    struct piece_range cast, scopes, base, inner, tail; /**< of `at`, once parsed */
    char open;                                          /**< the bracket around inner, 0: none */
};

/** Sequences that are compared element by element: by commas, by `::`, by `_` and the like. */
enum piece_sequence { PIECE_ARGUMENTS, PIECE_SCOPES, PIECE_WORDS };

struct piece_element {
    struct piece_range at;
    unsigned next; /**< where the next one begins */
};

struct piece_elements {
    struct piece_element *list;
    size_t count, capacity;
};

/** Fills in `match`, which the caller frees. A '<' may be less-than, and is a bracket only where a
 * '>' closes it before what is around it is closed. */
void piece_match_brackets(struct shorten_name *name);

/** The next place of the same level of brackets. */
unsigned piece_step(const struct shorten_name *name, unsigned at);

/** Whether a character may be part of an identifier. */
bool piece_is_word(char c);

const char *piece_text(const struct piece *piece, struct piece_range range);

/** Compares the text `x` of `a` with `y` of `b`, as qsort has it. */
int piece_compare(const struct piece *a, struct piece_range x, const struct piece *b,
                  struct piece_range y);

/** All have the same text. */
bool pieces_equal(const struct piece *pieces, size_t count);

/** One has a text at least. */
bool pieces_have_text(const struct piece *pieces, size_t count);

/** Adds a part that may go to a name. */
void piece_add_part(struct shorten_name *name, struct piece_range range, unsigned number,
                    enum shorten_kind kind);

/** Adds the pieces, which all have in common, as one part that may go; takes the next number. */
void pieces_let_go(const struct piece *pieces, size_t count, enum shorten_kind kind,
                   unsigned *number);

/** The elements of a piece; the caller frees their list. */
struct piece_elements piece_split(const struct piece *piece, enum piece_sequence sequence);

/** Parses a piece as an expression: a cast, scopes, an identifier (`base`), arguments in brackets
 * (`inner`), and what follows (`tail`). */
void piece_parse(struct piece *piece);

#endif
