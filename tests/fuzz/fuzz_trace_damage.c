/* Damage to a trace, as the input says. Statements that SQLite refuses do nothing. */
#include "fuzz_trace.h"
#include "store/checksum.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32
#define NAME        64

struct table {
    const char *name;
    char columns[COLUMNS_MAX][NAME];
    bool keyed[COLUMNS_MAX]; /* part of the primary key */
    int count;
};

static struct table tables[] = {
    {.name = "meta"},
    {.name = "processes"},
    {.name = "agents"},
    {.name = "queues"},
    {.name = "symbols"},
    {.name = "symbol_blocks"},
    {.name = "shapes"},
    {.name = "clock_points"},
    {.name = "clock_brackets"},
    {.name = "kernel_chunks"},
    {.name = "kernel_chunk_launches"},
    {.name = "copies"},
    {.name = "calls"},
    {.name = "api_chunks"},
    {.name = "streams"},
    {.name = "threads"},
    {.name = "names"},
    {.name = "ranges"},
    {.name = "pauses"},
    {.name = "ledger_rows"},
    {.name = "ledger_losses"},
    {.name = "ledger_left_out"},
    {.name = "ledger_opaque"},
    {.name = "ledger_kind_rows"},
    {.name = "ledger_kind_losses"},
    {.name = "hip_queues"},
    {.name = "notes"},
    {.name = "graph_rows"},
    {.name = "graph_names"},
    {.name = "graph_node_rows"},
    {.name = "graph_plans"},
    {.name = "launch_chunks"},
    {.name = "graph_launch_rows"},
    {.name = "graph_launch_spans"},
    {.name = "graph_launch_late"},
    {.name = "counting"},
    {.name = "counters"},
    {.name = "sample_chunks"},
    {.name = "uncounted"},
    {.name = "clock_exchanges"},
    {.name = "process_clocks"},
};

/* Data under a checksum, and the columns that this is over as well. */
#define FIELDS_MAX 10
#define OF_LAUNCHES                                                                                \
    "process, launches, spans, headed, launch_min, launch_max, time_min, time_max,"                \
    " correlation_min, correlation_max"

static const struct packed {
    const char *table, *key, *data, *checksum, *columns;
} packed[] = {
    {"kernel_chunks", "chunk", "data", "checksum",
     "process, queue, kernels, packet_min, packet_max, start_min, end_max"},
    {"api_chunks", "chunk", "data", "checksum",
     "process, calls, words, start_min, end_max, correlation_min, correlation_max"},
    {"launch_chunks", "chunk", "data", "checksum", OF_LAUNCHES},
    {"launch_chunks", "chunk", "summary", "summary_checksum", OF_LAUNCHES},
    {"sample_chunks", "chunk", "data", "checksum",
     "process, coalesce(queue, 4294967295), samples, counts, owner_min, owner_max"},
    {"symbol_blocks", "block", "data", "checksum",
     "process, symbols, bytes, symbol_min, symbol_max"},
    {"graph_plans", "plan", "data", "checksum",
     "process, plan, graph, generation, begins, kernels"},
};

/* The columns of the tables, as they are before anything is damaged; a table that the version does
 * not have yet has one that is not there. */
static void learn(sqlite3 *db)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct table *table = &tables[i];
        sqlite3_stmt *row = NULL;
        fuzz_must(sqlite3_prepare_v2(db, "SELECT name, pk FROM pragma_table_info(?)", -1, &row,
                                     NULL) == SQLITE_OK,
                  "columns can be asked for");
        (void)sqlite3_bind_text(row, 1, table->name, -1, SQLITE_STATIC);
        table->count = 0;
        while (sqlite3_step(row) == SQLITE_ROW && table->count < COLUMNS_MAX) {
            (void)snprintf(table->columns[table->count], NAME, "%s",
                           (const char *)sqlite3_column_text(row, 0));
            table->keyed[table->count++] = sqlite3_column_int(row, 1) > 0;
        }
        (void)sqlite3_finalize(row);
        table->count += table->count == 0;
    }
}

static void run(sqlite3 *db, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
}

static const struct table *choose(struct fuzz_input *input)
{
    return &tables[fuzz_byte(input) % (sizeof tables / sizeof *tables)];
}

static const char *choose_column(const struct table *table, struct fuzz_input *input)
{
    return table->columns[fuzz_byte(input) % table->count];
}

/* `key, key` of a table. */
static void list_keys(const struct table *table, char *list, size_t size)
{
    size_t length = 0;
    list[0] = '\0';
    for (int i = 0; i < table->count; i++)
        if (table->keyed[i])
            length += (size_t)snprintf(list + length, size - length, "%s%s", length ? ", " : "",
                                       table->columns[i]);
}

