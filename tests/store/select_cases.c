/* What a selection leaves of a trace, against what the records that were written say themselves. */
#include "fixture.h"
#include "store/select.h"

#include <stdlib.h>
#include <string.h>

#define KERNELS 40000u /* of each of two queues: two chunks */
#define CALLS   2000u

/* Kernel `i` has name "a" or "b" in turn, and the correlation i + 1; of the host calls with a
 * correlation, every third is of no stream, and the others of two streams. */
static bool write_trace(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    for (uint32_t p = 0; p < 2; p++) {
        uint32_t process = fixture_define(writer, 2, 2);
        for (uint64_t c = 1; c <= CALLS; c++) {
            const struct rtl_wire_api api = {.start_ns = 1000 * c,
                                             .end_ns = 1000 * c + 500,
                                             .correlation = c,
                                             .thread = 100,
                                             .stream = 0x1000 * (c % 3),
                                             .flags = c % 3 ? RTL_API_STREAM : 0};
            rtl_writer_api(writer, process, &api, NULL);
        }
        fixture_kernels(writer, process, 0, 0, KERNELS);
        fixture_kernels(writer, process, 1, 0, KERNELS);
        rtl_writer_process_end(writer, process, "closed", 1, 0);
    }
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

/* A selection with what it means. */
struct part {
    struct rtl_selection selection;
    uint32_t process; /* 0: all */
    uint64_t stream;  /* 1 or 2; 0: all */
    const char *name; /* NULL: all */
};

static bool is_name(void *context, const char *name)
{
    return strcmp(context, name) == 0;
}

static bool begins(const struct part *part, uint64_t start)
{
    const struct rtl_selection *selection = &part->selection;
    if (!selection->windows)
        return true;
    bool found = false;
    for (size_t i = 0; i < selection->window_count; i++)
        found |= selection->windows[i].from <= start && start < selection->windows[i].to;
    return found;
}

static bool belongs(const struct part *part, const rtl_kernel_t *kernel)
{
    uint64_t correlation = kernel->packet + 1;
    return (part->process == 0 || kernel->process == part->process) &&
           (!part->name || strcmp(part->name, kernel->packet % 2 ? "b" : "a") == 0) &&
           (part->stream == 0 || (correlation <= CALLS && correlation % 3 == part->stream)) &&
           begins(part, kernel->start);
}

static int by_place(const void *left, const void *right)
{
    const rtl_kernel_t *a = left;
    const rtl_kernel_t *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Those of `all` that belong, moved to its begin. */
static size_t leave(const struct part *part, rtl_kernel_t *all, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (belongs(part, &all[i]))
            all[left++] = all[i];
    return left;
}

static const char *check_iterator(rtl_trace_t *trace, const rtl_kernel_t *wanted, size_t count,
                                  int by_queue)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    size_t found = 0;
    rtl_status_t status = RTL_OK;
    filter.by_queue = by_queue;
    rtl_kernel_t *kernels = fixture_read(trace, &filter, &found, &status);
    CHECK(kernels && found == count);
    for (size_t i = 1; i < found && !by_queue; i++)
        CHECK(kernels[i - 1].start <= kernels[i].start);
    if (found)
        qsort(kernels, found, sizeof *kernels, by_place);
    for (size_t i = 0; i < found; i++)
        CHECK(kernels[i].id == wanted[i].id && strcmp(kernels[i].name, wanted[i].name) == 0);
    free(kernels);
    return NULL;
}

/* Kernels of a queue stand one behind the other: busy times are sums, up to the window's end. */
static uint64_t busy_of(const struct part *part, const rtl_kernel_t *kernels, size_t count,
                        uint32_t process, uint32_t queue)
{
    uint64_t busy = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t end = kernels[i].end;
        for (size_t w = 0; w < part->selection.window_count; w++) {
            const struct rtl_select_window *window = &part->selection.windows[w];
            if (window->from <= kernels[i].start && kernels[i].start < window->to &&
                end > window->to)
                end = window->to;
        }
        if (kernels[i].process == process && kernels[i].queue == queue)
            busy += end - kernels[i].start;
    }
    return busy;
}

static const char *check_sums(rtl_trace_t *trace, const struct part *part,
                              const rtl_kernel_t *wanted, size_t count)
{
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY(RTL_BY_NAME);
    rtl_aggregate_t *aggregate = NULL;
    const rtl_group_t *groups = NULL;
    const rtl_queue_time_t *queues = NULL;
    size_t group_count = 0;
    size_t queue_count = 0;
    uint64_t sum = 0;
    CHECK(rtlTraceAggregate(trace, &request, &aggregate) == RTL_OK);
    CHECK(rtlAggregateGroups(aggregate, &groups, &group_count) == RTL_OK);
    for (size_t i = 0; i < group_count; i++) {
        uint64_t of_name = 0;
        uint64_t total = 0;
        for (size_t k = 0; k < count; k++)
            if (strcmp(wanted[k].name, groups[i].name) == 0) {
                ++of_name;
                total += wanted[k].end - wanted[k].start;
            }
        CHECK(groups[i].count == of_name && groups[i].total == total && of_name > 0);
        sum += of_name;
    }
    CHECK(sum == count);
    CHECK(rtlAggregateQueues(aggregate, &queues, &queue_count) == RTL_OK && queue_count == 4);
    for (size_t i = 0; i < queue_count; i++)
        CHECK(queues[i].span.busy ==
              busy_of(part, wanted, count, queues[i].queue->process, queues[i].queue->queue));
    rtlAggregateFree(aggregate);
    return NULL;
}

