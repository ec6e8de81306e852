/* Reading all of a trace. Of what is damaged an error may come at any place; but what is given out
 * keeps its promises. */
#include "fuzz_trace.h"
#include "store/reader.h"
#include "store/sql.h"

#include <stdio.h>
#include <string.h>

/* Of each kind no more than these are looked at closely: a damaged chunk may hold 65536. */
#define CLOSELY 300u

/* Queries of an input. */
#define ASKED 5u

/* What a query may take, in steps of SQLite's machine: some answers are long by nature. */
#define STEPS_MAX 3000000

/* Memory of the whole text is read. */
static void use_text(const char *text)
{
    static volatile size_t sum;
    fuzz_must(text != NULL, "a text is never NULL");
    for (size_t i = 0; text != NULL && text[i] != '\0'; i++)
        sum = sum + 1;
}

/* An argument may be wrong because a damaged row has it: process 0, say. */
static void use_status(rtl_trace_t *trace, rtl_status_t status)
{
    if (status != RTL_OK && status != RTL_END && status != RTL_E_ARGUMENT)
        fuzz_must(rtlTraceError(trace)[0] != '\0', "an error has its sentence");
}

/* Definitions. */

static void read_places(rtl_trace_t *trace)
{
    const rtl_process_t *processes = NULL;
    const rtl_agent_t *agents = NULL;
    const rtl_queue_t *queues = NULL;
    const rtl_symbol_t *symbols = NULL;
    size_t count = 0;
    uint64_t ns = 0;
    fuzz_must(rtlTraceProcesses(trace, &processes, &count) == RTL_OK, "processes are a list");
    for (size_t i = 0; i < count; i++) {
        const char *const texts[] = {processes[i].command, processes[i].host, processes[i].rank,
                                     processes[i].mode,    processes[i].way,  processes[i].library,
                                     processes[i].state};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            use_text(texts[k]);
    }
    fuzz_must(rtlTraceAgents(trace, &agents, &count) == RTL_OK, "agents are a list");
    for (size_t i = 0; i < count; i++) {
        use_text(agents[i].type);
        use_text(agents[i].name);
        use_text(agents[i].product);
        use_text(agents[i].uuid);
        uint64_t last = 0;
        for (uint64_t ticks = 0; ticks < UINT64_MAX / 3; ticks = ticks * 3 + 1) {
            fuzz_must(rtlTraceTicksToNs(trace, agents[i].process, agents[i].agent, ticks, &ns) ==
                          RTL_OK,
                      "an agent has a clock");
            fuzz_must(ns >= last, "a clock keeps order");
            last = ns;
        }
    }
    fuzz_must(rtlTraceQueues(trace, &queues, &count) == RTL_OK, "queues are a list");
    for (size_t i = 0; i < count; i++)
        use_text(queues[i].way);
    rtl_status_t status = rtlTraceSymbols(trace, &symbols, &count);
    use_status(trace, status);
    fuzz_must(status == RTL_OK || count == 0, "symbols are a list");
    for (size_t i = 0; i < count; i++) {
        use_text(symbols[i].name);
        use_text(symbols[i].mangled);
    }
}

static void read_names(rtl_trace_t *trace)
{
    const rtl_call_definition_t *calls = NULL;
    const rtl_stream_t *streams = NULL;
    const rtl_thread_t *threads = NULL;
    const rtl_name_t *names = NULL;
    size_t count = 0;
    fuzz_must(rtlTraceCallDefinitions(trace, &calls, &count) == RTL_OK, "calls are a list");
    for (size_t i = 0; i < count; i++) {
        use_text(calls[i].name);
        for (size_t k = 0; k < calls[i].parameter_count; k++) {
            use_text(calls[i].parameters[k].name);
            use_text(calls[i].parameters[k].enumeration);
        }
    }
    fuzz_must(rtlTraceStreams(trace, &streams, &count) == RTL_OK, "streams are a list");
    for (size_t i = 0; i < count; i++)
        use_text(streams[i].name);
    fuzz_must(rtlTraceThreads(trace, &threads, &count) == RTL_OK, "threads are a list");
    for (size_t i = 0; i < count; i++)
        use_text(threads[i].name);
    fuzz_must(rtlTraceNames(trace, &names, &count) == RTL_OK, "names are a list");
    for (size_t i = 0; i < count; i++) {
        use_text(names[i].kind);
        use_text(names[i].name);
    }
}

