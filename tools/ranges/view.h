/**
 * What `rtl ranges` shows, and how: as text and as JSON.
 */
#ifndef RTL_TOOLS_RANGES_VIEW_H
#define RTL_TOOLS_RANGES_VIEW_H

#include "analysis/absent.h"
#include "analysis/metrics.h"
#include "analysis/ranges_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRICS_SHOWN  10u /**< as many as a table has columns for */
#define RECORDED_SHOWN 7u  /**< the same, beside times */

struct ranges_options {
    const char *path;
    const char *name; /**< a pattern, or a whole name; NULL: all */
    uint64_t id;      /**< 0: all */
    uint32_t process; /**< of `id`; 0: any */
    unsigned top;
    bool json, each, kernels, list, all, wide;
    struct metrics metrics;
};

struct ranges_groups;

struct ranges_view {
    const struct ranges_options *options;
    struct ranges_reading reading;
    bool *named;  /**< by number in reading.texts: it is one that options->name chooses */
    bool several; /**< ranges are of several processes */
    struct ranges_groups *groups; /**< NULL: ranges are shown one by one */
    bool recorded; /**< metrics are those that the trace was made for, not chosen here */
    struct rtl_measure measures[METRICS_MOST];
    size_t measure_count;
    size_t left_out;      /**< recorded metrics for which a table has no columns */
    struct absent absent; /**< kernels that no range has: they are not in the trace */
    rtl_trace_info_t info;
    const rtl_trace_uncounted_t *uncounted;
    size_t uncounted_count;
};

static inline const char *ranges_name(const struct ranges_view *view, uint32_t number)
{
    return view->reading.texts.list[number];
}

static inline bool ranges_chosen(const struct ranges_view *view, const struct range_row *row)
{
    const struct ranges_options *options = view->options;
    return (!options->id || row->id == options->id) &&
           (!options->process || row->process == options->process) &&
           (!options->name || view->named[row->name]);
}

/** Of one that ended. */
static inline uint64_t ranges_wall(const struct range_row *row)
{
    return row->end > row->start ? row->end - row->start : 0;
}

/** How many ranges are chosen. */
size_t ranges_count_chosen(const struct ranges_view *view);

/** Shows them. Both return an exit status. */
int ranges_show_text(const struct ranges_view *view);
int ranges_show_json(const struct ranges_view *view);

/** The table of view->groups. */
void ranges_show_groups(const struct ranges_view *view);

#endif
