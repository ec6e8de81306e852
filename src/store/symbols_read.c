/* All symbols of a trace: those that have rows, which are read when it is opened, and those in
 * blocks, which are read when somebody asks for all. */
#include "store/reader.h"
#include "store/symbol_codec.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

/* What the names of all blocks together may have, bytes: so much, and for each byte of data. A few
 * bytes may unpack to more memory than there is. */
#define NAMES_MOST     "268435456"
#define NAMES_PER_BYTE "256"

enum column { BLOCK, PROCESS, SYMBOLS, BYTES, SYMBOL_MIN, SYMBOL_MAX, CHECKSUM, DATA };

/* A reading of all blocks. */
struct reading {
    rtl_trace_t *trace;
    struct rtl_symbol_codec *codec;
    struct rtl_list *into;
    struct rtl_packed_symbol *symbols; /* of a block */
    char *text;
};

static rtl_status_t damaged(rtl_trace_t *trace, sqlite3_stmt *row)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED, "the trace %s is damaged: block %lld of symbols",
                          trace->path, (long long)sqlite3_column_int64(row, BLOCK));
}

/* Keeps a symbol of a block; `process` is of that. */
static int keep(struct reading *reading, uint32_t process, const struct rtl_packed_symbol *from)
{
    rtl_symbol_t *symbol = rtl_list_append(reading->into, sizeof *symbol);
    if (!symbol)
        return -1;
    const char *mangled = rtl_trace_string(reading->trace, from->mangled);
    *symbol = (rtl_symbol_t){
        .process = process,
        .symbol = from->symbol,
        .agent = from->agent,
        .kernel_object = from->kernel_object,
        .name =
            from->name == from->mangled ? mangled : rtl_trace_string(reading->trace, from->name),
        .mangled = mangled,
        .kernarg_size = from->kernarg_size,
        .group_size = from->group_size,
        .private_size = from->private_size,
    };
    return symbol->name && symbol->mangled ? 0 : -1;
}

static rtl_status_t unpack(struct reading *reading, const struct rtl_symbol_block *block,
                           sqlite3_stmt *row)
{
    rtl_trace_t *trace = reading->trace;
    const unsigned char *data = sqlite3_column_blob(row, DATA);
    size_t size = (size_t)sqlite3_column_bytes(row, DATA);
    if (sqlite3_errcode(trace->db) == SQLITE_NOMEM)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (!data || !rtl_symbol_intact(block, data, size))
        return damaged(trace, row);
    reading->symbols = calloc(block->symbols, sizeof *reading->symbols);
    reading->text = malloc(rtl_symbol_text_size(block));
    int done =
        reading->symbols && reading->text
            ? rtl_symbol_unpack(reading->codec, block, data, size, reading->symbols, reading->text)
            : -2;
    if (done == -1)
        return damaged(trace, row);
    for (uint32_t i = 0; i < block->symbols && done == 0; i++)
        done = keep(reading, block->process, &reading->symbols[i]);
    return done == 0 ? RTL_OK : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
}

static rtl_status_t read_block(struct reading *reading, sqlite3_stmt *row)
{
    rtl_trace_t *trace = reading->trace;
    const struct rtl_symbol_block block = {
        .process = rtl_row_u32(trace, row, PROCESS),
        .symbols = rtl_row_u32(trace, row, SYMBOLS),
        .bytes = rtl_row_u32(trace, row, BYTES),
        .symbol_min = rtl_row_u32(trace, row, SYMBOL_MIN),
        .symbol_max = rtl_row_u32(trace, row, SYMBOL_MAX),
        .checksum = rtl_row_u32(trace, row, CHECKSUM),
    };
    rtl_status_t status = trace->damaged ? damaged(trace, row) : unpack(reading, &block, row);
    trace->damaged = false; /* what is read later may be whole */
    free(reading->symbols);
    free(reading->text);
    reading->symbols = NULL;
    reading->text = NULL;
    return status;
}

