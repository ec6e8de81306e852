/**
 * The aggregates median(x) and percentile(x, p), p from 0 to 100, as SQLite's own extension of that
 * name defines them: of n values by size the one at p * (n - 1) / 100, counted from 0, by linear
 * interpolation between its neighbours; NULLs are left out; NULL without values. Errors: x that is
 * no number, p that is not from 0 to 100 or not the same for all rows. As sqlite3_create_function
 * has them; memory is 8 bytes a value.
 */
#ifndef RTL_STORE_SQL_QUANTILES_H
#define RTL_STORE_SQL_QUANTILES_H

#include <sqlite3.h>

void rtl_sql_median_step(sqlite3_context *result, int count, sqlite3_value **values);
void rtl_sql_percentile_step(sqlite3_context *result, int count, sqlite3_value **values);

/** Of both. */
void rtl_sql_quantile_final(sqlite3_context *result);

#endif
