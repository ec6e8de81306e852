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

/* The ranges around a kernel, innermost first: the first `captured` are those that its node was
 * captured in, the others those that were open at its launch. */
struct chain {
    uint64_t ids[2 * SPANS_DEEP];
    unsigned depth, captured;
};

struct row {
    uint32_t process, gpu, stream;
    uint64_t range;    /* of the last kernel */
    uint64_t captured; /* the range that its node was captured in, 0 if none */
    uint64_t turn;     /* its launch of a graph, where `captured` is not 0 */
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

/* Appends the ranges around one, itself included. */
static rtl_status_t add_around(struct spans *spans, uint32_t process, uint64_t range,
                               struct chain *chain)
{
    const struct known *known;
    rtl_status_t status = RTL_OK;
    unsigned most = chain->depth + SPANS_DEEP;
    while (range && chain->depth < most && status == RTL_OK) {
        chain->ids[chain->depth++] = range;
        status = look_up(spans, process, range, &known);
        range = known->parent;
    }
    return status;
}

static bool has(const struct chain *chain, uint64_t range)
{
    for (unsigned i = 0; i < chain->depth; ++i)
        if (chain->ids[i] == range)
            return true;
    return false;
}

/* A range that was open at the capture and still is at the launch is there once. */
static rtl_status_t chain_of(struct spans *spans, uint32_t process, uint64_t range,
                             uint64_t captured, struct chain *chain)
{
    struct chain launched = {.depth = 0};
    chain->depth = 0;
    rtl_status_t status = add_around(spans, process, range, &launched);
    if (status == RTL_OK)
        status = add_around(spans, process, captured, chain);
    for (chain->captured = 0; chain->captured < chain->depth; ++chain->captured)
        if (has(&launched, chain->ids[chain->captured]))
            break;
    memcpy(&chain->ids[chain->captured], launched.ids, launched.depth * sizeof *launched.ids);
    chain->depth = chain->captured + launched.depth;
    return status;
}

static void pop(struct spans *spans, struct row *row, unsigned depth)
{
    while (row->depth > depth)
        spans->emit(spans->state, &row->stack[--row->depth]);
}

static rtl_status_t push(struct spans *spans, struct row *row, const struct chain *chain,
                         uint64_t start)
{
    unsigned at = chain->depth - 1 - row->depth;
    uint64_t range = chain->ids[at];
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
                          .captured = at < chain->captured,
                          .start = start};
    rtl_status_t status = look_up(spans, row->process, range, &known);
    memcpy(span->name, known->name, sizeof span->name);
    return status;
}

/* How many of the open spans go on. Captured ranges begin anew with each launch. */
static unsigned go_on(const struct row *row, const struct chain *chain, uint64_t turn)
{
    unsigned same = 0;
    for (; same < chain->depth && same < row->depth; ++same) {
        const struct span *span = &row->stack[same];
        unsigned at = chain->depth - 1 - same;
        bool captured = at < chain->captured;
        if (span->range != chain->ids[at] || span->captured != captured ||
            (captured && turn != row->turn))
            break;
    }
    return same;
}

/* Ends what the kernel is not inside of and begins what it is newly inside of. */
static rtl_status_t change(struct spans *spans, struct row *row, const struct chain *chain,
                           uint64_t turn, uint64_t start)
{
    rtl_status_t status = RTL_OK;
    pop(spans, row, go_on(row, chain, turn));
    while (status == RTL_OK && row->depth < chain->depth)
        status = push(spans, row, chain, start);
    row->turn = turn;
    return status;
}

rtl_status_t spans_kernel(struct spans *spans, const struct export_event *event, uint32_t stream)
{
    const rtl_kernel_t *kernel = event->kernel;
    struct row *row = row_of(spans, kernel->process, kernel->gpu, stream);
    uint64_t captured = kernel->launch == RTL_TRACE_NONE ? 0 : kernel->node_range;
    uint64_t turn = captured ? (uint64_t)kernel->graph << 32 | kernel->launch : 0;
    struct chain chain;
    rtl_status_t status = RTL_OK;
    if (!row)
        return RTL_E_MEMORY;
    if (row->range != event->origin.range || row->captured != captured || row->turn != turn) {
        status = chain_of(spans, kernel->process, event->origin.range, captured, &chain);
        if (status == RTL_OK)
            status = change(spans, row, &chain, turn, kernel->start);
        row->range = event->origin.range;
        row->captured = captured;
    }
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
        spans->rows[i].captured = 0;
        spans->rows[i].turn = 0;
    }
}
