/* Stands before SQLite (ld's --wrap): a call that has to fail does nothing and returns the error,
 * as SQLite would. */
#include "shim.h"

#include <sqlite3.h>
#include <stddef.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */

/* The last step of this statement failed: reset and finalize tell it again. */
static sqlite3_stmt *stepped;
/* The error of the last call, if it was made up: what errmsg tells. */
static int told;

static bool fails(void)
{
    bool strikes = fault_strikes(FAULT_SQLITE);
    told = strikes ? fault_error() : SQLITE_OK;
    return strikes;
}

int __real_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);

/* SQLite hands out a connection with the error, unless memory is short. */
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
    if (!fails())
        return __real_sqlite3_open_v2(path, db, flags, vfs);
    *db = NULL;
    if (told != SQLITE_NOMEM)
        (void)__real_sqlite3_open_v2(path, db, flags, vfs);
    return told;
}

int __real_sqlite3_exec(sqlite3 *db, const char *text, sqlite3_callback row, void *context,
                        char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *text, sqlite3_callback row, void *context,
                        char **error);

int __wrap_sqlite3_exec(sqlite3 *db, const char *text, sqlite3_callback row, void *context,
                        char **error)
{
    return fails() ? told : __real_sqlite3_exec(db, text, row, context, error);
}

int __real_sqlite3_prepare_v2(sqlite3 *db, const char *text, int size, sqlite3_stmt **statement,
                              const char **tail);
int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *text, int size, sqlite3_stmt **statement,
                              const char **tail);

int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *text, int size, sqlite3_stmt **statement,
                              const char **tail)
{
    if (!fails())
        return __real_sqlite3_prepare_v2(db, text, size, statement, tail);
    *statement = NULL;
    return told;
}

int __real_sqlite3_prepare_v3(sqlite3 *db, const char *text, int size, unsigned flags,
                              sqlite3_stmt **statement, const char **tail);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *text, int size, unsigned flags,
                              sqlite3_stmt **statement, const char **tail);

int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *text, int size, unsigned flags,
                              sqlite3_stmt **statement, const char **tail)
{
    if (!fails())
        return __real_sqlite3_prepare_v3(db, text, size, flags, statement, tail);
    *statement = NULL;
    return told;
}

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    stepped = NULL;
    if (!fails())
        return __real_sqlite3_step(statement);
    stepped = statement;
    return told;
}

int __real_sqlite3_reset(sqlite3_stmt *statement);
int __wrap_sqlite3_reset(sqlite3_stmt *statement);

int __wrap_sqlite3_reset(sqlite3_stmt *statement)
{
    int result = __real_sqlite3_reset(statement);
    if (!statement || statement != stepped)
        return result;
    stepped = NULL;
    return fault_error();
}

int __real_sqlite3_finalize(sqlite3_stmt *statement);
int __wrap_sqlite3_finalize(sqlite3_stmt *statement);

int __wrap_sqlite3_finalize(sqlite3_stmt *statement)
{
    bool failed = statement && statement == stepped;
    int result = __real_sqlite3_finalize(statement);
    if (!failed)
        return result;
    stepped = NULL;
    return fault_error();
}

int __real_sqlite3_bind_int64(sqlite3_stmt *statement, int place, sqlite3_int64 value);
int __wrap_sqlite3_bind_int64(sqlite3_stmt *statement, int place, sqlite3_int64 value);

int __wrap_sqlite3_bind_int64(sqlite3_stmt *statement, int place, sqlite3_int64 value)
{
    return fails() ? told : __real_sqlite3_bind_int64(statement, place, value);
}

int __real_sqlite3_bind_null(sqlite3_stmt *statement, int place);
int __wrap_sqlite3_bind_null(sqlite3_stmt *statement, int place);

int __wrap_sqlite3_bind_null(sqlite3_stmt *statement, int place)
{
    return fails() ? told : __real_sqlite3_bind_null(statement, place);
}

int __real_sqlite3_bind_text(sqlite3_stmt *statement, int place, const char *text, int size,
                             void (*end)(void *));
