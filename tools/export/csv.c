/* CSV (RFC 4180): one table a file, its columns those of SQL. */
#include "export/out.h"

#include "command.h"
#include "common/say.h"

#include <string.h>

struct csv {
    struct export *export;
    const struct csv_table *table;
    struct out out;
    bool first; /* the next field is the first of its row */
};

struct csv_table {
    const char *name;
    enum export_kind kind;
    const char *heading;
    void (*row)(struct csv *csv, const struct export_event *event);
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

static const struct csv_table tables[] = {
    {"kernels", EXPORT_KERNEL,
     "id,process,gpu,queue,stream,name,start,end,duration,grid_x,grid_y,grid_z,block_x,block_y,"
     "block_z,correlation,graph,generation,launch,node,range,packet,symbol,mangled,group_size,"
     "private_size,start_ticks,end_ticks",
     kernel_row},
    {"copies", EXPORT_COPY,
     "id,process,gpu,queue,start,end,duration,bytes,kind,src,dst,correlation,engine,ordinal,"
     "start_ticks,end_ticks,stream,range",
     copy_row},
    {"api", EXPORT_API,
     "id,process,thread,name,start,end,correlation,duration,stream,range,result,error,args",
     api_row},
    {"ranges", EXPORT_RANGE, "id,process,thread,name,start,end,parent,kind,duration", range_row},
    {"launches", EXPORT_LAUNCH,
     "process,graph,generation,launch,start,end,kernels,expected,unseen,correlation,range,thread,"
     "time,certain",
     launch_row},
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
    csv->first = true;
    csv->table->row(csv, event);
    out_text(&csv->out, "\r\n");
    return csv->out.error ? out_end(&csv->out) : EXIT_FINE;
}

static int run(struct export *export)
{
    static struct csv csv;
    const char *name = export->table ? export->table : "kernels";
    csv.export = export;
    csv.table = find_table(name);
    if (!csv.table)
        return say_fail(EXIT_USAGE,
                        "there is no table '%s': it is kernels, copies, api, ranges or launches",
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
    "csv", ".csv", EXPORT_SPLITS | EXPORT_PER_RANK | EXPORT_TABLES | EXPORT_STREAMS, run};
