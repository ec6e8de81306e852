/*
 * rtl_make_empty_db FILE: makes the trace file that holds nothing yet, for empty_db.c. A part of
 * the build, since to make the tables takes SQLite a millisecond for which a program would wait.
 */
#include "store/schema.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

static int make_tables(sqlite3 *db)
{
    const char *const parts[] = {rtl_schema,          rtl_schema_ledger, rtl_schema_graphs,
                                 rtl_schema_counters, rtl_schema_hip,    rtl_schema_clocks,
                                 rtl_schema_stats,    rtl_schema_digests};
    char head[96];
    (void)snprintf(head, sizeof head, "BEGIN; PRAGMA application_id=%d; PRAGMA user_version=%d;",
                   RTL_APPLICATION_ID, RTL_FORMAT_MAJOR * RTL_FORMAT_SCALE + RTL_FORMAT_MINOR);
    int result = sqlite3_exec(db, head, NULL, NULL, NULL);
    for (size_t i = 0; result == SQLITE_OK && i < sizeof parts / sizeof *parts; i++)
        result = sqlite3_exec(db, parts[i], NULL, NULL, NULL);
    return result == SQLITE_OK ? sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) : result;
}

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: rtl_make_empty_db FILE\n");
        return 2;
    }
    (void)unlink(argv[1]);
    int result = sqlite3_open(argv[1], &db);
    if (result == SQLITE_OK)
        result = make_tables(db);
    if (result != SQLITE_OK)
        (void)fprintf(stderr, "rtl_make_empty_db: %s: %s\n", argv[1], sqlite3_errmsg(db));
    (void)sqlite3_close(db);
    return result == SQLITE_OK ? 0 : 1;
}
