/**
 * regexp(pattern, text), which SQL's `text REGEXP pattern` calls: 1 if the POSIX extended regular
 * expression is found in the text, else 0; NULL if one of them is. A pattern that is none is an
 * error that says why. As sqlite3_create_function has it.
 */
#ifndef RTL_STORE_SQL_REGEXP_H
#define RTL_STORE_SQL_REGEXP_H

#include <sqlite3.h>

void rtl_sql_regexp(sqlite3_context *result, int count, sqlite3_value **values);

#endif
