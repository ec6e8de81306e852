/**
 * What `rtl summary` shows, and how: as text and as JSON.
 */
#ifndef RTL_TOOLS_SUMMARY_PARTS_H
#define RTL_TOOLS_SUMMARY_PARTS_H

#include "analysis/absent.h"
#include "analysis/account.h"
#include "analysis/selection.h"
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
    unsigned top; /**< rows of each table, 0: all */
    bool wide;    /**< names are shown whole */
    struct selection selection;
    uint64_t window; /**< the time that is looked at, ns; 0: each GPU from its first start on */
    bool hides;      /**< GPUs ran more than what is shown: nothing is known of idle times */
    struct absent absent; /**< of all GPUs; what the mode left out is reason for `hides` */
    bool no_calls;        /**< host calls and graphs are left out: not of some kernels or GPU */
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

/** Time that a GPU's busy time is a part of, ns: the window, or from the first start to the last
 * end. */
uint64_t summary_time(const struct summary *summary, const rtl_span_t *span);

/** The rest of that time, in which nothing ran. */
uint64_t summary_idle(const struct summary *summary, const rtl_span_t *span);

/** The number of a GPU: its ordinal in its process where that tells all of them apart, else its
 * place among them. */
uint32_t summary_gpu(const struct summary *summary, size_t place);

/** True if something is shown of a GPU or queue: it ran something, or nothing is filtered but time.
 */
bool summary_shows(const struct summary *summary, uint64_t kernels, uint64_t copies);

/** Queues of the GPU at a place of the tally; with filters those that something is left of. */
uint64_t summary_queues(const struct summary *summary, size_t gpu);

/** How many of `count` rows are shown. */
size_t summary_rows(const struct summary *summary, size_t count);

void summary_text(struct summary *summary, FILE *out);

/** A new reference. */
json_t *summary_json(struct summary *summary);

#endif
