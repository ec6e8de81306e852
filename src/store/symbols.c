#include "store/symbols.h"

#include "store/text.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a symbol. */
#define DISPATCHED 1u /* a shape names it */
#define PACKED     2u /* it is in a block, or was to be in a transaction that failed */

/* Symbols count from 0; one beyond this is always a row. */
#define KNOWN_MOST (1u << 22)

struct rtl_symbols_of {
    unsigned char *flags;
    uint32_t count;
    bool forgetful; /* memory was short: further symbols are rows */
};

/* A block that has been unpacked: those that are looked for are mostly in few. */
struct unpacked {
    int64_t number; /* 0: none */
    uint32_t count;
    struct rtl_packed_symbol *symbols;
    char *text;
};

void rtl_symbols_free(struct rtl_symbols *symbols)
{
    for (uint32_t i = 0; i < symbols->count; i++)
        free(symbols->list[i].flags);
    free(symbols->list);
    free(symbols->told);
    free(symbols->late);
    rtl_symbol_codec_free(symbols->codec);
    *symbols = (struct rtl_symbols){0};
}

/* What is known. */

/* NULL when memory is short. */
static struct rtl_symbols_of *of_process(struct rtl_symbols *symbols, uint32_t process)
{
    if (process >= symbols->count) {
        uint32_t count = 2 * process + 1;
        struct rtl_symbols_of *list = realloc(symbols->list, count * sizeof *list);
        if (!list)
            return NULL;
        memset(list + symbols->count, 0, (count - symbols->count) * sizeof *list);
        symbols->list = list;
        symbols->count = count;
    }
    return &symbols->list[process];
}

/* The flags of a symbol; NULL if nothing can be known of it. */
static unsigned char *flags_of(struct rtl_symbols *symbols, uint32_t process, uint32_t symbol)
{
    struct rtl_symbols_of *of = of_process(symbols, process);
    if (of && symbol < of->count)
        return &of->flags[symbol];
    if (!of || of->forgetful || symbol >= KNOWN_MOST)
        return NULL;
    uint32_t count = 2 * symbol + 64;
    unsigned char *flags = realloc(of->flags, count);
    of->forgetful = !flags;
    if (!flags)
        return NULL;
    memset(flags + of->count, 0, count - of->count);
    of->flags = flags;
    of->count = count;
    return &flags[symbol];
}

void rtl_symbols_dispatched(struct rtl_symbols *symbols, uint32_t process, uint32_t symbol)
{
    unsigned char *flags = symbol != RTL_NONE ? flags_of(symbols, process, symbol) : NULL;
    if (flags)
        *flags |= DISPATCHED;
}

/* Blocks. */

static int store_block(struct rtl_symbols *symbols, struct rtl_rows *rows)
{
    struct rtl_symbol_block block = {.process = symbols->process};
    const unsigned char *data = NULL;
    size_t size = 0;
    if (!symbols->codec || rtl_symbol_count(symbols->codec) == 0)
        return SQLITE_OK;
    int packed = rtl_symbol_pack(symbols->codec, &block, &data, &size);
    int result = packed == 0 ? rtl_rows_symbol_block(rows, &block, data, size) : SQLITE_NOMEM;
    rtl_symbol_begin(symbols->codec);
    return result;
}

/* Puts a symbol into the block, or into the next one if that is full. `*whole`: it is in one. */
static int pack(struct rtl_symbols *symbols, struct rtl_rows *rows, uint32_t process,
                const struct rtl_packed_symbol *symbol, bool *whole)
{
    int result = SQLITE_OK;
    if (!symbols->codec && !(symbols->codec = rtl_symbol_codec_new()))
        return SQLITE_NOMEM;
    if (process != symbols->process)
        result = store_block(symbols, rows);
    symbols->process = process;
    *whole = rtl_symbol_add(symbols->codec, symbol);
    if (result != SQLITE_OK || *whole)
        return result;
    result = store_block(symbols, rows);
    *whole = rtl_symbol_add(symbols->codec, symbol);
    return result;
}