static void read_account(rtl_trace_t *trace)
{
    rtl_trace_info_t info;
    const rtl_ledger_t *ledger = NULL;
    const rtl_note_t *notes = NULL;
    const rtl_pause_t *pauses = NULL;
    size_t count = 0;
    use_status(trace, rtlTraceInfo(trace, &info));
    use_text(info.creator);
    use_text(info.command);
    use_text(info.host);
    use_text(info.mode);
    fuzz_must(rtlTraceLedger(trace, &ledger, &count) == RTL_OK, "the ledger is a list");
    fuzz_must(rtlTraceNotes(trace, &notes, &count) == RTL_OK, "notes are a list");
    for (size_t i = 0; i < count; i++)
        use_text(notes[i].text);
    fuzz_must(rtlTracePauses(trace, &pauses, &count) == RTL_OK, "pauses are a list");
    for (size_t i = 0; i < count; i++)
        use_text(pauses[i].why);
}

/* Graphs. */

static void read_nodes(rtl_trace_t *trace, const rtl_graph_t *graph)
{
    const rtl_graph_node_t *nodes = NULL;
    size_t count = 0;
    uint32_t sum = 0;
    if (rtlTraceGraphNodes(trace, graph, &nodes, &count) != RTL_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        use_text(nodes[i].type);
        use_text(nodes[i].name);
        use_text(nodes[i].mangled);
        for (uint32_t k = 0; k < nodes[i].dependency_count; k++)
            sum += nodes[i].dependencies[k];
    }
    (void)sum;
}

/* A launch is found by its number, with kernels of its own. */
static void use_launch(rtl_trace_t *trace, const rtl_graph_launch_t *launch)
{
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    rtl_graph_launch_t again;
    rtl_status_t status =
        rtlTraceLaunch(trace, launch->process, launch->graph, launch->launch, &again);
    use_status(trace, status);
    fuzz_must(status != RTL_END, "a launch is found by its number");
    if (status == RTL_OK)
        fuzz_must(again.time == launch->time && again.kernels == launch->kernels &&
                      again.start == launch->start && again.end == launch->end,
                  "it is the same launch");
    status = rtlTraceLaunchKernels(trace, launch->process, launch->graph, launch->launch, &iter);
    while (status == RTL_OK && (status = rtlKernelNext(iter, &kernel)) == RTL_OK)
        fuzz_must(kernel.process == launch->process && kernel.graph == launch->graph &&
                      kernel.launch == launch->launch,
                  "a launch has kernels of its own");
    use_status(trace, status);
    rtlKernelIterFree(iter);
}

/* One by one they are as many as at once, unless something is damaged. */
static void read_launches(rtl_trace_t *trace, rtl_status_t all, size_t wanted,
                          struct fuzz_input *input)
{
    const rtl_launch_filter_t filters[] = {
        RTL_LAUNCH_FILTER_ALL,
        {fuzz_number(input), fuzz_number(input), 0, 1, fuzz_byte(input), 0, fuzz_byte(input), 0},
        {0, 0, fuzz_byte(input), 0, RTL_TRACE_NONE, fuzz_byte(input), 0, fuzz_byte(input)}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        rtl_launch_iter_t *iter = NULL;
        rtl_graph_launch_t launch;
        size_t count = 0;
        rtl_status_t status = rtlTraceLaunches(trace, &filters[i], &iter);
        while (status == RTL_OK && (status = rtlLaunchNext(iter, &launch)) == RTL_OK) {
            fuzz_must(filters[i].graph == RTL_TRACE_NONE || launch.graph == filters[i].graph,
                      "launches of one graph");
            count++;
        }
        use_status(trace, status);
        rtlLaunchIterFree(iter);
        if (i == 0 && status == RTL_END && all == RTL_OK)
            fuzz_must(count == wanted, "all launches, one by one");
    }
}

