/**
 * Whether the tables of a file are tables. A view under the name of one can have rows without end.
 */
#ifndef RTL_STORE_GENUINE_H
#define RTL_STORE_GENUINE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/** Whether the newest format has a table of that name. */
bool rtl_genuine_is_known(const char *name);

/** Whether the main file of `db` has a table of that name that is one. */
bool rtl_genuine_is_table(sqlite3 *db, const char *name);

/** Looks for a view or a virtual table in the main file of `db` that has the name of one of a
 * trace's tables; other views are the user's own. SQLite's result; `name` gets the first one's
 * name, "" if there is none. */
int rtl_genuine_find_other(sqlite3 *db, char *name, size_t size);

#endif
