/* Sums over kernels against ones that the test makes itself from the kernels one by one. */
#include "../common/brief.h"
#include "fixture.h"
#include "ring/clock_line.h"
#include "store/stat.h"
#include "store/stats_make.h"
#include "store/stats_read.h"
#include "store/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUEUES  3u
#define SHAPES  7u /* the last one is never defined */
#define KERNELS 80000u
#define EVERY   35000u /* checkpoints: chunks that are closed then */
#define NODES   8u

/* Statistics. */

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The value of nearest rank. */
static uint64_t exact_percentile(const uint64_t *sorted, size_t count, double fraction)
{
    size_t rank = (size_t)ceil(fraction * (double)count);
    return sorted[rank ? rank - 1 : 0];
}

static bool near(uint64_t value, uint64_t exact)
{
    uint64_t away = value > exact ? value - exact : exact - value;
    return exact < 128 ? away == 0 : away <= exact / 128;
}

/* Numbers of all sizes, many of them equal. */
static uint64_t any_size(uint64_t *seed)
{
    uint64_t pick = fixture_random(seed);
    return pick >> (pick % 64);
}

const char *Aggregate_PercentilesAreNear(void)
{
    static const double fractions[] = {0, 0.01, 0.25, 0.5, 0.9, 0.99, 1};
    static uint64_t values[5000];
    uint64_t seed = 1;
    for (size_t count = 1; count <= 5000; count = 3 * count + 1) {
        struct rtl_stat stat = {0};
        struct rtl_stat half = {0};
        for (size_t i = 0; i < count; i++) {
            values[i] = any_size(&seed);
            CHECK(rtl_stat_add(i % 2 ? &stat : &half, values[i]));
        }
        CHECK(rtl_stat_merge(&stat, &half));
        qsort(values, count, sizeof *values, by_value);
        CHECK(stat.count == count && rtl_stat_min(&stat) == values[0]);
        CHECK(stat.max == values[count - 1]);
        for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++)
            CHECK(near(rtl_stat_percentile(&stat, fractions[i]),
                       exact_percentile(values, count, fractions[i])));
        rtl_stat_free(&stat);
        rtl_stat_free(&half);
    }
    return NULL;
}

/* 2, 4, 4, 4, 5, 5, 7, 9 have mean 5 and deviation 2; so have they with much added to each. */
const char *Aggregate_DeviationOfAKnownExample(void)
{
    static const uint64_t example[] = {2, 4, 4, 4, 5, 5, 7, 9};
    for (uint64_t more = 0; more <= UINT64_C(1) << 40; more = more ? more << 4 : 1) {
        struct rtl_stat stat = {0};
        for (size_t i = 0; i < 8; i++)
            CHECK(rtl_stat_add(&stat, more + example[i]));
        CHECK(rtl_stat_deviation(&stat) == 2 && stat.total == 8 * more + 40);
        rtl_stat_free(&stat);
    }
    struct rtl_stat none = {0};
    CHECK(rtl_stat_deviation(&none) == 0 && rtl_stat_percentile(&none, 0.5) == 0);
    return NULL;
}

/* Sweeps. */

struct times {
    uint64_t count, first, last, busy, overlap;
};

/* An end of an interval. */
struct edge {
    uint64_t time;
    int step;
};

static int by_time(const void *left, const void *right)
{
    const struct edge *a = left;
    const struct edge *b = right;
    return (a->time > b->time) - (a->time < b->time);
}

/* How many are open, from edge to edge. */
static struct times sweep_edges(const struct rtl_interval *intervals, size_t count)
{
    struct edge *edges = malloc((2 * count + 1) * sizeof *edges);
    struct times times = {.count = count};
    int64_t open = 0;
    if (!edges)
        abort();
    for (size_t i = 0; i < count; i++) {
        edges[2 * i] = (struct edge){intervals[i].start, 1};
        edges[2 * i + 1] = (struct edge){intervals[i].end, -1};
    }
    qsort(edges, 2 * count, sizeof *edges, by_time);
    for (size_t i = 0; i < 2 * count; i++) {
        uint64_t length = i ? edges[i].time - edges[i - 1].time : 0;
        times.busy += open > 0 ? length : 0;
        times.overlap += open > 1 ? length : 0;
        open += edges[i].step;
    }
    times.first = count ? edges[0].time : 0;
    times.last = count ? edges[2 * count - 1].time : 0;
    free(edges);
    return times;
}

