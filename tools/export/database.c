#include "export/database.h"

#include "common/command.h"
#include "common/say.h"
#include "store/file.h"
#include "store/sqlite_path.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DATABASE_MIXED 8u /* most values of a row with texts */

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

uint64_t database_size(struct database *database)
{
    sqlite3_stmt *row = NULL;
    uint64_t bytes = 0;
    int result = sqlite3_prepare_v2(
        database->db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", -1,
        &row, NULL);
    if (result == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        bytes = (uint64_t)sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    return bytes;
}

int database_continue(struct database *database, const char *table, int64_t last)
{
    char *sql = sqlite3_mprintf("INSERT INTO sqlite_sequence(name, seq) VALUES (%Q, %lld)", table,
                                (long long)last);
    int status = sql ? database_run(database, sql) : fail(database, SQLITE_NOMEM);
    sqlite3_free(sql);
    return status;
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

static int flush(struct database *database, unsigned which)
{
    int result = database_rows_write(&database->rows[which], database->db, which);
    return result == SQLITE_OK ? EXIT_FINE : fail(database, result);
}

int database_numbers(struct database *database, unsigned which, const char *into, unsigned columns,
                     const int64_t *values)
{
    struct database_rows *rows = &database->rows[which];
    int result = SQLITE_OK;
    if (!rows->values)
        result = database_rows_begin(rows, database->db, which, into, columns);
    if (result != SQLITE_OK)
        return fail(database, result);
    database_rows_take(rows, values);
    return rows->count == DATABASE_ROWS ? flush(database, which) : EXIT_FINE;
}

int database_mixed(struct database *database, unsigned which, const char *into, const char *types,
                   ...)
{
    struct database_rows *rows = &database->rows[which];
    int64_t values[DATABASE_MIXED];
    unsigned columns = (unsigned)strlen(types);
    rows->types = types;
    va_list given;
    va_start(given, types);
    for (unsigned i = 0; i < columns && i < DATABASE_MIXED; ++i)
        values[i] = types[i] == 't' ? database_rows_text(rows, va_arg(given, const char *))
                                    : va_arg(given, int64_t);
    va_end(given);
    return database_numbers(database, which, into, columns, values);
}

int database_flush(struct database *database)
{
    int status = EXIT_FINE;
    for (unsigned i = 0; i < DATABASE_STATEMENTS && status == EXIT_FINE; ++i)
        if (database->rows[i].count)
            status = flush(database, i);
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
        (void)sqlite3_finalize(database->rows[i].write);
        database->rows[i].write = NULL;
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
    for (unsigned i = 0; i < DATABASE_STATEMENTS; ++i)
        database_rows_end(&database->rows[i]);
    (void)sqlite3_close(database->db);
    database->db = NULL;
}