int __wrap_sqlite3_bind_text(sqlite3_stmt *statement, int place, const char *text, int size,
                             void (*end)(void *));

int __wrap_sqlite3_bind_text(sqlite3_stmt *statement, int place, const char *text, int size,
                             void (*end)(void *))
{
    return fails() ? told : __real_sqlite3_bind_text(statement, place, text, size, end);
}

int __real_sqlite3_bind_blob64(sqlite3_stmt *statement, int place, const void *bytes,
                               sqlite3_uint64 size, void (*end)(void *));
int __wrap_sqlite3_bind_blob64(sqlite3_stmt *statement, int place, const void *bytes,
                               sqlite3_uint64 size, void (*end)(void *));

int __wrap_sqlite3_bind_blob64(sqlite3_stmt *statement, int place, const void *bytes,
                               sqlite3_uint64 size, void (*end)(void *))
{
    return fails() ? told : __real_sqlite3_bind_blob64(statement, place, bytes, size, end);
}

int __real_sqlite3_create_module_v2(sqlite3 *db, const char *name, const sqlite3_module *module,
                                    void *context, void (*end)(void *));
int __wrap_sqlite3_create_module_v2(sqlite3 *db, const char *name, const sqlite3_module *module,
                                    void *context, void (*end)(void *));

/* On failure SQLite frees the context, too (https://www.sqlite.org/c3ref/create_module.html). */
int __wrap_sqlite3_create_module_v2(sqlite3 *db, const char *name, const sqlite3_module *module,
                                    void *context, void (*end)(void *))
{
    if (!fails())
        return __real_sqlite3_create_module_v2(db, name, module, context, end);
    if (end)
        end(context);
    return told;
}

typedef void (*function)(sqlite3_context *, int, sqlite3_value **);

int __real_sqlite3_create_function_v2(sqlite3 *db, const char *name, int arguments, int text,
                                      void *context, function call, function step,
                                      void (*final)(sqlite3_context *), void (*end)(void *));
int __wrap_sqlite3_create_function_v2(sqlite3 *db, const char *name, int arguments, int text,
                                      void *context, function call, function step,
                                      void (*final)(sqlite3_context *), void (*end)(void *));

/* As above (https://www.sqlite.org/c3ref/create_function.html). */
int __wrap_sqlite3_create_function_v2(sqlite3 *db, const char *name, int arguments, int text,
                                      void *context, function call, function step,
                                      void (*final)(sqlite3_context *), void (*end)(void *))
{
    if (!fails())
        return __real_sqlite3_create_function_v2(db, name, arguments, text, context, call, step,
                                                 final, end);
    if (end)
        end(context);
    return told;
}

int __real_sqlite3_table_column_metadata(sqlite3 *db, const char *name, const char *table,
                                         const char *column, const char **type, const char **order,
                                         int *not_null, int *key, int *counts);
int __wrap_sqlite3_table_column_metadata(sqlite3 *db, const char *name, const char *table,
                                         const char *column, const char **type, const char **order,
                                         int *not_null, int *key, int *counts);

int __wrap_sqlite3_table_column_metadata(sqlite3 *db, const char *name, const char *table,
                                         const char *column, const char **type, const char **order,
                                         int *not_null, int *key, int *counts)
{
    return fails() ? told
                   : __real_sqlite3_table_column_metadata(db, name, table, column, type, order,
                                                          not_null, key, counts);
}

int __real_sqlite3_declare_vtab(sqlite3 *db, const char *text);
int __wrap_sqlite3_declare_vtab(sqlite3 *db, const char *text);

int __wrap_sqlite3_declare_vtab(sqlite3 *db, const char *text)
{
    return fails() ? told : __real_sqlite3_declare_vtab(db, text);
}

const char *__real_sqlite3_errmsg(sqlite3 *db);
const char *__wrap_sqlite3_errmsg(sqlite3 *db);

const char *__wrap_sqlite3_errmsg(sqlite3 *db)
{
    return told != SQLITE_OK ? sqlite3_errstr(told) : __real_sqlite3_errmsg(db);
}

/* NOLINTEND(bugprone-reserved-identifier) */
