/* Other tools' schemas, of what a program on the software GPU does not show: several processes,
 * calls and kernels that are not known, ranges without an end, times cut off, files in the way. */
#include "made.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

/* Of each process: a launch (correlation 2) of kernel 0 in a range that never ends (1), kernel 1 of
 * no call, kernel 2 of a call that never came, a call whose definition was lost (5), a copy,
 * a copy without times, and a kernel of a shape that was never defined. */
static void world(struct rtl_ring *ring)
{
    const uint64_t word = 0x400000;
    const struct rtl_wire_api launch = {.start_ns = MADE_BEGIN_NS + 200,
                                        .end_ns = MADE_BEGIN_NS + 300,
                                        .correlation = 2,
                                        .range = 1,
                                        .call = 3,
                                        .thread = 71,
                                        .words = 1,
                                        .flags = RTL_API_STREAM};
    const struct rtl_wire_api lost = {.start_ns = MADE_BEGIN_NS + 400,
                                      .end_ns = MADE_BEGIN_NS + 500,
                                      .correlation = 5,
                                      .range = 1,
                                      .call = 99,
                                      .thread = 71};
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    made_copies(ring, 1);
    made_define_call(ring, 3, "hipLaunchKernel", "f:f");
    made_range(ring, RTL_RANGE_PUSH, 1, 0, MADE_BEGIN_NS + 100, "never \"ended\"");
    made_call(ring, &launch, &word);
    made_call(ring, &lost, NULL);
    made_kernel_of(ring, 0, 2, MADE_BEGIN + 100, MADE_BEGIN + 110);
    made_kernel_of(ring, 1, 0, MADE_BEGIN + 200, MADE_BEGIN + 220);
    made_kernel_of(ring, 2, 77, MADE_BEGIN + 300, MADE_BEGIN + 340);
    made_kernel(ring, 0, 3, 9, MADE_BEGIN + 400, MADE_BEGIN + 480);
    made_copy(ring, 1, 4096, RTL_COPY_HOST_TO_DEVICE, RTL_ENGINE_SDMA, MADE_BEGIN + 500,
              MADE_BEGIN + 506);
    made_copy(ring, 1, 1, RTL_COPY_HOST_TO_DEVICE, RTL_ENGINE_HOST, 0, 0);
    made_ledger(ring, 0, 4, 4, 0);
    made_ledger(ring, 1, 2, 2, 0);
    rtl_ring_close(ring);
}

static const char *two_processes(struct made *made)
{
    CHECK_DONE(made_begin(made));
    CHECK(made_process(made, world) > 0);
    CHECK(made_process(made, world) > 0);
    return made_end(made);
}

/* Runs `rtl ARGUMENTS` in the made folder; its exit status. What it says is in "said". */
static int rtl(const struct made *made, const char *arguments)
{
    char command[4 * MADE_PATH];
    (void)snprintf(command, sizeof command, "cd %s && %s %s >said 2>&1", made->folder, RTL_COMMAND,
                   arguments);
    return made_shell(command);
}

/* True if the last `rtl` said this. */
static bool said(const struct made *made, const char *words)
{
    char command[2 * MADE_PATH];
    (void)snprintf(command, sizeof command, "grep -q -F -- \"%s\" %s/said", words, made->folder);
    return made_shell(command) == 0;
}

/* The first number of a query on a database in the made folder, opened as any program would;
 * INT64_MIN on any error. */
static int64_t number(const struct made *made, const char *name, const char *query)
{
    char path[MADE_PATH];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int64_t value = INT64_MIN;
    (void)snprintf(path, sizeof path, "%s/%s", made->folder, name);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, query, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        value = sqlite3_column_int64(row, 0);
    if (value == INT64_MIN)
        (void)fprintf(stderr, "%s: %s\n", query, sqlite3_errmsg(db));
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return value;
}

struct question {
    const char *query;
    int64_t answer;
};

static const char *ask(const struct made *made, const char *name, const struct question *questions,
                       size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        int64_t answer = number(made, name, questions[i].query);
        if (answer != questions[i].answer)
            return check_failed(questions[i].query, (int)answer, "another answer");
    }
    return NULL;
}
#define ASK(name, questions)                                                                       \
    CHECK_DONE(ask(&made, name, questions, sizeof(questions) / sizeof *(questions)))

