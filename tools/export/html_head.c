/* The head of a page: what the trace is about, the rows, tables and graphs. */
#include "export/html_page.h"

#include "analysis/account.h"
#include "analysis/partial.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "export/html_short.h"
#include "export/html_time.h"
#include "export/lookup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static json_t *text(const char *value)
{
    json_t *string = open_text(value);
    return json_is_null(string) ? json_string("") : string;
}

/* ns on the trace's clock: too large a number for the page's. */
static json_t *moment(int64_t ns)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRId64, ns);
    return json_string(digits);
}

static json_t *trace_json(const struct html_page *page)
{
    const struct export *export = page->export;
    const rtl_trace_info_t *info = &export->info;
    struct verdict verdict;
    char line[512] = "";
    char why[256] = "";
    struct partial partial;
    if (partial_read(export->trace, 0, &partial) == RTL_OK)
        partial_say(&partial, why, sizeof why);
    bool known = account_verdict(export->trace, &verdict) == RTL_OK;
    if (known)
        account_line(&verdict, line, sizeof line);
    const char *name = strrchr(export->path, '/');
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o,s:b,s:I,s:I,s:I,s:I,s:i,s:b,s:o,s:s}", "file",
        text(name ? name + 1 : export->path), "command", text(info->command), "host",
        text(info->host), "mode", text(info->mode), "creator", text(info->creator), "zero",
        moment((int64_t)page->zero), "realtime_offset", moment(info->realtime_offset), "recorded",
        (json_int_t)(info->end - info->start), "verdict", text(line), "complete",
        known && verdict.complete, "kernels", (json_int_t)info->kernels, "copies",
        (json_int_t)info->copies, "calls", (json_int_t)info->calls, "ranges",
        (json_int_t)info->ranges, "exit_status", info->exit_status, "finished", info->finished != 0,
        "part", text(selection_is(&export->selection) ? selection_text(&export->selection) : ""),
        "partial_why", why);
}

static json_t *processes_json(const struct html_page *page)
{
    const struct export *export = page->export;
    json_t *list = json_array();
    for (size_t i = 0; i < export->process_count; ++i) {
        const rtl_process_t *process = &export->processes[i];
        if (export_wants(export, process->process))
            (void)json_array_append_new(
                list,
                json_pack("{s:I,s:I,s:o,s:o,s:o,s:o}", "process", (json_int_t)process->process,
                          "pid", (json_int_t)process->pid, "command",
                          text(export_process_name(process)), "rank", text(process->rank), "mode",
                          text(process->mode), "state", text(process->state)));
    }
    return list;
}

static json_t *agents_json(const struct html_page *page)
{
    const rtl_agent_t *agents = NULL;
    size_t count = 0;
    json_t *list = json_array();
    (void)rtlTraceAgents(page->export->trace, &agents, &count);
    for (size_t i = 0; i < count; ++i)
        if (export_wants(page->export, agents[i].process))
            (void)json_array_append_new(
                list, json_pack("{s:I,s:I,s:o,s:o,s:o,s:o}", "process",
                                (json_int_t)agents[i].process, "agent", (json_int_t)agents[i].agent,
                                "gpu", open_id(agents[i].gpu), "type", text(agents[i].type), "name",
                                text(agents[i].name), "product", text(agents[i].product)));
    return list;
}

static const char *stream_name(const struct html_page *page, const struct html_key *key)
{
    const rtl_stream_t *items = NULL;
    size_t count = 0;
    size_t place = lookup_stream_place(page->export, key->process, key->stream);
    (void)rtlTraceStreams(page->export->trace, &items, &count);
    return place < count ? items[place].name : "";
}

static const char *thread_name(const struct html_page *page, const struct html_key *key)
{
    const rtl_thread_t *items = NULL;
    size_t count = 0;
    size_t place = lookup_thread_place(page->export, key->process, key->thread);
    (void)rtlTraceThreads(page->export->trace, &items, &count);
    return place < count ? items[place].name : "";
}

static json_t *lane_json(const struct html_page *page, const struct html_lane *lane)
{
    static const char *const kinds[] = {"thread", "queue", "copies", "replays", "idle"};
    const struct html_key *key = &lane->key;
    const char *name = key->kind == HTML_THREAD ? thread_name(page, key) : stream_name(page, key);
    return json_pack("{s:I,s:s,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I}", "process",
                     (json_int_t)key->process, "kind", kinds[key->kind], "gpu", open_id(key->gpu),
                     "queue", open_id(key->queue), "stream", open_id(key->stream), "thread",
                     open_id(key->thread), "name", text(name), "number", (json_int_t)lane->number,
                     "slices", (json_int_t)lane->count, "busy", (json_int_t)lane->busy, "shift",
                     (json_int_t)lane->bins.shift, "bins", (json_int_t)lane->bins.count);
}

