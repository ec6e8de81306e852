/* The page: one HTML file that shows a trace in a browser, without a network. */
#include "export/html_page.h"

#include "common/command.h"
#include "common/folder.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/page.h"
#include "common/say.h"
#include "common/show.h"
#include "export/html_kernels.h"
#include "export/html_put.h"
#include "export/html_ranges.h"
#include "export/html_time.h"
#include "export/lookup.h"
#include "export/out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define VIEWER "rtl-viewer.html"

/* Names of ranges in the tables; what comes after is one row. */
#define MOST_RANGE_NAMES 16384u
#define FURTHER          "(further names)"

#define ARGUMENTS 512u

/* What a bin takes of the page, about. */
#define BIN_BYTES 8u

/* Of the viewer's policy what forbids it to load anything. */
#define POLICY "default-src 'none'"

#define PIECE 3072u /* bytes that become base64 at once */

/* Types of what a thread's row has, in the low bits of the item. */
enum { IS_CALL, IS_PUSH, IS_START, IS_MARK };

/* Events. */

static uint32_t text_of_segment(struct html_page *page, const char *text)
{
    size_t number = texts_number(&page->segments.texts, text);
    return number == TEXTS_NONE ? UINT32_MAX : (uint32_t)number;
}

static bool add_call(struct html_page *page, const rtl_api_t *api)
{
    char arguments[ARGUMENTS];
    struct html_place place = {html_no_key, HTML_CALLS, html_number(page, api->name)};
    struct html_slice slice = {.item = place.name << 2 | IS_CALL,
                               .id = api->id,
                               .correlation = api->correlation,
                               .range = api->range,
                               .more = api->result};
    place.key.kind = HTML_THREAD;
    place.key.process = api->process;
    place.key.thread = api->thread;
    if (rtlApiArguments(api, arguments, sizeof arguments) > 0) {
        slice.text = text_of_segment(page, arguments) + 1;
        if (slice.text == 0)
            return false;
    }
    return html_put(page, &place, &slice, api->start, api->end);
}

static uint32_t range_name(struct html_page *page, const char *name)
{
    size_t before = page->texts.count;
    if (page->range_names >= MOST_RANGE_NAMES)
        return html_number(page, FURTHER);
    uint32_t number = html_number(page, name);
    page->range_names += page->texts.count != before;
    return number;
}

static void add_own(void *context, uint32_t name, uint64_t ns)
{
    struct html_page *page = context;
    html_tables_own(&page->tables, HTML_RANGES, name, ns);
}

static bool add_range(struct html_page *page, const rtl_range_t *range)
{
    unsigned type = strcmp(range->kind, "mark") == 0    ? IS_MARK
                    : strcmp(range->kind, "start") == 0 ? IS_START
                                                        : IS_PUSH;
    struct html_place place = {html_no_key, HTML_RANGES, range_name(page, range->name)};
    uint32_t text = text_of_segment(page, range->name);
    struct html_slice slice = {
        .item = text << 2 | type, .id = range->id, .range = range->parent, .more = range->end == 0};
    place.key.kind = HTML_THREAD;
    place.key.process = range->process;
    place.key.thread = range->thread;
    if (text == UINT32_MAX ||
        !html_put(page, &place, &slice, range->start, lookup_range_end(page->export, range)))
        return false;
    if (type != IS_MARK)
        html_own_take(&page->own, range->process, range->thread, place.name, slice.start, slice.end,
                      add_own, page);
    return true;
}

static bool add_launch(struct html_page *page, const rtl_graph_launch_t *launch)
{
    char name[32];
    (void)snprintf(name, sizeof name, "graph %u", launch->graph);
    struct html_place place = {html_no_key, HTML_TABLES, html_number(page, name)};
    struct html_slice slice = {
        .item = place.name,
        .id = launch->launch,
        .correlation = launch->correlation,
        .range = launch->range,
        .launch = html_graphs_number(&page->graphs, (size_t)(launch - page->graphs.launch_rows)),
    };
    place.key.kind = HTML_REPLAYS;
    place.key.process = launch->process;
    return launch->start == 0 || html_put(page, &place, &slice, launch->start, launch->end);
}

