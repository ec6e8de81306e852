#include "export/lookup.h"

#include "common/lower_bound.h"

#include <stdint.h>

/* The lists are ordered by process and number; `pair` tells those of an item. Numbers count from 0:
 * in the list of a single process an item is at its number. */
static size_t find(const void *items, size_t count, size_t size,
                   void (*pair)(const void *item, uint32_t *process, uint32_t *number),
                   uint32_t process, uint32_t number)
{
    size_t low = 0;
    size_t high = count;
    uint32_t its_process;
    uint32_t its_number;
    if (number < count) {
        pair((const char *)items + number * size, &its_process, &its_number);
        if (its_process == process && its_number == number)
            return number;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        pair((const char *)items + middle * size, &its_process, &its_number);
        if (its_process == process && its_number == number)
            return middle;
        if (its_process < process || (its_process == process && its_number < number))
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

static void pair_of_agent(const void *item, uint32_t *process, uint32_t *number)
{
    *process = ((const rtl_agent_t *)item)->process;
    *number = ((const rtl_agent_t *)item)->agent;
}

static void pair_of_queue(const void *item, uint32_t *process, uint32_t *number)
{
    *process = ((const rtl_queue_t *)item)->process;
    *number = ((const rtl_queue_t *)item)->queue;
}

static void pair_of_stream(const void *item, uint32_t *process, uint32_t *number)
{
    *process = ((const rtl_stream_t *)item)->process;
    *number = ((const rtl_stream_t *)item)->stream;
}

static void pair_of_thread(const void *item, uint32_t *process, uint32_t *number)
{
    *process = ((const rtl_thread_t *)item)->process;
    *number = ((const rtl_thread_t *)item)->thread;
}

static void pair_of_symbol(const void *item, uint32_t *process, uint32_t *number)
{
    *process = ((const rtl_symbol_t *)item)->process;
    *number = ((const rtl_symbol_t *)item)->symbol;
}

static void pair_of_counter(const void *item, uint32_t *process, uint32_t *number)
{
    *process = ((const rtl_trace_counter_t *)item)->process;
    *number = ((const rtl_trace_counter_t *)item)->counter;
}

size_t lookup_counter_place(const struct export *export, const rtl_trace_counter_t *counter)
{
    const rtl_trace_counter_t *items = NULL;
    size_t count = 0;
    (void)rtlTraceCounters(export->trace, &items, &count);
    return find(items, count, sizeof *items, pair_of_counter, counter->process, counter->counter);
}

const struct rtl_counter *lookup_counter(const struct export *export,
                                         const rtl_trace_counter_t *counter)
{
    const rtl_agent_t *items = NULL;
    size_t count = 0;
    size_t place = lookup_agent_place(export, counter->process, counter->agent);
    (void)rtlTraceAgents(export->trace, &items, &count);
    unsigned family = place < count ? rtl_gfx_of(items[place].name) : 0;
    return rtl_counter_of(counter->block, counter->event, family ? family : RTL_GFX_ANY);
}

size_t lookup_thread_place(const struct export *export, uint32_t process, uint32_t thread)
{
    const rtl_thread_t *items = NULL;
    size_t count = 0;
    (void)rtlTraceThreads(export->trace, &items, &count);
    return find(items, count, sizeof *items, pair_of_thread, process, thread);
}

size_t lookup_symbol_place(const struct export *export, uint32_t process, uint32_t symbol)
{
    const rtl_symbol_t *items = NULL;
    size_t count = 0;
    (void)rtlTraceSymbols(export->trace, &items, &count);
    return find(items, count, sizeof *items, pair_of_symbol, process, symbol);
}

size_t lookup_agent_place(const struct export *export, uint32_t process, uint32_t agent)
{
    const rtl_agent_t *items = NULL;
    size_t count = 0;
    (void)rtlTraceAgents(export->trace, &items, &count);
    return find(items, count, sizeof *items, pair_of_agent, process, agent);
}

size_t lookup_queue_place(const struct export *export, uint32_t process, uint32_t queue)
{
    const rtl_queue_t *items = NULL;
    size_t count = 0;
    (void)rtlTraceQueues(export->trace, &items, &count);
    return find(items, count, sizeof *items, pair_of_queue, process, queue);
}

size_t lookup_stream_place(const struct export *export, uint32_t process, uint32_t stream)
{
    const rtl_stream_t *items = NULL;
    size_t count = 0;
    (void)rtlTraceStreams(export->trace, &items, &count);
    return find(items, count, sizeof *items, pair_of_stream, process, stream);
}

uint64_t lookup_stream(const struct export *export, uint32_t process, uint32_t stream)
{
    const rtl_stream_t *items = NULL;
    size_t count = 0;
    size_t place = lookup_stream_place(export, process, stream);
    (void)rtlTraceStreams(export->trace, &items, &count);
    return place < count ? items[place].handle : 0;
}

uint32_t lookup_gpu(const struct export *export, uint32_t process, uint32_t agent)
{
    const rtl_agent_t *items = NULL;
    size_t count = 0;
    size_t place = lookup_agent_place(export, process, agent);
    (void)rtlTraceAgents(export->trace, &items, &count);
    return place < count ? items[place].gpu : RTL_TRACE_NONE;
}

bool lookup_is_before(const rtl_graph_t *graph, const rtl_graph_launch_t *launch)
{
    return graph->process != launch->process ? graph->process < launch->process
           : graph->graph != launch->graph   ? graph->graph < launch->graph
                                             : graph->generation < launch->generation;
}

const rtl_graph_t *lookup_graph(const struct export *export, const rtl_graph_launch_t *launch)
{
    const rtl_graph_t *items = NULL;
    size_t count = 0;
    (void)rtlTraceGraphs(export->trace, &items, &count);
    size_t low;
    RTL_LOWER_BOUND(low, count, lookup_is_before(&items[low], launch));
    if (low == count || items[low].process != launch->process ||
        items[low].graph != launch->graph || items[low].generation != launch->generation)
        return NULL;
    return &items[low];
}

uint64_t lookup_range_end(const struct export *export, const rtl_range_t *range)
{
    const rtl_process_t *process = export_process(export, range->process);
    uint64_t end = range->end;
    if (end == 0)
        end = process && process->end ? process->end : export->info.end;
    return end > range->start ? end : range->start;
}

bool lookup_gpu_is_used(const struct export *export, uint32_t process, uint32_t gpu)
{
    const rtl_queue_t *queues = NULL;
    size_t count = 0;
    (void)rtlTraceQueues(export->trace, &queues, &count);
    for (size_t i = 0; i < count; ++i)
        if (queues[i].process == process && queues[i].gpu == gpu &&
            (queues[i].kernels || queues[i].copies))
            return true;
    return false;
}
