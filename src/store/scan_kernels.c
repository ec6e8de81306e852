/* All kernels of a trace, in threads. */
#include "store/reader.h"
#include "store/scan.h"
#include "store/select.h"
#include "store/tables.h"
#include "store/translate.h"

#include <stdlib.h>

/* A chunk that is looked at. */
struct chosen {
    struct rtl_scan_chunk chunk;
    const struct rtl_chunk_row *row;
    unsigned wanted; /* enum rtl_codec_columns */
    bool cut;        /* kernels of it may lie outside of the filter's time */
};

struct kernels {
    rtl_trace_t *trace;
    const struct rtl_kernel_scan *scan;
    struct rtl_list chosen; /* struct chosen */
};

/* What a thread has. */
struct worker {
    struct rtl_codec *codec;
    struct rtl_codec_block block;
    struct rtl_translator translator;
};

const char *rtl_trace_shape_name(const rtl_trace_t *trace, uint32_t process, uint32_t shape)
{
    uint32_t place = rtl_index_get(&trace->shape_index, rtl_index_key(process, shape));
    return place == RTL_INDEX_MISSING ? "unknown kernel"
                                      : ((const struct rtl_shape *)trace->shapes.items)[place].name;
}

static const struct rtl_select *select_of(const rtl_trace_t *trace)
{
    return trace->select_paused ? NULL : trace->select;
}

/* Choosing chunks. */

static unsigned needed(const rtl_trace_t *trace, const struct chosen *chosen)
{
    struct rtl_select_look look;
    unsigned more = chosen->cut ? RTL_CODEC_TIMES : 0;
    if (!rtl_select_begin(select_of(trace), chosen->chunk.process, &look))
        return more;
    more |= look.windows ? RTL_CODEC_TIMES : RTL_CODEC_SHAPES;
    return look.correlations ? more | RTL_CODEC_CORRELATIONS : more;
}

static int by_queue(const void *left, const void *right)
{
    const struct rtl_scan_chunk *a = &((const struct chosen *)left)->chunk;
    const struct rtl_scan_chunk *b = &((const struct chosen *)right)->chunk;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->queue != b->queue)
        return a->queue < b->queue ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool choose(struct kernels *kernels, const struct rtl_chunk_row *row)
{
    const rtl_trace_t *trace = kernels->trace;
    const rtl_kernel_filter_t *filter = &kernels->scan->filter;
    if (!rtl_trace_chunk_passes(filter, row) ||
        !rtl_select_may(select_of(trace), row->chunk.process, row->gpu))
        return true;
    struct chosen *chosen = rtl_list_append(&kernels->chosen, sizeof *chosen);
    if (!chosen)
        return false;
    *chosen =
        (struct chosen){.chunk = {.number = row->number,
                                  .process = row->chunk.process,
                                  .queue = row->chunk.queue,
                                  .gpu = row->gpu,
                                  .kernels = row->chunk.kernels,
                                  .from = row->from,
                                  .to = row->to,
                                  .next = UINT64_MAX},
                        .row = row,
                        .cut = row->from < filter->from || (filter->to && row->to >= filter->to)};
    return true;
}

/* What lies before and behind each chunk on its queue. */
static void look_around(struct chosen *chosen, size_t count)
{
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        struct rtl_scan_chunk *chunk = &chosen[i].chunk;
        struct rtl_scan_chunk *before = i ? &chosen[i - 1].chunk : NULL;
        chunk->source = chosen[i].row;
        if (!before || before->process != chunk->process || before->queue != chunk->queue) {
            last = chunk->to;
            continue;
        }
        before->next = chunk->from;
        chunk->before = last;
        last = chunk->to > last ? chunk->to : last;
    }
}

/* The chunks that are wanted, for the scan. */
static size_t list_items(const struct kernels *kernels, struct rtl_scan_item *items)
{
    const struct rtl_kernel_scan *scan = kernels->scan;
    struct chosen *chosen = kernels->chosen.items;
    size_t count = 0;
    for (size_t i = 0; i < kernels->chosen.count; i++) {
        chosen[i].wanted = scan->choose(scan->context, &chosen[i].chunk);
        if (!chosen[i].wanted)
            continue;
        chosen[i].wanted |= needed(kernels->trace, &chosen[i]);
        items[count++] = (struct rtl_scan_item){chosen[i].row->number, &chosen[i]};
    }
    return count;
}

/* Unpacking. */

/* What a kernel of a block has to pass. */
struct gate {
    const rtl_kernel_filter_t *filter; /* NULL: no time */
    struct rtl_select_look look;
    bool selects;
};

static bool passes(struct gate *gate, const struct rtl_codec_block *block, uint32_t i)
{
    uint64_t correlation = gate->look.correlations ? block->correlation[i] : 0;
    uint64_t start = gate->look.windows ? block->start[i] : 0;
    return (!gate->filter || rtl_trace_time_passes(gate->filter, block->start[i], block->end[i])) &&
           (!gate->selects || rtl_select_kernel(&gate->look, block->shape[i], correlation, start));
}

static void move(struct rtl_codec_block *block, uint32_t to, uint32_t from)
{
    block->start[to] = block->start[from];
    block->end[to] = block->end[from];
    block->shape[to] = block->shape[from];
    block->ordinal[to] = block->ordinal[from];
    block->packet[to] = block->packet[from];
    block->correlation[to] = block->correlation[from];
    block->launch[to] = block->launch[from];
}

/* Drops kernels that do not pass. */
static void drop(struct gate *gate, struct rtl_codec_block *block)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->count; i++)
        if (passes(gate, block, i))
            move(block, kept++, i);
    block->count = kept;
}

