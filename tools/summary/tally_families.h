/**
 * Sums over the kernels of a trace by family, and its asynchronous copies, which are no kernels, as
 * one more. Memory that is short ends the program with a sentence.
 */
#ifndef RTL_TOOLS_TALLY_FAMILIES_H
#define RTL_TOOLS_TALLY_FAMILIES_H

#include "analysis/family.h"
#include "summary/tally.h"
#include "summary/tally_copies.h"

#include <stdbool.h>

/** What is told of a family; times in ns. */
struct tally_family {
    const char *family; /**< belongs to the rules */
    bool copies;        /**< these are copies, not kernels */
    uint64_t functions; /**< kernels of different names; 0 of copies */
    uint64_t calls;
    uint64_t timed; /**< calls whose time is known */
    uint64_t total;
};

struct tally_families {
    struct tally_family *list; /**< the largest total first */
    size_t count;
    uint64_t total; /**< of kernels and copies */
};

/** Adds up by family what the other tallies have. The caller frees it with tally_families_free. */
void tally_families_make(const struct tally *kernels, const struct tally_copies *copies,
                         struct family_rules *rules, struct tally_families *tally);

/** Mean of a call, 0 if no time is known. */
double tally_family_mean(const struct tally_family *family);

void tally_families_free(struct tally_families *tally);

#endif
