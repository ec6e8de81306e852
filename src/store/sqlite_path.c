#include "store/sqlite_path.h"

#include <string.h>

int rtl_sqlite_open(const char *path, sqlite3 **db, int flags)
{
    if (path[0] != ':' && strncmp(path, "file:", strlen("file:")) != 0)
        return sqlite3_open_v2(path, db, flags, NULL);
    char *name = sqlite3_mprintf("./%s", path);
    *db = NULL;
    int result = name != NULL ? sqlite3_open_v2(name, db, flags, NULL) : SQLITE_NOMEM;
    sqlite3_free(name);
    return result;
}

char *rtl_sqlite_uri(const char *path, const char *parameter)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, path[0] == '/' ? "file://" : path[0] == ':' ? "file:./" : "file:");
    for (const char *c = path; *c != '\0'; c++) {
        if (strchr("?#%", *c) != NULL)
            sqlite3_str_appendf(uri, "%%%02X", (unsigned char)*c);
        else
            sqlite3_str_appendchar(uri, 1, *c);
    }
    sqlite3_str_appendf(uri, "?%s", parameter);
    return sqlite3_str_finish(uri);
}