static bool add_copy(struct html_page *page, const struct export_event *event)
{
    const rtl_copy_t *copy = event->copy;
    struct html_place place = {html_no_key, HTML_COPY_KINDS, html_number(page, copy->kind)};
    const struct html_item item = {
        {place.name, html_number(page, copy->engine), copy->src, copy->dst}};
    struct html_slice slice = {.item = html_items_number(&page->copies, &item),
                               .id = copy->id,
                               .correlation = event->origin.call,
                               .range = event->origin.range,
                               .more = (int64_t)copy->bytes};
    place.key.kind = HTML_COPIES;
    place.key.process = copy->process;
    place.key.gpu = copy->gpu;
    place.key.queue = copy->queue;
    return slice.item != UINT32_MAX && html_put(page, &place, &slice, copy->start, copy->end);
}

static bool add_event(struct html_page *page, const struct export_event *event)
{
    switch (event->kind) {
    case EXPORT_RANGE:
        return add_range(page, event->range);
    case EXPORT_API:
        return add_call(page, event->api);
    case EXPORT_LAUNCH:
        return add_launch(page, event->launch);
    default:
        return add_copy(page, event);
    }
}

/* A copy keeps its GPU busy. */
static rtl_status_t take_copy(struct html_page *page, const rtl_copy_t *copy)
{
    struct activity_work work;
    if (copy->start == 0)
        return RTL_OK;
    activity_work_of_copy(copy, &work);
    return html_idle_take(page, copy->process, &work);
}

static int visit(void *state, const struct export_event *event)
{
    struct html_page *page = state;
    if (event->kind == EXPORT_COPY && event->copy->start == 0 && event->copy->end == 0) {
        ++page->untimed;
        return EXIT_FINE;
    }
    int status = html_before(page, event->start);
    if (status != EXIT_FINE)
        return status;
    if (event->kind == EXPORT_COPY && take_copy(page, event->copy) != RTL_OK)
        return open_failed(page->export->trace, page->export->path);
    return add_event(page, event) ? EXIT_FINE : say_fail(EXIT_USAGE, "there is not enough memory");
}

static int visit_run(void *state, struct rtl_runs *runs, const struct rtl_run *run)
{
    struct html_page *page = state;
    struct export_served *served = page->export->served;
    int status = html_kernels_begin(page, runs, run);
    if (served && !served->window)
        (void)atomic_fetch_add_explicit(&served->kernels, run->count, memory_order_relaxed);
    for (uint32_t i = 0; i < run->count && status == EXIT_FINE; ++i) {
        status = html_before(page, run->kernels[i].start);
        if (status == EXIT_FINE)
            status = html_kernels_add(page, runs, run, &run->kernels[i]);
    }
    return status;
}

/* The file. */

static bool is_window(const struct html_page *page)
{
    return page->export->served && page->export->served->window;
}

static void write_element(struct out *out, const char *id, const struct bytes *bytes)
{
    out_text(out, "<script type=\"application/octet-stream\" id=\"");
    out_text(out, id);
    out_text(out, "\">");
    for (size_t at = 0; at < bytes->used; at += PIECE) {
        size_t size = bytes->used - at < PIECE ? bytes->used - at : PIECE;
        char base64[BYTES_BASE64(PIECE)];
        bytes_base64(bytes->data + at, size, base64);
        out_bytes(out, base64, BYTES_BASE64(size));
    }
    out_text(out, "</script>\n");
}

static void write_framed(struct out *out, const struct bytes *bytes)
{
    struct bytes length = {0};
    bytes_varint(&length, bytes->used);
    if (length.failed)
        memory_is_short();
    out_bytes(out, length.data, length.used);
    out_bytes(out, bytes->data, bytes->used);
    bytes_free(&length);
}

static void write_data(const struct html_page *page, struct out *out, const char *id,
                       const struct bytes *bytes)
{
    if (is_window(page))
        write_framed(out, bytes);
    else
        write_element(out, id, bytes);
}

static int write_segments(struct html_page *page, struct out *out)
{
    for (size_t i = 0; i < page->segments.count; ++i) {
        char id[40];
        if (!page->segments.list[i].kept)
            continue;
        int error = html_segments_read(&page->segments, &page->segments.list[i]);
        if (error)
            return say_fail(EXIT_USAGE, "the events could not be read back: %s", say_errno(error));
        (void)snprintf(id, sizeof id, "rtl-segment-%zu", i);
        write_data(page, out, id, &page->segments.packed);
    }
    return EXIT_FINE;
}

/* What the page is made of, each part deflated. */
struct parts {
    const struct page_frame *viewer;
    struct bytes head, ranges;
};

/* Bytes of the page but for the single events. */
static uint64_t size_of(const struct parts *parts)
{
    const struct page_frame *viewer = parts->viewer;
    return (viewer->head ? strlen(viewer->head) + strlen(viewer->tail) : 0) +
           BYTES_BASE64(parts->head.used) + BYTES_BASE64(parts->ranges.used);
}

