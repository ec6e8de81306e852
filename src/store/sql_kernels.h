/** The virtual table `kernels`: SQL over the reader's iteration. */
#ifndef RTL_STORE_SQL_KERNELS_H
#define RTL_STORE_SQL_KERNELS_H

#include "store/sql_trace.h"

/** Adds the table to a connection whose main database is a trace. An SQLite result code. */
int rtl_sql_register_kernels(sqlite3 *db, struct rtl_sql_trace *shared);

#endif
