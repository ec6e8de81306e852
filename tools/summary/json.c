#include "common/open.h"
#include "summary/parts.h"

/* `idle` is given up. */
static json_t *json_span(const rtl_span_t *span, json_t *idle)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "kernels", open_number(span->kernels),
                     "first_ns", open_number(span->first), "last_ns", open_number(span->last),
                     "busy_ns", open_number(span->busy), "idle_ns", idle, "overlap_ns",
                     open_number(span->overlap));
}

/* Of a queue: between its first start and its last end. */
static json_t *json_span_idle(const struct summary *summary, const rtl_span_t *span)
{
    uint64_t length = span->last - span->first;
    return summary->hides ? json_null()
                          : open_number(length > span->busy ? length - span->busy : 0);
}

static json_t *json_idle(const struct summary *summary, const rtl_span_t *span)
{
    return summary->hides ? json_null() : open_number(summary_idle(summary, span));
}

static json_t *json_gpus(const struct summary *summary)
{
    const struct tally *tally = &summary->tally;
    const struct tally_idle *idle = &summary->idle;
    json_t *list = json_array();
    for (size_t i = 0; i < tally->gpu_count; ++i) {
        const rtl_device_time_t *gpu = &tally->gpus[i];
        if (!summary_shows(summary, gpu->span.kernels, gpu->copies))
            continue;
        json_t *object = json_span(&gpu->span, json_idle(summary, &gpu->span));
        (void)json_object_set_new(object, "gpu", json_integer((json_int_t)i));
        (void)json_object_set_new(object, "host", open_text(gpu->host));
        (void)json_object_set_new(object, "name", open_text(gpu->agent->name));
        (void)json_object_set_new(object, "product", open_text(gpu->agent->product));
        (void)json_object_set_new(object, "queues", open_number(summary_queues(summary, i)));
        (void)json_object_set_new(object, "copies", open_number(gpu->copies));
        (void)json_object_set_new(object, "copy_ns", open_number(gpu->copying));
        (void)json_object_set_new(object, "copy_overlap_ns", open_number(gpu->copied_under));
        if (idle->devices)
            (void)json_object_set_new(object, "idle_causes", idle_device_json(&idle->devices[i]));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_queues(const struct summary *summary)
{
    const struct tally *tally = &summary->tally;
    json_t *list = json_array();
    for (size_t i = 0; i < tally->queue_count; ++i) {
        const rtl_queue_time_t *queue = &tally->queues[i];
        if (!summary_shows(summary, queue->span.kernels, 0))
            continue;
        json_t *object = json_span(&queue->span, json_span_idle(summary, &queue->span));
        (void)json_object_set_new(object, "process", open_id(queue->queue->process));
        (void)json_object_set_new(object, "queue", open_id(queue->queue->queue));
        (void)json_object_set_new(object, "gpu", open_id(queue->device));
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* What counters counted; those that were not read are left out. */
static json_t *json_counters(const struct tally_counted *counted, const struct rtl_count *counts)
{
    json_t *object = json_object();
    for (size_t i = 0; counts && i < counted->counts.count; ++i)
        if (counts[i].samples)
            (void)json_object_set_new(object, counted->counts.names.list[i],
                                      open_number(counts[i].sum));
    return object;
}

static json_t *json_metrics(const struct tally_counted *counted, const struct rtl_count *counts,
                            uint64_t busy_ns)
{
    json_t *object = json_object();
    for (size_t i = 0; i < counted->measure_count; ++i) {
        const struct rtl_measure *measure = &counted->measures[i];
        struct rtl_value value;
        bool known = tally_counted_value(measure, counts, busy_ns, &value);
        (void)json_object_set_new(object, measure->metric->name,
                                  !known        ? json_null()
                                  : value.whole ? open_number(value.exact)
                                                : json_real(value.number));
    }
    return object;
}

/* Where counters were read. */
static void add_counted(json_t *object, const struct tally_counted *counted,
                        const struct rtl_count *counts, uint64_t kernels, uint64_t busy_ns)
{
    if (counted->counts.passes == 0)
        return;
    (void)json_object_set_new(object, "counted", open_number(kernels));
    (void)json_object_set_new(object, "counters", json_counters(counted, counts));
    (void)json_object_set_new(object, "metrics", json_metrics(counted, counts, busy_ns));
}

static json_t *json_uncounted(const struct tally_counted *counted)
{
    json_t *list = json_array();
    for (size_t i = 0; i < counted->uncounted_count; ++i)
        (void)json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "process",
                                                    open_id(counted->uncounted[i].process), "agent",
                                                    open_id(counted->uncounted[i].agent), "why",
                                                    open_text(counted->uncounted[i].why), "count",
                                                    open_number(counted->uncounted[i].count)));
    return list;
}

/* How counters were read; null where they were not. */
static json_t *json_counting(const struct tally_counted *counted)
{
    if (counted->counts.passes == 0)
        return json_null();
    return json_pack("{s:b, s:b, s:i, s:o}", "of_kernels", (int)counted->counts.of_kernels,
                     "of_ranges", (int)counted->counts.of_ranges, "passes",
                     (int)counted->counts.passes, "uncounted", json_uncounted(counted));
}

static json_t *json_kernels(struct summary *summary)
{
    uint64_t total = summary->tally.total;
    json_t *list = json_array();
    for (size_t i = 0; i < summary_rows(summary, summary->tally.name_count); ++i) {
        const rtl_group_t *name = summary->kernels[i];
        json_t *object =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:o, s:o, s:o}", "name",
                      open_text(name->name), "calls", open_number(name->count), "total_ns",
                      open_number(name->total), "min_ns", open_number(name->min), "max_ns",
                      open_number(name->max), "mean_ns", name->mean, "share",
                      total ? (double)name->total / (double)total : 0.0, "deviation_ns",
                      name->deviation, "p50_ns", open_number(name->p50), "p90_ns",
                      open_number(name->p90), "p99_ns", open_number(name->p99));
        const struct tally_counted_name *counted =
            tally_counted_find(&summary->counted, name->name);
        if (summary->rules)
            (void)json_object_set_new(object, "family",
                                      open_text(family_of(summary->rules, name->name)));
        add_counted(object, &summary->counted, counted ? counted->counts : NULL,
                    counted ? counted->kernels : 0, counted ? counted->kernel_ns : 0);
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* Null where they were not asked for. */
static json_t *json_families(const struct summary *summary)
{
    const struct tally_families *families = &summary->families;
    if (!summary->rules)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < summary_rows(summary, families->count); ++i) {
        const struct tally_family *family = &families->list[i];
        json_t *object =
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:f}", "family", open_text(family->family), "what",
                      family->copies ? "copies" : "kernels", "names",
                      family->copies ? json_null() : open_number(family->functions), "calls",
                      open_number(family->calls), "total_ns", open_number(family->total), "share",
                      families->total ? (double)family->total / (double)families->total : 0.0);
        (void)json_object_set_new(
            object, "mean_ns", family->timed ? json_real(tally_family_mean(family)) : json_null());
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_copies(const struct tally_copies *copies)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < copies->count; ++i) {
        const struct tally_kind *kind = &copies->kinds[i];
        json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "kind", open_text(kind->kind), "copies",
                                   open_number(kind->copies), "bytes", open_number(kind->bytes),
                                   "total_ns", open_number(kind->total));
        (void)json_object_set_new(object, "gb_per_s",
                                  kind->total ? json_real(tally_copies_rate(kind)) : json_null());
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* Percentiles of durations, under the same keys everywhere. */
static void add_percentiles(json_t *object, const struct rtl_stat *stat)
{
    (void)json_object_set_new(object, "p50_ns", open_number(rtl_stat_percentile(stat, 0.5)));
    (void)json_object_set_new(object, "p90_ns", open_number(rtl_stat_percentile(stat, 0.9)));
    (void)json_object_set_new(object, "p99_ns", open_number(rtl_stat_percentile(stat, 0.99)));
}