static int store(struct rtl_symbols *symbols, struct rtl_rows *rows, uint32_t process,
                 const struct rtl_packed_symbol *symbol)
{
    unsigned char *flags = flags_of(symbols, process, symbol->symbol);
    bool whole = false;
    int result = SQLITE_OK;
    if (flags && (*flags & DISPATCHED) == 0)
        result = pack(symbols, rows, process, symbol, &whole);
    if (whole)
        *flags |= PACKED;
    if (result != SQLITE_OK || whole)
        return result;
    return rtl_rows_symbol(rows, process, symbol);
}

static int store_told(struct rtl_symbols *symbols, struct rtl_rows *rows,
                      const struct rtl_symbol_told *told)
{
    const struct rtl_wire_symbol *body = told->body;
    char *mangled = rtl_text_copy(told->text, body->name_length);
    char *name = mangled ? rtl_text_demangle(mangled) : NULL;
    const struct rtl_packed_symbol symbol = {.kernel_object = body->kernel_object,
                                             .symbol = body->symbol,
                                             .agent = body->agent,
                                             .kernarg_size = body->kernarg_size,
                                             .group_size = body->group_size,
                                             .private_size = body->private_size,
                                             .mangled = mangled,
                                             .name = name};
    int result = name ? store(symbols, rows, told->process, &symbol) : SQLITE_NOMEM;
    free(name);
    free(mangled);
    return result;
}

