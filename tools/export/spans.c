#include "export/spans.h"

#include <stdlib.h>
#include <string.h>

#define KNOWN 1024u

/* A range that was asked for. */
struct known {
    uint32_t process;
    uint64_t id, parent; /* id 0: free */
    char name[SPANS_NAME];
};

struct row {
    uint32_t process, gpu, stream;
    uint64_t range; /* of the last kernel */
    uint64_t turn;  /* of the last kernel: its launch of a graph, 0 if none */
    unsigned depth;
    struct span stack[SPANS_DEEP]; /* outermost first */
};

struct spans {
    rtl_trace_t *trace;
    spans_emit emit;
    void *state;
    struct row **rows;
    size_t count;
    struct known known[KNOWN];
};

struct spans *spans_new(rtl_trace_t *trace, spans_emit emit, void *state)
{
    struct spans *spans = calloc(1, sizeof *spans);
    if (spans) {
        spans->trace = trace;
        spans->emit = emit;
        spans->state = state;
    }
    return spans;
}

void spans_free(struct spans *spans)
{
    if (!spans)
        return;
    for (size_t i = 0; i < spans->count; ++i)
        free(spans->rows[i]);
    free((void *)spans->rows);
    free(spans);
}

static struct row *add_row(struct spans *spans, uint32_t process, uint32_t gpu, uint32_t stream)
{
    struct row **rows = realloc((void *)spans->rows, (spans->count + 1) * sizeof(struct row *));
    struct row *row = calloc(1, sizeof *row);
    if (rows)
        spans->rows = rows;
    if (!rows || !row) {
        free(row);
        return NULL;
    }
    row->process = process;
    row->gpu = gpu;
    row->stream = stream;
    rows[spans->count++] = row;
    return row;
}

static struct row *row_of(struct spans *spans, uint32_t process, uint32_t gpu, uint32_t stream)
{
    for (size_t i = 0; i < spans->count; ++i) {
        struct row *row = spans->rows[i];
        if (row->process == process && row->gpu == gpu && row->stream == stream)
            return row;
    }
    return add_row(spans, process, gpu, stream);
}

/* The range of an id. One that is not in the trace has no name and no parent. */
static rtl_status_t look_up(struct spans *spans, uint32_t process, uint64_t id,
                            const struct known **found)
{
    struct known *known = &spans->known[(id * 31 + process) % KNOWN];
    rtl_range_t range;
    *found = known;
    if (known->id == id && known->process == process)
        return RTL_OK;
    *known = (struct known){.process = process, .id = id};
    rtl_status_t status =
        rtlTraceRange(spans->trace, process, id, &range, known->name, sizeof known->name);
    if (status == RTL_OK && range.parent != id)
        known->parent = range.parent;
    return status == RTL_END ? RTL_OK : status;
}

/* The ranges around one, itself included, innermost first. */
static rtl_status_t chain_of(struct spans *spans, uint32_t process, uint64_t range,
                             uint64_t chain[SPANS_DEEP], unsigned *depth)
{
    const struct known *known;
    rtl_status_t status = RTL_OK;
    for (*depth = 0; range && *depth < SPANS_DEEP && status == RTL_OK; ++*depth) {
        chain[*depth] = range;
        status = look_up(spans, process, range, &known);
        range = known->parent;
    }
    return status;
}

static void pop(struct spans *spans, struct row *row, unsigned depth)
{
    while (row->depth > depth)
        spans->emit(spans->state, &row->stack[--row->depth]);
}

static rtl_status_t push(struct spans *spans, struct row *row, uint64_t range, uint64_t start)
{
    const struct known *known;
    struct span *span = &row->stack[row->depth++];
    *span = (struct span){.range = range,
                          .process = row->process,
                          .gpu = row->gpu,
                          .stream = row->stream,
                          .start = start};
    rtl_status_t status = look_up(spans, row->process, range, &known);
    memcpy(span->name, known->name, sizeof span->name);
    return status;
}

/* Ends what the kernel is not inside of and begins what it is newly inside of. */
static rtl_status_t change(struct spans *spans, struct row *row, uint64_t range, uint64_t turn,
                           uint64_t start)
{
    uint64_t chain[SPANS_DEEP];
    unsigned depth;
    unsigned same = 0;
    rtl_status_t status = chain_of(spans, row->process, range, chain, &depth);
    while (turn == row->turn && same < depth && same < row->depth &&
           row->stack[same].range == chain[depth - 1 - same])
        ++same;
    pop(spans, row, same);
    while (status == RTL_OK && row->depth < depth)
        status = push(spans, row, chain[depth - 1 - row->depth], start);
    row->range = range;
    row->turn = turn;
    return status;
}

rtl_status_t spans_kernel(struct spans *spans, const struct export_event *event, uint32_t stream)
{
    const rtl_kernel_t *kernel = event->kernel;
    struct row *row = row_of(spans, kernel->process, kernel->gpu, stream);
    bool captured = kernel->node_range && kernel->launch != RTL_TRACE_NONE;
    uint64_t turn = captured ? (uint64_t)kernel->graph << 32 | kernel->launch : 0;
    rtl_status_t status = RTL_OK;
    if (!row)
        return RTL_E_MEMORY;
    if (row->range != event->origin.range || row->turn != turn)
        status = change(spans, row, event->origin.range, turn, kernel->start);
    for (unsigned i = 0; i < row->depth; ++i)
        if (row->stack[i].end < kernel->end)
            row->stack[i].end = kernel->end;
    return status;
}

void spans_end(struct spans *spans)
{
    for (size_t i = 0; i < spans->count; ++i) {
        pop(spans, spans->rows[i], 0);
        spans->rows[i]->range = 0;
        spans->rows[i]->turn = 0;
    }
}
