/* Giving out launches, and finding the chunks of kernels that launches and nodes may be in. */
#include "store/launch_blocks.h"
#include "store/select.h"
#include "store/tables.h"

#include <stdlib.h>

struct rtl_launch_iter {
    rtl_trace_t *trace;
    rtl_launch_filter_t filter;
    uint64_t time_from, time_to;
    rtl_status_t failed; /* once an error, always that */
    size_t block;
    uint32_t next; /* in the order of the block */
};

/* The numbers of the launches of a graph that begin in a block overlap those asked for. */
static bool has_numbers(const struct rtl_launch_iter *iter, const struct rtl_launch_blocks *blocks,
                        uint32_t process)
{
    const rtl_launch_filter_t *filter = &iter->filter;
    const struct rtl_launch_counter *counter = rtl_blocks_counter(blocks, process, filter->graph);
    if (!counter)
        return false;
    uint32_t before = rtl_blocks_before(counter, iter->block);
    uint32_t after = rtl_blocks_before(counter, iter->block + 1);
    return after > before && after >= filter->first && (filter->last == 0 || before < filter->last);
}

static bool block_passes(const struct rtl_launch_iter *iter)
{
    const struct rtl_launch_blocks *blocks = rtl_trace_blocks(iter->trace);
    const rtl_launch_filter_t *filter = &iter->filter;
    const struct rtl_launch_block *block =
        (const struct rtl_launch_block *)blocks->blocks.items + iter->block;
    if (filter->process && block->process != filter->process)
        return false;
    if (filter->graph != RTL_TRACE_NONE && !has_numbers(iter, blocks, block->process))
        return false;
    if (block->loose)
        return true;
    if (filter->correlation && (filter->correlation < block->chunk.correlation_min ||
                                filter->correlation > block->chunk.correlation_max))
        return false;
    return block->end >= filter->from && (filter->to == 0 || block->start < filter->to) &&
           block->chunk.time_max >= iter->time_from &&
           (iter->time_to == 0 || block->chunk.time_min < iter->time_to);
}

/* What a record says by itself. */
static bool record_passes(const struct rtl_launch_iter *iter, const struct rtl_launch_row *row,
                          const struct rtl_launch_record *record)
{
    const struct rtl_launch_blocks *blocks = rtl_trace_blocks(iter->trace);
    const struct rtl_launch_counter *counters = blocks->counters.items;
    const rtl_launch_filter_t *filter = &iter->filter;
    return record->begins && record->number >= filter->first &&
           (filter->last == 0 || record->number <= filter->last) &&
           (filter->graph == RTL_TRACE_NONE || counters[record->counter].graph == filter->graph) &&
           (filter->generation == 0 || record->generation == filter->generation) &&
           (filter->correlation == 0 || row->correlation == filter->correlation) &&
           row->time >= iter->time_from && (iter->time_to == 0 || row->time < iter->time_to);
}

static bool launch_passes(const rtl_launch_filter_t *filter, const rtl_graph_launch_t *launch)
{
    bool ran = launch->start || launch->end;
    uint64_t start = ran ? launch->start : launch->time;
    uint64_t end = ran ? launch->end : launch->time;
    return (filter->to == 0 || start < filter->to) && (end > filter->from || start >= filter->from);
}

/* The next record that may begin a launch: its place in the block at hand. */
static rtl_status_t next_record(struct rtl_launch_iter *iter, uint32_t *place)
{
    const struct rtl_launch_blocks *blocks = rtl_trace_blocks(iter->trace);
    const struct rtl_launch_loaded *loaded = NULL;
    for (; iter->block < blocks->blocks.count; iter->block++, iter->next = 0) {
        if (iter->next == 0 && !block_passes(iter))
            continue;
        rtl_status_t status = rtl_blocks_fetch(iter->trace, iter->block, &loaded);
        if (status != RTL_OK)
            return status;
        while (iter->next < loaded->count) {
            *place = loaded->order[iter->next++];
            if (record_passes(iter, &loaded->rows[*place], &loaded->records[*place]))
                return RTL_OK;
        }
    }
    return RTL_END;
}

rtl_status_t rtlLaunchNext(rtl_launch_iter_t *iter, rtl_graph_launch_t *launch)
{
    if (!iter || !launch)
        return RTL_E_ARGUMENT;
    rtl_status_t status = iter->failed;
    uint32_t place = 0;
    do {
        if (status == RTL_OK)
            status = next_record(iter, &place);
        if (status == RTL_OK)
            status = rtl_blocks_launch(iter->trace, iter->block, place, launch, NULL, NULL);
    } while (status == RTL_OK && !(launch_passes(&iter->filter, launch) &&
                                   rtl_select_launch(iter->trace->select, launch)));
    if (status != RTL_END)
        iter->failed = status;
    return status;
}

