/** The SQL tables `kernel_counters` and `range_counters`: a row for each counter of a sample. */
#ifndef RTL_STORE_SQL_COUNTERS_H
#define RTL_STORE_SQL_COUNTERS_H

#include "store/sql_trace.h"

/** Adds the tables to a connection whose main database is a trace. An SQLite result code. */
int rtl_sql_register_counters(sqlite3 *db, struct rtl_sql_trace *shared);

#endif