/* The ranges, deflated; nothing if there is none. */
static int pack_ranges(const struct html_page *page, struct bytes *packed)
{
    struct bytes plain = {0};
    int status = EXIT_FINE;
    if (is_window(page)) /* the page has them */
        return EXIT_FINE;
    if (html_ranges(page->export, page->zero, &plain) != RTL_OK)
        status = open_failed(page->export->trace, page->export->path);
    else if (plain.failed || (plain.used && !bytes_deflate(packed, &plain)))
        status = say_fail(EXIT_USAGE, "there is not enough memory");
    bytes_free(&plain);
    return status;
}

static int pack_head(struct html_page *page, struct bytes *packed)
{
    struct bytes plain = {0};
    bytes_clear(packed);
    int status = html_head(page, &plain);
    if (status == EXIT_FINE && !bytes_deflate(packed, &plain))
        status = say_fail(EXIT_USAGE, "there is not enough memory");
    bytes_free(&plain);
    return status;
}

/* Whether --detail is what single events are bound by, of a page that has `room` for them. */
static bool is_by_detail(const struct export *export, uint64_t room)
{
    return export->detail && (!export->page_size || export->detail < room);
}

/* What single events may take, of a page that is `rest` bytes without them. */
static uint64_t room_of(const struct export *export, uint64_t rest)
{
    uint64_t page = export->page_size ? export->page_size : HTML_PAGE;
    uint64_t room = page > rest ? page - rest : 0;
    return is_by_detail(export, room) ? export->detail : room;
}

/* What limits the page that is made now. */
static void note_limits(struct html_page *page, uint64_t rest)
{
    uint64_t size = page->export->page_size;
    page->by_detail = is_by_detail(page->export, size > rest ? size - rest : 0);
    page->beyond_size = size && rest > size ? rest - size : 0;
}

/* The head tells which segments are left out, so it is made again if some are. */
static int fit(struct html_page *page, struct parts *parts)
{
    int status = pack_head(page, &parts->head);
    if (status != EXIT_FINE)
        return status;
    size_t before = html_segments_choose(&page->segments, UINT64_MAX);
    page->left_out = html_segments_choose(&page->segments, room_of(page->export, size_of(parts)));
    note_limits(page, size_of(parts));
    return page->left_out == before ? EXIT_FINE : pack_head(page, &parts->head);
}

/* What stands before the data. A page that is served may ask who serves it. */
static void write_front(const struct html_page *page, struct out *out, const char *front)
{
    const char *end = page->export->served ? strstr(front, POLICY) : NULL;
    if (end) {
        end += strlen(POLICY);
        out_bytes(out, front, (size_t)(end - front));
        out_text(out, "; connect-src 'self'");
        front = end;
    }
    out_text(out, front);
}

static int write_elements(struct html_page *page, const struct parts *parts, struct out *out)
{
    write_front(page, out, parts->viewer->head);
    write_data(page, out, "rtl-head", &parts->head);
    out_text(out, page->export->served ? "<script>rtlPage.start('window')</script>\n"
                                       : "<script>rtlPage.start()</script>\n");
    if (parts->ranges.used)
        write_data(page, out, "rtl-ranges", &parts->ranges);
    int status = write_segments(page, out);
    out_text(out, "<script>rtlPage.complete()</script>");
    out_text(out, parts->viewer->tail);
    return status;
}

static int write_page(struct html_page *page, const struct parts *parts)
{
    static struct out out;
    int status = out_begin(&out, page->export);
    if (status != EXIT_FINE)
        return status;
    if (is_window(page)) {
        write_framed(&out, &parts->head);
        status = write_segments(page, &out);
    } else {
        status = write_elements(page, parts, &out);
    }
    if (status == EXIT_FINE)
        return out_end(&out);
    out_drop(&out);
    return status;
}

static int finish(struct html_page *page, const struct page_frame *viewer)
{
    struct parts parts = {.viewer = viewer};
    int status = pack_ranges(page, &parts.ranges);
    if (status == EXIT_FINE)
        status = fit(page, &parts);
    if (status == EXIT_FINE)
        status = write_page(page, &parts);
    bytes_free(&parts.head);
    bytes_free(&parts.ranges);
    return status;
}

/* Of a page that is served the browser asks for the rest. */
static void tell_left_out(const struct html_page *page)
{
    if (page->left_out && page->export->served)
        say("single events of %zu of %zu stretches of time come when one zooms in; --%s gives the "
            "page more room for them",
            page->left_out, page->segments.count, page->by_detail ? "detail" : "page-size");
    else if (page->left_out)
        say("single events of %zu of %zu stretches of time are left out; --%s gives them more "
            "room, --from and --to choose a part",
            page->left_out, page->segments.count, page->by_detail ? "detail" : "page-size");
}