static int go_over(const struct kernels *kernels, struct worker *worker,
                   const struct chosen *chosen, void *result)
{
    const struct rtl_kernel_scan *scan = kernels->scan;
    bool timed = (chosen->wanted & (RTL_CODEC_TIMES | RTL_CODEC_WHOLE)) != 0;
    struct gate gate = {.filter = chosen->cut ? &scan->filter : NULL};
    gate.selects = rtl_select_begin(select_of(kernels->trace), chosen->chunk.process, &gate.look);
    for (;;) {
        if (rtl_codec_next(worker->codec, &worker->block) != 0)
            return -1;
        if (worker->block.count == 0)
            return 0;
        if (timed)
            rtl_translate_block(&worker->translator, &worker->block);
        if (gate.filter || gate.selects)
            drop(&gate, &worker->block);
        if (!scan->take(scan->context, &chosen->chunk, &worker->block, result))
            return -2;
    }
}

static int work(void *context, void *pointer, const struct rtl_scan_data *data, void *result)
{
    const struct kernels *kernels = context;
    const struct rtl_kernel_scan *scan = kernels->scan;
    const struct chosen *chosen = data->row;
    struct worker *worker = pointer;
    if (!worker->codec && !(worker->codec = rtl_codec_new()))
        return -2;
    int opened = rtl_codec_open_some(worker->codec, &chosen->row->chunk, data->data, data->size,
                                     chosen->wanted);
    if (opened != 0)
        return opened;
    rtl_translator_begin(&worker->translator, chosen->row->clock);
    if (scan->begin && !scan->begin(scan->context, &chosen->chunk, result))
        return -2;
    int gone = go_over(kernels, worker, chosen, result);
    if (gone == 0 && scan->end && !scan->end(scan->context, &chosen->chunk, result))
        return -2;
    return gone;
}

static rtl_status_t done(void *context, const struct rtl_scan_data *data, rtl_status_t status,
                         void *result)
{
    const struct kernels *kernels = context;
    const struct chosen *chosen = data->row;
    bool intact =
        status == RTL_E_DAMAGED && rtl_codec_intact(&chosen->row->chunk, data->data, data->size);
    if (kernels->scan->done)
        return kernels->scan->done(kernels->scan->context, &chosen->chunk, status, intact, result);
    return status == RTL_E_DAMAGED ? rtl_trace_fail_chunk(kernels->trace, chosen->row) : status;
}

rtl_status_t rtl_scan_damaged(rtl_trace_t *trace, const struct rtl_scan_chunk *chunk)
{
    return rtl_trace_fail_chunk(trace, chunk->source);
}

rtl_status_t rtl_scan_node(rtl_trace_t *trace, const struct rtl_scan_chunk *chunk,
                           const struct rtl_scan_kernel *kernel, uint32_t *node)
{
    rtl_kernel_t found = {
        .process = chunk->process, .queue = chunk->queue, .packet = kernel->packet};
    rtl_status_t status = rtl_trace_load_graphs(trace);
    if (status == RTL_OK)
        status = rtl_trace_resolve_node(trace, kernel->launch, kernel->ordinal, &found);
    *node = found.node;
    return status;
}

void rtl_scan_extent(const rtl_trace_t *trace, const rtl_kernel_filter_t *filter, bool *known,
                     uint64_t *from, uint64_t *to)
{
    const struct rtl_chunk_row *rows = trace->chunks.items;
    *known = true;
    *from = UINT64_MAX;
    *to = 0;
    for (size_t i = 0; i < trace->chunks.count; i++) {
        struct rtl_select_look look;
        if (!rtl_trace_chunk_passes(filter, &rows[i]) ||
            !rtl_select_may(select_of(trace), rows[i].chunk.process, rows[i].gpu))
            continue;
        *known = *known && !rtl_select_begin(select_of(trace), rows[i].chunk.process, &look);
        *from = rows[i].from < *from ? rows[i].from : *from;
        *to = rows[i].to > *to ? rows[i].to : *to;
    }
}

static void worker_free(void *pointer)
{
    struct worker *worker = pointer;
    rtl_codec_free(worker->codec);
}

static rtl_status_t scan_chosen(struct kernels *kernels)
{
    const struct rtl_scan scan = {
        .query = "SELECT data FROM main.kernel_chunks WHERE chunk = ?",
        .context = kernels,
        .worker_size = sizeof(struct worker),
        .result_size = kernels->scan->result_size,
        .worker_free = worker_free,
        .result_free = kernels->scan->result_free,
        .work = work,
        .done = done,
        .threads = kernels->scan->threads,
    };
    struct rtl_scan_item *items = calloc(kernels->chosen.count + 1, sizeof *items);
    if (!items)
        return rtl_trace_fail_sqlite(kernels->trace, SQLITE_NOMEM);
    rtl_status_t status = rtl_scan(kernels->trace, &scan, items, list_items(kernels, items));
    free(items);
    return status;
}

rtl_status_t rtl_scan_kernels(rtl_trace_t *trace, const struct rtl_kernel_scan *scan)
{
    struct kernels kernels = {.trace = trace, .scan = scan};
    const struct rtl_chunk_row *rows = trace->chunks.items;
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < trace->chunks.count && status == RTL_OK; i++)
        if (!choose(&kernels, &rows[i]))
            status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (status == RTL_OK && kernels.chosen.count) {
        qsort(kernels.chosen.items, kernels.chosen.count, sizeof(struct chosen), by_queue);
        look_around(kernels.chosen.items, kernels.chosen.count);
        status = scan_chosen(&kernels);
    }
    rtl_list_free(&kernels.chosen);
    return status;
}
