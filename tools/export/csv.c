/* CSV (RFC 4180): one table a file, its columns those of SQL. */
#include "export/out.h"

#include "common/command.h"
#include "common/say.h"
#include "export/lookup.h"

#include <string.h>

struct csv {
    struct export *export;
    const struct csv_table *table;
    struct out out;
    bool first;          /* the next field is the first of its row */
    uint64_t dispatches; /* kernels so far */
    const rtl_trace_sample_t *sample;
    uint32_t which; /* of its counters the row is of */
};

struct csv_table {
    const char *name;
    enum export_kind kind;
    const char *heading;
    void (*row)(struct csv *csv, const struct export_event *event);
    bool counted; /* a row for each counter */
};

static void part(struct csv *csv)
{
    if (!csv->first)
        out_text(&csv->out, ",");
    csv->first = false;
}

static void text(struct csv *csv, const char *value)
{
    part(csv);
    out_csv(&csv->out, value);
}

static void number(struct csv *csv, uint64_t value)
{
    part(csv);
    out_number(&csv->out, value);
}

/* Empty where there is none. */
static void id(struct csv *csv, uint32_t value)
{
    part(csv);
    if (value != RTL_TRACE_NONE)
        out_number(&csv->out, value);
}

static void number_or_none(struct csv *csv, uint64_t value)
{
    part(csv);
    if (value)
        out_number(&csv->out, value);
}

static void times(struct csv *csv, uint64_t start, uint64_t end)
{
    number(csv, start);
    number(csv, end);
    number(csv, end - start);
}

static void kernel_row(struct csv *csv, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    number(csv, kernel->id);
    number(csv, kernel->process);
    id(csv, kernel->gpu);
    number(csv, kernel->queue);
    id(csv, event->origin.stream);
    text(csv, kernel->name);
    times(csv, kernel->start, kernel->end);
    for (unsigned i = 0; i < 3; ++i)
        number(csv, kernel->grid[i]);
    for (unsigned i = 0; i < 3; ++i)
        number(csv, kernel->block[i]);
    number_or_none(csv, event->origin.call);
    id(csv, kernel->graph);
    part(csv);
    if (kernel->graph != RTL_TRACE_NONE)
        out_number(&csv->out, kernel->generation);
    id(csv, kernel->launch);
    id(csv, kernel->node);
    number_or_none(csv, event->origin.range);
    number(csv, kernel->packet);
    id(csv, kernel->symbol);
    text(csv, kernel->mangled);
    number(csv, kernel->group_size);
    number(csv, kernel->private_size);
    number(csv, kernel->start_ticks);
    number(csv, kernel->end_ticks);
    number_or_none(csv, kernel->node_range);
}

static void copy_row(struct csv *csv, const struct export_event *event)
{
    const rtl_copy_t *copy = event->copy;
    bool timed = copy->start || copy->end;
    number(csv, copy->id);
    number(csv, copy->process);
    id(csv, copy->gpu);
    number(csv, copy->queue);
    if (timed)
        times(csv, copy->start, copy->end);
    for (unsigned i = 0; !timed && i < 3; ++i)
        text(csv, "");
    number(csv, copy->bytes);
    text(csv, copy->kind);
    id(csv, copy->src);
    id(csv, copy->dst);
    number_or_none(csv, event->origin.call);
    text(csv, copy->engine);
    number(csv, copy->ordinal);
    number_or_none(csv, copy->start_ticks);
    number_or_none(csv, copy->end_ticks);
    id(csv, event->origin.stream);
    number_or_none(csv, event->origin.range);
}

static void arguments(struct csv *csv, const rtl_api_t *api)
{
    char buffer[4096];
    (void)rtlApiArguments(api, buffer, sizeof buffer);
    text(csv, buffer);
}

