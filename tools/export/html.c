/* The page: one HTML file that shows a trace in a browser, without a network. */
#include "export/html_page.h"

#include "common/command.h"
#include "common/open.h"
#include "common/page.h"
#include "common/say.h"
#include "common/show.h"
#include "export/html_ranges.h"
#include "export/html_time.h"
#include "export/lookup.h"
#include "export/out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VIEWER "rtl-viewer.html"

/* Names of ranges in the tables; what comes after is one row. */
#define MOST_RANGE_NAMES 16384u
#define FURTHER          "(further names)"

#define ARGUMENTS 512u

#define PIECE 3072u /* bytes that become base64 at once */

/* Types of what a thread's row has, in the low bits of the item. */
enum { IS_CALL, IS_PUSH, IS_START, IS_MARK };

static uint32_t number_of(struct html_page *page, const char *text)
{
    size_t number = texts_number(&page->texts, text);
    return number == TEXTS_NONE ? UINT32_MAX : (uint32_t)number;
}

/* Time. */

static void begin_at(struct html_page *page, uint64_t start)
{
    if (page->begun)
        return;
    page->zero = page->export->info.start < start ? page->export->info.start : start;
    page->first = html_time(start, page->zero);
    page->begun = true;
}

static bool segment_full(struct html_page *page, uint64_t start, int *status)
{
    if (page->segments.events < HTML_SEGMENT)
        return true;
    int error = html_segments_end(&page->segments, &page->lanes, html_time(start, page->zero));
    if (error)
        *status = say_fail(EXIT_USAGE, "the events could not be put aside: %s", say_errno(error));
    return error == 0;
}

/* Where something is, and its part of the tables. */
struct place {
    struct html_key key;
    enum html_table table;
    uint32_t name;
};

static const struct html_key no_key = {.gpu = RTL_TRACE_NONE,
                                       .queue = RTL_TRACE_NONE,
                                       .stream = RTL_TRACE_NONE,
                                       .thread = RTL_TRACE_NONE};

/* Puts what lasts from `start` to `end` into its row, and into its table if it has one. */
static bool put(struct html_page *page, const struct place *place, struct html_slice *slice,
                uint64_t start, uint64_t end)
{
    slice->start = html_time(start, page->zero);
    slice->end = end > start ? html_time(end, page->zero) : slice->start;
    page->beyond += end > start && end - page->zero > HTML_TIME_LAST;
    if (slice->end > page->last)
        page->last = slice->end;
    struct html_lane *lane = html_lanes_take(&page->lanes, &place->key, slice->start);
    if (!lane || place->name == UINT32_MAX)
        return false;
    struct html_entry entry = {.name = place->name,
                               .lane = (size_t)(lane - page->lanes.list),
                               .start = slice->start,
                               .duration = slice->end - slice->start,
                               .bytes = place->table == HTML_COPY_KINDS ? (uint64_t)slice->more : 0,
                               .failed = place->table == HTML_CALLS && slice->more != 0};
    ++page->segments.events;
    if (place->table != HTML_TABLES && !html_tables_add(&page->tables, place->table, &entry))
        return false;
    return html_lanes_put(&page->lanes, lane, slice, place->name);
}

/* Events. */

static uint32_t text_of_segment(struct html_page *page, const char *text)
{
    size_t number = texts_number(&page->segments.texts, text);
    return number == TEXTS_NONE ? UINT32_MAX : (uint32_t)number;
}

static bool add_call(struct html_page *page, const rtl_api_t *api)
{
    char arguments[ARGUMENTS];
    struct place place = {no_key, HTML_CALLS, number_of(page, api->name)};
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
    return put(page, &place, &slice, api->start, api->end);
}

static uint32_t range_name(struct html_page *page, const char *name)
{
    size_t before = page->texts.count;
    if (page->range_names >= MOST_RANGE_NAMES)
        return number_of(page, FURTHER);
    uint32_t number = number_of(page, name);
    page->range_names += page->texts.count != before;
    return number;
}

static bool add_range(struct html_page *page, const rtl_range_t *range)
{
    unsigned type = strcmp(range->kind, "mark") == 0    ? IS_MARK
                    : strcmp(range->kind, "start") == 0 ? IS_START
                                                        : IS_PUSH;
    struct place place = {no_key, HTML_RANGES, range_name(page, range->name)};
    uint32_t text = text_of_segment(page, range->name);
    struct html_slice slice = {
        .item = text << 2 | type, .id = range->id, .range = range->parent, .more = range->end == 0};
    place.key.kind = HTML_THREAD;
    place.key.process = range->process;
    place.key.thread = range->thread;
    return text != UINT32_MAX &&
           put(page, &place, &slice, range->start, lookup_range_end(page->export, range));
}