rtl_status_t rtl_trace_launches(rtl_trace_t *trace, const rtl_launch_filter_t *filter,
                                uint64_t time_from, uint64_t time_to, rtl_launch_iter_t **iter)
{
    rtl_status_t status = rtl_trace_load_graphs(trace);
    if (status != RTL_OK)
        return status;
    *iter = calloc(1, sizeof **iter);
    if (!*iter)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    **iter = (struct rtl_launch_iter){
        .trace = trace, .filter = *filter, .time_from = time_from, .time_to = time_to};
    return RTL_OK;
}

rtl_status_t rtlTraceLaunches(rtl_trace_t *trace, const rtl_launch_filter_t *filter,
                              rtl_launch_iter_t **iter)
{
    static const rtl_launch_filter_t all = RTL_LAUNCH_FILTER_ALL;
    if (!trace || !iter)
        return RTL_E_ARGUMENT;
    *iter = NULL;
    return rtl_trace_launches(trace, filter ? filter : &all, 0, 0, iter);
}

void rtlLaunchIterFree(rtl_launch_iter_t *iter)
{
    free(iter);
}

rtl_status_t rtlTraceLaunch(rtl_trace_t *trace, uint32_t process, uint32_t graph, uint32_t number,
                            rtl_graph_launch_t *launch)
{
    size_t block = 0;
    uint32_t place = 0;
    if (!trace || !launch)
        return RTL_E_ARGUMENT;
    rtl_status_t status = rtl_trace_load_graphs(trace);
    if (status != RTL_OK)
        return status;
    const struct rtl_launch_counter *counter =
        rtl_blocks_counter(rtl_trace_blocks(trace), process, graph);
    status = counter ? rtl_blocks_begin(trace, counter, number, &block, &place) : RTL_END;
    return status == RTL_OK ? rtl_blocks_launch(trace, block, place, launch, NULL, NULL) : status;
}

/* Where kernels of a choice may be. */

/* Launches of a process, both included. */
struct range {
    uint32_t process, from, to;
};

struct rtl_chosen {
    struct rtl_graph_choice choice;
    struct rtl_list ranges; /* struct range */
    struct rtl_list heads;  /* struct rtl_launch_head: kernels that name no launch */
};

static int add_range(struct rtl_chosen *chosen, uint32_t process, uint32_t from, uint32_t to)
{
    struct range *ranges = chosen->ranges.items;
    struct range *last = chosen->ranges.count ? &ranges[chosen->ranges.count - 1] : NULL;
    if (last && last->process == process && from >= last->from && from - 1 <= last->to) {
        last->to = to > last->to ? to : last->to;
        return 0;
    }
    struct range *made = rtl_list_append(&chosen->ranges, sizeof *made);
    if (made)
        *made = (struct range){process, from, to};
    return made ? 0 : -1;
}

static int add_blocks(struct rtl_chosen *chosen, const struct rtl_launch_blocks *blocks,
                      const struct rtl_launch_counter *counter)
{
    const struct rtl_launch_place *places = counter->places.items;
    for (size_t i = 0; i < counter->places.count; i++) {
        const struct rtl_launch_block *block =
            (const struct rtl_launch_block *)blocks->blocks.items + places[i].block;
        bool tight = block->number && !block->loose;
        if (add_range(chosen, block->process, tight ? block->chunk.launch_min : block->from,
                      tight ? block->chunk.launch_max : block->to) != 0)
            return -1;
    }
    return 0;
}

static rtl_status_t add_launch(rtl_trace_t *trace, struct rtl_chosen *chosen,
                               const struct rtl_launch_counter *counter)
{
    rtl_graph_launch_t launch;
    size_t block = 0;
    uint32_t place = 0;
    uint32_t least = 0;
    uint32_t most = 0;
    rtl_status_t status = rtl_blocks_begin(trace, counter, chosen->choice.launch, &block, &place);
    if (status == RTL_OK)
        status = rtl_blocks_launch(trace, block, place, &launch, &least, &most);
    if (status != RTL_OK)
        return status == RTL_END ? RTL_OK : status;
    return add_range(chosen, counter->process, least, most) == 0
               ? RTL_OK
               : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
}

static bool in_ranges(const struct rtl_chosen *chosen, uint32_t process, uint32_t from, uint32_t to)
{
    const struct range *ranges = chosen->ranges.items;
    for (size_t i = 0; i < chosen->ranges.count; i++)
        if (ranges[i].process == process && from <= ranges[i].to && to >= ranges[i].from)
            return true;
    return false;
}

static int add_heads(struct rtl_chosen *chosen, const struct rtl_launch_blocks *blocks)
{
    const struct rtl_launch_head *heads = blocks->heads.items;
    for (size_t i = 0; i < blocks->heads.count; i++) {
        if (!in_ranges(chosen, heads[i].process, heads[i].launch, heads[i].launch))
            continue;
        struct rtl_launch_head *made = rtl_list_append(&chosen->heads, sizeof *made);
        if (!made)
            return -1;
        *made = heads[i];
    }
    return 0;
}

