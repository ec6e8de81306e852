#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "ranges/groups.h"
#include "ranges/view.h"

#include <stdlib.h>
#include <string.h>

static void add(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

/* A range may have an empty name. */
static json_t *json_name(const struct ranges_view *view, uint32_t number)
{
    const char *name = ranges_name(view, number);
    return *name ? open_text(name) : json_string("");
}

static json_t *json_names(const struct ranges_view *view, const struct range_row *row)
{
    json_t *list = json_array();
    for (size_t i = 0; i < row->name_count; ++i) {
        json_t *object = json_object();
        add(object, "name", open_text(ranges_name(view, row->names[i].name)));
        add(object, "kernels", open_number(row->names[i].kernels));
        add(object, "total_ns", open_number(row->names[i].total));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_value(bool known, const struct rtl_value *value)
{
    return !known         ? json_null()
           : value->whole ? open_number(value->exact)
                          : json_real(value->number);
}

/* What counters counted; those that were not read are left out. */
static json_t *json_counters(const struct ranges_view *view, const struct rtl_count *row)
{
    const struct counts *counts = &view->reading.counts;
    json_t *object = json_object();
    for (size_t i = 0; row && i < counts->count; ++i)
        if (row[i].samples)
            add(object, counts->names.list[i], open_number(row[i].sum));
    return object;
}

static json_t *json_kernel_metrics(const struct ranges_view *view,
                                   const struct range_kernel *kernel)
{
    json_t *object = json_object();
    for (size_t i = 0; i < view->measure_count; ++i) {
        struct rtl_value value;
        if (!rtl_metric_is_counted(view->measures[i].metric))
            continue;
        bool known = ranges_kernel_value(kernel, &view->measures[i], &value);
        add(object, view->measures[i].metric->name, json_value(known, &value));
    }
    return object;
}

static json_t *json_kernels(const struct ranges_view *view, size_t range)
{
    json_t *list = json_array();
    size_t count;
    const struct range_kernel *kernels = ranges_kernels(&view->reading, range, &count);
    for (size_t i = 0; i < count; ++i) {
        json_t *object = json_object();
        add(object, "id", open_number(kernels[i].id));
        add(object, "queue", open_id(kernels[i].queue));
        add(object, "packet", open_number(kernels[i].packet));
        add(object, "name", open_text(ranges_name(view, kernels[i].name)));
        add(object, "start_ns", open_number(kernels[i].start));
        add(object, "end_ns", open_number(kernels[i].end));
        if (view->reading.counts.of_kernels) {
            add(object, "counters", json_counters(view, kernels[i].counts));
            add(object, "metrics", json_kernel_metrics(view, &kernels[i]));
        }
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_metrics(const struct ranges_view *view, const struct range_row *row)
{
    json_t *object = json_object();
    for (size_t i = 0; i < view->measure_count; ++i) {
        struct rtl_value value;
        bool known = ranges_value(row, &view->measures[i], &value);
        add(object, view->measures[i].metric->name, json_value(known, &value));
    }
    return object;
}

static void add_counting(json_t *object, const struct ranges_view *view,
                         const struct range_row *row)
{
    if (view->measure_count > 0)
        add(object, "metrics", json_metrics(view, row));
    if (view->reading.counts.passes == 0)
        return;
    add(object, "counters", json_counters(view, row->counts));
    add(object, "counted_kernels", open_number(ranges_counted(&view->reading, row)));
    add(object, "shared", json_boolean(row->shared));
}

static json_t *json_uncounted(const struct ranges_view *view)
{
    json_t *list = json_array();
    for (size_t i = 0; i < view->uncounted_count; ++i) {
        json_t *object = json_object();
        add(object, "process", open_id(view->uncounted[i].process));
        add(object, "agent", open_id(view->uncounted[i].agent));
        add(object, "why", open_text(view->uncounted[i].why));
        add(object, "count", open_number(view->uncounted[i].count));
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* How counters were read; null where they were not. */
static json_t *json_counting(const struct ranges_view *view)
{
    const struct ranges_reading *reading = &view->reading;
    if (reading->counts.passes == 0)
        return json_null();
    json_t *object = json_object();
    add(object, "of_kernels", json_boolean(reading->counts.of_kernels));
    add(object, "of_ranges", json_boolean(reading->counts.of_ranges));
    add(object, "passes", json_integer(reading->counts.passes));
    add(object, "unmatched_kernels", open_number(reading->strange_kernels));
    add(object, "unmatched_ranges", open_number(reading->strange_ranges));
    add(object, "changed_ranges", open_number(reading->changed_ranges));
    add(object, "uncounted", json_uncounted(view));
    return object;
}

static json_t *or_null(bool known, uint64_t value)
{
    return known ? open_number(value) : json_null();
}

static json_t *json_row(const struct ranges_view *view, size_t range)
{
    const struct range_row *row = &view->reading.rows[range];
    const struct rtl_range_time *time = &row->time;
    bool ended = row->end != 0;
    bool worked = time->last != 0;
    json_t *object = json_object();
    add(object, "process", open_id(row->process));
    add(object, "id", open_number(row->id));
    add(object, "parent",
        row->parent == SIZE_MAX ? json_null() : open_number(view->reading.rows[row->parent].id));
    add(object, "depth", json_integer(row->depth));
    add(object, "thread", open_id(row->thread));
    add(object, "kind", open_text(row->kind));
    add(object, "name", json_name(view, row->name));
    add(object, "start_ns", open_number(row->start));
    add(object, "end_ns", or_null(ended, row->end));
    add(object, "wall_ns", or_null(ended, ranges_wall(row)));
    add(object, "kernels", open_number(time->kernels));
    add(object, "kernel_ns", open_number(time->kernel_ns));
    add(object, "busy_ns", open_number(time->busy));
    add(object, "overlap_ns", open_number(time->overlap));
    add(object, "copies", open_number(time->copies));
    add(object, "copy_bytes", open_number(time->copy_bytes));
    add(object, "copy_ns", open_number(time->copy_ns));
    add(object, "copying_ns", open_number(time->copying));
    add(object, "copy_overlap_ns", open_number(rtl_range_time_copied_under(time)));
    add(object, "active_ns", open_number(time->active));
    add(object, "idle_ns", or_null(ended, rtl_range_time_idle(time, ranges_wall(row))));
    add(object, "first_ns", or_null(worked, time->first));
    add(object, "last_ns", or_null(worked, time->last));
    add(object, "graph_launches", open_number(row->launches));
    add(object, "names", json_names(view, row));
    add_counting(object, view, row);
    if (view->options->kernels)
        add(object, "launched", json_kernels(view, range));
    return object;
}

/* `parent` is a place in the list. */
static json_t *json_group(const struct ranges_view *view, struct ranges_group *group,
                          json_t *parent)
{
    const struct rtl_range_time *time = &group->sum.time;
    bool ended = group->open < group->ranges;
    json_t *object = json_object();
    add(object, "process", open_id(group->sum.process));
    add(object, "depth", json_integer(group->sum.depth));
    add(object, "parent", parent);
    add(object, "name", json_name(view, group->sum.name));
    add(object, "ranges", open_number(group->ranges));
    add(object, "open", open_number(group->open));
    add(object, "total_ns", open_number(group->walls.total));
    add(object, "p50_ns", or_null(ended, stats_quantile(&group->walls, 500)));
    add(object, "p99_ns", or_null(ended, stats_quantile(&group->walls, 990)));
    add(object, "max_ns", or_null(ended, group->walls.max));
    add(object, "busy_ns", open_number(time->busy));
    add(object, "idle_ns", open_number(group->idle));
    add(object, "kernels", open_number(time->kernels));
    add(object, "kernel_ns", open_number(time->kernel_ns));
    add(object, "copies", open_number(time->copies));
    add(object, "copy_bytes", open_number(time->copy_bytes));
    add(object, "graph_launches", open_number(group->sum.launches));
    add_counting(object, view, &group->sum);
    return object;
}

static json_t *json_groups(const struct ranges_view *view)
{
    const struct ranges_groups *groups = view->groups;
    size_t *places = memory_new(groups->count, sizeof *places);
    json_t *list = json_array();
    for (size_t i = 0; i < groups->count; ++i) {
        struct ranges_group *group = &groups->list[groups->order[i]];
        size_t parent = group->sum.parent;
        places[groups->order[i]] = i;
        (void)json_array_append_new(
            list, json_group(view, group,
                             or_null(parent != SIZE_MAX, parent == SIZE_MAX ? 0 : places[parent])));
    }
    free(places);
    return list;
}

int ranges_show_json(const struct ranges_view *view)
{
    json_t *list = json_array();
    json_t *object = json_object();
    for (size_t i = 0; i < view->reading.count; ++i)
        if (ranges_chosen(view, &view->reading.rows[i]))
            (void)json_array_append_new(list, json_row(view, i));
    add(object, "file", open_text(view->options->path));
    add(object, "range_count", open_number(json_array_size(list)));
    add(object, "kernels_outside", open_number(view->reading.outside));
    add(object, "absent", absent_json(&view->absent));
    add(object, "counting", json_counting(view));
    add(object, "ranges", list);
    add(object, "by_name", json_groups(view));
    return open_print_json(object, EXIT_FINE);
}