static bool add_launch(struct html_page *page, const rtl_graph_launch_t *launch)
{
    char name[32];
    (void)snprintf(name, sizeof name, "graph %u", launch->graph);
    struct place place = {no_key, HTML_TABLES, number_of(page, name)};
    struct html_slice slice = {
        .item = place.name,
        .id = launch->launch,
        .correlation = launch->correlation,
        .range = launch->range,
        .launch = (uint32_t)(launch - page->graphs.launch_rows) + 1,
    };
    place.key.kind = HTML_REPLAYS;
    place.key.process = launch->process;
    return launch->start == 0 || put(page, &place, &slice, launch->start, launch->end);
}

static bool add_copy(struct html_page *page, const struct export_event *event)
{
    const rtl_copy_t *copy = event->copy;
    struct place place = {no_key, HTML_COPY_KINDS, number_of(page, copy->kind)};
    const struct html_item item = {
        {place.name, number_of(page, copy->engine), copy->src, copy->dst}};
    struct html_slice slice = {.item = html_items_number(&page->copies, &item),
                               .id = copy->id,
                               .correlation = event->origin.call,
                               .range = event->origin.range,
                               .more = (int64_t)copy->bytes};
    place.key.kind = HTML_COPIES;
    place.key.process = copy->process;
    place.key.gpu = copy->gpu;
    place.key.queue = copy->queue;
    return slice.item != UINT32_MAX && put(page, &place, &slice, copy->start, copy->end);
}

static struct html_gpu *gpu_of(struct html_page *page, uint32_t process, uint32_t gpu)
{
    for (size_t i = 0; i < page->gpu_count; ++i)
        if (page->gpus[i].process == process && page->gpus[i].gpu == gpu)
            return &page->gpus[i];
    struct html_gpu *gpus = realloc(page->gpus, (page->gpu_count + 1) * sizeof *gpus);
    if (!gpus)
        return NULL;
    page->gpus = gpus;
    gpus[page->gpu_count] = (struct html_gpu){.process = process, .gpu = gpu};
    return &gpus[page->gpu_count++];
}

/* What of a kernel the GPU was not busy with already. */
static bool add_busy(struct html_page *page, const rtl_kernel_t *kernel, uint32_t name)
{
    struct html_gpu *gpu = gpu_of(page, kernel->process, kernel->gpu);
    uint64_t start = html_time(kernel->start, page->zero);
    uint64_t end = html_time(kernel->end, page->zero);
    if (!gpu)
        return false;
    if (start < gpu->until)
        start = gpu->until;
    if (end <= start)
        return true;
    gpu->until = end;
    gpu->busy += end - start;
    return bins_add(&gpu->bins, start, end, name, 8192);
}

/* The sample of a kernel that was counted, 0 if it was not; UINT32_MAX when memory is short. */
static uint32_t sample_of(struct html_page *page, const struct export_event *event, uint32_t name)
{
    const rtl_trace_sample_t *sample = event->samples;
    if (event->sample_count == 0)
        return 0;
    html_counts_add(&page->counts, name, event);
    uint32_t number = html_segments_sample(&page->segments);
    for (uint32_t i = 0; i < sample->count && number; ++i)
        if (!html_segments_count(&page->segments,
                                 lookup_counter_place(page->export, sample->counters[i]),
                                 sample->values[i]))
            number = 0;
    return number ? number : UINT32_MAX;
}

static bool add_kernel(struct html_page *page, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    size_t launch = html_graphs_launch(&page->graphs, kernel);
    struct place place = {no_key, HTML_KERNELS, number_of(page, kernel->name)};
    const struct html_item item = {{place.name, number_of(page, kernel->mangled), kernel->grid[0],
                                    kernel->grid[1], kernel->grid[2], kernel->block[0],
                                    kernel->block[1], kernel->block[2], kernel->group_size,
                                    kernel->private_size}};
    struct html_slice slice = {.item = html_items_number(&page->kernels, &item),
                               .id = kernel->id,
                               .correlation = event->origin.call,
                               .range = event->origin.range,
                               .launch = launch == SIZE_MAX ? 0 : (uint32_t)launch + 1,
                               .node = kernel->node + 1};
    place.key.kind = HTML_QUEUE;
    place.key.process = kernel->process;
    place.key.gpu = kernel->gpu;
    place.key.queue = kernel->queue;
    place.key.stream = event->origin.stream;
    if (slice.item == UINT32_MAX || place.name == UINT32_MAX || !add_busy(page, kernel, place.name))
        return false;
    slice.sample = sample_of(page, event, place.name);
    if (slice.sample == UINT32_MAX)
        return false;
    if (launch != SIZE_MAX && !html_graphs_add(&page->graphs, launch, kernel, place.name))
        return false;
    return put(page, &place, &slice, kernel->start, kernel->end);
}

/* The idle times that begin before `time`: events come by start. */
static bool add_idle(struct html_page *page, uint64_t time)
{
    const struct html_idle_piece *piece;
    while ((piece = html_idle_next(&page->idle, time)) != NULL) {
        struct place place = {no_key, HTML_TABLES,
                              number_of(page, page->idle.causes.list[piece->cause])};
        struct html_slice slice = {.item = place.name, .correlation = piece->correlation};
        place.key.kind = HTML_IDLE;
        place.key.process = piece->process;
        place.key.gpu = piece->gpu;
        if (!put(page, &place, &slice, piece->from, piece->to))
            return false;
    }
    return true;
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
    case EXPORT_COPY:
        return add_copy(page, event);
    default:
        return add_kernel(page, event);
    }
}

