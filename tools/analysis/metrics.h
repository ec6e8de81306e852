/**
 * Lists of metrics as users name them: "l2_hit,SQ_WAVES".
 */
#ifndef RTL_TOOLS_METRICS_H
#define RTL_TOOLS_METRICS_H

#include "common/metrics.h"

#define METRICS_MOST 64u

/** Zeroed memory is an empty list. */
struct metrics {
    const struct rtl_metric *list[METRICS_MOST];
    size_t count;
};

/** Adds a metric that is not in the list yet. 0, or EINVAL when a sentence has been said: there is
 * no room. */
int metrics_add(struct metrics *metrics, const struct rtl_metric *metric);

/** Adds those that `text` names, with commas between them; metrics of metrics.def and counters of
 * counters.def. 0, or EINVAL when a sentence has been said: what is none is named, with what is
 * near it. */
int metrics_parse(struct metrics *metrics, const char *text);

/** How many of them need hardware counters. */
size_t metrics_counted(const struct metrics *metrics);

/** Prints the table of all metrics. Returns an exit status. */
int metrics_show(void);

#endif