static json_t *json_calls(const struct summary *summary)
{
    const struct tally_calls *calls = &summary->calls;
    json_t *list = json_array();
    for (size_t i = 0; i < summary_rows(summary, calls->count); ++i) {
        const struct tally_call *call = &calls->names[i];
        const struct rtl_stat *stat = &call->stat;
        json_t *object =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "name", open_text(call->name), "calls",
                      open_number(stat->count), "failed", open_number(call->failed), "total_ns",
                      open_number(stat->total), "min_ns", open_number(rtl_stat_min(stat)), "max_ns",
                      open_number(stat->max), "mean_ns",
                      stat->count ? (double)stat->total / (double)stat->count : 0.0);
        add_percentiles(object, stat);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_ranges(const struct summary *summary)
{
    const struct tally_ranges *ranges = &summary->ranges;
    json_t *list = json_array();
    for (size_t i = 0; i < summary_rows(summary, ranges->count); ++i) {
        const struct tally_range *range = &ranges->names[i];
        json_t *object =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", open_text(range->name),
                      "ranges", open_number(range->ranges), "marks", open_number(range->marks),
                      "open", open_number(range->open), "total_ns", open_number(range->total),
                      "max_ns", open_number(range->max), "kernels", open_number(range->kernels),
                      "kernel_ns", open_number(range->kernel_ns));
        add_counted(object, &summary->counted, range->counts, range->counted, range->counted_ns);
        if (summary->counted.counts.passes)
            (void)json_object_set_new(object, "shared", open_number(range->shared));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_graphs(const struct summary *summary)
{
    const struct tally_graphs *graphs = &summary->graphs;
    json_t *list = json_array();
    for (size_t i = 0; i < summary_rows(summary, graphs->count); ++i) {
        const struct tally_graph *graph = &graphs->graphs[i];
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process",
            open_id(graph->process), "graph", open_id(graph->graph), "source",
            open_text(graph->source), "generations", open_number(graph->generations), "nodes",
            open_id(graph->nodes), "launches", open_number(graph->launches), "partial",
            open_number(graph->partial), "kernels", open_number(graph->kernels), "total_ns",
            open_number(graph->stat.total), "max_ns", open_number(graph->stat.max));
        add_percentiles(object, &graph->stat);
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* What the program marked. */
static void add_ranges(json_t *object, const struct summary *summary)
{
    (void)json_object_set_new(object, "range_count", open_number(summary->ranges.ranges));
    (void)json_object_set_new(object, "mark_count", open_number(summary->ranges.marks));
    (void)json_object_set_new(object, "ranges", json_ranges(summary));
}

/* Host calls and graphs; null where the filters leave them out. */
static void add_submitted(json_t *object, const struct summary *summary)
{
    static const char *const keys[] = {
        "call_count",         "call_ns",     "calls", "graph_launch_count",
        "graph_kernel_count", "partial_why", "graphs"};
    for (size_t i = 0; summary->no_calls && i < sizeof keys / sizeof *keys; ++i)
        (void)json_object_set_new(object, keys[i], json_null());
    if (summary->no_calls)
        return;
    (void)json_object_set_new(object, "call_count", open_number(summary->calls.calls));
    (void)json_object_set_new(object, "call_ns", open_number(summary->calls.total));
    (void)json_object_set_new(object, "calls", json_calls(summary));
    (void)json_object_set_new(object, "graph_launch_count", open_number(summary->graphs.launches));
    (void)json_object_set_new(object, "graph_kernel_count", open_number(summary->graphs.kernels));
    (void)json_object_set_new(object, "partial_why",
                              partial_json(&summary->graphs.why, summary->graphs.partial));
    (void)json_object_set_new(object, "graphs", json_graphs(summary));
}

json_t *summary_json(struct summary *summary)
{
    const rtl_trace_info_t *info = &summary->info;
    const struct tally *tally = &summary->tally;
    char line[1024];
    account_line(&summary->verdict, line, sizeof line);
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                  "file", open_text(summary->path), "command", open_text(info->command), "mode",
                  open_text(info->mode), "exit_status", info->exit_status, "complete",
                  (int)summary->verdict.complete, "completeness", open_text(line), "recorded_ns",
                  open_number(info->end - info->start), "kernel_count", open_number(tally->kernels),
                  "kernel_ns", open_number(tally->total), "gpus", json_gpus(summary), "queues",
                  json_queues(summary), "kernels", json_kernels(summary), "copy_count",
                  open_number(summary->copies.copies), "copy_bytes",
                  open_number(summary->copies.bytes), "copies", json_copies(&summary->copies));
    (void)json_object_set_new(object, "absent", absent_json(&summary->absent));
    (void)json_object_set_new(object, "families", json_families(summary));
    (void)json_object_set_new(object, "unseen_hips", unseen_json(&summary->unseen));
    (void)json_object_set_new(object, "unseen_kernels",
                              open_number(summary->verdict.unseen.kernels));
    add_ranges(object, summary);
    add_submitted(object, summary);
    (void)json_object_set_new(object, "counting", json_counting(&summary->counted));
    const struct selection *selection = &summary->selection;
    (void)json_object_set_new(object, "from_ns",
                              selection->from ? open_number(selection->from) : json_null());
    (void)json_object_set_new(object, "to_ns",
                              selection->to ? open_number(selection->to) : json_null());
    (void)json_object_set_new(object, "window_ns",
                              summary->window ? open_number(summary->window) : json_null());
    (void)json_object_set_new(
        object, "filter",
        selection_json(selection, tally->kernels, summary->info.kernels, "kernel"));
    return object;
}