static json_t *lanes_json(const struct html_page *page)
{
    json_t *list = json_array();
    for (size_t i = 0; i < page->lanes.count; ++i)
        (void)json_array_append_new(list, lane_json(page, &page->lanes.list[i]));
    return list;
}

static json_t *gpus_json(const struct html_page *page)
{
    json_t *list = json_array();
    for (size_t i = 0; i < page->gpu_count; ++i) {
        const struct html_gpu *gpu = &page->gpus[i];
        (void)json_array_append_new(
            list, json_pack("{s:I,s:o,s:I,s:I,s:I,s:I,s:I}", "process", (json_int_t)gpu->process,
                            "gpu", open_id(gpu->gpu), "first", (json_int_t)gpu->first, "last",
                            (json_int_t)gpu->last, "busy", (json_int_t)gpu->busy, "shift",
                            (json_int_t)gpu->bins.shift, "bins", (json_int_t)gpu->bins.count));
    }
    return list;
}

/* What busy times are parts of where a window was given, as in `rtl summary`; null without. */
static json_t *window_json(const struct html_page *page)
{
    const struct selection *selection = &page->export->selection;
    return filter_given(selection->filter, FILTER_TIMES | FILTER_PHASE)
               ? open_number(selection_time(selection))
               : json_null();
}

/* From where to where events are of what was recorded, or of the window that was given. */
/* What was recorded, or chosen. Events have the device's times, which may lie beyond what the
 * recorder says of its own begin and end. */
static json_t *bounds_json(const struct html_page *page)
{
    const struct export *export = page->export;
    uint64_t from = html_time(export->info.start, page->zero);
    uint64_t to = html_time(export->info.end, page->zero);
    from = page->first < from ? page->first : from;
    to = page->last > to ? page->last : to;
    if (export->from && html_time(export->from, page->zero) > from)
        from = html_time(export->from, page->zero);
    if (export->to && html_time(export->to, page->zero) < to)
        to = html_time(export->to, page->zero);
    return json_pack("[I,I]", (json_int_t)from, (json_int_t)to);
}

/* The longest gaps: process, GPU, begin, end, the text of what the host did at its end. */
static json_t *gaps_json(const struct html_idle *idle)
{
    json_t *list = json_array();
    for (size_t i = 0; i < idle->gap_count; ++i) {
        const struct html_gap *gap = &idle->gaps[i];
        (void)json_array_append_new(list, json_pack("[I,o,I,I,I]", (json_int_t)gap->process,
                                                    open_id(gap->gpu), (json_int_t)gap->from,
                                                    (json_int_t)gap->to, (json_int_t)gap->name));
    }
    return list;
}

static json_t *items_json(const struct html_items *items)
{
    json_t *list = json_array();
    for (size_t i = 0; i < items->count; ++i) {
        json_t *item = json_array();
        for (size_t j = 0; j < HTML_ITEM_NUMBERS; ++j)
            (void)json_array_append_new(item, json_integer(items->list[i].numbers[j]));
        (void)json_array_append_new(list, item);
    }
    return list;
}

/* From above to: none. */
static void append_bounds(json_t *list, uint64_t from, uint64_t to)
{
    (void)json_array_append_new(list, json_integer(from <= to ? (json_int_t)from : 1));
    (void)json_array_append_new(list, json_integer(from <= to ? (json_int_t)to : 0));
}

static json_t *segment_json(const struct html_segments *segments,
                            const struct html_segment *segment)
{
    json_t *ids = json_array();
    for (size_t i = segment->ids; i < segment->ids_to; ++i) {
        json_t *list = json_pack("[I]", (json_int_t)segments->ids[i].process);
        append_bounds(list, segments->ids[i].call_from, segments->ids[i].call_to);
        append_bounds(list, segments->ids[i].range_from, segments->ids[i].range_to);
        append_bounds(list, segments->ids[i].work_from, segments->ids[i].work_to);
        (void)json_array_append_new(ids, list);
    }
    return json_pack("{s:I,s:I,s:I,s:b,s:o}", "from", (json_int_t)segment->from, "to",
                     (json_int_t)segment->to, "events", (json_int_t)segment->events, "kept",
                     segment->kept, "ids", ids);
}

static json_t *segments_json(const struct html_segments *segments)
{
    json_t *list = json_array();
    for (size_t i = 0; i < segments->count; ++i)
        (void)json_array_append_new(list, segment_json(segments, &segments->list[i]));
    return list;
}

/* Pairs of a counter's place and its value; null without. */
static json_t *sample_json(const struct html_crossing *crossing)
{
    json_t *list = crossing->numbers ? json_array() : json_null();
    for (size_t i = 0; crossing->numbers && i < crossing->pairs; ++i)
        (void)json_array_append_new(list, json_pack("[I,o]", (json_int_t)crossing->numbers[2 * i],
                                                    open_number(crossing->numbers[2 * i + 1])));
    return list;
}

