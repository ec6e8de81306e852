#include "common/foreign.h"

#include "common/say.h"
#include "store/sqlite_path.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Their tables have these names in all versions. */
static bool is_rpd(sqlite3 *db)
{
    return sqlite3_table_column_metadata(db, "main", "rocpd_op", "gpuId", NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

bool foreign_say(const char *path)
{
    sqlite3 *db = NULL;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false; /* to open a FIFO would wait */
    bool is = rtl_sqlite_open(path, &db, SQLITE_OPEN_READONLY) == SQLITE_OK && is_rpd(db);
    (void)sqlite3_close(db);
    if (is)
        say("%s is no trace, but a recording of rocmProfileData: 'rtl import %s -o NEW.db' makes a "
            "trace of it",
            path, path);
    return is;
}
