#include "export/database_rows.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

struct table {
    sqlite3_vtab base;
    const struct database_rows *rows;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct database_rows *rows;
    const int64_t *row;
    unsigned number;
};

static int connect(sqlite3 *db, void *rows, int argc, const char *const *argv, sqlite3_vtab **table,
                   char **error)
{
    (void)argc;
    (void)argv;
    (void)error;
    struct table *made = sqlite3_malloc(sizeof *made);
    sqlite3_str *sql = sqlite3_str_new(db);
    for (unsigned i = 0; i < ((const struct database_rows *)rows)->columns; ++i)
        sqlite3_str_appendf(sql, "%s%u", i ? ",c" : "CREATE TABLE x(c", i);
    sqlite3_str_appendchar(sql, 1, ')');
    char *text = sqlite3_str_finish(sql);
    int result = made && text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (result == SQLITE_OK) {
        *made = (struct table){.rows = rows};
        *table = &made->base;
    } else {
        sqlite3_free(made);
    }
    return result;
}

static int disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedRows = DATABASE_ROWS;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct cursor *made = sqlite3_malloc(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (struct cursor){.rows = ((struct table *)table)->rows};
    *cursor = &made->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int first(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
                 sqlite3_value **argv)
{
    (void)index;
    (void)name;
    (void)argc;
    (void)argv;
    struct cursor *cursor = (struct cursor *)base;
    cursor->row = cursor->rows->values;
    cursor->number = 0;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->row += cursor->rows->columns;
    ++cursor->number;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->number >= cursor->rows->count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct database_rows *rows = cursor->rows;
    if (rows->types && rows->types[number] == 't')
        sqlite3_result_text(context, rows->texts + cursor->row[number], -1, SQLITE_STATIC);
    else
        sqlite3_result_int64(context, cursor->row[number]);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = ((const struct cursor *)base)->number;
    return SQLITE_OK;
}

static const sqlite3_module module = {.xConnect = connect,
                                      .xDisconnect = disconnect,
                                      .xBestIndex = best_index,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = first,
                                      .xNext = next,
                                      .xEof = at_end,
                                      .xColumn = column,
                                      .xRowid = rowid};

int database_rows_begin(struct database_rows *rows, sqlite3 *db, unsigned number, const char *into,
                        unsigned columns)
{
    char name[16];
    (void)sqlite3_snprintf(sizeof name, name, "rows%u", number);
    rows->into = into;
    rows->columns = columns;
    rows->values = memory_new((size_t)DATABASE_ROWS * columns, sizeof *rows->values);
    return sqlite3_create_module(db, name, &module, rows);
}

void database_rows_take(struct database_rows *rows, const int64_t *values)
{
    memcpy(rows->values + (size_t)rows->count++ * rows->columns, values,
           rows->columns * sizeof *values);
}

int64_t database_rows_text(struct database_rows *rows, const char *text)
{
    size_t size = strlen(text) + 1;
    size_t at = rows->text_bytes;
    if (at + size > rows->text_room) {
        rows->text_room = 2 * (at + size);
        rows->texts = memory_grown(rows->texts, rows->text_room, sizeof *rows->texts);
    }
    memcpy(rows->texts + at, text, size);
    rows->text_bytes += size;
    return (int64_t)at;
}

void database_rows_end(struct database_rows *rows)
{
    free(rows->values);
    free(rows->texts);
    *rows = (struct database_rows){0};
}

int database_rows_write(struct database_rows *rows, sqlite3 *db, unsigned number)
{
    int result = SQLITE_OK;
    if (!rows->write) {
        char *sql = sqlite3_mprintf("%s SELECT * FROM rows%u", rows->into, number);
        result =
            sql ? sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &rows->write, NULL)
                : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    if (result == SQLITE_OK) {
        (void)sqlite3_step(rows->write);
        result = sqlite3_reset(rows->write);
    }
    rows->count = 0;
    rows->text_bytes = 0;
    return result;
}