static const char *check_calls(rtl_trace_t *trace, const struct part *part)
{
    rtl_api_iter_t *iter = NULL;
    rtl_api_t call;
    uint64_t found = 0;
    uint64_t wanted = 0;
    for (uint64_t c = 1; c <= CALLS; c++)
        wanted += (part->stream == 0 || c % 3 == part->stream) && begins(part, 1000 * c);
    wanted *= part->process ? 1 : 2;
    CHECK(rtlTraceApi(trace, NULL, &iter) == RTL_OK);
    while (rtlApiNext(iter, &call) == RTL_OK) {
        CHECK(part->process == 0 || call.process == part->process);
        CHECK(part->stream == 0 || call.correlation % 3 == part->stream);
        CHECK(begins(part, call.start));
        ++found;
    }
    rtlApiIterFree(iter);
    CHECK(found == wanted);
    return NULL;
}

static const char *check_part(const char *path, const struct part *part)
{
    const rtl_kernel_filter_t everything = RTL_KERNEL_FILTER_ALL;
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_status_t status = RTL_OK;
    size_t all = 0;
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    rtl_kernel_t *kernels = fixture_read(trace, &everything, &all, &status);
    CHECK(kernels && all == 4 * (size_t)KERNELS);
    size_t left = leave(part, kernels, all);
    if (left)
        qsort(kernels, left, sizeof *kernels, by_place);
    CHECK(rtl_trace_select(trace, &part->selection) == RTL_OK);
    CHECK_DONE(check_iterator(trace, kernels, left, 0));
    CHECK_DONE(check_iterator(trace, kernels, left, 1));
    CHECK_DONE(check_sums(trace, part, kernels, left));
    CHECK_DONE(check_calls(trace, part));
    CHECK(rtl_trace_select(trace, NULL) == RTL_OK);
    free(fixture_read(trace, &everything, &left, &status));
    CHECK(left == all);
    free(kernels);
    rtlTraceClose(trace);
    return NULL;
}

/* Ticks are of 10 ns; kernel i of queue q begins at 10 (5000 + 2000 i + q) and takes 10 000 ns. */
static const char *check_parts(const char *path)
{
    static const bool second[] = {false, true};
    static const bool no_gpu[] = {false, true};
    /* Of each process the NULL stream and two others. */
    static const bool first_stream[] = {false, true, false, false, true, false};
    static const bool second_stream[] = {false, false, true, false, false, true};
    static const struct rtl_select_window windows[] = {
        {0, 60000}, {61000, 65000}, {10000000, 20055000}, {1000000000, 1300000001}};
    static const struct rtl_select_window never[] = {{1, 2}};
    const struct part parts[] = {
        {.process = 0},
        {.selection = {.processes = second}, .process = 2},
        {.selection = {.kernel = is_name, .context = "a"}, .name = "a"},
        {.selection = {.kernel = is_name, .context = "c"}, .name = "c"},
        {.selection = {.streams = first_stream}, .stream = 1},
        {.selection = {.streams = second_stream, .kernel = is_name, .context = "b"},
         .stream = 2,
         .name = "b"},
        {.selection = {.windows = windows, .window_count = 4}},
        {.selection = {.windows = never, .window_count = 1}},
        {.selection = {.windows = windows,
                       .window_count = 4,
                       .processes = second,
                       .streams = first_stream,
                       .kernel = is_name,
                       .context = "a"},
         .process = 2,
         .stream = 1,
         .name = "a"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        CHECK_DONE(check_part(path, &parts[i]));
    struct part nothing = {.selection = {.gpus = no_gpu, .gpu_count = 2}, .name = "c"};
    rtl_trace_t *trace = NULL;
    rtl_status_t status = RTL_OK;
    size_t count = 0;
    const rtl_kernel_filter_t everything = RTL_KERNEL_FILTER_ALL;
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtl_trace_select(trace, &nothing.selection) == RTL_OK);
    free(fixture_read(trace, &everything, &count, &status));
    CHECK(count == 0 && status == RTL_END && !rtl_trace_selects(trace, 1, 0));
    CHECK(rtl_trace_selects(trace, 1, 1));
    rtlTraceClose(trace);
    return NULL;
}

const char *Select_LeavesWhatItNames(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && write_trace(path));
    CHECK_DONE(check_parts(path));
    fixture_remove(path);
    return NULL;
}
