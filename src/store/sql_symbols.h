/** SQL's `all_symbols`: the kernel symbols of a trace, those in blocks too. `symbols` shows it. */
#ifndef RTL_STORE_SQL_SYMBOLS_H
#define RTL_STORE_SQL_SYMBOLS_H

#include "store/sql_trace.h"

/** Adds the table to a connection. An SQLite result code. */
int rtl_sql_register_symbols(sqlite3 *db, struct rtl_sql_trace *shared);

#endif