static bool same_depth(const struct rtl_depth *depth, const struct times *times)
{
    return depth->count == times->count && depth->first == times->first &&
           depth->last == times->last && depth->busy == times->busy &&
           depth->overlap == times->overlap;
}

static struct rtl_interval draw(uint64_t *seed, uint64_t within)
{
    uint64_t start = fixture_random(seed) % within;
    return (struct rtl_interval){start, start + fixture_random(seed) % 40};
}

/* Runs that begin one after the other and overlap, swept piece by piece, with others beside. */
static const char *sweep_once(uint64_t *seed, size_t runs)
{
    struct rtl_sweep sweep = {0};
    struct rtl_interval all[1000];
    struct rtl_interval others[20];
    size_t count = 0;
    for (size_t i = 0; i < 20; i++)
        others[i] = draw(seed, 2000);
    rtl_intervals_sort(others, 20);
    sweep.others = others;
    sweep.other_count = rtl_intervals_join(others, 20);
    for (size_t run = 0; run < runs; run++) {
        size_t length = fixture_random(seed) % 50;
        struct rtl_interval *intervals = malloc(50 * sizeof *intervals);
        CHECK(intervals);
        CHECK(rtl_sweep_until(&sweep, run * 100));
        for (size_t i = 0; i < length; i++) {
            intervals[i] = draw(seed, 400);
            intervals[i].start += run * 100;
            intervals[i].end += run * 100;
            all[count++] = intervals[i];
        }
        rtl_intervals_sort(intervals, length);
        CHECK(rtl_sweep_add(&sweep, intervals, length));
    }
    CHECK(rtl_sweep_until(&sweep, UINT64_MAX));
    const struct times times = sweep_edges(all, count);
    CHECK(same_depth(&sweep.depth, &times));
    /* Time in both: what they have apart, less what they have together. */
    const struct times apart = sweep_edges(others, sweep.other_count);
    memcpy(all + count, others, sweep.other_count * sizeof *others);
    const struct times together = sweep_edges(all, count + sweep.other_count);
    CHECK(sweep.shared == times.busy + apart.busy - together.busy);
    rtl_sweep_free(&sweep);
    return NULL;
}

const char *Aggregate_SweepsAgreeWithEdges(void)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < 2000; i++)
        CHECK_DONE(sweep_once(&seed, i % 18));
    return NULL;
}

/* Traces. */

enum kind { IN_ORDER, CROWDED, DISORDERLY, ODD_CLOCK, DRIFTING };

/* Agents 0 and 1 are the same GPU for processes 1 and 2; agent 2 is another one. */
static uint32_t define(struct rtl_writer *writer, enum kind kind)
{
    uint32_t process = fixture_define(writer, QUEUES, SHAPES - 1);
    const struct rtl_wire_agent other = {
        .agent = 2, .gpu = 1, .device_type = 1, .clock_hz = 25000000, .bdf = 77, .name_length = 6};
    const struct rtl_wire_queue queue = {
        .queue = QUEUES, .agent = 2, .size = 64, .interception = RTL_INTERPOSED};
    const struct rtl_wire_queue copies = {.queue = QUEUES + 1, .interception = RTL_COPIES_ONLY};
    rtl_writer_agent(writer, process, &other, "gfx90a");
    rtl_writer_queue(writer, process, &queue);
    rtl_writer_queue(writer, process, &copies);
    /* Rates that are no whole numbers and change, and host clocks that are apart, or drift. */
    for (uint64_t i = 1; kind >= ODD_CLOCK && i < 20; i++) {
        uint64_t drift = kind == DRIFTING ? i * 111 : 0;
        const struct rtl_wire_clock point = {.ticks = i * 1000003,
                                             .system_ns = i * 10000030 + i * i % 77};
        const struct rtl_wire_clock_snapshot snapshot = {.system_ns = i * 10000000,
                                                         .boottime_ns =
                                                             i * 10000000 + drift + 5000000,
                                                         .width_ns = 10};
        rtl_writer_clock(writer, process, &point);
        rtl_writer_clock_snapshot(writer, process, &snapshot);
    }
    return process;
}