static json_t *crossings_json(const struct html_segments *segments)
{
    json_t *list = json_array();
    for (size_t i = 0; i < segments->crossing_count; ++i) {
        const struct html_crossing *crossing = &segments->crossings[i];
        const struct html_slice *slice = &crossing->slice;
        (void)json_array_append_new(
            list,
            json_pack("[I,I,I,I,I,I,I,I,I,I,o,o]", (json_int_t)crossing->lane,
                      (json_int_t)slice->start, (json_int_t)(slice->end - slice->start),
                      (json_int_t)slice->item, (json_int_t)slice->id,
                      (json_int_t)slice->correlation, (json_int_t)slice->range,
                      (json_int_t)slice->launch, (json_int_t)slice->node, (json_int_t)slice->more,
                      crossing->text ? text(crossing->text) : json_null(), sample_json(crossing)));
    }
    return list;
}

static json_t *tables_json(const struct html_tables *tables)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "kernels", html_tables_json(tables, HTML_KERNELS),
                     "calls", html_tables_json(tables, HTML_CALLS), "copies",
                     html_tables_json(tables, HTML_COPY_KINDS), "ranges",
                     html_tables_json(tables, HTML_RANGES));
}

static json_t *texts_json(const struct texts *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; ++i)
        (void)json_array_append_new(list, text(texts->list[i]));
    return list;
}

/* Pairs of a kernel's name, a place among the texts, and its family. */
static json_t *families_json(const struct html_page *page)
{
    json_t *list = json_array();
    bool *told = memory_new(page->texts.count, sizeof *told);
    for (size_t i = 0; i < page->kernels.count; ++i) {
        uint32_t name = page->kernels.list[i].numbers[0];
        if (told[name])
            continue;
        told[name] = true;
        (void)json_array_append_new(
            list, json_pack("[I,o]", (json_int_t)name,
                            text(family_of(page->export->families, page->texts.list[name]))));
    }
    free(told);
    return list;
}

static json_t *notes_json(const struct html_page *page)
{
    const rtl_note_t *notes = NULL;
    size_t count = 0;
    json_t *list = json_array();
    (void)rtlTraceNotes(page->export->trace, &notes, &count);
    for (size_t i = 0; i < count; ++i)
        if (export_wants(page->export, notes[i].process))
            (void)json_array_append_new(list, text(notes[i].text));
    return list;
}

static uint32_t number(void *state, const char *value)
{
    size_t place = texts_number(state, value);
    return place == TEXTS_NONE ? 0 : (uint32_t)place;
}

static json_t *head_json(struct html_page *page)
{
    /* Before the texts are written: they may get more. */
    bool window = page->export->served && page->export->served->window; /* the page has them */
    json_t *graphs =
        window ? json_array() : html_graphs_json(&page->graphs, page->export, number, &page->texts);
    char absent[512];
    absent_say(&page->idle.absent, absent, sizeof absent);
    return json_pack(
        "{s:i,s:o,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,"
        "s:o,s:b,s:o,s:o,s:o,s:o}",
        "version", 1, "trace", trace_json(page), "first", (json_int_t)page->first, "last",
        (json_int_t)page->last, "untimed", (json_int_t)page->untimed, "processes",
        processes_json(page), "agents", agents_json(page), "texts", texts_json(&page->texts),
        "kernels", items_json(&page->kernels), "copies", items_json(&page->copies), "lanes",
        lanes_json(page), "gpus", gpus_json(page), "segments", segments_json(&page->segments),
        "crossings", crossings_json(&page->segments), "tables", tables_json(&page->tables),
        "counters", html_counts_list(page->export), "counted",
        html_counts_json(&page->counts, page->export->trace), "graphs", graphs, "notes",
        notes_json(page), "families", families_json(page), "replays_every",
        (json_int_t)html_graphs_every(&page->graphs), "idle_least", (json_int_t)page->idle.least,
        "absent", text(absent), "idle_known", page->idle.absent.by_mode == 0, "short_names",
        html_short_json(page), "window", window_json(page), "bounds", bounds_json(page), "gaps",
        gaps_json(&page->idle));
}

int html_head(struct html_page *page, struct bytes *head)
{
    json_t *json = head_json(page);
    char *string = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(json);
    if (!string && rtlTraceError(page->export->trace)[0])
        return open_failed(page->export->trace, page->export->path);
    if (!string)
        return say_fail(EXIT_USAGE, "there is not enough memory");
    size_t size = strlen(string);
    bytes_varint(head, size);
    bytes_add(head, string, size);
    free(string);
    for (size_t i = 0; i < page->lanes.count; ++i)
        bins_write(&page->lanes.list[i].bins, head);
    for (size_t i = 0; i < page->gpu_count; ++i)
        bins_write(&page->gpus[i].bins, head);
    html_graphs_write(&page->graphs, page->zero, head);
    return EXIT_FINE;
}
