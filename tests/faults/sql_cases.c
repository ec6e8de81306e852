/* A trace as SQL, with each of its calls failing: an error, or the rows that there are when nothing
 * fails. */
#include "../store/fixture.h"
#include "explore.h"
#include "store/sql.h"
#include "world.h"

#include <sqlite3.h>
#include <string.h>

static const char *const queries[] = {
    "SELECT * FROM kernels ORDER BY start",
    "SELECT count(*), sum(duration), max(name) FROM kernels WHERE start > 50000 AND queue = 0",
    ("SELECT k.id, a.name, a.args FROM kernels k JOIN api a ON a.process = k.process"
     " AND a.correlation = k.correlation WHERE k.packet < 5"),
    "SELECT * FROM copies",
    "SELECT name, args, stream, error FROM api WHERE thread = 71",
    "SELECT * FROM graphs",
    "SELECT * FROM graph_nodes",
    "SELECT * FROM graph_launches",
    "SELECT * FROM graph_ranges",
    "SELECT * FROM ranges",
    ("SELECT k.name, c.name, sum(c.value) FROM kernels k JOIN kernel_counters c ON c.kernel = k.id"
     " GROUP BY 1, 2"),
    "SELECT packet, kernel, value FROM kernel_counters WHERE queue = 1 AND packet < 10",
    "SELECT range, name, value, shared FROM range_counters",
    "SELECT * FROM queues",
    "SELECT * FROM symbols",
    "SELECT * FROM ledger",
    "SELECT * FROM top",
    "SELECT gpuId, description FROM op WHERE start > 100000",
    "SELECT string FROM rocpd_string ORDER BY 1",
    "SELECT count(*) FROM rocpd_api_ops",
};

struct reading {
    char path[FIXTURE_PATH];
    uint64_t hash, wanted;
};

static void take_row(struct reading *reading, sqlite3_stmt *row)
{
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const char *text = (const char *)sqlite3_column_text(row, i);
        for (const char *c = text ? text : "NULL"; *c; c++)
            reading->hash = (reading->hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
        reading->hash ^= 0xff;
    }
}

/* An SQLite result code. A text that could not be fetched shows at the next step. */
static int ask(struct reading *reading, sqlite3 *db, const char *query)
{
    sqlite3_stmt *row = NULL;
    int result = sqlite3_prepare_v2(db, query, -1, &row, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        take_row(reading, row);
        result = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int ask_all(struct reading *reading, sqlite3 *db)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < sizeof queries / sizeof *queries && result == SQLITE_OK; i++)
        result = ask(reading, db, queries[i]);
    return result;
}

static const char *query_a_trace(void *context, const struct fault_plan *plan)
{
    struct reading *to = context;
    char error[1024] = "";
    sqlite3 *db = NULL;
    to->hash = UINT64_C(0xcbf29ce484222325);
    fault_arm();
    rtl_status_t status = rtl_sql_open(to->path, &db, error, sizeof error);
    int result = status == RTL_OK ? ask_all(to, db) : SQLITE_OK;
    if (result != SQLITE_OK)
        (void)snprintf(error, sizeof error, "%s", sqlite3_errmsg(db));
    int closed = sqlite3_close(db);
    fault_disarm();
    CHECK(closed == SQLITE_OK);
    if (status != RTL_OK)
        CHECK(plan->at != 0 && strstr(error, to->path) != NULL);
    else if (result != SQLITE_OK)
        CHECK(plan->at != 0 && error[0] != '\0' && strcmp(error, "not an error") != 0);
    else if (to->wanted == 0)
        to->wanted = to->hash;
    else
        CHECK(to->hash == to->wanted);
    if (plan->kind != FAULT_FILE && plan->error != SQLITE_CORRUPT)
        CHECK(strstr(error, "damaged") == NULL && status != RTL_E_DAMAGED);
    return NULL;
}

static const char *explore(enum fault_kind kind)
{
    struct reading reading = {.hash = 0};
    size_t count;
    const struct fault_way *ways = fault_ways(kind, &count);
    CHECK(world_trace(reading.path));
    const char *failed = fault_explore("SQL", query_a_trace, &reading, kind, ways, count);
    fixture_remove(reading.path);
    return failed;
}

const char *Sql_Memory(void)
{
    return explore(FAULT_MEMORY);
}

const char *Sql_Files(void)
{
    return explore(FAULT_FILE);
}

const char *Sql_Sqlite(void)
{
    return explore(FAULT_SQLITE);
}