static void read_node(rtl_trace_t *trace, struct fuzz_input *input)
{
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    uint32_t node = fuzz_byte(input) % 5u;
    rtl_status_t status = rtlTraceNodeKernels(trace, 1, 1, fuzz_byte(input) % 4u, node, &iter);
    while (status == RTL_OK && (status = rtlKernelNext(iter, &kernel)) == RTL_OK)
        fuzz_must(kernel.graph == 1 && kernel.node == node, "a node has kernels of its own");
    use_status(trace, status);
    rtlKernelIterFree(iter);
}

static void read_graphs(rtl_trace_t *trace, struct fuzz_input *input)
{
    const rtl_graph_t *graphs = NULL;
    const rtl_graph_launch_t *launches = NULL;
    size_t count = 0;
    read_node(trace, input);
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &count);
    use_status(trace, status);
    for (size_t i = 0; i < count && status == RTL_OK; i++) {
        use_text(graphs[i].source);
        read_nodes(trace, &graphs[i]);
    }
    read_nodes(trace, NULL);
    count = 0;
    status = rtlTraceGraphLaunches(trace, &launches, &count);
    use_status(trace, status);
    if (status != RTL_OK)
        count = 0;
    for (size_t i = 0; i < count && i < CLOSELY / 10; i++)
        use_launch(trace, &launches[i]);
    read_launches(trace, status, count, input);
    for (size_t i = 1; i < count && status == RTL_OK; i++)
        fuzz_must(launches[i - 1].process != launches[i].process ||
                      launches[i - 1].graph != launches[i].graph ||
                      launches[i - 1].launch < launches[i].launch,
                  "launches of a graph are numbered upwards");
}

/* Kernels and copies. */

struct tally {
    rtl_status_t status;
    uint64_t count, sum;
};

static void use_kernel(rtl_trace_t *trace, const rtl_kernel_t *kernel)
{
    rtl_trace_origin_t origin;
    uint64_t range = 0;
    use_text(kernel->name);
    use_text(kernel->mangled);
    fuzz_must((kernel->graph == RTL_TRACE_NONE) == (kernel->launch == RTL_TRACE_NONE),
              "a launch is of a graph");
    use_status(trace, rtlTraceOrigin(trace, kernel->process, kernel->correlation, &origin));
    use_status(trace, rtlTraceKernelRange(trace, kernel, &range));
}

