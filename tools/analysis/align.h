/**
 * Matching the nodes of two graphs: by the order of their names, so that what was put in, taken out
 * or moved does not shift the rest.
 */
#ifndef RTL_TOOLS_ALIGN_H
#define RTL_TOOLS_ALIGN_H

#include <stddef.h>
#include <stdint.h>

/** What a node is matched by. Equal numbers are equal texts and shapes. */
struct align_key {
    size_t name; /**< nodes of different names never match */
    size_t
        shape; /**< grid and block: of several ways to match by name that with most equal shapes */
};

/** For each of `a` the place of its match in `b`, or SIZE_MAX: a longest common sequence. Where the
 * graphs are too large and too different for that (more than 64 M pairs between what is equal at
 * their begins and ends) the k-th node of a name matches the k-th. The caller frees the list. */
size_t *align(const struct align_key *a, size_t a_count, const struct align_key *b, size_t b_count);

#endif