static struct rtl_wire_kernel draw_kernel(enum kind kind, uint64_t i, uint64_t *seed)
{
    uint64_t pick = fixture_random(seed);
    uint64_t gap = kind == IN_ORDER ? 2000 : kind == CROWDED ? 100 : 600;
    struct rtl_wire_kernel kernel = {.packet = i,
                                     .start = 5000 + i * gap + pick % 90,
                                     .queue = (uint32_t)(pick >> 8) % (QUEUES + 1),
                                     .shape = (uint32_t)(pick >> 16) % SHAPES,
                                     .launch = RTL_NONE,
                                     .ordinal = RTL_NONE};
    if (kind == DISORDERLY)
        kernel.start = 5000 + (i * gap + (pick >> 24) % 300000) % (KERNELS * gap);
    kernel.end = kernel.start + any_size(seed) % 3000;
    if ((pick >> 32) % 50 == 0)
        kernel.end = kernel.start - (pick >> 40) % 100;
    return kernel;
}

static void write_copies(struct rtl_writer *writer, uint32_t process, uint64_t *seed)
{
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t start = fixture_random(seed) % (UINT64_C(600) * KERNELS);
        const struct rtl_wire_copy copy = {.ordinal = i,
                                           .start = i % 10 ? start : 0,
                                           .end = i % 10 ? start + fixture_random(seed) % 9000 : 0,
                                           .queue = QUEUES + 1,
                                           .src = RTL_NONE,
                                           .dst = RTL_NONE};
        rtl_writer_copy(writer, process, &copy);
    }
}

/* Two processes, each with several chunks per queue. */
static bool write_trace(const char *path, enum kind kind, uint64_t *seed)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t process = define(writer, kind);
        write_copies(writer, process, seed);
        for (uint64_t j = 0; j < KERNELS; j++) {
            const struct rtl_wire_kernel kernel = draw_kernel(kind, j, seed);
            rtl_writer_kernel(writer, process, &kernel);
            if (j % EVERY == EVERY - 1)
                (void)rtl_writer_checkpoint(writer);
        }
        rtl_writer_process_end(writer, process, "closed", 1, 0);
    }
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

/* Sums by hand. */

struct expected {
    rtl_kernel_t *kernels;
    size_t count;
    struct rtl_interval *intervals; /* room for all */
    uint64_t *durations;
    const rtl_aggregate_request_t *request;
};

typedef bool (*belongs)(const rtl_kernel_t *kernel, const void *group);

static uint64_t end_of(const rtl_kernel_t *kernel)
{
    return kernel->end > kernel->start ? kernel->end : kernel->start;
}

static size_t pick_durations(struct expected *expected, belongs belongs, const void *group)
{
    size_t count = 0;
    for (size_t i = 0; i < expected->count; i++)
        if (belongs(&expected->kernels[i], group))
            expected->durations[count++] =
                end_of(&expected->kernels[i]) - expected->kernels[i].start;
    qsort(expected->durations, count, sizeof *expected->durations, by_value);
    return count;
}