static rtl_status_t choose(rtl_trace_t *trace, struct rtl_chosen *chosen)
{
    const struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    const struct rtl_graph_choice *choice = &chosen->choice;
    const struct rtl_launch_counter *counters = blocks->counters.items;
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < blocks->counters.count && status == RTL_OK; i++) {
        if ((choice->process && counters[i].process != choice->process) ||
            (choice->graph != RTL_TRACE_NONE && counters[i].graph != choice->graph))
            continue;
        if (choice->launch)
            status = add_launch(trace, chosen, &counters[i]);
        else if (add_blocks(chosen, blocks, &counters[i]) != 0)
            status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    if (status == RTL_OK && add_heads(chosen, blocks) != 0)
        status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    return status;
}

rtl_status_t rtl_chosen_new(rtl_trace_t *trace, const struct rtl_graph_choice *choice,
                            struct rtl_chosen **chosen)
{
    rtl_status_t status = rtl_trace_load_graphs(trace);
    if (status != RTL_OK)
        return status;
    *chosen = calloc(1, sizeof **chosen);
    if (!*chosen)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    (*chosen)->choice = *choice;
    return choose(trace, *chosen);
}

void rtl_chosen_free(struct rtl_chosen *chosen)
{
    if (!chosen)
        return;
    rtl_list_free(&chosen->ranges);
    rtl_list_free(&chosen->heads);
    free(chosen);
}

bool rtl_chosen_chunk(const struct rtl_chosen *chosen, const struct rtl_chunk_row *row)
{
    const struct rtl_launch_head *heads = chosen->heads.items;
    const struct rtl_chunk *chunk = &row->chunk;
    if (!row->bounded)
        return in_ranges(chosen, chunk->process, 0, RTL_TRACE_NONE);
    if (row->launch_min != RTL_TRACE_NONE &&
        in_ranges(chosen, chunk->process, row->launch_min, row->launch_max))
        return true;
    for (size_t i = 0; i < chosen->heads.count; i++)
        if (heads[i].process == chunk->process && heads[i].queue == chunk->queue &&
            heads[i].packet >= chunk->packet_min && heads[i].packet <= chunk->packet_max)
            return true;
    return false;
}

bool rtl_chosen_wire(const struct rtl_chosen *chosen, const struct rtl_chunk_row *row,
                     const struct rtl_wire_kernel *kernel)
{
    const struct rtl_launch_head *heads = chosen->heads.items;
    if (kernel->launch != RTL_TRACE_NONE)
        return in_ranges(chosen, row->chunk.process, kernel->launch, kernel->launch);
    for (size_t i = 0; i < chosen->heads.count; i++)
        if (heads[i].process == row->chunk.process && heads[i].queue == row->chunk.queue &&
            heads[i].packet == kernel->packet)
            return true;
    return false;
}

bool rtl_chosen_kernel(const struct rtl_chosen *chosen, const rtl_kernel_t *kernel)
{
    const struct rtl_graph_choice *choice = &chosen->choice;
    return kernel->graph != RTL_TRACE_NONE &&
           (choice->process == 0 || kernel->process == choice->process) &&
           (choice->graph == RTL_TRACE_NONE || kernel->graph == choice->graph) &&
           (choice->generation == 0 || kernel->generation == choice->generation) &&
           (choice->launch == 0 || kernel->launch == choice->launch) &&
           (choice->node == RTL_TRACE_NONE || kernel->node == choice->node);
}

rtl_status_t rtlTraceLaunchKernels(rtl_trace_t *trace, uint32_t process, uint32_t graph,
                                   uint32_t number, rtl_kernel_iter_t **iter)
{
    const struct rtl_graph_choice choice = {process, graph, 0, number, RTL_TRACE_NONE};
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    if (!trace || !iter || process == 0 || graph == RTL_TRACE_NONE || number == 0)
        return RTL_E_ARGUMENT;
    *iter = NULL;
    filter.process = process;
    return rtl_trace_kernels(trace, &filter, 0, &choice, iter);
}

rtl_status_t rtlTraceNodeKernels(rtl_trace_t *trace, uint32_t process, uint32_t graph,
                                 uint32_t generation, uint32_t node, rtl_kernel_iter_t **iter)
{
    const struct rtl_graph_choice choice = {process, graph, generation, 0, node};
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    if (!trace || !iter || process == 0 || graph == RTL_TRACE_NONE || node == RTL_TRACE_NONE)
        return RTL_E_ARGUMENT;
    *iter = NULL;
    filter.process = process;
    return rtl_trace_kernels(trace, &filter, 0, &choice, iter);
}
