/**
 * Short names for the rows of a table: what tells its names apart stays, what they have in common
 * goes first.
 *
 * A name that fits stays as it is. Of another go, part by part until it fits: its return type, its
 * parameters, namespaces in its arguments, its own, the template arguments (of names like Tensile's
 * the words) that all names of the same function have in common, "..." in their place, the name of
 * an argument that all have and that differs in its own arguments alone, and the dots. What several
 * have in common goes from each of them that is too long, so that they can be compared. A name that
 * is still too long is cut, the function's own name first. Two different names never look the same:
 * one has a part shown in which it differs, or, where that is not enough, a number: "#2".
 */
#ifndef RTL_TOOLS_SHORTEN_H
#define RTL_TOOLS_SHORTEN_H

#include <stddef.h>

#define SHORTEN_LEAST 6u /* columns of a name, however narrow a table is */

/** A name, which may hold anything, and the columns that it may take (SHORTEN_LEAST if less). */
struct shorten_item {
    const char *name;
    unsigned width;
};

/** Short names, safe for a terminal (plain.h), in the order of the items: the same name gets the
 * same one, that of the least width. The caller frees it with shorten_free. Memory that is short
 * ends the program with a sentence. */
char **shorten_names(const struct shorten_item *items, size_t count);

/** Frees the result of shorten_names; NULL is fine. */
void shorten_free(char **names, size_t count);

#endif
