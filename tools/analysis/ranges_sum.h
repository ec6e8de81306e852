/**
 * Sums over ranges that do not lie in each other, such as all those of one name at one place. They
 * are no union: times in which something ran are added up.
 */
#ifndef RTL_TOOLS_RANGES_SUM_H
#define RTL_TOOLS_RANGES_SUM_H

#include "analysis/ranges_read.h"

/** Adds what metrics without counters are made of. A range that never ended has no length of which
 * its work could be a part. */
void ranges_sum_quantities(struct rtl_quantities *sum, const struct range_row *range);

/** Adds what `count` counters counted in a range to `*sum`, which is made when the first one has
 * something; the caller frees it. */
void ranges_sum_counts(struct rtl_count **sum, const struct range_row *range, size_t count);

#endif
