/** The virtual table `api`: SQL over the reader's iteration of host calls. */
#ifndef RTL_STORE_SQL_API_H
#define RTL_STORE_SQL_API_H

#include "store/sql_trace.h"

/** Adds the table to a connection whose main database is a trace. An SQLite result code. */
int rtl_sql_register_api(sqlite3 *db, struct rtl_sql_trace *shared);

#endif