static struct tally read_kernels(rtl_trace_t *trace, const rtl_kernel_filter_t *filter)
{
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    struct tally tally = {rtlTraceKernels(trace, filter, &iter), 0, 0};
    uint64_t last = 0;
    while (tally.status == RTL_OK && (tally.status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        if (tally.count++ < CLOSELY)
            use_kernel(trace, &kernel);
        tally.sum += kernel.id;
        fuzz_must(filter->by_queue || kernel.start >= last, "kernels come by their start");
        fuzz_must(filter->to == 0 || kernel.start < filter->to, "a filter has an end");
        fuzz_must(filter->process == 0 || kernel.process == filter->process, "of one process");
        fuzz_must(filter->queue == RTL_TRACE_NONE || kernel.queue == filter->queue, "of a queue");
        last = kernel.start;
    }
    if (tally.status != RTL_END)
        fuzz_must(rtlKernelNext(iter, &kernel) != RTL_OK, "after an error nothing comes");
    use_status(trace, tally.status);
    rtlKernelIterFree(iter);
    return tally;
}

static struct tally read_both_ways(rtl_trace_t *trace, rtl_kernel_filter_t filter)
{
    filter.by_queue = 0;
    struct tally by_time = read_kernels(trace, &filter);
    filter.by_queue = 1;
    struct tally by_queue = read_kernels(trace, &filter);
    if (by_time.status == RTL_END || by_queue.status == RTL_END)
        fuzz_must(by_time.status == by_queue.status && by_time.count == by_queue.count &&
                      by_time.sum == by_queue.sum,
                  "the order does not change what there is");
    return by_queue;
}

/* Sums are over the kernels that one by one there are. */
static void read_sums(rtl_trace_t *trace, const struct tally *kernels, struct fuzz_input *input)
{
    const rtl_aggregate_request_t request = {
        .queue = RTL_TRACE_NONE, .by = fuzz_byte(input), .threads = 1 + fuzz_byte(input) % 2};
    rtl_aggregate_t *sums = NULL;
    const rtl_group_t *groups = NULL;
    size_t count = 0;
    uint64_t total = 0;
    rtl_status_t status = rtlTraceAggregate(trace, &request, &sums);
    use_status(trace, status);
    if (status != RTL_OK)
        return;
    fuzz_must(rtlAggregateGroups(sums, &groups, &count) == RTL_OK, "sums have groups");
    for (size_t i = 0; i < count; i++) {
        use_text(groups[i].name);
        use_text(groups[i].mangled);
        total += groups[i].count;
        fuzz_must(groups[i].min <= groups[i].max, "a least is not above a greatest");
        (void)rtlAggregatePercentile(sums, i, 0.5);
    }
    if (kernels->status == RTL_END)
        fuzz_must(total == kernels->count, "sums are over all kernels");
    rtlAggregateFree(sums);
}

static void read_copies(rtl_trace_t *trace, struct fuzz_input *input)
{
    const rtl_copy_filter_t filters[] = {{0}, {fuzz_number(input), fuzz_number(input), 1}};
    for (size_t i = 0; i < 2; i++) {
        rtl_copy_iter_t *iter = NULL;
        rtl_copy_t copy;
        rtl_status_t status = rtlTraceCopies(trace, &filters[i], &iter);
        while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK) {
            use_text(copy.kind);
            use_text(copy.engine);
        }
        use_status(trace, status);
        rtlCopyIterFree(iter);
    }
}

/* Host calls and ranges. */

static void use_call(const rtl_api_t *api)
{
    char text[40];
    static char whole[1 << 16];
    uint64_t sum = 0;
    rtl_argument_t argument;
    use_text(api->name);
    for (uint32_t i = 0; i < api->word_count; i++)
        sum += api->words[i];
    (void)sum;
    for (size_t i = 0; i < 8 && rtlApiArgument(api, i, &argument) == RTL_OK; i++)
        use_text(argument.parameter.name);
    size_t length = rtlApiArguments(api, text, sizeof text);
    fuzz_must(rtlApiArguments(api, NULL, 0) == length, "the length does not depend on the room");
    fuzz_must(strlen(text) == (length < sizeof text ? length : sizeof text - 1), "it is cut off");
    if (rtlApiArguments(api, whole, sizeof whole) < sizeof whole)
        fuzz_must(strlen(whole) == length, "there is no NUL in it");
}

static struct tally read_calls(rtl_trace_t *trace, const rtl_api_filter_t *filter)
{
    rtl_api_iter_t *iter = NULL;
    rtl_api_t api;
    struct tally tally = {rtlTraceApi(trace, filter, &iter), 0, 0};
    uint64_t last = 0;
    while (tally.status == RTL_OK && (tally.status = rtlApiNext(iter, &api)) == RTL_OK) {
        if (tally.count++ < CLOSELY)
            use_call(&api);
        tally.sum += api.id;
        fuzz_must(filter->correlation || api.start >= last, "calls come by their start");
        fuzz_must(!filter->correlation || api.correlation == filter->correlation,
                  "a call is found by its correlation");
        fuzz_must(filter->thread == 0 || api.thread == filter->thread, "of one thread");
        last = api.start;
    }
    use_status(trace, tally.status);
    rtlApiIterFree(iter);
    return tally;
}

