/**
 * What `rtl summary` shows, and how: as text and as JSON.
 */
#ifndef RTL_TOOLS_SUMMARY_PARTS_H
#define RTL_TOOLS_SUMMARY_PARTS_H

#include "analysis/account.h"
#include "analysis/unseen.h"
#include "summary/tally.h"
#include "summary/tally_calls.h"
#include "summary/tally_copies.h"
#include "summary/tally_counted.h"
#include "summary/tally_families.h"
#include "summary/tally_graphs.h"
#include "summary/tally_idle.h"
#include "summary/tally_ranges.h"

#include <jansson.h>
#include <stdio.h>

struct summary {
    const char *path;
    unsigned top;      /**< rows of each table, 0: all */
    bool wide;         /**< names are shown whole */
    uint64_t from, to; /**< on the trace's clock, to 0: no end */
    rtl_trace_info_t info;
    struct verdict verdict;
    struct unseen unseen;
    struct tally tally;
    const rtl_group_t **kernels;    /**< of tally.names, in the order asked for */
    struct family_rules *rules;     /**< NULL: families are not asked for */
    struct tally_families families; /**< with rules, in the order asked for */
    struct tally_copies copies;
    struct tally_calls calls;
    struct tally_ranges ranges;
    struct tally_graphs graphs;
    struct tally_idle idle;
    struct tally_counted counted;
};

/** Time between the first start and the last end in which nothing ran, ns. */
uint64_t summary_idle(const rtl_span_t *span);

/** How many of `count` rows are shown. */
size_t summary_rows(const struct summary *summary, size_t count);

void summary_text(struct summary *summary, FILE *out);

/** A new reference. */
json_t *summary_json(struct summary *summary);

#endif
