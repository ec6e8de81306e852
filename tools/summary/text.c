#include "common/memory.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "summary/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_QUEUES  16u
#define CAUSES_SHOWN 4u
#define LINE         80u

/* A column of a table; `least` is the width of a terminal from which on it is shown. */
struct column {
    const char *heading;
    char layout;
    unsigned least;
};

/* A table of which narrow terminals show some columns. */
struct view {
    struct table *table;
    const struct column *columns;
    unsigned count, next;
    unsigned width; /* of the terminal, 0: none, all columns */
    char layout[TABLE_MOST_COLUMNS + 1];
};

static bool is_shown(const struct view *view, unsigned column)
{
    return view->width == 0 || view->width >= view->columns[column].least;
}

/* The next cell of a row. */
static void cell(struct view *view, const char *text)
{
    if (is_shown(view, view->next))
        table_cell(view->table, text);
    view->next = (view->next + 1) % view->count;
}

static void cell_count(struct view *view, uint64_t count)
{
    cell(view, show_count(count).text);
}

static void cell_time(struct view *view, bool known, double ns)
{
    cell(view, known ? show_duration(ns).text : "-");
}

/* Begins a table, an empty line before it. */
static void begin(struct view *view, const struct column *columns, unsigned count, bool wide,
                  FILE *out)
{
    unsigned shown = 0;
    *view = (struct view){.columns = columns, .count = count, .width = show_width(out)};
    for (unsigned i = 0; i < count; ++i)
        if (is_shown(view, i))
            view->layout[shown++] = columns[i].layout;
    (void)fputc('\n', out);
    view->table = table_new(view->layout);
    table_wide(view->table, wide);
    for (unsigned i = 0; i < count; ++i)
        cell(view, columns[i].heading);
}

static void show_rest(size_t shown, size_t count, FILE *out)
{
    if (shown < count)
        (void)fprintf(out, "  and %zu more\n", count - shown);
}

/* A text of the trace, which may hold anything. */
static void show_plain(const char *before, const char *text, const char *after, FILE *out)
{
    if (text[0])
        (void)fprintf(out, "%s%s%s", before, plain(text), after);
}

static void show_exit(const rtl_trace_info_t *info, FILE *out)
{
    if (info->exit_status >= 256)
        (void)fprintf(out, ", died by signal %d", info->exit_status - 256);
    else if (info->exit_status >= 0)
        (void)fprintf(out, ", exit status %d", info->exit_status);
}

static void show_head(const struct summary *summary, FILE *out)
{
    const rtl_trace_info_t *info = &summary->info;
    char line[1024];
    (void)fputs(plain(summary->path), out);
    show_plain(": ", info->command, "", out);
    (void)fputs("\n  ", out);
    show_plain("", info->mode, " mode, ", out);
    (void)fprintf(out, "%s recorded, %s", show_duration((double)(info->end - info->start)).text,
                  show_bytes(info->bytes).text);
    show_exit(info, out);
    (void)fputs("\n  ", out);
    account_line(&summary->verdict, line, sizeof line);
    show_styled(out, summary->verdict.complete && !summary->verdict.empty ? SHOW_GOOD : SHOW_BAD,
                line);
    (void)fputc('\n', out);
    unseen_show(&summary->unseen, false, out);
    selection_show(&summary->selection, summary->tally.kernels, info->kernels, "kernel", out);
}

/* What shares are of: nothing is said where that is a GPU's own span. */
static const char *of_what(const struct summary *summary)
{
    if (!summary->window)
        return "";
    return summary->selection.windows ? " of the phase" : " of the window";
}

static void show_busy(const struct summary *summary, const rtl_span_t *span, FILE *out)
{
    (void)fprintf(out, ": busy %s%s (%s%s)",
                  !summary->hides           ? ""
                  : summary->absent.by_mode ? "with those recorded "
                                            : "with them ",
                  show_duration((double)span->busy).text,
                  show_share(span->busy, summary_time(summary, span)).text, of_what(summary));
    if (!summary->hides)
        (void)fprintf(out, ", idle %s%s", absent_any(&summary->absent) ? "at most " : "",
                      show_duration((double)summary_idle(summary, span)).text);
    (void)fputc('\n', out);
}