static const char *check_group(struct expected *expected, const rtl_group_t *group, belongs belongs)
{
    size_t count = pick_durations(expected, belongs, group);
    const uint64_t *durations = expected->durations;
    long double total = 0;
    long double squares = 0;
    CHECK(count > 0 && group->count == count);
    for (size_t i = 0; i < count; i++)
        total += durations[i];
    for (size_t i = 0; i < count; i++)
        squares += (durations[i] - total / count) * (durations[i] - total / count);
    CHECK(group->total == (uint64_t)total);
    CHECK(group->min == durations[0] && group->max == durations[count - 1]);
    CHECK(fabs(group->mean - (double)(total / count)) <= 1e-9 * group->mean);
    CHECK(fabs(group->deviation - (double)sqrtl(squares / count)) <=
          1e-6 * group->deviation + 1e-9);
    CHECK(near(group->p50, exact_percentile(durations, count, 0.5)));
    CHECK(near(group->p90, exact_percentile(durations, count, 0.9)));
    CHECK(near(group->p99, exact_percentile(durations, count, 0.99)));
    return NULL;
}

static bool same_name(const rtl_kernel_t *kernel, const void *group)
{
    return strcmp(kernel->name, ((const rtl_group_t *)group)->name) == 0;
}

static bool same_symbol(const rtl_kernel_t *kernel, const void *pointer)
{
    const rtl_group_t *group = pointer;
    return kernel->process == group->process && kernel->symbol == group->symbol &&
           same_name(kernel, group) && kernel->queue == group->queue;
}

static bool same_shape(const rtl_kernel_t *kernel, const void *pointer)
{
    const rtl_group_t *group = pointer;
    return kernel->process == group->process && same_name(kernel, group) &&
           memcmp(kernel->grid, group->grid, sizeof group->grid) == 0;
}

/* Agents that are one device have the same ordinal in this trace. */
static bool same_device(const rtl_kernel_t *kernel, const void *group)
{
    return kernel->gpu == ((const rtl_group_t *)group)->device;
}

static bool any(const rtl_kernel_t *kernel, const void *group)
{
    (void)kernel;
    (void)group;
    return true;
}

static const struct {
    unsigned by;
    belongs belongs;
} groupings[] = {{0, any},
                 {RTL_BY_NAME, same_name},
                 {RTL_BY_SYMBOL | RTL_BY_QUEUE, same_symbol},
                 {RTL_BY_SHAPE, same_shape},
                 {RTL_BY_DEVICE, same_device}};

static const char *check_groups(struct expected *expected, const rtl_aggregate_t *aggregate,
                                belongs belongs)
{
    const rtl_group_t *groups = NULL;
    size_t count = 0;
    uint64_t kernels = 0;
    CHECK(rtlAggregateGroups(aggregate, &groups, &count) == RTL_OK);
    for (size_t i = 0; i < count; i++) {
        CHECK_DONE(check_group(expected, &groups[i], belongs));
        CHECK(i == 0 || groups[i].total <= groups[i - 1].total);
        CHECK(rtlAggregatePercentile(aggregate, i, 0.5) == groups[i].p50);
        kernels += groups[i].count;
    }
    CHECK(kernels == expected->count);
    return NULL;
}

static struct rtl_interval cut(const rtl_aggregate_request_t *request, uint64_t start, uint64_t end)
{
    struct rtl_interval interval = {start, end};
    if (interval.start < request->from)
        interval.start = request->from;
    if (request->to && interval.end > request->to)
        interval.end = request->to;
    if (interval.end < interval.start)
        interval.end = interval.start;
    return interval;
}

static struct times times_of(struct expected *expected, uint32_t process, uint32_t queue,
                             uint32_t gpu)
{
    size_t count = 0;
    for (size_t i = 0; i < expected->count; i++) {
        const rtl_kernel_t *kernel = &expected->kernels[i];
        if (gpu == RTL_TRACE_NONE ? kernel->process == process && kernel->queue == queue
                                  : kernel->gpu == gpu)
            expected->intervals[count++] = cut(expected->request, kernel->start, end_of(kernel));
    }
    return sweep_edges(expected->intervals, count);
}