/* Before any memory is asked for. */
static rtl_status_t look_at_sizes(rtl_trace_t *trace)
{
    static const char query[] = "SELECT total(bytes) > " NAMES_MOST " + " NAMES_PER_BYTE
                                " * total(length(data)) FROM main.symbol_blocks";
    sqlite3_stmt *row = NULL;
    bool many = false;
    int result = sqlite3_prepare_v2(trace->db, query, -1, &row, NULL);
    if (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        many = sqlite3_column_int(row, 0) != 0;
        result = SQLITE_OK;
    }
    rtl_status_t status = result == SQLITE_OK ? RTL_OK : rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(row);
    return many ? rtl_trace_fail(
                      trace, RTL_E_DAMAGED,
                      "the trace %s is damaged: its blocks of symbols have too long names",
                      trace->path)
                : status;
}

static rtl_status_t read_blocks(rtl_trace_t *trace, struct rtl_list *into)
{
    static const char query[] = "SELECT block, process, symbols, bytes, symbol_min, symbol_max,"
                                " checksum, data FROM main.symbol_blocks ORDER BY block";
    struct reading reading = {.trace = trace, .into = into, .codec = rtl_symbol_codec_new()};
    sqlite3_stmt *row = NULL;
    rtl_status_t status = RTL_OK;
    int result =
        reading.codec ? sqlite3_prepare_v2(trace->db, query, -1, &row, NULL) : SQLITE_NOMEM;
    while (status == RTL_OK && result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        status = read_block(&reading, row);
        result = SQLITE_OK;
    }
    if (status == RTL_OK && result != SQLITE_DONE)
        status = rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(row);
    rtl_symbol_codec_free(reading.codec);
    return status;
}

static int compare(const rtl_symbol_t *a, const rtl_symbol_t *b)
{
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

/* A symbol and its place among those that were read: where it is there several times, the last one
 * counts. */
struct placed {
    rtl_symbol_t symbol;
    size_t place;
};

static int by_place(const void *left, const void *right)
{
    const struct placed *a = left;
    const struct placed *b = right;
    int order = compare(&a->symbol, &b->symbol);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Puts symbols in order, each once. */
static int put_in_order(struct rtl_list *list)
{
    rtl_symbol_t *symbols = list->items;
    struct placed *placed = calloc(list->count + 1, sizeof *placed);
    size_t kept = 0;
    if (!placed)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        placed[i] = (struct placed){symbols[i], i};
    qsort(placed, list->count, sizeof *placed, by_place);
    for (size_t i = 0; i < list->count; i++)
        if (i + 1 == list->count || compare(&placed[i].symbol, &placed[i + 1].symbol) != 0)
            symbols[kept++] = placed[i].symbol;
    list->count = kept;
    free(placed);
    return 0;
}

static rtl_status_t load(rtl_trace_t *trace)
{
    struct rtl_list *all = &trace->all_symbols;
    const rtl_symbol_t *rows = trace->symbols.items;
    rtl_status_t status = look_at_sizes(trace);
    if (status == RTL_OK)
        status = read_blocks(trace, all);
    /* A row counts more than a block. */
    for (size_t i = 0; i < trace->symbols.count && status == RTL_OK; i++) {
        rtl_symbol_t *symbol = rtl_list_append(all, sizeof *symbol);
        if (symbol)
            *symbol = rows[i];
        else
            status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    if (status == RTL_OK && put_in_order(all) != 0)
        status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (status != RTL_OK)
        rtl_list_free(all);
    return status;
}

rtl_status_t rtlTraceSymbols(rtl_trace_t *trace, const rtl_symbol_t **items, size_t *count)
{
    rtl_status_t status = RTL_OK;
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    const struct rtl_list *list =
        rtl_trace_has_symbol_blocks(trace) ? &trace->all_symbols : &trace->symbols;
    if (list == &trace->all_symbols && !trace->symbols_loaded)
        status = load(trace);
    trace->symbols_loaded = status == RTL_OK;
    *items = list->items;
    *count = list->count;
    return status;
}
