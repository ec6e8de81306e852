/* Which queues a HIP made, and what became of its host calls. */
#include "store/reader.h"
#include "store/tables.h"

static int take(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_trace_hip_queue_t *made = item;
    made->process = rtl_row_u32(trace, row, 0);
    made->queue = rtl_row_u32(trace, row, 1);
    made->library = rtl_row_text(trace, row, 2);
    made->calls = rtl_row_text(trace, row, 3);
    return made->library && made->calls ? 0 : -1;
}

rtl_status_t rtl_trace_load_hip_queues(rtl_trace_t *trace)
{
    const struct rtl_table table = {
        "SELECT process, queue, library, calls FROM main.hip_queues ORDER BY process, queue",
        sizeof(rtl_trace_hip_queue_t), take, &trace->hip_queues};
    if (trace->info.format_major == 1 && trace->info.format_minor < 5)
        return RTL_OK;
    return rtl_table_load(trace, &table);
}

rtl_status_t rtlTraceHipQueues(rtl_trace_t *trace, const rtl_trace_hip_queue_t **items,
                               size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    *items = trace->hip_queues.items;
    *count = trace->hip_queues.count;
    return RTL_OK;
}