static bool same_span(const rtl_span_t *span, const struct times *times)
{
    return span->kernels == times->count && span->first == times->first &&
           span->last == times->last && span->busy == times->busy &&
           span->overlap == times->overlap;
}

static const char *check_queues(struct expected *expected, const rtl_aggregate_t *aggregate)
{
    const rtl_queue_time_t *queues = NULL;
    size_t count = 0;
    CHECK(rtlAggregateQueues(aggregate, &queues, &count) == RTL_OK);
    CHECK(count == (size_t)2 * (QUEUES + 1));
    for (size_t i = 0; i < count; i++) {
        const rtl_queue_t *queue = queues[i].queue;
        const struct times times = times_of(expected, queue->process, queue->queue, RTL_TRACE_NONE);
        CHECK(same_span(&queues[i].span, &times));
        CHECK(queues[i].device == (queue->queue == QUEUES));
    }
    return NULL;
}

/* Copies that overlap the request; `intervals` has room for all. */
static size_t read_copies(rtl_trace_t *trace, const rtl_aggregate_request_t *request,
                          struct rtl_interval *intervals)
{
    const rtl_copy_filter_t filter = {request->from, request->to, request->process};
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t copy;
    size_t count = 0;
    rtl_status_t status = rtlTraceCopies(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK)
        if (copy.end)
            intervals[count++] = cut(request, copy.start, copy.end);
    rtlCopyIterFree(iter);
    return count;
}

/* `intervals` has the copies first, and room for all kernels. */
static const char *check_copies(struct expected *expected, const rtl_device_time_t *device,
                                struct rtl_interval *intervals, size_t count)
{
    const struct times copies = sweep_edges(intervals, count);
    CHECK(device->copies == count && device->copying == copies.busy);
    const struct times kernels = times_of(expected, 0, 0, 0);
    memcpy(intervals + count, expected->intervals, kernels.count * sizeof *intervals);
    const struct times both = sweep_edges(intervals, count + kernels.count);
    CHECK(device->copied_under == copies.busy + kernels.busy - both.busy);
    return NULL;
}

static const char *check_devices(rtl_trace_t *trace, struct expected *expected,
                                 const rtl_aggregate_t *aggregate)
{
    const rtl_device_time_t *devices = NULL;
    size_t count = 0;
    CHECK(rtlAggregateDevices(aggregate, &devices, &count) == RTL_OK);
    CHECK(count == 2 && devices[0].queues == 2 * QUEUES && devices[1].queues == 2);
    for (uint32_t i = 0; i < count; i++) {
        const struct times times = times_of(expected, 0, 0, i);
        CHECK(same_span(&devices[i].span, &times));
    }
    CHECK(devices[1].copies == 0 && devices[1].copying == 0 && devices[1].copied_under == 0);
    struct rtl_interval *intervals = malloc((expected->count + 400) * sizeof *intervals);
    CHECK(intervals);
    size_t copies = read_copies(trace, expected->request, intervals);
    const char *failed = check_copies(expected, &devices[0], intervals, copies);
    free(intervals);
    return failed;
}

static const char *check_all(rtl_trace_t *trace, rtl_aggregate_request_t *request,
                             struct expected *expected)
{
    CHECK(expected->kernels && expected->intervals && expected->durations);
    for (size_t i = 0; i < sizeof groupings / sizeof *groupings; i++) {
        rtl_aggregate_t *aggregate = NULL;
        request->by = groupings[i].by;
        request->threads = (unsigned)i + 1;
        CHECK(rtlTraceAggregate(trace, request, &aggregate) == RTL_OK);
        CHECK_DONE(check_groups(expected, aggregate, groupings[i].belongs));
        CHECK_DONE(check_queues(expected, aggregate));
        CHECK_DONE(check_devices(trace, expected, aggregate));
        rtlAggregateFree(aggregate);
    }
    return NULL;
}

