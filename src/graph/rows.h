/**
 * Segments that always follow each other in their thread, and where one graph's end among them.
 *
 * A row may hold several graphs that are launched in turn, and its last segment may be followed by
 * its first: a circle. What belongs together is told by memory: HIP keeps the arguments of a
 * graph's kernels in memory of its own, so that segments with arguments in the same pages are of
 * one graph, and others are not. Where that is not known, barriers among packets, or batches that
 * end as large as could be, join them.
 */
#ifndef RTL_GRAPH_ROWS_H
#define RTL_GRAPH_ROWS_H

#include "graph/repeats.h"

/** Puts the row that `segment` is in into `row`, which has room for all segments, in the order of
 * launches; returns how many there are. */
uint32_t rtl_rows_collect(struct rtl_repeats *repeats, struct rtl_segment *segment,
                          struct rtl_segment **row);

/** Whether the second of two neighbours in a row that was collected goes on with the graph of the
 * first. */
bool rtl_rows_joined(const struct rtl_segment *segment, const struct rtl_segment *next);

#endif