static void read_ranges(rtl_trace_t *trace, struct fuzz_input *input)
{
    const rtl_range_filter_t filters[] = {{0}, {fuzz_number(input), 0, 1, fuzz_byte(input)}};
    for (size_t i = 0; i < 2; i++) {
        rtl_range_iter_t *iter = NULL;
        rtl_range_t range;
        rtl_range_t again;
        char name[16];
        rtl_status_t status = rtlTraceRanges(trace, &filters[i], &iter);
        while (status == RTL_OK && (status = rtlRangeNext(iter, &range)) == RTL_OK) {
            use_text(range.name);
            use_text(range.kind);
            use_status(trace,
                       rtlTraceRange(trace, range.process, range.id, &again, name, sizeof name));
        }
        use_status(trace, status);
        rtlRangeIterFree(iter);
    }
}

/* Hardware counters. */

static void read_counters(rtl_trace_t *trace)
{
    const rtl_trace_counting_t *counting = NULL;
    const rtl_trace_counter_t *counters = NULL;
    const rtl_trace_uncounted_t *uncounted = NULL;
    size_t count = 0;
    fuzz_must(rtlTraceCounting(trace, &counting, &count) == RTL_OK, "counting is a list");
    for (size_t i = 0; i < count; i++) {
        use_text(counting[i].mode);
        use_text(counting[i].metrics);
    }
    fuzz_must(rtlTraceCounters(trace, &counters, &count) == RTL_OK, "counters are a list");
    for (size_t i = 0; i < count; i++)
        use_text(counters[i].name);
    fuzz_must(rtlTraceUncounted(trace, &uncounted, &count) == RTL_OK, "so is what was not counted");
    for (size_t i = 0; i < count; i++)
        use_text(uncounted[i].why);
}

static void use_sample(rtl_trace_t *trace, const rtl_trace_sample_t *sample)
{
    uint64_t sum = 0;
    rtl_trace_sample_t again;
    rtl_kernel_t kernel;
    fuzz_must((sample->count > 0) == (sample->counters != NULL), "counts have their counters");
    for (uint32_t i = 0; sample->counters && i < sample->count && i < CLOSELY; i++) {
        use_text(sample->counters[i]->name);
        sum += sample->values[i];
        fuzz_must(sample->counters[i]->process == sample->process &&
                      sample->counters[i]->agent == sample->agent,
                  "a counter is of the sample's agent");
    }
    (void)sum;
    if (sample->queue == RTL_TRACE_NONE || sample->process == 0)
        return;
    rtl_status_t status =
        rtlTraceKernelSample(trace, sample->process, sample->queue, sample->owner, &again);
    use_status(trace, status);
    fuzz_must(status != RTL_END, "a sample that there is is found");
    fuzz_must(status != RTL_OK || again.owner == sample->owner, "it is that of the kernel");
    status = rtlTraceKernelAt(trace, sample->process, sample->queue, sample->owner, &kernel);
    use_status(trace, status);
    fuzz_must(status != RTL_OK || kernel.packet == sample->owner, "a kernel is that of the packet");
}

