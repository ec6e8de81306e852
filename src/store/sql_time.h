/** The SQL function rtl_time(process, queue, ticks): ns on the trace's clock. */
#ifndef RTL_STORE_SQL_TIME_H
#define RTL_STORE_SQL_TIME_H

#include <sqlite3.h>

/** Adds the function to a connection whose main database is a trace. An SQLite result code. */
int rtl_sql_register_time(sqlite3 *db);

#endif
