/**
 * A trace as SQL: the tables of the file, and the tables and views that scripts rely on
 * (docs/format.md, "What SQL sees").
 */
#ifndef RTL_STORE_SQL_H
#define RTL_STORE_SQL_H

#include <rtl/rtl_trace.h>
#include <sqlite3.h>
#include <stddef.h>

/** Opens a trace for reading only, as it is at this moment. The caller closes `*db` with
 * sqlite3_close. On failure `*db` is NULL and `error` gets one sentence. */
rtl_status_t rtl_sql_open(const char *path, sqlite3 **db, char *error, size_t error_size);

/** Adds the tables and views to a connection whose main database is a trace. An SQLite result code;
 * unless it is SQLITE_OK sqlite3_errmsg tells. */
int rtl_sql_register(sqlite3 *db);

/** Checks that the main database of a connection is a trace, and adds them; a second time that does
 * nothing. `path` is for the sentence in `error`. */
rtl_status_t rtl_sql_attach(sqlite3 *db, const char *path, char *error, size_t error_size);

#endif
