/* The trace under RPD's names. */
#include "fixture.h"
#include "store/sql.h"

#include <string.h>

/* Four kernels of a call each, the last from a graph as far as RPD can tell (it has no call), a
 * copy, a range that was never ended and one inside. */
static bool write_trace(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t process = fixture_define(writer, 1, 2);
    const struct rtl_wire_queue copies = {.queue = 1, .interception = RTL_COPIES_ONLY};
    const struct rtl_wire_call launch = {.call = 1, .name_length = 15, .arguments_length = 3};
    const struct rtl_wire_call copy = {.call = 2, .name_length = 14, .arguments_length = 7};
    const struct rtl_wire_range outer = {
        .id = 20, .start_ns = 40000, .thread = 7, .text_length = 4};
    const struct rtl_wire_range inner = {
        .id = 21, .start_ns = 41000, .parent = 20, .thread = 7, .text_length = 4};
    const struct rtl_wire_range_end end = {.id = 21, .end_ns = 42000};
    const struct rtl_wire_copy moved = {.start = 20000,
                                        .end = 20600,
                                        .bytes = 4096,
                                        .correlation = 9,
                                        .queue = 1,
                                        .src = RTL_NONE,
                                        .kind = RTL_COPY_HOST_TO_DEVICE};
    const struct rtl_wire_copy untimed = {.queue = 1, .ordinal = 1, .bytes = 1};
    rtl_writer_queue(writer, process, &copies);
    rtl_writer_call(writer, process, &launch, "hipLaunchKernelf:f");
    rtl_writer_call(writer, process, &copy, "hipMemcpyAsyncbytes:z");
    for (uint32_t i = 0; i < 3; i++) {
        const struct rtl_wire_api api = {.start_ns = 30000 + i * 1000,
                                         .end_ns = 30500 + i * 1000,
                                         .correlation = i + 1,
                                         .stream = 0xabc,
                                         .call = 1,
                                         .thread = 7,
                                         .words = 1,
                                         .flags = RTL_API_STREAM};
        const uint64_t word = i;
        rtl_writer_api(writer, process, &api, &word);
    }
    const struct rtl_wire_api move = {
        .start_ns = 35000, .end_ns = 35100, .correlation = 9, .call = 2, .thread = 7, .words = 1};
    const uint64_t bytes = 4096;
    rtl_writer_api(writer, process, &move, &bytes);
    const struct rtl_wire_api lost = {
        .start_ns = 36000, .end_ns = 36100, .correlation = 10, .call = 77, .thread = 8};
    rtl_writer_api(writer, process, &lost, NULL);
    rtl_writer_range(writer, process, &outer, "step");
    rtl_writer_range(writer, process, &inner, "part");
    rtl_writer_range_end(writer, process, &end);
    fixture_kernels(writer, process, 0, 0, 4);
    rtl_writer_copy(writer, process, &moved);
    rtl_writer_copy(writer, process, &untimed);
    rtl_writer_process_end(writer, process, "closed", 900000, 0);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

struct question {
    const char *query;
    int64_t answer;
};

static const char *ask(const char *path, const struct question *questions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t answer = fixture_number(path, questions[i].query);
        if (answer != questions[i].answer)
            return check_failed(questions[i].query, (int)answer, "another answer");
    }
    return NULL;
}
#define ASK(questions) CHECK_DONE(ask(path, questions, sizeof(questions) / sizeof *(questions)))

/* RPD joins every row with its strings, calls and ops: none may be lost on the way. */
const char *Rpd_RowsJoin(void)
{
    static const struct question questions[] = {
        {"SELECT count(*) FROM rocpd_op", 5},
        {"SELECT count(*) FROM rocpd_op A JOIN rocpd_string B ON B.id = A.description_id"
         " JOIN rocpd_string C ON C.id = A.opType_id",
         5},
        {"SELECT count(*) FROM rocpd_api", 7},
        {"SELECT count(*) FROM rocpd_api A JOIN rocpd_string B ON B.id = A.apiName_id"
         " JOIN rocpd_ustring C ON C.id = A.args_id JOIN rocpd_string D ON D.id = A.category_id"
         " JOIN rocpd_string E ON E.id = A.domain_id",
         7},
        {"SELECT count(*) FROM rocpd_api_ops A JOIN rocpd_api B ON B.id = A.api_id"
         " JOIN rocpd_op C ON C.id = A.op_id",
         4},
        {"SELECT count(*) FROM rocpd_api_ops A JOIN rocpd_op B ON B.id = A.op_id"
         " JOIN rocpd_kernelapi C ON C.api_ptr_id = A.api_id"
         " JOIN rocpd_string D ON D.id = C.kernelName_id WHERE D.string IN ('a', 'b')",
         3},
        {"SELECT count(*) FROM rocpd_string", 15},
        {"SELECT count(DISTINCT id) FROM rocpd_string", 15},
        {"SELECT count(*) FROM rocpd_api A JOIN rocpd_string B ON B.id = A.apiName_id"
         " WHERE B.string = 'unknown call'",
         1},
        {"SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'", 3},
        {"SELECT count(*) FROM rocpd_monitor, rocpd_counter, rocpd_stackframe", 0},
    };
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(write_trace(path));
    ASK(questions);
    fixture_remove(path);
    return NULL;
}