const char *Schemas_Rpd(void)
{
    static const struct question questions[] = {
        {"SELECT count(*) FROM pragma_foreign_key_check", 0},
        {"SELECT count(*) FROM op WHERE opType = 'KernelExecution'", 8},
        {"SELECT count(*) FROM op WHERE opType = 'CopyHostToDevice' AND end - start = 60", 2},
        {"SELECT count(*) FROM op WHERE description = 'unknown kernel'", 2},
        {"SELECT count(DISTINCT pid) FROM api", 2},
        {"SELECT count(*) FROM rocpd_api_ops", 2},
        {"SELECT count(*) FROM kernel WHERE gridX = 1 AND workgroupX = 64 AND stream = '0x0'", 2},
        {"SELECT count(*) FROM api WHERE apiName = 'call 99'", 2},
        {"SELECT count(*) FROM api WHERE apiName = 'UserMarker' AND args = 'never \"ended\"'"
         " AND end > start",
         2},
        {"SELECT count(*) FROM rocpd_api a JOIN rocpd_string s ON s.id = a.args_id"
         " JOIN rocpd_ustring u ON u.id = a.args_id WHERE s.string = u.string",
         6},
    };
    struct made made;
    CHECK_DONE(two_processes(&made));
    CHECK(rtl(&made, "export trace.db --format rpd") == 0);
    ASK("trace.rpd", questions);
    made_clean(&made);
    return NULL;
}

/* A call that is cut off takes its links with it: none may lead nowhere. */
const char *Schemas_RpdOfATime(void)
{
    static const struct question questions[] = {
        {"SELECT count(*) FROM pragma_foreign_key_check", 0},
        {"SELECT count(*) FROM rocpd_op", 6},
        {"SELECT count(*) FROM rocpd_api", 2}, /* the ranges */
        {"SELECT count(*) FROM rocpd_api_ops", 0},
    };
    struct made made;
    char command[128];
    CHECK_DONE(two_processes(&made));
    (void)snprintf(command, sizeof command,
                   "export trace.db --format rpd -o later.rpd --from %" PRIu64,
                   (uint64_t)(MADE_BEGIN_NS + 2500));
    CHECK(rtl(&made, command) == 0);
    ASK("later.rpd", questions);
    made_clean(&made);
    return NULL;
}

const char *Schemas_Rocpd(void)
{
    static const struct question questions[] = {
        {"SELECT count(*) FROM pragma_foreign_key_check", 0},
        {"SELECT count(*) FROM kernels", 8},
        {"SELECT count(DISTINCT pid) FROM kernels", 2},
        {"SELECT count(*) FROM kernels WHERE name = 'unknown kernel'", 2},
        {"SELECT count(*) FROM kernels WHERE tid = 71 AND region = 'never \"ended\"'", 2},
        {"SELECT count(*) FROM kernels WHERE tid = pid AND corr_id = 0", 6},
        {"SELECT count(*) FROM memory_copies WHERE size = 4096", 2},
        {"SELECT count(*) FROM regions WHERE name = 'hipLaunchKernel' AND category ="
         " 'HIP_RUNTIME_API'",
         2},
        {"SELECT count(*) FROM region_args WHERE name = 'f' AND value = '0x400000'", 2},
    };
    struct made made;
    CHECK_DONE(two_processes(&made));
    CHECK(rtl(&made, "export trace.db --format rocpd") == 0);
    ASK("trace.rocpd.db", questions);
    CHECK(rtl(&made, "export trace.db --format rocpd --process 2 -o one.db") == 0);
    CHECK(number(&made, "one.db", "SELECT count(*) FROM kernels") == 4);
    CHECK(number(&made, "one.db", "SELECT count(*) FROM pragma_foreign_key_check") == 0);
    made_clean(&made);
    return NULL;
}

