/**
 * A trace under the names of RPD v3 (rocmProfileData): rocpd_op, rocpd_api and the others, and the
 * views op, top, busy, kernel, copy and copyop. Columns mean what they mean there; docs/format.md,
 * "Under RPD's names", says what is different.
 */
#ifndef RTL_STORE_SQL_RPD_H
#define RTL_STORE_SQL_RPD_H

#include <sqlite3.h>

/** Adds the views to a connection that has the tables and views of the trace. An SQLite result
 * code. */
int rtl_sql_register_rpd(sqlite3 *db);

#endif
