/** The tables `graphs` and `graph_nodes` of SQL. */
#ifndef RTL_STORE_SQL_GRAPHS_H
#define RTL_STORE_SQL_GRAPHS_H

#include "store/sql_trace.h"

/** Adds the tables to a connection. An SQLite result code. */
int rtl_sql_register_graphs(sqlite3 *db, struct rtl_sql_trace *shared);

#endif
