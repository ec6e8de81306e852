/**
 * Functions of SQL: rtl_time(process, queue, ticks) is ticks of a queue's agent on the trace's
 * clock; rtl_call, rtl_stream and rtl_range(process, correlation) are what a correlation names, as
 * rtlTraceOrigin has it. NULL where there is nothing. And, where the connection has them not yet,
 * regexp (sql_regexp.h), median and percentile (sql_quantiles.h).
 */
#ifndef RTL_STORE_SQL_FUNCTIONS_H
#define RTL_STORE_SQL_FUNCTIONS_H

#include "store/sql_trace.h"

/** Adds the functions to a connection whose main database is a trace. An SQLite result code. */
int rtl_sql_register_functions(sqlite3 *db, struct rtl_sql_trace *shared);

#endif
