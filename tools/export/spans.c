#include "export/spans.h"

#include <stdbool.h>
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
    unsigned depth, room;
    struct span *stack; /* outermost first */
};

struct spans {
    rtl_trace_t *trace;
    spans_emit emit;
    void *state;
    struct row *rows;
    size_t count, capacity;
    size_t *table; /* the place of a row, from 1; 0: free */
    size_t table_size;
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
        free(spans->rows[i].stack);
    free(spans->rows);
    free(spans->table);
    free(spans);
}

static bool is_of(const struct row *row, uint32_t process, uint32_t gpu, uint32_t stream)
{
    return row->process == process && row->gpu == gpu && row->stream == stream;
}

/* Where a row is in the table, or the free place where it belongs. */
static size_t place_of(const struct spans *spans, uint32_t process, uint32_t gpu, uint32_t stream)
{
    uint64_t hash = ((uint64_t)process << 32 | stream) * UINT64_C(0x9E3779B97F4A7C15) + gpu;
    size_t at = (size_t)(hash >> 32) & (spans->table_size - 1);
    while (spans->table[at] && !is_of(&spans->rows[spans->table[at] - 1], process, gpu, stream))
        at = (at + 1) & (spans->table_size - 1);
    return at;
}

/* Room for one row more, in the table at most half full. */
static bool make_room(struct spans *spans)
{
    if (spans->count < spans->capacity)
        return true;
    size_t capacity = spans->capacity ? 2 * spans->capacity : 32;
    struct row *rows = realloc(spans->rows, capacity * sizeof *rows);
    size_t *table = calloc(2 * capacity, sizeof *table);
    if (rows)
        spans->rows = rows;
    if (!rows || !table) {
        free(table);
        return false;
    }
    free(spans->table);
    spans->table = table;
    spans->table_size = 2 * capacity;
    spans->capacity = capacity;
    for (size_t i = 0; i < spans->count; ++i)
        table[place_of(spans, rows[i].process, rows[i].gpu, rows[i].stream)] = i + 1;
    return true;
}

static struct row *row_of(struct spans *spans, uint32_t process, uint32_t gpu, uint32_t stream)
{
    if (!make_room(spans))
        return NULL;
    size_t at = place_of(spans, process, gpu, stream);
    if (!spans->table[at]) {
        spans->rows[spans->count++] =
            (struct row){.process = process, .gpu = gpu, .stream = stream};
        spans->table[at] = spans->count;
    }
    return &spans->rows[spans->table[at] - 1];
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
    if (row->depth == row->room) {
        unsigned room = row->room ? 2 * row->room : 1;
        struct span *stack = realloc(row->stack, room * sizeof *stack);
        if (!stack)
            return RTL_E_MEMORY;
        row->stack = stack;
        row->room = room;
    }
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
        pop(spans, &spans->rows[i], 0);
        spans->rows[i].range = 0;
        spans->rows[i].turn = 0;
    }
}
