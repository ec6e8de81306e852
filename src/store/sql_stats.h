/** The table `kernel_stats` of SQL: kernels added up, as the reader does it for `rtl summary`. */
#ifndef RTL_STORE_SQL_STATS_H
#define RTL_STORE_SQL_STATS_H

#include "store/sql_trace.h"

/** Adds it to a connection whose main database is a trace. An SQLite result code. */
int rtl_sql_register_stats(sqlite3 *db, struct rtl_sql_trace *shared);

#endif
