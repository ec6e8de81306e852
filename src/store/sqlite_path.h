/**
 * Files by their names, for SQLite: it may read a name as a URI, or as that of no file at all.
 */
#ifndef RTL_STORE_SQLITE_PATH_H
#define RTL_STORE_SQLITE_PATH_H

#include <sqlite3.h>

/** sqlite3_open_v2 of the file that has exactly this name: Debian's SQLite takes `file:x?y` for a
 * URI whatever the flags say, and `:memory:` is no file (https://www.sqlite.org/c3ref/open.html).
 * Returns as that does; the caller closes `db` in any case. */
int rtl_sqlite_open(const char *path, sqlite3 **db, int flags);

/** The URI of a file with a parameter, such as `immutable=1` (https://www.sqlite.org/uri.html). The
 * caller frees it with sqlite3_free; NULL: no memory. */
char *rtl_sqlite_uri(const char *path, const char *parameter);

#endif