static void read_samples(rtl_trace_t *trace, const rtl_sample_filter_t *filter, bool ranges,
                         uint64_t expected)
{
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t sample;
    rtl_trace_sample_t last = {0};
    uint64_t count = 0;
    rtl_status_t status = ranges ? rtlTraceRangeSamples(trace, filter, &iter)
                                 : rtlTraceKernelSamples(trace, filter, &iter);
    while (status == RTL_OK && (status = rtlSampleNext(iter, &sample)) == RTL_OK) {
        if (count++ < CLOSELY)
            use_sample(trace, &sample);
        fuzz_must((sample.queue == RTL_TRACE_NONE) == ranges, "samples of ranges have no queue");
        fuzz_must(sample.process > last.process ||
                      (sample.process == last.process &&
                       (sample.queue > last.queue ||
                        (sample.queue == last.queue && sample.owner >= last.owner))),
                  "samples come in order");
        fuzz_must(!filter || (sample.owner >= filter->first &&
                              (filter->last == 0 || sample.owner <= filter->last)),
                  "a filter has its ends");
        last = sample;
    }
    fuzz_must(status != RTL_END || filter || count == expected, "as many as the chunks say");
    use_status(trace, status);
    rtlSampleIterFree(iter);
}

static void read_all_samples(rtl_trace_t *trace, struct fuzz_input *input)
{
    const rtl_sample_filter_t some = {fuzz_byte(input) % 3,
                                      fuzz_byte(input) % 2 ? RTL_TRACE_NONE : 4u,
                                      fuzz_number(input), fuzz_number(input)};
    rtl_trace_info_t info;
    if (rtlTraceInfo(trace, &info) != RTL_OK)
        return;
    read_samples(trace, NULL, false, info.kernel_samples);
    read_samples(trace, NULL, true, info.range_samples);
    read_samples(trace, &some, false, 0);
    read_samples(trace, &some, true, 0);
}

static struct tally read_trace(rtl_trace_t *trace, struct fuzz_input *input)
{
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    const rtl_kernel_filter_t some = {fuzz_number(input), fuzz_number(input), fuzz_byte(input) % 3,
                                      fuzz_byte(input) % 2 ? RTL_TRACE_NONE : fuzz_byte(input) % 4u,
                                      0};
    const rtl_api_filter_t every = {0};
    const rtl_api_filter_t few = {fuzz_number(input), fuzz_number(input), 1, 100, 0};
    const rtl_api_filter_t one = {0, 0, 0, 0, fuzz_number(input)};
    read_places(trace);
    read_names(trace);
    read_account(trace);
    read_graphs(trace, input);
    (void)read_both_ways(trace, some);
    struct tally kernels = read_both_ways(trace, all);
    read_sums(trace, &kernels, input);
    read_copies(trace, input);
    (void)read_calls(trace, &every);
    (void)read_calls(trace, &few);
    (void)read_calls(trace, &one);
    read_ranges(trace, input);
    read_counters(trace);
    read_all_samples(trace, input);
    return kernels;
}

/* SQL. */

static int give_up(void *context)
{
    (void)context;
    return 1;
}

/* Runs a query to its end, with up to three numbers for its parameters; the first value of its
 * last row, or -1. */
static sqlite3_int64 ask(sqlite3 *db, const char *query, struct fuzz_input *input)
{
    sqlite3_stmt *row = NULL;
    sqlite3_int64 value = -1;
    size_t sum = 0;
    if (sqlite3_prepare_v2(db, query, -1, &row, NULL) != SQLITE_OK)
        return value;
    for (int i = 1; i <= sqlite3_bind_parameter_count(row); i++)
        (void)sqlite3_bind_int64(row, i, (sqlite3_int64)fuzz_number(input));
    sqlite3_progress_handler(db, STEPS_MAX, give_up, NULL);
    while (sqlite3_step(row) == SQLITE_ROW) {
        value = sqlite3_column_int64(row, 0);
        for (int i = 0; i < sqlite3_column_count(row); i++)
            if (sqlite3_column_text(row, i))
                sum += strlen((const char *)sqlite3_column_text(row, i));
    }
    sqlite3_progress_handler(db, 0, NULL, NULL);
    (void)sum;
    return sqlite3_finalize(row) == SQLITE_OK ? value : -1;
}