static void api_row(struct csv *csv, const struct export_event *event)
{
    const rtl_api_t *api = event->api;
    number(csv, api->id);
    number(csv, api->process);
    number(csv, api->thread);
    text(csv, api->name);
    number(csv, api->start);
    number(csv, api->end);
    number(csv, api->correlation);
    number(csv, api->end - api->start);
    id(csv, api->stream);
    number_or_none(csv, api->range);
    part(csv);
    out_signed(&csv->out, api->result);
    const char *error = api->result ? rtlApiResultName(api->result) : NULL;
    text(csv, error ? error : "");
    arguments(csv, api);
}

static void range_row(struct csv *csv, const struct export_event *event)
{
    const rtl_range_t *range = event->range;
    bool mark = strcmp(range->kind, "mark") == 0;
    number(csv, range->id);
    number(csv, range->process);
    number(csv, range->thread);
    text(csv, range->name);
    number(csv, range->start);
    number_or_none(csv, range->end);
    number_or_none(csv, range->parent);
    text(csv, range->kind);
    part(csv);
    if (range->end || mark)
        out_number(&csv->out, range->end - range->start);
}

static void launch_row(struct csv *csv, const struct export_event *event)
{
    const rtl_graph_launch_t *launch = event->launch;
    number(csv, launch->process);
    number(csv, launch->graph);
    number(csv, launch->generation);
    number(csv, launch->launch);
    number_or_none(csv, launch->start);
    number_or_none(csv, launch->end);
    number(csv, launch->kernels);
    number(csv, launch->expected);
    number(csv, launch->unseen);
    number_or_none(csv, launch->correlation);
    number_or_none(csv, launch->range);
    number_or_none(csv, launch->thread);
    number_or_none(csv, launch->time);
    number(csv, (uint64_t)launch->certain);
}

static void kernel_counter_row(struct csv *csv, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    const rtl_trace_counter_t *counter = csv->sample->counters[csv->which];
    number(csv, kernel->process);
    number(csv, kernel->queue);
    number(csv, kernel->packet);
    number(csv, kernel->id);
    text(csv, counter->name);
    number(csv, csv->sample->values[csv->which]);
    number(csv, counter->counter);
    number(csv, counter->agent);
}

static void range_counter_row(struct csv *csv, const struct export_event *event)
{
    const rtl_trace_counter_t *counter = csv->sample->counters[csv->which];
    number(csv, event->process);
    number(csv, event->range->id);
    number(csv, csv->sample->agent);
    text(csv, counter->name);
    number(csv, csv->sample->values[csv->which]);
    number(csv, csv->sample->shared != 0);
    number(csv, counter->counter);
}

static uint64_t product(const uint32_t sizes[3])
{
    return (uint64_t)sizes[0] * sizes[1] * sizes[2];
}

/* rocprofv3 gives LDS in the blocks in which it is handed out. */
static uint64_t lds_blocks(uint32_t size)
{
    return ((uint64_t)size + 511) / 512 * 512;
}

static uint32_t node_of(const struct csv *csv, const rtl_trace_sample_t *sample)
{
    const rtl_agent_t *items = NULL;
    size_t count = 0;
    size_t place = lookup_agent_place(csv->export, sample->process, sample->agent);
    (void)rtlTraceAgents(csv->export->trace, &items, &count);
    return place < count ? items[place].node : 0;
}

/* As rocprofv3 writes it. Registers are not known: 0. */
static void collection_row(struct csv *csv, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    const rtl_process_t *process = export_process(csv->export, kernel->process);
    uint32_t pid = process ? process->pid : 0;
    number(csv, event->origin.call);
    number(csv, csv->dispatches);
    number(csv, node_of(csv, csv->sample));
    number(csv, lookup_queue_place(csv->export, kernel->process, kernel->queue) + 1);
    number(csv, pid);
    number(csv, event->origin.thread ? event->origin.thread : pid);
    number(csv, product(kernel->grid));
    number(csv, lookup_symbol_place(csv->export, kernel->process, kernel->symbol) + 1);
    text(csv, kernel->name);
    number(csv, product(kernel->block));
    number(csv, lds_blocks(kernel->group_size));
    number(csv, kernel->private_size);
    for (unsigned i = 0; i < 3; ++i)
        number(csv, 0);
    text(csv, csv->sample->counters[csv->which]->name);
    number(csv, csv->sample->values[csv->which]);
    number(csv, kernel->start);
    number(csv, kernel->end);
}