/* Several processes are one tool: readers take the first. */
const char *Schemas_Rocprofv3(void)
{
    static const char query[] =
        "cd %s && jq -e '.[\"rocprofiler-sdk-tool\"] | length == 1 and (.[0] |"
        " (.buffer_records.kernel_dispatch | length == 8) and"
        " (.buffer_records.memory_copy | length == 2) and"
        " (.buffer_records.hip_api | length == 4) and"
        " (.kernel_symbols as $s | [.buffer_records.kernel_dispatch[] |"
        "  $s[.dispatch_info.kernel_id].formatted_kernel_name] |"
        "  map(select(. == \"unknown kernel\")) | length == 2) and"
        " ([.strings.marker_api[].value] == [\"never \\\"ended\\\"\", \"never \\\"ended\\\"\"]))'"
        " trace_results.json > /dev/null";
    struct made made;
    char command[2 * MADE_PATH];
    CHECK_DONE(two_processes(&made));
    CHECK(rtl(&made, "export trace.db --format rocprofv3") == 0);
    (void)snprintf(command, sizeof command, query, made.folder);
    CHECK(made_shell(command) == 0);
    made_clean(&made);
    return NULL;
}

/* Rows of one query are those of another, by rtl sql. */
static bool same_rows(const struct made *made, const char *query)
{
    char command[4 * MADE_PATH];
    (void)snprintf(command, sizeof command,
                   "cd %s && %s sql trace.db \"%s\" >a && %s sql i.db \"%s\" >b && cmp a b",
                   made->folder, RTL_COMMAND, query, RTL_COMMAND, query);
    return made_shell(command) == 0;
}

const char *Schemas_ThereAndBack(void)
{
    struct made made;
    CHECK_DONE(two_processes(&made));
    CHECK(rtl(&made, "export trace.db --format rpd -o t.rpd") == 0);
    CHECK(rtl(&made, "import t.rpd -o i.db") == 0);
    CHECK(said(&made, "8 kernels, 2 copies, 4 host calls, 2 ranges"));
    /* An op of no call has no process there, so packets of two queues may meet in one. */
    CHECK(same_rows(&made, "SELECT name, start, end, gpu, queue FROM kernels"
                           " ORDER BY start, name"));
    CHECK(same_rows(&made, "SELECT correlation, count(*) FROM kernels GROUP BY 1"));
    CHECK(same_rows(&made, "SELECT thread, name, start, end, correlation, range FROM api"
                           " WHERE name = 'hipLaunchKernel'"));
    CHECK(same_rows(&made, "SELECT id, thread, name, start, parent FROM ranges"));
    CHECK(same_rows(&made, "SELECT start, end, kind, queue, correlation FROM copies"
                           " WHERE start IS NOT NULL ORDER BY start"));
    CHECK(rtl(&made, "check i.db") == 1);
    made_clean(&made);
    return NULL;
}

/* A file as rocmProfileData wrote it before version 3: arguments among the strings, columns that
 * are gone, queues of one number on two GPUs, sequence numbers that are all 0, no views. */
static const char old_file[] =
    "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);"
    "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER,"
    " end INTEGER, apiName_id INTEGER, args_id INTEGER);"
    "CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER,"
    " sequenceId INTEGER, completionSignal TEXT, start INTEGER, end INTEGER,"
    " description_id INTEGER, opType_id INTEGER);"
    "CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);"
    "CREATE TABLE rocpd_monitor(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO rocpd_monitor VALUES (1, 'x'), (2, 'y');"
    "INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, 'saxpy'),"
    " (4, 'hipLaunchKernel'), (5, 'CopyDeviceToHost'), (6, 'UserMarker'), (7, 'epoch'),"
    " (8, 'FillBuffer');"
    "INSERT INTO rocpd_api VALUES (1, 50, 51, 100, 900, 6, 7), (2, 50, 51, 200, 300, 4, 1),"
    " (3, 50, 52, 250, 260, 4, 1), (4, 60, 61, 100, 200, 4, 1);"
    "INSERT INTO rocpd_op VALUES (1, 0, 0, 0, '', 310, 320, 3, 2), (2, 1, 0, 0, '', 330, 350, 3, "
    "2),"
    " (3, 0, 0, 0, '', 360, 400, 1, 5), (4, 0, 0, 0, '', 410, 420, 1, 8),"
    " (5, 0, 0, 0, '', 500, 510, 3, 2);"
    "INSERT INTO rocpd_api_ops VALUES (1, 2, 1), (2, 3, 2), (3, 4, 5);";