static void tell(const struct html_page *page)
{
    if (page->untimed)
        say("%s %s left out: nobody took the times", show_things(page->untimed, "copy").text,
            show_are(page->untimed));
    if (page->beyond)
        say("%s %s more than 104 days after the page begins; in the page the end is there",
            show_things(page->beyond, "event").text, page->beyond == 1 ? "ends" : "end");
    tell_left_out(page);
    if (page->beyond_size)
        say("the page is %s larger than --page-size: what is in it besides single events takes "
            "that",
            show_bytes(page->beyond_size).text);
    if (page->graphs.shift)
        say("of %s one in %zu is in the page by itself; --page-size gives them more room",
            show_things(page->graphs.launch_count, "replay").text,
            html_graphs_every(&page->graphs));
}

/* Reads what is read at once. */
static rtl_status_t begin(struct html_page *page)
{
    const struct export *export = page->export;
    const rtl_trace_info_t *info = &export->info;
    uint64_t size = export->page_size ? export->page_size : HTML_PAGE;
    uint64_t events = info->kernels + info->copies + info->calls + info->ranges;
    bool part = selection_is(&export->selection) || export->only || is_window(page);
    html_segments_begin(&page->segments, room_of(export, 0), part ? 0 : events);
    rtl_status_t status = html_graphs_begin(&page->graphs, export->trace, size / HTML_PART);
    if (status == RTL_OK && is_window(page))
        status = html_graphs_choose(&page->graphs, export->from, export->to, size / HTML_PART);
    if (status == RTL_OK)
        status = html_counts_begin(&page->counts, export->trace);
    return status == RTL_OK ? html_idle_begin(page) : status;
}

/* Bins get a part of the page. */
static bool coarsen(struct html_page *page)
{
    uint64_t size = page->export->page_size ? page->export->page_size : HTML_PAGE;
    uint64_t bins = 0;
    do {
        bins = 0;
        for (size_t i = 0; i < page->lanes.count; ++i)
            bins += page->lanes.list[i].bins.count;
        if (bins <= page->lanes.count || bins * BIN_BYTES <= size / HTML_PART)
            return true;
    } while (html_lanes_coarsen(&page->lanes));
    return false;
}

static int make(struct html_page *page, const struct page_frame *viewer)
{
    struct export *export = page->export;
    if (is_window(page))
        html_begin_window(page, export->served);
    if (begin(page) != RTL_OK)
        return open_failed(export->trace, export->path);
    int status = export_walk_runs(export, visit, visit_run, page);
    if (status != EXIT_FINE)
        return status;
    html_begin_at(page, export->info.start);
    html_own_finish(&page->own, add_own, page);
    if (html_idle_finish(page) != RTL_OK)
        return open_failed(export->trace, export->path);
    if (!coarsen(page))
        return say_fail(EXIT_USAGE, "there is not enough memory");
    int error = html_segments_end(&page->segments, &page->lanes, page->last + 1);
    if (error == 0)
        error = html_segments_finish(&page->segments);
    if (error)
        return say_fail(EXIT_USAGE, "the events could not be put aside in %s: %s",
                        folder_temporary(), say_errno(error));
    status = finish(page, viewer);
    if (is_window(page))
        return status;
    if (export->served)
        export->served->zero = page->zero;
    if (status == EXIT_FINE)
        tell(page);
    return status;
}

static void release(struct html_page *page)
{
    html_lanes_free(&page->lanes);
    html_items_free(&page->kernels);
    html_items_free(&page->copies);
    texts_free(&page->texts);
    html_segments_free(&page->segments);
    html_graphs_free(&page->graphs);
    html_tables_free(&page->tables);
    html_counts_free(&page->counts);
    html_own_free(&page->own);
    html_idle_free(&page->idle);
    html_kernels_free(page);
}

static int run(struct export *export)
{
    struct html_page page = {.export = export};
    struct page_frame viewer = {0};
    int status = is_window(&page) ? EXIT_FINE : page_frame_read(VIEWER, &viewer);
    if (status == EXIT_FINE)
        status = make(&page, &viewer);
    release(&page);
    page_frame_free(&viewer);
    return status;
}

const struct exporter export_html = {
    "html", ".html", EXPORT_PER_RANK | EXPORT_STREAMS | EXPORT_DETAIL | EXPORT_FAMILIES, run};