static void show_gpu(const struct summary *summary, size_t number, FILE *out)
{
    const rtl_device_time_t *gpu = &summary->tally.gpus[number];
    const rtl_span_t *span = &gpu->span;
    (void)fprintf(out, "  GPU %" PRIu32, summary_gpu(summary, number));
    show_plain(" ", gpu->agent->name, "", out);
    show_plain(" (", gpu->agent->product, ")", out);
    show_busy(summary, span, out);
    (void)fprintf(out, "    %s on %s", show_things(span->kernels, "kernel").text,
                  show_things(summary_queues(summary, number), "queue").text);
    if (span->overlap)
        (void)fprintf(out, ", two or more at once for %s (%s of busy)",
                      show_duration((double)span->overlap).text,
                      show_share(span->overlap, span->busy).text);
    (void)fputc('\n', out);
    if (gpu->copies)
        (void)fprintf(out, "    copying for %s, a kernel beside it for %s (%s)\n",
                      show_duration((double)gpu->copying).text,
                      show_duration((double)gpu->copied_under).text,
                      show_share(gpu->copied_under, gpu->copying).text);
}

/* Of the window, what lies before the GPU's first work or behind its last has no cause. */
static uint64_t outside_of(const struct summary *summary, const struct idle_device *device)
{
    uint64_t looked_at = device->last - device->first;
    return summary->window > looked_at ? summary->window - looked_at : 0;
}

/* The largest causes, in lines of 80 columns: "    neither kernels nor copies for 71.2 %: 38.1 %
 * hipStreamSynchronize, 21.0 % in no host call". */
static void show_idle(const struct summary *summary, const struct idle_device *device, FILE *out)
{
    uint64_t outside = outside_of(summary, device);
    uint64_t whole = device->last - device->first + outside;
    size_t *order = memory_new(device->idle.count, sizeof *order);
    size_t count = idle_order(&device->idle, order);
    if (count)
        (void)fprintf(out, "    neither kernels nor copies for %s%s%s:",
                      absent_any(&summary->absent) ? "at most " : "",
                      show_share(device->idle.ns + outside, whole).text, of_what(summary));
    unsigned used = LINE;
    for (size_t i = 0; i < count && i < CAUSES_SHOWN; ++i) {
        char text[LINE];
        (void)snprintf(text, sizeof text, "%s %s",
                       show_share(device->idle.by_cause[order[i]].ns, whole).text,
                       plain(idle_label(&device->causes, order[i])));
        unsigned width = plain_width(text) + 2;
        bool begins = used + width > LINE;
        (void)fprintf(out, "%s%s", begins ? (i ? ",\n      " : "\n      ") : ", ", text);
        used = begins ? 6 + width : used + width;
    }
    uint64_t others = 0;
    for (size_t i = CAUSES_SHOWN; i < count; ++i)
        others += device->idle.by_cause[order[i]].ns;
    if (others)
        (void)fprintf(out, ",\n      %s other causes (rtl idle)", show_share(others, whole).text);
    if (count && outside)
        (void)fprintf(out, ",\n      %s before its first work or behind its last",
                      show_share(outside, whole).text);
    if (count)
        (void)fputc('\n', out);
    free(order);
}

static void show_kernels(const struct summary *summary, FILE *out)
{
    static const struct column columns[] = {
        {"share", 'r', 0}, {"calls", 'r', 0}, {"total", 'r', 0},
        {"mean", 'r', 0},  {"p50", 'r', 100}, {"p99", 'r', 0},
        {"min", 'r', 120}, {"max", 'r', 120}, {"kernel", 'n', 0},
    };
    size_t count = summary_rows(summary, summary->tally.name_count);
    struct view view;
    if (count == 0)
        return;
    begin(&view, columns, sizeof columns / sizeof *columns, summary->wide, out);
    for (size_t i = 0; i < count; ++i) {
        const rtl_group_t *name = summary->kernels[i];
        cell(&view, show_share(name->total, summary->tally.total).text);
        cell_count(&view, name->count);
        cell_time(&view, true, (double)name->total);
        cell_time(&view, true, name->mean);
        cell_time(&view, true, (double)name->p50);
        cell_time(&view, true, (double)name->p99);
        cell_time(&view, true, (double)name->min);
        cell_time(&view, true, (double)name->max);
        cell(&view, name->name);
    }
    table_print(view.table, out);
    show_rest(count, summary->tally.name_count, out);
}

