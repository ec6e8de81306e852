#include "export/database.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/say.h"
#include "store/file.h"
#include "store/sqlite_path.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct database *database, int result)
{
    char text[RTL_FILE_REASON];
    const char *name = database->output->name;
    if (!database->failed)
        say("'%s' could not be written: %s", name,
            rtl_file_reason(database->db, result, name, text, sizeof text));
    database->failed = true;
    return EXIT_USAGE;
}

/* The file has no name yet: if writing it ends early nobody will see it, so nothing has to survive
 * a crash. */
int database_begin(struct database *database, struct export *export, const char *schema)
{
    *database = (struct database){.output = export_file(export, OUTPUT_DATABASE)};
    if (!database->output)
        return EXIT_USAGE;
    int result = rtl_sqlite_open(database->output->path, &database->db,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database->db,
                              "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                              "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384;"
                              "PRAGMA temp_store=FILE; BEGIN",
                              NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database->db, schema, NULL, NULL, NULL);
    return result == SQLITE_OK ? EXIT_FINE : fail(database, result);
}

int database_run(struct database *database, const char *sql)
{
    int result = sqlite3_exec(database->db, sql, NULL, NULL, NULL);
    return result == SQLITE_OK ? EXIT_FINE : fail(database, result);
}

static sqlite3_stmt *prepared(struct database *database, unsigned which, const char *sql)
{
    sqlite3_stmt **statement = &database->statements[which];
    if (*statement)
        return *statement;
    int result =
        sqlite3_prepare_v3(database->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    if (result != SQLITE_OK)
        (void)fail(database, result);
    return *statement;
}

/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start of the caller */
static int bind(sqlite3_stmt *statement, const char *types, va_list values)
{
    int result = SQLITE_OK;
    for (int i = 0; types[i] && result == SQLITE_OK; ++i) {
        const char *text;
        switch (types[i]) {
        case 'i':
            result = sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
            break;
        case 'd':
            result = sqlite3_bind_double(statement, i + 1, va_arg(values, double));
            break;
        case 't':
            text = va_arg(values, const char *);
            result = sqlite3_bind_text(statement, i + 1, text, -1, SQLITE_STATIC);
            break;
        default:
            result = sqlite3_bind_null(statement, i + 1);
            break;
        }
    }
    return result;
}
/* NOLINTEND(clang-analyzer-valist.Uninitialized) */

int database_row(struct database *database, unsigned which, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement = prepared(database, which, sql);
    if (!statement)
        return EXIT_USAGE;
    va_list values;
    va_start(values, types);
    int result = bind(statement, types, values);
    va_end(values);
    if (result == SQLITE_OK)
        (void)sqlite3_step(statement);
    int stepped = sqlite3_reset(statement);
    if (result == SQLITE_OK)
        result = stepped;
    return result == SQLITE_OK ? EXIT_FINE : fail(database, result);
}

/* "INSERT … VALUES(?,…),(?,…)" of so many rows. */
static int prepare_rows(struct database *database, const struct database_rows *rows, unsigned count,
                        sqlite3_stmt **statement)
{
    sqlite3_str *sql = sqlite3_str_new(database->db);
    sqlite3_str_appendall(sql, rows->into);
    for (unsigned row = 0; row < count; ++row)
        for (unsigned column = 0; column < rows->columns; ++column)
            sqlite3_str_appendall(sql, column ? ",?" : row ? "),(?" : "(?");
    sqlite3_str_appendchar(sql, 1, ')');
    char *text = sqlite3_str_finish(sql);
    int result = text ? sqlite3_prepare_v3(database->db, text, -1, SQLITE_PREPARE_PERSISTENT,
                                           statement, NULL)
                      : SQLITE_NOMEM;
    sqlite3_free(text);
    return result;
}

static int write_rows(sqlite3_stmt *statement, const int64_t *values, unsigned count)
{
    int result = SQLITE_OK;
    for (unsigned i = 0; i < count && result == SQLITE_OK; ++i)
        result = sqlite3_bind_int64(statement, (int)i + 1, values[i]);
    if (result == SQLITE_OK)
        (void)sqlite3_step(statement);
    int stepped = sqlite3_reset(statement);
    return result == SQLITE_OK ? stepped : result;
}

/* Those that do not fill the statement are written by one of their own. */
static int flush(struct database *database, struct database_rows *rows)
{
    sqlite3_stmt *few = NULL;
    int result = SQLITE_OK;
    if (rows->count == DATABASE_ROWS && !rows->many)
        result = prepare_rows(database, rows, DATABASE_ROWS, &rows->many);
    else if (rows->count < DATABASE_ROWS)
        result = prepare_rows(database, rows, rows->count, &few);
    if (result == SQLITE_OK)
        result = write_rows(few ? few : rows->many, rows->values, rows->columns * rows->count);
    (void)sqlite3_finalize(few);
    rows->count = 0;
    return result == SQLITE_OK ? EXIT_FINE : fail(database, result);
}

int database_numbers(struct database *database, unsigned which, const char *into, unsigned columns,
                     const int64_t *values)
{
    struct database_rows *rows = &database->rows[which];
    if (!rows->values) {
        rows->into = into;
        rows->columns = columns;
        rows->values = memory_new((size_t)DATABASE_ROWS * columns, sizeof *rows->values);
    }
    memcpy(rows->values + (size_t)rows->count++ * columns, values, columns * sizeof *values);
    return rows->count == DATABASE_ROWS ? flush(database, rows) : EXIT_FINE;
}

int database_flush(struct database *database)
{
    int status = EXIT_FINE;
    for (unsigned i = 0; i < DATABASE_STATEMENTS && status == EXIT_FINE; ++i)
        if (database->rows[i].count)
            status = flush(database, &database->rows[i]);
    return status;
}

bool database_find(struct database *database, unsigned which, const char *sql, int64_t key,
                   int64_t *numbers, int count)
{
    sqlite3_stmt *statement = prepared(database, which, sql);
    if (!statement)
        return false;
    (void)sqlite3_bind_int64(statement, 1, key);
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    for (int i = 0; found && i < count; ++i)
        numbers[i] = sqlite3_column_int64(statement, i);
    int result = sqlite3_reset(statement);
    if (result != SQLITE_OK)
        (void)fail(database, result);
    return found;
}

void database_forget(struct database *database)
{
    for (unsigned i = 0; i < DATABASE_STATEMENTS; ++i) {
        (void)sqlite3_finalize(database->statements[i]);
        database->statements[i] = NULL;
        (void)sqlite3_finalize(database->rows[i].many);
        database->rows[i].many = NULL;
    }
}

int database_end(struct database *database)
{
    if (!database->failed && database_flush(database) == EXIT_FINE)
        (void)database_run(database, "COMMIT");
    database_drop(database);
    return database->failed ? EXIT_USAGE : EXIT_FINE;
}

void database_drop(struct database *database)
{
    database_forget(database);
    for (unsigned i = 0; i < DATABASE_STATEMENTS; ++i) {
        free(database->rows[i].values);
        database->rows[i] = (struct database_rows){0};
    }
    (void)sqlite3_close(database->db);
    database->db = NULL;
}