static const struct csv_table tables[] = {
    {"kernels", EXPORT_KERNEL,
     "id,process,gpu,queue,stream,name,start,end,duration,grid_x,grid_y,grid_z,block_x,block_y,"
     "block_z,correlation,graph,generation,launch,node,range,packet,symbol,mangled,group_size,"
     "private_size,start_ticks,end_ticks,capture_range",
     kernel_row, false},
    {"copies", EXPORT_COPY,
     "id,process,gpu,queue,start,end,duration,bytes,kind,src,dst,correlation,engine,ordinal,"
     "start_ticks,end_ticks,stream,range",
     copy_row, false},
    {"api", EXPORT_API,
     "id,process,thread,name,start,end,correlation,duration,stream,range,result,error,args",
     api_row, false},
    {"ranges", EXPORT_RANGE, "id,process,thread,name,start,end,parent,kind,duration", range_row,
     false},
    {"launches", EXPORT_LAUNCH,
     "process,graph,generation,launch,start,end,kernels,expected,unseen,correlation,range,thread,"
     "time,certain",
     launch_row, false},
    {"kernel_counters", EXPORT_KERNEL, "process,queue,packet,kernel,name,value,counter,agent",
     kernel_counter_row, true},
    {"range_counters", EXPORT_RANGE, "process,range,agent,name,value,shared,counter",
     range_counter_row, true},
    {"counter_collection", EXPORT_KERNEL,
     "Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,"
     "Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
     "SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp",
     collection_row, true},
};

enum { TABLES = sizeof tables / sizeof tables[0] };

static const struct csv_table *find_table(const char *name)
{
    for (size_t i = 0; i < TABLES; ++i)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}

static int begin(struct csv *csv)
{
    int status = out_begin(&csv->out, csv->export);
    if (status == EXIT_FINE) {
        out_text(&csv->out, csv->table->heading);
        out_text(&csv->out, "\r\n");
    }
    return status;
}

static void write_row(struct csv *csv, const struct export_event *event)
{
    csv->first = true;
    csv->table->row(csv, event);
    out_text(&csv->out, "\r\n");
}

static int visit(void *state, const struct export_event *event)
{
    struct csv *csv = state;
    int status = EXIT_FINE;
    if (out_full(&csv->out)) {
        status = out_end(&csv->out);
        if (status == EXIT_FINE)
            status = begin(csv);
    }
    if (status != EXIT_FINE)
        return status;
    csv->dispatches += event->kind == EXPORT_KERNEL;
    if (!csv->table->counted)
        write_row(csv, event);
    for (size_t i = 0; csv->table->counted && i < event->sample_count; ++i) {
        csv->sample = &event->samples[i];
        for (csv->which = 0; csv->which < csv->sample->count; ++csv->which)
            write_row(csv, event);
    }
    return csv->out.error ? out_end(&csv->out) : EXIT_FINE;
}

static int run(struct export *export)
{
    static struct csv csv;
    const char *name = export->table ? export->table : "kernels";
    csv.export = export;
    csv.dispatches = 0;
    csv.table = find_table(name);
    if (!csv.table)
        return say_fail(EXIT_USAGE,
                        "there is no table '%s': it is kernels, copies, api, ranges, launches, "
                        "kernel_counters, range_counters or counter_collection",
                        name);
    int status = begin(&csv);
    if (status == EXIT_FINE)
        status = export_walk(export, csv.table->kind, visit, &csv);
    if (status == EXIT_FINE)
        status = out_end(&csv.out);
    out_drop(&csv.out);
    return status;
}

const struct exporter export_csv = {
    "csv", ".csv", EXPORT_SPLITS | EXPORT_PER_RANK | EXPORT_TABLES | EXPORT_STREAMS | EXPORT_GZIP,
    run};