/* Binds a value of any type as the first parameter. */
static void bind(sqlite3_stmt *statement, struct fuzz_input *input)
{
    static const char *const texts[] = {"",       "hip",      "packets",     "push",    "copies",
                                        "closed", "\xff\xfe", "a:3,b:b[,:,", "running", "mark"};
    unsigned char bytes[64];
    uint64_t number = 0;
    double real = 0;
    switch (fuzz_byte(input) % 8) {
    case 0:
        (void)sqlite3_bind_null(statement, 1);
        break;
    case 1:
        number = fuzz_number(input);
        memcpy(&real, &number, sizeof real);
        (void)sqlite3_bind_double(statement, 1, real);
        break;
    case 2:
        (void)sqlite3_bind_text(statement, 1,
                                texts[fuzz_byte(input) % (sizeof texts / sizeof *texts)], -1,
                                SQLITE_STATIC);
        break;
    case 3:
        number = fuzz_byte(input) % sizeof bytes;
        for (size_t i = 0; i < number; i++)
            bytes[i] = fuzz_byte(input);
        (void)sqlite3_bind_blob64(statement, 1, bytes, number, SQLITE_TRANSIENT);
        break;
    default:
        (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)fuzz_number(input));
        break;
    }
}

/* Another value in one row, or in all. */
static void change_value(sqlite3 *db, struct fuzz_input *input)
{
    const struct table *table = choose(input);
    const char *column = choose_column(table, input);
    uint8_t which = fuzz_byte(input);
    char keys[NAME * 4];
    sqlite3_stmt *statement = NULL;
    list_keys(table, keys, sizeof keys);
    char *sql = which % 4 == 0
                    ? sqlite3_mprintf("UPDATE OR REPLACE %s SET %s = ?", table->name, column)
                    : sqlite3_mprintf("UPDATE OR REPLACE %s SET %s = ? WHERE (%s) IN"
                                      " (SELECT %s FROM %s LIMIT 1 OFFSET %d)",
                                      table->name, column, keys, keys, table->name, which / 4);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK) {
        bind(statement, input);
        (void)sqlite3_step(statement);
    }
    (void)sqlite3_finalize(statement);
    sqlite3_free(sql);
}

/* The rows of a table once more, with another value in one column of their key. */
static void add_rows(sqlite3 *db, struct fuzz_input *input)
{
    const struct table *table = choose(input);
    const char *column = choose_column(table, input);
    sqlite3_int64 value = (sqlite3_int64)fuzz_number(input);
    sqlite3_str *list = sqlite3_str_new(db);
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->columns[i], column) == 0)
            sqlite3_str_appendf(list, "%s%lld", i ? ", " : "", value);
        else
            sqlite3_str_appendf(list, "%s%s", i ? ", " : "", table->columns[i]);
    char *columns = sqlite3_str_finish(list);
    run(db, "INSERT OR IGNORE INTO %s SELECT %s FROM %s LIMIT %d", table->name, columns,
        table->name, 1 + fuzz_byte(input) % 8);
    sqlite3_free(columns);
}

/* Without its keys a table may say things twice. */
static void lose_keys(sqlite3 *db, struct fuzz_input *input)
{
    const char *name = choose(input)->name;
    run(db, "CREATE TABLE other AS SELECT * FROM %s; DROP TABLE %s; ALTER TABLE other RENAME TO %s",
        name, name, name);
    run(db, "INSERT INTO %s SELECT * FROM %s LIMIT %d", name, name, fuzz_byte(input));
}

static void change_table(sqlite3 *db, struct fuzz_input *input)
{
    const struct table *table = choose(input);
    switch (fuzz_byte(input) % 8) {
    case 0:
        run(db, "DROP TABLE %s", table->name);
        break;
    case 1:
        run(db, "DELETE FROM %s", table->name);
        break;
    case 2:
        run(db, "DELETE FROM %s WHERE %s = %lld", table->name, choose_column(table, input),
            (sqlite3_int64)fuzz_number(input));
        break;
    case 3:
        run(db, "ALTER TABLE %s DROP COLUMN %s", table->name, choose_column(table, input));
        break;
    case 4:
        lose_keys(db, input);
        break;
    case 5:
        run(db, "PRAGMA user_version=%d", 1000 + fuzz_byte(input) % 6);
        break;
    case 6:
        run(db, "PRAGMA user_version=%d", (int)fuzz_number(input));
        break;
    default:
        add_rows(db, input);
        break;
    }
}

/* Other bytes in `data`, one more or one less. */
static size_t change_data(unsigned char *data, size_t size, size_t room, struct fuzz_input *input)
{
    for (unsigned i = 0; i < 1 + fuzz_byte(input) % 4u; i++) {
        size_t at = size ? fuzz_number(input) % size : 0;
        uint8_t kind = fuzz_byte(input);
        if (kind % 4 == 0 && size < room) {
            memmove(data + at + 1, data + at, size++ - at);
            data[at] = fuzz_byte(input);
        } else if (kind % 4 == 1 && size) {
            memmove(data + at, data + at + 1, --size - at);
        } else if (kind % 4 == 2 && size) {
            size = at;
        } else if (size) {
            data[at] = fuzz_byte(input);
        }
    }
    return size;
}