/* Kernels of 1000 ticks of 10 ns begin at 5000 + 2000 i ticks; the copy takes 600. */
const char *Rpd_Values(void)
{
    static const struct question questions[] = {
        {"SELECT start FROM rocpd_op WHERE sequenceId = 3 AND id > 0", 110000},
        {"SELECT end - start FROM rocpd_op WHERE id < 0", 6000},
        {"SELECT count(*) FROM op WHERE description = 'a' AND opType = 'KernelExecution'", 2},
        {"SELECT count(*) FROM op WHERE description = '' AND opType = 'CopyHostToDevice'", 1},
        {"SELECT GpuTime FROM busy WHERE gpuId = 0", 46000},
        {"SELECT WallTime FROM busy", 206000 - 50000},
        {"SELECT TotalCalls FROM top WHERE Name = 'b'", 2},
        {"SELECT TotalDuration FROM top WHERE Name = 'b'", 20},
        {"SELECT Ave FROM top WHERE Name = 'CopyHostToDevice'", 6},
        {"SELECT count(*) FROM kernel WHERE kernelName = 'b' AND gridX = 2 AND workgroupX = 64"
         " AND stream = '0xabc' AND duration = 10000",
         1},
        {"SELECT size FROM copyop WHERE apiName = 'hipMemcpyAsync' AND kind = 1 AND sync = 0",
         4096},
        {"SELECT end - start FROM copy WHERE stream = '0x0' AND dstDevice = 0 AND srcDevice = -1",
         100},
        {"SELECT pid FROM rocpd_api LIMIT 1", 100},
        {"SELECT count(*) FROM rocpd_api A JOIN rocpd_ustring B ON B.id = A.args_id"
         " WHERE B.string = 'step' AND A.start = 40000 AND A.end = 900000 AND A.tid = 7"
         " AND A.apiName_id = rtl_string_id('UserMarker')",
         1},
        {"SELECT A.end FROM rocpd_api A JOIN rocpd_ustring B ON B.id = A.args_id"
         " WHERE B.string = 'part'",
         42000},
    };
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(write_trace(path));
    ASK(questions);
    fixture_remove(path);
    return NULL;
}

/* What SQLite makes of a query's first table, as EXPLAIN QUERY PLAN tells it. */
static bool planned(sqlite3 *db, const char *query, const char *part)
{
    char text[512];
    sqlite3_stmt *row = NULL;
    bool found = false;
    (void)snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", query);
    if (sqlite3_prepare_v2(db, text, -1, &row, NULL) != SQLITE_OK)
        return false;
    while (!found && sqlite3_step(row) == SQLITE_ROW)
        found = strstr((const char *)sqlite3_column_text(row, 3), part) != NULL;
    (void)sqlite3_finalize(row);
    return found;
}

const char *Rpd_ConditionsChooseChunks(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    sqlite3 *db = NULL;
    CHECK(fixture_path(path));
    CHECK(write_trace(path));
    CHECK(rtl_sql_open(path, &db, error, sizeof error) == RTL_OK);
    CHECK(planned(db, "SELECT * FROM rocpd_op WHERE start BETWEEN 5 AND 9",
                  "kernels VIRTUAL TABLE INDEX 0:st"));
    CHECK(planned(db, "SELECT * FROM op WHERE id = 65536", "kernels VIRTUAL TABLE INDEX 0:i"));
    CHECK(planned(db, "SELECT * FROM op WHERE queueId = 1", "kernels VIRTUAL TABLE INDEX 0:q"));
    CHECK(planned(db, "SELECT * FROM rocpd_api WHERE id = 65536", "a VIRTUAL TABLE INDEX 0:i"));
    CHECK(planned(db, "SELECT * FROM rocpd_api WHERE start > 5", "a VIRTUAL TABLE INDEX 0:s"));
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}

/* A connection that has it all already is left as it is. */
const char *Rpd_AttachedTwice(void)
{
    char path[FIXTURE_PATH];
    char error[512] = "";
    sqlite3 *db = NULL;
    CHECK(fixture_path(path));
    CHECK(write_trace(path));
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(rtl_sql_attach(db, path, error, sizeof error) == RTL_OK);
    CHECK(rtl_sql_attach(db, path, error, sizeof error) == RTL_OK);
    CHECK(sqlite3_exec(db, "SELECT * FROM op", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}
