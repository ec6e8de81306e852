/* librtlsqlite.so: what `rtl sql` sees, for any program that has SQLite. It calls the SQLite that
 * loads it, and no other, by the table that it is given (https://www.sqlite.org/loadext.html). */
#include "store/sql.h"

#include "store/extension.h"
#include "store/reader.h"

const sqlite3_api_routines *sqlite3_api;

__attribute__((visibility("default"))) int
sqlite3_extension_init(sqlite3 *db, char **error, const sqlite3_api_routines *routines)
{
    char sentence[512] = "";
    sqlite3_api = routines;
    const char *path = sqlite3_db_filename(db, "main");
    if (!path || !path[0]) {
        *error = sqlite3_mprintf("open a trace first: sqlite3 trace.db");
        return SQLITE_ERROR;
    }
    if (rtl_sql_attach(db, path, sentence, sizeof sentence) == RTL_OK)
        return SQLITE_OK;
    *error = sqlite3_mprintf("%s", sentence);
    return SQLITE_ERROR;
}