static void show_families(const struct summary *summary, FILE *out)
{
    static const struct column columns[] = {{"share", 'r', 0}, {"calls", 'r', 0},
                                            {"total", 'r', 0}, {"mean", 'r', 0},
                                            {"names", 'r', 0}, {"family", 'n', 0}};
    const struct tally_families *families = &summary->families;
    size_t count = summary_rows(summary, families->count);
    struct view view;
    if (count == 0)
        return;
    begin(&view, columns, sizeof columns / sizeof *columns, summary->wide, out);
    for (size_t i = 0; i < count; ++i) {
        const struct tally_family *family = &families->list[i];
        cell(&view, show_share(family->total, families->total).text);
        cell_count(&view, family->calls);
        cell_time(&view, family->timed > 0, (double)family->total);
        cell_time(&view, family->timed > 0, tally_family_mean(family));
        cell(&view, family->copies ? "-" : show_count(family->functions).text);
        cell(&view, family->family);
    }
    table_print(view.table, out);
    show_rest(count, families->count, out);
}

static void show_copies(const struct summary *summary, FILE *out)
{
    const struct tally_copies *copies = &summary->copies;
    static const struct column columns[] = {{"copies", 'r', 0},
                                            {"bytes", 'r', 0},
                                            {"total", 'r', 0},
                                            {"GB/s", 'r', 0},
                                            {"kind", 'l', 0}};
    struct view view;
    if (copies->count == 0)
        return;
    begin(&view, columns, sizeof columns / sizeof *columns, summary->wide, out);
    for (unsigned i = 0; i < copies->count; ++i) {
        const struct tally_kind *kind = &copies->kinds[i];
        char rate[32];
        (void)snprintf(rate, sizeof rate, "%.3f", tally_copies_rate(kind));
        cell_count(&view, kind->copies);
        cell(&view, show_bytes(kind->bytes).text);
        cell_time(&view, kind->total > 0, (double)kind->total);
        cell(&view, kind->total ? rate : "-");
        cell(&view, kind->kind);
    }
    table_print(view.table, out);
}

static double mean_of(const struct rtl_stat *stat)
{
    return stat->count ? (double)stat->total / (double)stat->count : 0;
}

/* Total, mean, p50, p99 and max. */
static void cells_stat(struct view *view, const struct rtl_stat *stat)
{
    bool known = stat->count > 0;
    cell_time(view, known, (double)stat->total);
    cell_time(view, known, mean_of(stat));
    cell_time(view, known, (double)rtl_stat_percentile(stat, 0.5));
    cell_time(view, known, (double)rtl_stat_percentile(stat, 0.99));
    cell_time(view, known, (double)stat->max);
}

static void show_calls(const struct summary *summary, FILE *out)
{
    static const struct column columns[] = {
        {"calls", 'r', 0}, {"total", 'r', 0}, {"mean", 'r', 0},   {"p50", 'r', 100},
        {"p99", 'r', 100}, {"max", 'r', 0},   {"failed", 'r', 0}, {"host call", 'n', 0},
    };
    size_t count = summary_rows(summary, summary->calls.count);
    struct view view;
    if (count == 0)
        return;
    begin(&view, columns, sizeof columns / sizeof *columns, summary->wide, out);
    for (size_t i = 0; i < count; ++i) {
        const struct tally_call *call = &summary->calls.names[i];
        cell_count(&view, call->stat.count);
        cells_stat(&view, &call->stat);
        cell(&view, call->failed ? show_count(call->failed).text : "-");
        cell(&view, call->name);
    }
    table_print(view.table, out);
    show_rest(count, summary->calls.count, out);
}