static void read_sql(sqlite3 *db, const struct tally *kernels, struct fuzz_input *input)
{
    static const char *const queries[] = {
        "SELECT * FROM kernels LIMIT 700",
        "SELECT * FROM kernels ORDER BY start LIMIT 300",
        "SELECT count(*), sum(end - start) FROM kernels WHERE start BETWEEN ? AND ?",
        "SELECT count(*) FROM kernels WHERE process = ? AND queue = ? AND end > ?",
        "SELECT * FROM kernels WHERE id = ?",
        "SELECT * FROM api LIMIT 500",
        "SELECT count(*), max(args) FROM api WHERE thread = ? AND start > ?",
        "SELECT * FROM api WHERE correlation = ?",
        "SELECT * FROM api WHERE id = ? OR rowid = ?",
        "SELECT * FROM copies",
        "SELECT * FROM graphs",
        "SELECT * FROM graph_nodes",
        "SELECT * FROM graph_launches",
        "SELECT * FROM graph_launches WHERE graph = ? AND launch BETWEEN ? AND ?",
        "SELECT * FROM graph_launches WHERE start > ? AND correlation = ?",
        "SELECT * FROM kernels WHERE graph = 1 AND launch = ?",
        "SELECT * FROM kernels WHERE graph = 1 AND node = 0 AND generation = ?",
        "SELECT * FROM pauses",
        "SELECT * FROM counting",
        "SELECT * FROM counters",
        "SELECT * FROM uncounted",
        "SELECT * FROM kernel_counters LIMIT 700",
        "SELECT * FROM kernel_counters WHERE queue = ? AND packet >= ? AND packet < ?",
        "SELECT * FROM kernel_counters WHERE kernel = ?",
        "SELECT sum(c.value & 7) FROM kernels k JOIN kernel_counters c ON c.kernel = k.id",
        "SELECT * FROM range_counters WHERE process = 1 AND range = ?",
        "SELECT * FROM range_counters LIMIT 700",
        "SELECT * FROM ranges",
        "SELECT * FROM streams",
        "SELECT * FROM threads",
        "SELECT * FROM names",
        "SELECT * FROM calls",
        "SELECT * FROM queues",
        "SELECT * FROM ledger",
        "SELECT * FROM graph_ranges LIMIT 100",
        "SELECT * FROM rocpd_op LIMIT 500",
        "SELECT * FROM rocpd_api LIMIT 500",
        "SELECT * FROM rocpd_api_ops LIMIT 20",
        "SELECT * FROM rocpd_kernelapi LIMIT 20",
        "SELECT * FROM copy LIMIT 20",
        "SELECT * FROM top",
        "SELECT * FROM busy",
        "SELECT rtl_time(1, 0, ?), rtl_call(1, ?), rtl_range(1, ?)",
    };
    const size_t count = sizeof queries / sizeof *queries;
    size_t first = fuzz_byte(input);
    for (size_t i = 0; i < ASKED; i++)
        (void)ask(db, queries[(first + i) % count], input);
    if (kernels->status == RTL_END)
        fuzz_must(ask(db, "SELECT count(*) FROM kernels", input) == (sqlite3_int64)kernels->count,
                  "SQL has the kernels of the reader");
}

void fuzz_read(sqlite3 *db, struct fuzz_input *input)
{
    char error[512] = "";
    rtl_status_t status = RTL_OK;
    rtl_trace_t *trace = rtl_trace_over(db, "fuzz.db", &status, error, sizeof error);
    struct tally kernels = {RTL_E_DAMAGED, 0, 0};
    fuzz_must((trace != NULL) == (status == RTL_OK), "a trace or an error");
    fuzz_must(trace || error[0], "an error has its sentence");
    if (trace)
        kernels = read_trace(trace, input);
    rtlTraceClose(trace);
    if (rtl_sql_attach(db, "fuzz.db", error, sizeof error) == RTL_OK)
        read_sql(db, &kernels, input);
}