static int by_process(const void *left, const void *right)
{
    const struct rtl_symbol_told *a = left;
    const struct rtl_symbol_told *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Process by process: several may load the same library at a time, and a block is of one. */
static int store_all(struct rtl_symbols *symbols, struct rtl_rows *rows)
{
    int result = SQLITE_OK;
    if (symbols->told_count)
        qsort(symbols->told, symbols->told_count, sizeof *symbols->told, by_process);
    for (size_t i = 0; i < symbols->told_count && result == SQLITE_OK; i++)
        result = store_told(symbols, rows, &symbols->told[i]);
    return result == SQLITE_OK ? store_block(symbols, rows) : result;
}

/* What comes in. */

void rtl_symbols_begin(struct rtl_symbols *symbols)
{
    symbols->told_count = symbols->late_count = 0;
    if (symbols->codec)
        rtl_symbol_begin(symbols->codec);
}

/* Room for one more item of `size` bytes; NULL when memory is short. */
static void *make_room(void *items, size_t size, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity ? 2 * *capacity : 64;
    void *moved = realloc(items, larger * size);
    if (moved)
        *capacity = larger;
    return moved;
}

int rtl_symbols_add(struct rtl_symbols *symbols, uint32_t process,
                    const struct rtl_wire_symbol *body, const char *text)
{
    size_t count = symbols->told_count;
    struct rtl_symbol_told *told =
        make_room(symbols->told, sizeof *told, count, &symbols->told_capacity);
    if (!told)
        return SQLITE_NOMEM;
    told[count] = (struct rtl_symbol_told){process, count, body, text};
    symbols->told = told;
    symbols->told_count++;
    return SQLITE_OK;
}

int rtl_symbols_shape(struct rtl_symbols *symbols, uint32_t process, uint32_t symbol)
{
    if (symbol == RTL_NONE)
        return SQLITE_OK;
    if (!of_process(symbols, process))
        return SQLITE_NOMEM;
    unsigned char *flags = flags_of(symbols, process, symbol);
    if (flags)
        *flags |= DISPATCHED;
    if (!flags || (*flags & PACKED) == 0)
        return SQLITE_OK;
    struct rtl_symbol_key *late =
        make_room(symbols->late, sizeof *late, symbols->late_count, &symbols->late_capacity);
    if (!late)
        return SQLITE_NOMEM;
    late[symbols->late_count++] = (struct rtl_symbol_key){process, symbol};
    symbols->late = late;
    return SQLITE_OK;
}

/* Rows for what is in blocks. */

static void forget(struct unpacked *unpacked)
{
    free(unpacked->symbols);
    free(unpacked->text);
    *unpacked = (struct unpacked){0};
}

/* Unpacks the block in a row of `blocks_query`. One that is damaged is left empty: `rtl check`
 * tells of it, and the kernel has a number for a name. */
static int unpack(struct rtl_symbol_codec *codec, sqlite3_stmt *row, uint32_t process,
                  struct unpacked *unpacked)
{
    const struct rtl_symbol_block block = {.process = process,
                                           .symbols = (uint32_t)sqlite3_column_int64(row, 1),
                                           .bytes = (uint32_t)sqlite3_column_int64(row, 2),
                                           .symbol_min = (uint32_t)sqlite3_column_int64(row, 3),
                                           .symbol_max = (uint32_t)sqlite3_column_int64(row, 4),
                                           .checksum = (uint32_t)sqlite3_column_int64(row, 5)};
    const unsigned char *data = sqlite3_column_blob(row, 6);
    size_t size = (size_t)sqlite3_column_bytes(row, 6);
    forget(unpacked);
    unpacked->number = sqlite3_column_int64(row, 0);
    if (!data || !rtl_symbol_intact(&block, data, size))
        return SQLITE_OK;
    unpacked->symbols = calloc(block.symbols, sizeof *unpacked->symbols);
    unpacked->text = malloc(rtl_symbol_text_size(&block));
    if (!unpacked->symbols || !unpacked->text)
        return SQLITE_NOMEM;
    int done = rtl_symbol_unpack(codec, &block, data, size, unpacked->symbols, unpacked->text);
    unpacked->count = done == 0 ? block.symbols : 0;
    return done == -2 ? SQLITE_NOMEM : SQLITE_OK;
}

static const struct rtl_packed_symbol *find(const struct unpacked *unpacked, uint32_t symbol)
{
    for (uint32_t i = unpacked->count; i > 0; i--)
        if (unpacked->symbols[i - 1].symbol == symbol)
            return &unpacked->symbols[i - 1];
    return NULL;
}

/* Makes the row of a symbol; none if it has one already, or is in no block. */
static int make_row(struct rtl_symbols *symbols, struct rtl_rows *rows, sqlite3_stmt *blocks,
                    const struct rtl_symbol_key *key, struct unpacked *unpacked)
{
    const struct rtl_packed_symbol *found = NULL;
    int result = sqlite3_bind_int64(blocks, 1, key->process);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(blocks, 2, key->symbol);
    while (result == SQLITE_OK && !found && (result = sqlite3_step(blocks)) == SQLITE_ROW) {
        result = SQLITE_OK;
        if (sqlite3_column_int64(blocks, 0) != unpacked->number)
            result = unpack(symbols->codec, blocks, key->process, unpacked);
        found = result == SQLITE_OK ? find(unpacked, key->symbol) : NULL;
    }
    (void)sqlite3_reset(blocks);
    if (result != SQLITE_OK && result != SQLITE_DONE)
        return result;
    return found ? rtl_rows_symbol(rows, key->process, found) : SQLITE_OK;
}

static int by_key(const void *left, const void *right)
{
    const struct rtl_symbol_key *a = left;
    const struct rtl_symbol_key *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

/* In the order of symbols, which is mostly that of blocks: each of them is unpacked about once. */
static int make_rows(struct rtl_symbols *symbols, struct rtl_rows *rows)
{
    static const char blocks_query[] =
        "SELECT block, symbols, bytes, symbol_min, symbol_max, checksum, data FROM symbol_blocks"
        " WHERE process = ?1 AND ?2 BETWEEN symbol_min AND symbol_max AND NOT EXISTS(SELECT 1 FROM"
        " symbols WHERE process = ?1 AND symbol = ?2) ORDER BY block DESC";
    struct unpacked unpacked = {0};
    sqlite3_stmt *blocks = NULL;
    int result = sqlite3_prepare_v2(rows->db, blocks_query, -1, &blocks, NULL);
    qsort(symbols->late, symbols->late_count, sizeof *symbols->late, by_key);
    for (size_t i = 0; i < symbols->late_count && result == SQLITE_OK; i++)
        result = make_row(symbols, rows, blocks, &symbols->late[i], &unpacked);
    (void)sqlite3_finalize(blocks);
    forget(&unpacked);
    return result;
}

int rtl_symbols_end(struct rtl_symbols *symbols, struct rtl_rows *rows)
{
    int result = store_all(symbols, rows);
    if (result == SQLITE_OK && symbols->late_count)
        result = make_rows(symbols, rows);
    return result;
}