static void show_ranges(const struct summary *summary, FILE *out)
{
    static const struct column columns[] = {
        {"ranges", 'r', 0},  {"total", 'r', 0},       {"mean", 'r', 0},  {"max", 'r', 100},
        {"kernels", 'r', 0}, {"kernel time", 'r', 0}, {"range", 'n', 0},
    };
    size_t count = summary_rows(summary, summary->ranges.count);
    struct view view;
    if (count == 0)
        return;
    begin(&view, columns, sizeof columns / sizeof *columns, summary->wide, out);
    for (size_t i = 0; i < count; ++i) {
        const struct tally_range *range = &summary->ranges.names[i];
        uint64_t ended = range->ranges - range->open;
        cell_count(&view, range->ranges + range->marks);
        cell_time(&view, ended > 0, (double)range->total);
        cell_time(&view, ended > 0, ended ? (double)range->total / (double)ended : 0);
        cell_time(&view, ended > 0, (double)range->max);
        cell_count(&view, range->kernels);
        cell_time(&view, true, (double)range->kernel_ns);
        cell(&view, range->name);
    }
    table_print(view.table, out);
    show_rest(count, summary->ranges.count, out);
}

/* Counters. */

#define FIRST_COLUMN 1u

static void cell_value(struct view *view, const struct rtl_measure *measure, bool known,
                       const struct rtl_value *value)
{
    char text[64];
    if (!known)
        cell(view, "-");
    else if (value->whole)
        cell_count(view, value->exact);
    else {
        bool percent = strcmp(measure->metric->unit, "%") == 0;
        (void)snprintf(text, sizeof text, percent ? "%.1f %%" : "%.2f", value->number);
        cell(view, text);
    }
}

/* A column for each metric between the first one and the name. Those that a table has no room for
 * are left out. */
static unsigned metric_columns(const struct tally_counted *counted, struct column *columns,
                               const char *first, const char *last)
{
    unsigned count = 0;
    columns[count++] = (struct column){first, 'r', 0};
    for (size_t i = 0; i < counted->measure_count && count + 1 < TABLE_MOST_COLUMNS; ++i)
        columns[count++] = (struct column){counted->measures[i].metric->name, 'r', 0};
    columns[count++] = (struct column){last, 'n', 0};
    return count;
}

static void cells_measured(struct view *view, const struct tally_counted *counted,
                           const struct rtl_count *counts, uint64_t busy_ns)
{
    for (size_t i = 0; i + FIRST_COLUMN + 1 < view->count; ++i) {
        const struct rtl_measure *measure = &counted->measures[i];
        struct rtl_value value;
        bool known = tally_counted_value(measure, counts, busy_ns, &value);
        cell_value(view, measure, known, &value);
    }
}

static void show_counted_kernels(struct summary *summary, FILE *out)
{
    struct tally_counted *counted = &summary->counted;
    struct column columns[TABLE_MOST_COLUMNS];
    unsigned count = metric_columns(counted, columns, "counted", "kernel");
    struct view view;
    if (!counted->counts.of_kernels || counted->measure_count == 0)
        return;
    begin(&view, columns, count, summary->wide, out);
    for (size_t i = 0; i < summary_rows(summary, summary->tally.name_count); ++i) {
        const char *name = summary->kernels[i]->name;
        const struct tally_counted_name *found = tally_counted_find(counted, name);
        if (!found)
            continue;
        cell_count(&view, found->kernels);
        cells_measured(&view, counted, found->counts, found->kernel_ns);
        cell(&view, name);
    }
    table_print(view.table, out);
}

static bool counted_any_range(const struct summary *summary)
{
    for (size_t i = 0; i < summary->ranges.count; ++i)
        if (summary->ranges.names[i].counts)
            return true;
    return false;
}

static void show_counted_ranges(const struct summary *summary, FILE *out)
{
    const struct tally_counted *counted = &summary->counted;
    struct column columns[TABLE_MOST_COLUMNS];
    unsigned count = metric_columns(counted, columns, "shared", "range");
    struct view view;
    if (counted->measure_count == 0 || !counted_any_range(summary))
        return;
    begin(&view, columns, count, summary->wide, out);
    for (size_t i = 0; i < summary_rows(summary, summary->ranges.count); ++i) {
        const struct tally_range *range = &summary->ranges.names[i];
        if (!range->counts)
            continue;
        cell(&view, range->shared ? show_count(range->shared).text : "-");
        cells_measured(&view, counted, range->counts, range->counted_ns);
        cell(&view, range->name);
    }
    table_print(view.table, out);
}