static const char *check_request(rtl_trace_t *trace, rtl_aggregate_request_t *request)
{
    const rtl_kernel_filter_t filter = {request->from, request->to, request->process,
                                        request->queue, 1};
    rtl_status_t status = RTL_OK;
    struct expected expected = {.request = request};
    expected.kernels = fixture_read(trace, &filter, &expected.count, &status);
    expected.intervals = malloc((expected.count + 1) * sizeof *expected.intervals);
    expected.durations = malloc((expected.count + 1) * sizeof *expected.durations);
    const char *failed = check_all(trace, request, &expected);
    free(expected.kernels);
    free(expected.intervals);
    free(expected.durations);
    return failed;
}

static const char *check_whole(rtl_trace_t *trace)
{
    rtl_aggregate_request_t all = RTL_AGGREGATE_BY(0);
    rtl_aggregate_request_t one = {.queue = RTL_TRACE_NONE, .process = 1};
    CHECK_DONE(check_request(trace, &all));
    CHECK_DONE(check_request(trace, &one));
    return NULL;
}

/* Windows that cut through chunks and kernels. */
static const char *check_windows(rtl_trace_t *trace, uint64_t *seed)
{
    rtl_aggregate_request_t none = {.from = UINT64_MAX - 1, .queue = RTL_TRACE_NONE};
    CHECK_DONE(check_request(trace, &none));
    for (uint32_t i = 0; i < rtl_test_times(3); i++) {
        rtl_aggregate_request_t window = {.queue = RTL_TRACE_NONE};
        window.from = fixture_random(seed) % (KERNELS * UINT64_C(6000));
        window.process = i == 2 ? 2 : 0;
        window.to = i == 1 ? 0 : window.from + 1 + any_size(seed) % (KERNELS * UINT64_C(4000));
        CHECK_DONE(check_request(trace, &window));
    }
    return NULL;
}

static const char *check_kind(enum kind kind)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    struct rtl_stats_done done;
    uint64_t seed = 10 + (uint64_t)kind;
    CHECK(fixture_path(path) && write_trace(path, kind, &seed));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK_DONE(check_whole(trace));
    CHECK_DONE(check_windows(trace, &seed));
    rtlTraceClose(trace);
    /* And by statistics, where they can tell. */
    CHECK(rtl_stats_add(path, &done, error, sizeof error) == RTL_OK && done.made);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtl_stats_usable(trace, true));
    CHECK_DONE(check_whole(trace));
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Aggregate_AgreesInOrder(void)
{
    return check_kind(IN_ORDER);
}

const char *Aggregate_AgreesCrowded(void)
{
    return check_kind(CROWDED);
}

const char *Aggregate_AgreesDisorderly(void)
{
    return check_kind(DISORDERLY);
}

const char *Aggregate_AgreesWithAnOddClock(void)
{
    return check_kind(ODD_CLOCK);
}

const char *Aggregate_AgreesWithDriftingClocks(void)
{
    return check_kind(DRIFTING);
}

/* Nodes. */

static void write_graph(struct rtl_writer *writer, uint32_t process)
{
    const struct rtl_wire_graph graph = {.graph = 1, .generation = 1, .nodes = NODES};
    rtl_writer_graph(writer, process, &graph);
    for (uint32_t i = 0; i < NODES; i++) {
        const struct rtl_wire_node node = {.graph = 1,
                                           .generation = 1,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {64 * (i % 2 + 1), 1, 1},
                                           .block = {64, 1, 1},
                                           .name_length = 1};
        rtl_writer_node(writer, process, &node, i % 2 ? "b" : "a");
    }
}

/* Node n of launch l lasts 1000 + 10 n + l % 7 ticks; every tenth launch is followed by a kernel of
 * no graph. */
