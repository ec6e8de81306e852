/* The reader, with each of its calls failing: it says what is wrong, or tells what it tells when
 * nothing fails. */
#include "../store/fixture.h"
#include "explore.h"
#include "world.h"

#include <rtl/rtl_trace.h>

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* What is read, as a number. */
struct reading {
    char path[FIXTURE_PATH];
    uint64_t hash, wanted;
};

__attribute__((format(printf, 2, 3))) static void take(struct reading *reading, const char *format,
                                                       ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (const char *c = text; *c; c++)
        reading->hash = (reading->hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
}

static rtl_status_t read_definitions(rtl_trace_t *trace, struct reading *to)
{
    rtl_trace_info_t info;
    const rtl_process_t *processes;
    const rtl_symbol_t *symbols;
    const rtl_ledger_t *ledger;
    const rtl_stream_t *streams;
    size_t count;
    rtl_status_t status = rtlTraceInfo(trace, &info);
    if (status != RTL_OK)
        return status;
    take(to, "%s %s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, info.command, info.mode,
         info.finished, info.kernels, info.copies, info.calls, info.ranges);
    (void)rtlTraceProcesses(trace, &processes, &count);
    for (size_t i = 0; i < count; i++)
        take(to, "%s %s %s %s", processes[i].command, processes[i].host, processes[i].rank,
             processes[i].state);
    status = rtlTraceSymbols(trace, &symbols, &count);
    if (status != RTL_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        take(to, "%s %s", symbols[i].name, symbols[i].mangled);
    (void)rtlTraceLedger(trace, &ledger, &count);
    for (size_t i = 0; i < count; i++)
        take(to, "%" PRIu64 " %" PRIu64 " %" PRIu64, ledger[i].seen, ledger[i].stored,
             ledger[i].lost[RTL_LOSS_POOL]);
    (void)rtlTraceStreams(trace, &streams, &count);
    for (size_t i = 0; i < count; i++)
        take(to, "%" PRIu64 " %s", streams[i].handle, streams[i].name);
    return RTL_OK;
}

static rtl_status_t read_kernels(rtl_trace_t *trace, const rtl_kernel_filter_t *filter,
                                 struct reading *to)
{
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    rtl_trace_origin_t origin;
    uint64_t range = 0;
    rtl_status_t status = rtlTraceKernels(trace, filter, &iter);
    while (status == RTL_OK && (status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        status = rtlTraceOrigin(trace, kernel.process, kernel.correlation, &origin);
        if (status == RTL_OK)
            status = rtlTraceKernelRange(trace, &kernel, &range);
        take(to, "%s %" PRIu64 " %" PRIu64 " %u %u %u %u %" PRIu64 " %" PRIu64, kernel.name,
             kernel.start, kernel.end, kernel.graph, kernel.launch, kernel.node, origin.stream,
             origin.call, range);
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_copies(rtl_trace_t *trace, struct reading *to)
{
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t copy;
    rtl_status_t status = rtlTraceCopies(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK)
        take(to, "%s %s %" PRIu64 " %" PRIu64, copy.kind, copy.engine, copy.start, copy.bytes);
    rtlCopyIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_calls(rtl_trace_t *trace, struct reading *to)
{
    rtl_api_iter_t *iter = NULL;
    rtl_api_t call;
    char text[256];
    rtl_status_t status = rtlTraceApi(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlApiNext(iter, &call)) == RTL_OK) {
        (void)rtlApiArguments(&call, text, sizeof text);
        take(to, "%s %s %u %" PRIu64, call.name, text, call.stream, call.start);
    }
    rtlApiIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_ranges(rtl_trace_t *trace, struct reading *to)
{
    rtl_range_iter_t *iter = NULL;
    rtl_range_t range;
    char name[64] = "";
    rtl_status_t status = rtlTraceRanges(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlRangeNext(iter, &range)) == RTL_OK)
        take(to, "%s %s %" PRIu64 " %" PRIu64, range.name, range.kind, range.start, range.parent);
    rtlRangeIterFree(iter);
    if (status != RTL_END)
        return status;
    status = rtlTraceRange(trace, 1, 11, &range, name, sizeof name);
    take(to, "%s", name);
    return status;
}

/* In order, and each with its kernel and by that once more. */
static rtl_status_t read_samples(rtl_trace_t *trace, bool ranges, struct reading *to)
{
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t sample;
    rtl_trace_sample_t again;
    rtl_kernel_t kernel;
    rtl_status_t status = ranges ? rtlTraceRangeSamples(trace, NULL, &iter)
                                 : rtlTraceKernelSamples(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlSampleNext(iter, &sample)) == RTL_OK) {
        for (uint32_t i = 0; i < sample.count; i++)
            take(to, "%" PRIu64 " %s %" PRIu64, sample.owner, sample.counters[i]->name,
                 sample.values[i]);
        if (ranges)
            continue;
        status = rtlTraceKernelAt(trace, sample.process, sample.queue, sample.owner, &kernel);
        if (status == RTL_OK)
            status =
                rtlTraceKernelSample(trace, sample.process, sample.queue, sample.owner, &again);
        if (status == RTL_OK)
            take(to, "%s %" PRIu64, kernel.name, again.values[0]);
    }
    rtlSampleIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_graphs(rtl_trace_t *trace, struct reading *to)
{
    const rtl_graph_t *graphs;
    const rtl_graph_launch_t *launches;
    const rtl_graph_node_t *nodes;
    size_t count;
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &count);
    for (size_t i = 0; i < count && status == RTL_OK; i++)
        take(to, "%u %s %" PRIu64, graphs[i].nodes, graphs[i].source, graphs[i].kernels);
    if (status == RTL_OK)
        status = rtlTraceGraphLaunches(trace, &launches, &count);
    for (size_t i = 0; i < count && status == RTL_OK; i++)
        take(to, "%u %" PRIu64 " %" PRIu64, launches[i].launch, launches[i].start,
             launches[i].kernels);
    if (status == RTL_OK)
        status = rtlTraceGraphNodes(trace, NULL, &nodes, &count);
    for (size_t i = 0; i < count && status == RTL_OK; i++)
        take(to, "%s %s %u", nodes[i].name, nodes[i].type, nodes[i].dependency_count);
    return status;
}

/* In one thread, so that the calls are the same each time. */
static rtl_status_t read_sums(rtl_trace_t *trace, unsigned by, struct reading *to)
{
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY(by);
    rtl_aggregate_t *aggregate = NULL;
    const rtl_group_t *groups;
    const rtl_device_time_t *devices;
    size_t count;
    request.threads = 1;
    rtl_status_t status = rtlTraceAggregate(trace, &request, &aggregate);
    if (status != RTL_OK)
        return status;
    (void)rtlAggregateGroups(aggregate, &groups, &count);
    for (size_t i = 0; i < count; i++)
        take(to, "%s %u %" PRIu64 " %" PRIu64 " %" PRIu64, groups[i].name, groups[i].node,
             groups[i].count, groups[i].total, groups[i].p99);
    (void)rtlAggregateDevices(aggregate, &devices, &count);
    for (size_t i = 0; i < count; i++)
        take(to, "%" PRIu64 " %" PRIu64, devices[i].span.busy, devices[i].copied_under);
    rtlAggregateFree(aggregate);
    return RTL_OK;
}

static rtl_status_t read_all(rtl_trace_t *trace, struct reading *to)
{
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_filter_t some = RTL_KERNEL_FILTER_ALL;
    some.by_queue = 1;
    some.from = 100000;
    rtl_status_t status = read_definitions(trace, to);
    if (status == RTL_OK)
        status = read_kernels(trace, &all, to);
    if (status == RTL_OK)
        status = read_kernels(trace, &some, to);
    if (status == RTL_OK)
        status = read_sums(trace, RTL_BY_NAME, to);
    if (status == RTL_OK)
        status = read_sums(trace, RTL_BY_NODE, to);
    if (status == RTL_OK)
        status = read_copies(trace, to);
    if (status == RTL_OK)
        status = read_calls(trace, to);
    if (status == RTL_OK)
        status = read_ranges(trace, to);
    if (status == RTL_OK)
        status = read_samples(trace, false, to);
    if (status == RTL_OK)
        status = read_samples(trace, true, to);
    return status == RTL_OK ? read_graphs(trace, to) : status;
}

static const char *read_a_trace(void *context, const struct fault_plan *plan)
{
    struct reading *to = context;
    char error[1024] = "";
    rtl_trace_t *trace = NULL;
    to->hash = UINT64_C(0xcbf29ce484222325);
    fault_arm();
    rtl_status_t status = rtlTraceOpen(to->path, &trace, error, sizeof error);
    if (status == RTL_OK)
        status = read_all(trace, to);
    if (trace)
        (void)snprintf(error, sizeof error, "%s", rtlTraceError(trace));
    rtlTraceClose(trace);
    fault_disarm();
    if (status == RTL_OK && to->wanted == 0)
        to->wanted = to->hash;
    if (status == RTL_OK)
        CHECK(to->hash == to->wanted);
    else
        CHECK(plan->at != 0 && strstr(error, to->path) != NULL);
    /* Of a file that is whole nobody may say that it is not; SQLite takes a disk that cannot be
     * read for one that is damaged. */
    if (plan->kind != FAULT_FILE && plan->error != SQLITE_CORRUPT)
        CHECK(status != RTL_E_DAMAGED && status != RTL_E_VERSION);
    return NULL;
}

static const char *explore(enum fault_kind kind)
{
    struct reading reading = {.hash = 0};
    size_t count;
    const struct fault_way *ways = fault_ways(kind, &count);
    CHECK(world_trace(reading.path));
    const char *failed = fault_explore("reader", read_a_trace, &reading, kind, ways, count);
    fixture_remove(reading.path);
    return failed;
}

const char *Reader_Memory(void)
{
    return explore(FAULT_MEMORY);
}

const char *Reader_Files(void)
{
    return explore(FAULT_FILE);
}

const char *Reader_Sqlite(void)
{
    return explore(FAULT_SQLITE);
}
