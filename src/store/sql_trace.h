/** The trace behind the tables and functions of an SQL connection: read once for all of them. */
#ifndef RTL_STORE_SQL_TRACE_H
#define RTL_STORE_SQL_TRACE_H

#include "store/reader.h"

/** One per connection, shared by reference. One thread at a time, as the connection. */
struct rtl_sql_trace;

/** NULL when memory is short. */
struct rtl_sql_trace *rtl_sql_trace_new(sqlite3 *db);

/** Another owner; returns `shared`. */
struct rtl_sql_trace *rtl_sql_trace_keep(struct rtl_sql_trace *shared);

/** An owner gives it up; the last one frees it. Fits SQLite's destructors. */
void rtl_sql_trace_drop(void *shared);

/** The trace, read when first needed and again after a recorder has written, but never while it is
 * held. NULL and a sentence in `error` if it cannot be read. */
rtl_trace_t *rtl_sql_trace_get(struct rtl_sql_trace *shared, char *error, size_t error_size);

/** The same, looking first whether a recorder has written; and the trace stays as it is until it is
 * released as often as it was held. */
rtl_trace_t *rtl_sql_trace_hold(struct rtl_sql_trace *shared, char *error, size_t error_size);
void rtl_sql_trace_release(struct rtl_sql_trace *shared);

#endif
