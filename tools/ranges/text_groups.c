#include "common/show.h"
#include "ranges/cells.h"
#include "ranges/groups.h"

#include <stdio.h>
#include <string.h>

/* Beside metrics that are shown alone there is no time. */
static bool shows_times(const struct ranges_view *view)
{
    return view->measure_count == 0 || view->recorded;
}

static struct table *begin_table(const struct ranges_view *view,
                                 char layout[TABLE_MOST_COLUMNS + 1])
{
    static const char *const times[] = {"total", "p50", "p99", "busy", "idle", "kernels each"};
    static const char *const fewer[] = {"total", "busy", "kernels each"};
    const char *const *heading = view->recorded ? fewer : times;
    size_t count = !shows_times(view) ? 0
                   : view->recorded   ? sizeof fewer / sizeof fewer[0]
                                      : sizeof times / sizeof times[0];
    size_t before = (size_t)view->several + 1 + count + view->measure_count;
    memset(layout, 'r', before);
    layout[before] = 'n';
    struct table *table = table_new(layout);
    table_wide(table, view->options->wide);
    if (view->several)
        table_cell(table, "process");
    table_cell(table, "ranges");
    for (size_t i = 0; i < count; ++i)
        table_cell(table, heading[i]);
    ranges_cell_metric_names(table, view);
    table_cell(table, "range");
    return table;
}

static void show_ranges(struct table *table, const struct ranges_view *view,
                        const struct ranges_group *group)
{
    char cell[64];
    (void)snprintf(cell, sizeof cell, "%s%s", show_count(group->ranges).text,
                   view->measure_count ? ranges_mark(view, &group->sum) : "");
    table_cell(table, cell);
}

static void show_kernels_each(struct table *table, const struct ranges_group *group)
{
    uint64_t kernels = group->sum.time.kernels;
    char cell[64];
    if (kernels % group->ranges == 0) {
        table_cell(table, show_count(kernels / group->ranges).text);
        return;
    }
    (void)snprintf(cell, sizeof cell, "%.1f", (double)kernels / (double)group->ranges);
    table_cell(table, cell);
}

static void show_times(struct table *table, const struct ranges_view *view,
                       struct ranges_group *group)
{
    bool ended = group->open < group->ranges;
    table_cell(table, ended ? show_duration((double)group->walls.total).text : "open");
    for (unsigned i = 0; i < 2 && !view->recorded; ++i) {
        double wall = (double)stats_quantile(&group->walls, i ? 990 : 500);
        table_cell(table, ended ? show_duration(wall).text : "-");
    }
    table_cell(table, show_duration((double)group->sum.time.busy).text);
    if (!view->recorded)
        table_cell(table, ended ? show_duration((double)group->idle).text : "-");
    show_kernels_each(table, group);
}

void ranges_show_groups(const struct ranges_view *view)
{
    size_t count = view->groups->count;
    char layout[TABLE_MOST_COLUMNS + 1] = {0};
    struct table *table = begin_table(view, layout);
    if (view->options->top && count > view->options->top)
        count = view->options->top;
    for (size_t i = 0; i < count; ++i) {
        struct ranges_group *group = &view->groups->list[view->groups->order[i]];
        ranges_cell_process(table, view, group->sum.process);
        show_ranges(table, view, group);
        if (shows_times(view))
            show_times(table, view, group);
        ranges_cell_metrics(table, view, &group->sum);
        ranges_cell_name(table, view, &group->sum);
    }
    table_print(table, stdout);
}