static int visit(void *state, const struct export_event *event)
{
    struct html_page *page = state;
    int status = EXIT_FINE;
    if (event->kind == EXPORT_COPY && event->copy->start == 0 && event->copy->end == 0) {
        ++page->untimed;
        return EXIT_FINE;
    }
    begin_at(page, event->start);
    if (!add_idle(page, event->start))
        return say_fail(EXIT_USAGE, "there is not enough memory");
    if (!segment_full(page, event->start, &status))
        return status;
    return add_event(page, event) ? EXIT_FINE : say_fail(EXIT_USAGE, "there is not enough memory");
}

/* The file. */

static void write_data(struct out *out, const char *id, const struct bytes *bytes)
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
        write_data(out, id, &page->segments.packed);
    }
    return EXIT_FINE;
}

/* The ranges, deflated; nothing if there is none. */
static int pack_ranges(const struct html_page *page, struct bytes *packed)
{
    struct bytes plain = {0};
    int status = EXIT_FINE;
    if (html_ranges(page->export, page->zero, &plain) != RTL_OK)
        status = open_failed(page->export->trace, page->export->path);
    else if (plain.failed || (plain.used && !bytes_deflate(packed, &plain)))
        status = say_fail(EXIT_USAGE, "there is not enough memory");
    bytes_free(&plain);
    return status;
}

static int write_page(struct html_page *page, const struct page_frame *viewer)
{
    static struct out out;
    struct bytes head = {0};
    struct bytes packed = {0};
    struct bytes ranges = {0};
    int status = html_head(page, &head);
    if (status == EXIT_FINE && !bytes_deflate(&packed, &head))
        status = say_fail(EXIT_USAGE, "there is not enough memory");
    if (status == EXIT_FINE)
        status = pack_ranges(page, &ranges);
    if (status == EXIT_FINE)
        status = out_begin(&out, page->export);
    if (status == EXIT_FINE) {
        out_text(&out, viewer->head);
        write_data(&out, "rtl-head", &packed);
        out_text(&out, "<script>rtlPage.start()</script>\n");
        if (ranges.used)
            write_data(&out, "rtl-ranges", &ranges);
        status = write_segments(page, &out);
        out_text(&out, "<script>rtlPage.complete()</script>");
        out_text(&out, viewer->tail);
        if (status == EXIT_FINE)
            status = out_end(&out);
        else
            out_drop(&out);
    }
    bytes_free(&head);
    bytes_free(&packed);
    bytes_free(&ranges);
    return status;
}

static void tell(const struct html_page *page)
{
    if (page->untimed)
        say("%s %s left out: nobody took the times", show_things(page->untimed, "copy").text,
            show_are(page->untimed));
    if (page->beyond)
        say("%s %s more than 104 days after the page begins; in the page the end is there",
            show_things(page->beyond, "event").text, page->beyond == 1 ? "ends" : "end");
    if (page->left_out)
        say("single events of %zu of %zu stretches of time are left out; --detail gives them more "
            "room, --from and --to choose a part",
            page->left_out, page->segments.count);
}

static int make(struct html_page *page, const struct page_frame *viewer)
{
    struct export *export = page->export;
    rtl_status_t read = html_graphs_begin(&page->graphs, export->trace);
    if (read == RTL_OK)
        read = html_counts_begin(&page->counts, export->trace);
    if (read == RTL_OK)
        read = html_idle_read(export, &page->idle);
    if (read != RTL_OK)
        return open_failed(export->trace, export->path);
    int status = export_walk(export, EXPORT_ALL, visit, page);
    if (status != EXIT_FINE)
        return status;
    begin_at(page, export->info.start);
    if (!add_idle(page, UINT64_MAX))
        return say_fail(EXIT_USAGE, "there is not enough memory");
    int error = html_segments_end(&page->segments, &page->lanes, page->last + 1);
    if (error)
        return say_fail(EXIT_USAGE, "the events could not be put aside: %s", say_errno(error));
    page->left_out =
        html_segments_choose(&page->segments, export->detail ? export->detail : HTML_DETAIL);
    status = write_page(page, viewer);
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
    html_idle_free(&page->idle);
    for (size_t i = 0; i < page->gpu_count; ++i)
        bins_free(&page->gpus[i].bins);
    free(page->gpus);
}

static int run(struct export *export)
{
    struct html_page page = {.export = export};
    struct page_frame viewer;
    int status = page_frame_read(VIEWER, &viewer);
    if (status == EXIT_FINE)
        status = make(&page, &viewer);
    release(&page);
    page_frame_free(&viewer);
    return status;
}

const struct exporter export_html = {
    "html", ".html", EXPORT_PER_RANK | EXPORT_STREAMS | EXPORT_DETAIL | EXPORT_FAMILIES, run};
