#include "store/genuine.h"

#include <stdio.h>

static const char *const tables[] = {
    "meta",
    "processes",
    "agents",
    "queues",
    "symbols",
    "symbol_blocks",
    "shapes",
    "clock_points",
    "clock_brackets",
    "copies",
    "kernel_chunks",
    "calls",
    "api_chunks",
    "streams",
    "threads",
    "names",
    "ranges",
    "ledger_rows",
    "ledger_losses",
    "ledger_left_out",
    "ledger_opaque",
    "pauses",
    "ledger_kind_rows",
    "ledger_kind_losses",
    "notes",
    "graph_rows",
    "graph_names",
    "graph_node_rows",
    "graph_plans",
    "counting",
    "graph_launch_rows",
    "graph_launch_spans",
    "graph_launch_late",
    "counters",
    "launch_chunks",
    "kernel_chunk_launches",
    "sample_chunks",
    "uncounted",
    "hip_queues",
    "clock_exchanges",
    "process_clocks",
    "stat_blocks",
    "stat_spans",
    "stat_chunks",
    "digests",
};

bool rtl_genuine_is_known(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (sqlite3_stricmp(name, tables[i]) == 0)
            return true;
    return false;
}

bool rtl_genuine_is_table(sqlite3 *db, const char *name)
{
    sqlite3_stmt *row = NULL;
    bool is = sqlite3_prepare_v2(db,
                                 "SELECT 1 FROM main.sqlite_master WHERE name = ? AND"
                                 " type = 'table' AND rootpage > 0",
                                 -1, &row, NULL) == SQLITE_OK &&
              sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
              sqlite3_step(row) == SQLITE_ROW;
    (void)sqlite3_finalize(row);
    return is;
}

int rtl_genuine_find_other(sqlite3 *db, char *name, size_t size)
{
    sqlite3_stmt *row = NULL;
    int result = sqlite3_prepare_v2(db,
                                    "SELECT name FROM main.sqlite_master WHERE type = 'view' OR"
                                    " (type = 'table' AND rootpage = 0)",
                                    -1, &row, NULL);
    name[0] = '\0';
    while (result == SQLITE_OK && !name[0] && sqlite3_step(row) == SQLITE_ROW) {
        const char *found = (const char *)sqlite3_column_text(row, 0);
        if (found && rtl_genuine_is_known(found))
            (void)snprintf(name, size, "%s", found);
    }
    int end = sqlite3_finalize(row);
    return result == SQLITE_OK ? end : result;
}
