/* Which hardware counters were read, and which not: the lists, and the chunks of samples but for
 * their data. */
#include "store/samples_read.h"
#include "store/tables.h"

#include <stdlib.h>

static int take_counting(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_trace_counting_t *counting = item;
    counting->process = rtl_row_u32(trace, row, 0);
    counting->mode = rtl_row_text(trace, row, 1);
    counting->pass = rtl_row_u32(trace, row, 2);
    counting->passes = rtl_row_u32(trace, row, 3);
    counting->metrics = rtl_row_text(trace, row, 4);
    if (!counting->mode || !counting->metrics)
        return -1;
    return rtl_index_put(&trace->counting_index, counting->process,
                         rtl_list_last(&trace->counting));
}

static int take_counter(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_trace_counter_t *counter = item;
    counter->process = rtl_row_u32(trace, row, 0);
    counter->counter = rtl_row_u32(trace, row, 1);
    counter->agent = rtl_row_u32(trace, row, 2);
    counter->name = rtl_row_text(trace, row, 3);
    counter->block = rtl_row_u32(trace, row, 4);
    counter->event = rtl_row_u32(trace, row, 5);
    counter->instances = rtl_row_u32(trace, row, 6);
    counter->pass = rtl_row_u32(trace, row, 7);
    return counter->name ? 0 : -1;
}

static int take_uncounted(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_trace_uncounted_t *uncounted = item;
    uncounted->process = rtl_row_u32(trace, row, 0);
    uncounted->agent = rtl_row_id(trace, row, 1);
    uncounted->why = rtl_row_text(trace, row, 2);
    uncounted->count = rtl_row_u64(row, 3);
    return uncounted->why ? 0 : -1;
}

static int take_chunk(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_sample_row *chunk = item;
    chunk->number = sqlite3_column_int64(row, 0);
    chunk->chunk = (struct rtl_sample_chunk){
        .process = rtl_row_u32(trace, row, 1),
        .queue = rtl_row_id(trace, row, 2),
        .samples = rtl_row_u32(trace, row, 3),
        .counts = rtl_row_u32(trace, row, 4),
        .owner_min = rtl_row_u64(row, 5),
        .owner_max = rtl_row_u64(row, 6),
        .checksum = rtl_row_u32(trace, row, 7),
    };
    if (chunk->chunk.queue == RTL_TRACE_NONE)
        trace->info.range_samples += chunk->chunk.samples;
    else
        trace->info.kernel_samples += chunk->chunk.samples;
    return 0;
}

/* What a process's samples have: the counters of the pass that it made, by agent. */

static bool is_read(const rtl_trace_t *trace, const rtl_trace_counter_t *counter)
{
    uint32_t place = rtl_index_get(&trace->counting_index, counter->process);
    return place != RTL_INDEX_MISSING &&
           ((const rtl_trace_counting_t *)trace->counting.items)[place].pass == counter->pass;
}

static int by_agent(const void *left, const void *right)
{
    const rtl_trace_counter_t *a = *(const rtl_trace_counter_t *const *)left;
    const rtl_trace_counter_t *b = *(const rtl_trace_counter_t *const *)right;
    uint64_t agent_a = rtl_index_key(a->process, a->agent);
    uint64_t agent_b = rtl_index_key(b->process, b->agent);
    if (agent_a != agent_b)
        return agent_a < agent_b ? -1 : 1;
    return (a->counter > b->counter) - (a->counter < b->counter);
}

static rtl_status_t group_counters(rtl_trace_t *trace)
{
    const rtl_trace_counter_t *counters = trace->counters.items;
    for (size_t i = 0; i < trace->counters.count; i++) {
        if (!is_read(trace, &counters[i]))
            continue;
        const rtl_trace_counter_t **place =
            rtl_list_append(&trace->counters_read, sizeof(const rtl_trace_counter_t *));
        if (!place)
            return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
        *place = &counters[i];
    }
    const rtl_trace_counter_t **read = trace->counters_read.items;
    size_t count = trace->counters_read.count;
    if (count)
        qsort(read, count, sizeof(const rtl_trace_counter_t *), by_agent);
    for (size_t i = count; i-- > 0;)
        if (rtl_index_put(&trace->counters_index, rtl_index_key(read[i]->process, read[i]->agent),
                          (uint32_t)i) != 0)
            return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    return RTL_OK;
}

const rtl_trace_counter_t *const *rtl_trace_counters_of(const rtl_trace_t *trace, uint32_t process,
                                                        uint32_t agent, uint32_t count)
{
    uint32_t first = rtl_index_get(&trace->counters_index, rtl_index_key(process, agent));
    const rtl_trace_counter_t *const *read = trace->counters_read.items;
    uint32_t there = 0;
    if (first == RTL_INDEX_MISSING)
        return NULL;
    while (first + there < trace->counters_read.count && read[first + there]->agent == agent &&
           read[first + there]->process == process)
        there++;
    return there == count ? read + first : NULL;
}

bool rtl_trace_has_counters(const rtl_trace_t *trace)
{
    return trace->info.format_major > 1 || trace->info.format_minor >= 4;
}

rtl_status_t rtl_trace_load_counters(rtl_trace_t *trace)
{
    const struct rtl_table tables[] = {
        {"SELECT process, mode, pass, passes, metrics FROM main.counting ORDER BY process",
         sizeof(rtl_trace_counting_t), take_counting, &trace->counting},
        {"SELECT process, counter, agent, name, block, event, instances, pass FROM main.counters"
         " ORDER BY process, counter",
         sizeof(rtl_trace_counter_t), take_counter, &trace->counters},
        {"SELECT process, agent, why, count FROM main.uncounted ORDER BY process, agent, why",
         sizeof(rtl_trace_uncounted_t), take_uncounted, &trace->uncounted},
        {"SELECT chunk, process, queue, samples, counts, owner_min, owner_max, checksum"
         " FROM main.sample_chunks ORDER BY chunk",
         sizeof(struct rtl_sample_row), take_chunk, &trace->sample_rows},
    };
    rtl_status_t status = RTL_OK;
    if (!rtl_trace_has_counters(trace))
        return RTL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == RTL_OK; i++)
        status = rtl_table_load(trace, &tables[i]);
    return status == RTL_OK ? group_counters(trace) : status;
}

void rtl_trace_unload_counters(rtl_trace_t *trace)
{
    rtl_trace_forget_samples(trace);
    rtl_list_free(&trace->counting);
    rtl_list_free(&trace->counters);
    rtl_list_free(&trace->uncounted);
    rtl_list_free(&trace->counters_read);
    rtl_list_free(&trace->sample_rows);
    rtl_index_free(&trace->counting_index);
    rtl_index_free(&trace->counters_index);
}

rtl_status_t rtlTraceCounting(rtl_trace_t *trace, const rtl_trace_counting_t **items, size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    *items = trace->counting.items;
    *count = trace->counting.count;
    return RTL_OK;
}

rtl_status_t rtlTraceCounters(rtl_trace_t *trace, const rtl_trace_counter_t **items, size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    *items = trace->counters.items;
    *count = trace->counters.count;
    return RTL_OK;
}

rtl_status_t rtlTraceUncounted(rtl_trace_t *trace, const rtl_trace_uncounted_t **items,
                               size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    *items = trace->uncounted.items;
    *count = trace->uncounted.count;
    return RTL_OK;
}