static bool write_replays(const char *path, uint32_t launches)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    uint64_t packet = 0;
    if (!writer)
        return false;
    uint32_t process = fixture_define(writer, 1, 2);
    write_graph(writer, process);
    for (uint32_t i = 0; i < launches; i++) {
        const struct rtl_wire_launch launch = {
            .launch = i, .graph = 1, .generation = 1, .packets = NODES, .kernels = NODES};
        rtl_writer_launch(writer, process, &launch);
        for (uint32_t j = 0; j < NODES + (i % 10 == 0); j++) {
            struct rtl_wire_kernel kernel = {.packet = packet,
                                             .start = 5000 + 2000 * packet,
                                             .shape = j % 2,
                                             .launch = j < NODES ? i : RTL_NONE,
                                             .ordinal = j < NODES ? j : RTL_NONE};
            kernel.end = kernel.start + 1000 + (uint64_t)10 * j + i % 7;
            rtl_writer_kernel(writer, process, &kernel);
            packet++;
        }
    }
    rtl_writer_process_end(writer, process, "closed", 1, 0);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static const char *check_node(const rtl_group_t *group, uint32_t launches)
{
    bool replayed = group->node != RTL_TRACE_NONE;
    uint64_t node = replayed ? group->node : NODES;
    uint64_t total = 0;
    for (uint32_t i = 0; i < launches; i += replayed ? 1 : 10)
        total += 10 * (1000 + 10 * node + i % 7);
    CHECK(group->total == total && group->count == (replayed ? launches : launches / 10));
    CHECK(group->min == 10 * (1000 + 10 * node) && group->max == group->min + 60);
    CHECK(group->graph == (replayed ? 1 : RTL_TRACE_NONE));
    CHECK(strcmp(group->name, node % 2 ? "b" : "a") == 0);
    return NULL;
}

static const char *check_nodes(const char *path, bool stats)
{
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_aggregate_t *aggregate = NULL;
    const rtl_group_t *groups = NULL;
    size_t count = 0;
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY(RTL_BY_NODE | RTL_BY_NAME);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceAggregate(trace, &request, &aggregate) == RTL_OK);
    CHECK(rtlAggregateGroups(aggregate, &groups, &count) == RTL_OK && count == NODES + 1);
    for (size_t i = 0; i < count; i++)
        CHECK_DONE(check_node(&groups[i], 7000));
    rtlAggregateFree(aggregate);
    request.by = RTL_BY_GRAPH;
    CHECK(rtlTraceAggregate(trace, &request, &aggregate) == RTL_OK);
    CHECK(rtlAggregateGroups(aggregate, &groups, &count) == RTL_OK && count == 2);
    CHECK(groups[0].count == (uint64_t)7000 * NODES && groups[0].graph == 1);
    CHECK(groups[1].count == 700 && groups[1].graph == RTL_TRACE_NONE);
    CHECK(rtl_stats_usable(trace, true) == stats);
    rtlAggregateFree(aggregate);
    rtlTraceClose(trace);
    return NULL;
}

const char *Aggregate_ByNode(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    struct rtl_stats_done done;
    CHECK(fixture_path(path) && write_replays(path, 7000));
    CHECK_DONE(check_nodes(path, false));
    CHECK(rtl_stats_add(path, &done, error, sizeof error) == RTL_OK && done.groups == NODES + 1);
    CHECK_DONE(check_nodes(path, true));
    fixture_remove(path);
    return NULL;
}

