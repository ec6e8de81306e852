/** The table `graph_launches` of SQL. */
#ifndef RTL_STORE_SQL_LAUNCHES_H
#define RTL_STORE_SQL_LAUNCHES_H

#include "store/sql_trace.h"

/** Adds it to a connection whose main database is a trace. An SQLite result code. */
int rtl_sql_register_launches(sqlite3 *db, struct rtl_sql_trace *shared);

#endif