static void show_counted(struct summary *summary, FILE *out)
{
    const struct tally_counted *counted = &summary->counted;
    if (counted->counts.passes == 0)
        return;
    (void)fprintf(out, "\nhardware counters of %s",
                  !counted->counts.of_kernels ? "whole ranges"
                  : counted->counts.of_ranges ? "kernels and of whole ranges"
                                              : "kernels, which ran one at a time");
    if (counted->counts.passes > 1)
        (void)fprintf(out, ", in %u runs of the program, all of which the other tables have",
                      counted->counts.passes);
    (void)fputc('\n', out);
    counts_show_uncounted(counted->uncounted, counted->uncounted_count, out);
    counts_show_rangeless(&counted->counts, &summary->info, out);
    show_counted_kernels(summary, out);
    show_counted_ranges(summary, out);
}

static void show_graphs(const struct summary *summary, FILE *out)
{
    static const struct column columns[] = {
        {"process", 'r', 100},     {"graph", 'r', 0}, {"known by", 'l', 120},
        {"generations", 'r', 120}, {"nodes", 'r', 0}, {"launches", 'r', 0},
        {"kernels", 'r', 0},       {"total", 'r', 0}, {"mean", 'r', 0},
        {"p50", 'r', 100},         {"p99", 'r', 0},   {"max", 'r', 100},
    };
    size_t count = summary_rows(summary, summary->graphs.count);
    struct view view;
    if (count == 0)
        return;
    begin(&view, columns, sizeof columns / sizeof *columns, summary->wide, out);
    for (size_t i = 0; i < count; ++i) {
        const struct tally_graph *graph = &summary->graphs.graphs[i];
        cell_count(&view, graph->process);
        cell_count(&view, graph->graph);
        cell(&view, graph->source);
        cell_count(&view, graph->generations);
        cell(&view, graph->nodes == RTL_TRACE_NONE ? "-" : show_count(graph->nodes).text);
        cell_count(&view, graph->launches);
        cell_count(&view, graph->kernels);
        cells_stat(&view, &graph->stat);
    }
    table_print(view.table, out);
    show_rest(count, summary->graphs.count, out);
    partial_show(&summary->graphs.why, summary->graphs.partial, "the times of graphs", out);
}

static void show_queues(const struct summary *summary, FILE *out)
{
    const struct tally *tally = &summary->tally;
    static const struct column columns[] = {{"process", 'r', 0}, {"queue", 'r', 0},
                                            {"gpu", 'r', 0},     {"kernels", 'r', 0},
                                            {"busy", 'r', 0},    {"of its span", 'r', 0}};
    struct view view;
    size_t shown = 0;
    for (size_t i = 0; i < tally->queue_count; ++i)
        shown += summary_shows(summary, tally->queues[i].span.kernels, 0);
    if (shown < 2)
        return;
    size_t rest = shown;
    begin(&view, columns, sizeof columns / sizeof *columns, summary->wide, out);
    for (size_t i = 0; i < tally->queue_count && shown - rest < MOST_QUEUES; ++i) {
        const rtl_queue_time_t *queue = &tally->queues[i];
        const rtl_span_t *span = &queue->span;
        if (!summary_shows(summary, span->kernels, 0))
            continue;
        --rest;
        cell_count(&view, queue->queue->process);
        cell_count(&view, queue->queue->queue);
        cell(&view, queue->device == RTL_TRACE_NONE
                        ? "-"
                        : show_count(summary_gpu(summary, queue->device)).text);
        cell_count(&view, span->kernels);
        cell_time(&view, true, (double)span->busy);
        cell(&view, show_share(span->busy, span->last - span->first).text);
    }
    table_print(view.table, out);
    if (rest)
        (void)fprintf(out, "  and %s\n", show_things(rest, "more queue").text);
}

void summary_text(struct summary *summary, FILE *out)
{
    show_head(summary, out);
    for (size_t i = 0; i < summary->tally.gpu_count; ++i) {
        const rtl_device_time_t *gpu = &summary->tally.gpus[i];
        if (!summary_shows(summary, gpu->span.kernels, gpu->copies))
            continue;
        show_gpu(summary, i, out);
        if (summary->idle.devices)
            show_idle(summary, &summary->idle.devices[i], out);
    }
    if (summary->rules)
        show_families(summary, out);
    else
        show_kernels(summary, out);
    show_copies(summary, out);
    show_calls(summary, out);
    show_ranges(summary, out);
    show_counted(summary, out);
    show_graphs(summary, out);
    show_queues(summary, out);
}
