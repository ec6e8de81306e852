/**
 * How busy a row is, by time: the levels of detail of the page. Time is cut into bins of one width,
 * of which only those that have something are kept; when there are too many, the width is doubled.
 * The page makes the coarser levels from these by the same rule.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_BINS_H
#define RTL_TOOLS_EXPORT_HTML_BINS_H

#include "common/bytes.h"

/** Bins one after the other that look alike: one, or many that one thing fills whole. */
struct bin {
    uint64_t first, length; /**< in bins */
    uint64_t busy;          /**< ns */
    uint64_t count;         /**< of things that begin in it */
    uint32_t name;          /**< what most of it is, if that is more than half */
    uint64_t weight;        /**< ns by which that is ahead of all others, while it is counted */
};

/** Zeroed memory is empty. */
struct bins {
    struct bin *list;
    size_t count, capacity;
    unsigned shift; /**< a bin is 1 << shift ns wide */
};

#define BINS_FINEST 10u /**< shift of the narrowest bins */

/** Adds [start, end), ns since some moment that is the same for all. Starts must not fall, and
 * nothing may begin before what was added has ended. Keeps at most `most` bins. False when memory
 * is short. */
bool bins_add(struct bins *bins, uint64_t start, uint64_t end, uint32_t name, size_t most);

/** Makes the bins twice as wide. False when memory is short. */
bool bins_coarsen(struct bins *bins);

/** Appends the bins: for each the gap to the one before, length, busy, count, name, as varints. */
void bins_write(const struct bins *bins, struct bytes *bytes);

void bins_free(struct bins *bins);

#endif