const char *Schemas_OldRpd(void)
{
    static const struct question questions[] = {
        {"SELECT count(*) FROM kernel_chunks", 3},
        {"SELECT count(*) FROM processes", 2},
        {"SELECT value FROM meta WHERE key = 'start'", 100},
        {"SELECT value FROM meta WHERE key = 'end'", 900},
        {"SELECT count(*) FROM ranges WHERE name = 'epoch' AND start = 100 AND end = 900", 1},
    };
    struct made made;
    char command[4096];
    CHECK_DONE(made_begin(&made));
    CHECK_DONE(made_end(&made));
    (void)snprintf(command, sizeof command, "sqlite3 %s/old.rpd \"%s\"", made.folder, old_file);
    CHECK(made_shell(command) == 0);
    CHECK(rtl(&made, "import old.rpd -o i.db") == 0);
    CHECK(said(&made, "4 kernels, 1 copy, 3 host calls, 1 range (RPD 2)"));
    CHECK(said(&made, "left out: 2 rows of rocpd_monitor"));
    ASK("i.db", questions);
    CHECK(rtl(&made, "sql i.db \"SELECT group_concat(name || ' ' || start || ' ' || gpu || ' ' ||"
                     " queue || ' ' || coalesce(correlation, '-') || ' ' || process, ', ')"
                     " FROM (SELECT * FROM kernels ORDER BY start)\"") == 0);
    CHECK(said(&made, "saxpy 310 0 0 2 1, saxpy 330 1 1 3 1, FillBuffer 410 0 0 - 1, saxpy 500 0 0"
                      " 4 2"));
    made_clean(&made);
    return NULL;
}

const char *Schemas_Refusals(void)
{
    static const struct {
        const char *arguments, *sentence;
    } refusals[] = {
        {"export trace.db --format rpd -o there", "'there' exists"},
        {"export trace.db --format rpd -o -", "rpd needs a file"},
        {"export trace.db --format rocpd --split-size 100K", "--split-size: rocpd repeats"},
        {"export trace.db --format rpd -o no/such/folder.rpd", "no/such/folder.rpd"},
        {"import trace.db -o new.db", "trace.db is no RPD file: it has no rocpd_op.gpuId"},
        {"import there -o new.db", "there is no RPD file: it is no database"},
        {"import missing -o new.db", "missing could not be read"},
        {"import newer.rpd -o new.db", "newer.rpd has schema version 4 of RPD; rtl reads up to 3"},
        {"import t.rpd -o trace.db", "'trace.db' exists"},
        {"import t.rpd -f -o there", "'there' is not a trace"},
        {"import t.rpd -o no/such/folder.db", "no/such/folder.db"},
        {"import t.rpd t.rpd", "one file at a time"},
        {"import", "no file was named"},
    };
    struct made made;
    char command[2 * MADE_PATH];
    CHECK_DONE(two_processes(&made));
    CHECK(rtl(&made, "export trace.db --format rpd -o t.rpd") == 0);
    (void)snprintf(command, sizeof command,
                   "cd %s && printf 'words that are no database, and more of them' > there &&"
                   " cp t.rpd newer.rpd && sqlite3 newer.rpd"
                   " \"UPDATE rocpd_metadata SET value = 4 WHERE tag = 'schema_version'\"",
                   made.folder);
    CHECK(made_shell(command) == 0);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; ++i)
        if (rtl(&made, refusals[i].arguments) != 2 || !said(&made, refusals[i].sentence))
            return check_failed(refusals[i].arguments, (int)i, refusals[i].sentence);
    /* Nothing is left of what failed, and what was there is as it was. */
    (void)snprintf(
        command, sizeof command,
        "cd %s && [ \"$(ls)\" = \"$(printf 'newer.rpd\\nsaid\\nt.rpd\\nthere\\ntrace.db')\""
        " ] && grep -q words there",
        made.folder);
    CHECK(made_shell(command) == 0);
    (void)snprintf(command, sizeof command,
                   "cd %s && cp trace.db killed.db && sqlite3 killed.db"
                   " \"UPDATE meta SET value = 0 WHERE key = 'finished'\"",
                   made.folder);
    CHECK(made_shell(command) == 0);
    CHECK(rtl(&made, "import t.rpd -f -o killed.db") == 2);
    CHECK(said(&made, "'killed.db' is being recorded, or its recorder was killed"));
    CHECK(rtl(&made, "import t.rpd -f -o trace.db") == 0);
    CHECK(rtl(&made, "export trace.db --format rpd -f -o t.rpd") == 0);
    made_clean(&made);
    return NULL;
}