/* Filters on process and queue leave the others' times at 0. */
const char *Aggregate_OfOneQueue(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_aggregate_t *aggregate = NULL;
    const rtl_queue_time_t *queues = NULL;
    const rtl_group_t *groups = NULL;
    size_t count = 0;
    const rtl_aggregate_request_t request = {.process = 1, .queue = 1, .by = RTL_BY_QUEUE};
    CHECK(fixture_path(path) && fixture_trace(path, 1000));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceAggregate(trace, &request, &aggregate) == RTL_OK);
    CHECK(rtlAggregateGroups(aggregate, &groups, &count) == RTL_OK);
    /* fixture_kernel: 1000 ticks of 10 ns. */
    CHECK(count == 1 && groups[0].queue == 1 && groups[0].process == 1);
    CHECK(groups[0].count == 1000 && groups[0].total == 1000 * UINT64_C(10000));
    CHECK(groups[0].min == 10000 && groups[0].deviation == 0 && groups[0].p99 == 10000);
    CHECK(strcmp(groups[0].name, "") == 0 && groups[0].symbol == RTL_TRACE_NONE);
    CHECK(rtlAggregateQueues(aggregate, &queues, &count) == RTL_OK && count == 2);
    CHECK(queues[0].span.kernels == 0 && queues[1].span.busy == 1000 * UINT64_C(10000));
    CHECK(rtlAggregatePercentile(aggregate, 1, 0.5) == 0);
    rtlAggregateFree(aggregate);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Aggregate_OfNothing(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_aggregate_t *aggregate = NULL;
    const rtl_group_t *groups = NULL;
    size_t count = 1;
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY(RTL_BY_NAME | RTL_BY_NODE);
    struct rtl_writer *writer = NULL;
    CHECK(fixture_path(path) && (writer = fixture_open(path)));
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceAggregate(trace, &request, &aggregate) == RTL_OK);
    CHECK(rtlAggregateGroups(aggregate, &groups, &count) == RTL_OK && count == 0);
    CHECK(rtlAggregateQueues(aggregate, NULL, &count) == RTL_E_ARGUMENT);
    rtlAggregateFree(aggregate);
    CHECK(rtlTraceAggregate(trace, NULL, &aggregate) == RTL_E_ARGUMENT);
    rtlTraceClose(trace);
    rtlAggregateFree(NULL);
    fixture_remove(path);
    return NULL;
}

/* Before copies and before graphs. */
const char *Aggregate_OfOlderFiles(void)
{
    static const char *const older[] = {
        "PRAGMA user_version = 1002",
        "DROP TABLE graph_rows; DROP TABLE graph_plans; DROP TABLE graph_launch_rows; DROP TABLE "
        "graph_launch_spans; DROP TABLE graph_names; DROP TABLE graph_node_rows; DROP TABLE calls; "
        "DROP TABLE api_chunks; DROP TABLE ranges; PRAGMA user_version = 1001",
        "DROP TABLE copies; PRAGMA user_version = 1000"};
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    CHECK(fixture_path(path) && fixture_trace(path, 10000));
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        rtl_aggregate_t *aggregate = NULL;
        const rtl_group_t *groups = NULL;
        size_t count = 0;
        rtl_aggregate_request_t request = RTL_AGGREGATE_BY(RTL_BY_NAME | RTL_BY_GRAPH);
        CHECK(fixture_sql(path, older[i]));
        CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
        CHECK(rtlTraceAggregate(trace, &request, &aggregate) == RTL_OK);
        CHECK(rtlAggregateGroups(aggregate, &groups, &count) == RTL_OK && count == 2);
        CHECK(groups[0].count == 10000 && groups[0].total == 10000 * UINT64_C(10000));
        rtlAggregateFree(aggregate);
        rtlTraceClose(trace);
    }
    fixture_remove(path);
    return NULL;
}

/* A chunk in the middle that is not as it was written. */
const char *Aggregate_OfADamagedTrace(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_aggregate_t *aggregate = NULL;
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY(RTL_BY_NAME);
    CHECK(fixture_path(path) && fixture_trace(path, 100000));
    CHECK(fixture_sql(path, "UPDATE kernel_chunks SET data = substr(data, 1, length(data) - 1) || "
                            "x'55' WHERE chunk = 4"));
    for (request.threads = 1; request.threads < 4; request.threads++) {
        CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
        CHECK(rtlTraceAggregate(trace, &request, &aggregate) == RTL_E_DAMAGED && !aggregate);
        CHECK(strstr(rtlTraceError(trace), path) && strstr(rtlTraceError(trace), "chunk 4 "));
        rtlTraceClose(trace);
    }
    fixture_remove(path);
    return NULL;
}