/* All data of the input's own making, which may be much shorter and claim much more. */
static size_t invent_data(unsigned char *data, size_t room, struct fuzz_input *input)
{
    size_t size = fuzz_byte(input);
    size = size < room ? size : room;
    for (size_t i = 0; i < size; i++)
        data[i] = fuzz_byte(input);
    return size;
}

/* Data of one row, and what its checksum is over. */
struct packed_row {
    sqlite3_int64 key;
    uint64_t fields[FIELDS_MAX];
    size_t field_count;
    unsigned char data[1 << 16];
    size_t size;
};

static bool read_packed(sqlite3 *db, const struct packed *which, int place, struct packed_row *to)
{
    sqlite3_stmt *row = NULL;
    char *sql = sqlite3_mprintf("SELECT %s, %s, %s FROM %s LIMIT 1 OFFSET %d", which->key,
                                which->data, which->columns, which->table, place);
    bool found =
        sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW;
    sqlite3_free(sql);
    if (found) {
        const void *data = sqlite3_column_blob(row, 1);
        size_t size = data ? (size_t)sqlite3_column_bytes(row, 1) : 0;
        to->key = sqlite3_column_int64(row, 0);
        to->size = size < sizeof to->data ? size : sizeof to->data;
        if (to->size)
            memcpy(to->data, data, to->size);
        to->field_count = (size_t)sqlite3_column_count(row) - 2;
        for (size_t i = 0; i < to->field_count; i++)
            to->fields[i] = (uint64_t)sqlite3_column_int64(row, 2 + (int)i);
    }
    (void)sqlite3_finalize(row);
    return found;
}

static void write_packed(sqlite3 *db, const struct packed *which, const struct packed_row *from)
{
    sqlite3_stmt *row = NULL;
    sqlite3_int64 checksum =
        rtl_checksum_row(from->fields, from->field_count, from->data, from->size);
    char *sql = sqlite3_mprintf("UPDATE %s SET %s = ?, %s = %lld WHERE %s = %lld", which->table,
                                which->data, which->checksum, checksum, which->key, from->key);
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_blob64(row, 1, from->data, from->size, SQLITE_STATIC);
        (void)sqlite3_step(row);
    }
    (void)sqlite3_finalize(row);
    sqlite3_free(sql);
}

/* Makes a row's data another one, or leaves it; with the checksum that this has. */
static void change_packed(sqlite3 *db, struct fuzz_input *input)
{
    static struct packed_row row;
    const struct packed *which = &packed[fuzz_byte(input) % (sizeof packed / sizeof *packed)];
    uint8_t place = fuzz_byte(input);
    uint8_t kind = fuzz_byte(input);
    if (!read_packed(db, which, place % 8, &row))
        return;
    if (kind % 4 == 0)
        row.size = invent_data(row.data, sizeof row.data, input);
    else if (kind % 4 < 3)
        row.size = change_data(row.data, row.size, sizeof row.data, input);
    write_packed(db, which, &row);
}

/* What a chunk's row says, under checksums that are right. */
static void change_bounds(sqlite3 *db, struct fuzz_input *input)
{
    static struct packed_row row;
    static const char *const changed[] = {
        "kernel_chunks SET kernels",    "kernel_chunks SET start_min",
        "kernel_chunks SET packet_min", "kernel_chunks SET end_max",
        "api_chunks SET calls",         "api_chunks SET words",
        "api_chunks SET start_min",     "api_chunks SET correlation_max",
        "launch_chunks SET launches",   "launch_chunks SET spans",
        "launch_chunks SET launch_min", "launch_chunks SET launch_max",
        "launch_chunks SET headed",     "launch_chunks SET process",
    };
    const char *what = changed[fuzz_byte(input) % (sizeof changed / sizeof *changed)];
    run(db, "UPDATE %s = %lld WHERE chunk = %d", what, (sqlite3_int64)fuzz_number(input),
        1 + fuzz_byte(input) % 4);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        for (int place = 0; place < 8 && read_packed(db, &packed[i], place, &row); place++)
            write_packed(db, &packed[i], &row);
}

void fuzz_damage_rows(sqlite3 *db, struct fuzz_input *input)
{
    learn(db);
    (void)sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    for (unsigned i = 0; i < 8 && input->size; i++) {
        uint8_t kind = fuzz_byte(input);
        if (kind % 8 == 0)
            change_table(db, input);
        else if (kind % 8 < 4)
            change_value(db, input);
        else if (kind % 8 < 7)
            change_packed(db, input);
        else
            change_bounds(db, input);
    }
    (void)sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
}

size_t fuzz_damage_bytes(unsigned char *bytes, size_t size, struct fuzz_input *input)
{
    uint8_t cut = fuzz_byte(input);
    for (unsigned i = 0; i < 16 && input->size > 64; i++)
        bytes[fuzz_number(input) % size] = fuzz_byte(input);
    return cut == 255 ? fuzz_number(input) % (size + 1) : size;
}
