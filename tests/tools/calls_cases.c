/* Host calls and ranges from the ring to the tools' numbers, worked out by hand. */
#include "check/links.h"
#include "made.h"
#include "store/checksum.h"
#include "store/sums.h"
#include "summary/tally_calls.h"
#include "summary/tally_ranges.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* In range "step" (1) two launches, one in "layer" (3) within it; a copy that fails; a kernel of no
 * call in "layer" again (8), which lies in itself once; a mark; one range stays open.
 *
 *     call  2  launch  100 ns  in 1      kernel 0: 10 ticks
 *     call  4  launch  300 ns  in 3      kernel 1: 20 ticks
 *     call  5  copy     50 ns  in none
 *              in 9 itself               kernel 2: 40 ticks
 *     call 77 never came                 kernel 3
 *              no call, no range         kernel 4 */
static void calls(struct rtl_ring *ring)
{
    struct rtl_wire_api api = {.start_ns = MADE_BEGIN_NS + 200,
                               .end_ns = MADE_BEGIN_NS + 300,
                               .correlation = 2,
                               .range = 1,
                               .stream = 0x5000,
                               .call = 3,
                               .thread = 71,
                               .words = 2,
                               .flags = RTL_API_STREAM};
    const uint64_t words[] = {0x400000, 0x5000};
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    made_range(ring, RTL_RANGE_PUSH, 1, 0, MADE_BEGIN_NS + 100, "step");
    made_call(ring, &api, words);
    made_define_call(ring, 3, "hipLaunchKernel", "f:f,stream:s");
    made_range(ring, RTL_RANGE_PUSH, 3, 1, MADE_BEGIN_NS + 400, "layer");
    api.start_ns = MADE_BEGIN_NS + 500;
    api.end_ns = MADE_BEGIN_NS + 800;
    api.correlation = 4;
    api.range = 3;
    made_call(ring, &api, words);
    made_range_end(ring, 3, MADE_BEGIN_NS + 900);
    made_range_end(ring, 1, MADE_BEGIN_NS + 1100);
    made_define_call(ring, 4, "hipMemcpy", "");
    api = (struct rtl_wire_api){.start_ns = MADE_BEGIN_NS + 2000,
                                .end_ns = MADE_BEGIN_NS + 2050,
                                .correlation = 5,
                                .call = 4,
                                .thread = 71,
                                .result = 1};
    made_call(ring, &api, NULL);
    api.result = 600; /* hipErrorNotReady */
    api.correlation = 10;
    api.start_ns = api.end_ns = MADE_BEGIN_NS + 2060;
    made_call(ring, &api, NULL);
    made_range(ring, RTL_RANGE_MARK, 6, 0, MADE_BEGIN_NS + 2100, "here");
    made_range(ring, RTL_RANGE_PUSH, 7, 0, MADE_BEGIN_NS + 2200, "open");
    made_range(ring, RTL_RANGE_PUSH, 8, 7, MADE_BEGIN_NS + 2300, "layer");
    made_range(ring, RTL_RANGE_PUSH, 9, 8, MADE_BEGIN_NS + 2300, "layer");
    made_range_end(ring, 9, MADE_BEGIN_NS + 2400);
    made_range_end(ring, 8, MADE_BEGIN_NS + 2400);
    made_name(ring, RTL_NAMED_STREAM, 0x5000, "main stream");
    made_kernel_of(ring, 0, 2, MADE_BEGIN + 100, MADE_BEGIN + 110);
    made_kernel_of(ring, 1, 4, MADE_BEGIN + 200, MADE_BEGIN + 220);
    made_kernel_of(ring, 2, 9, MADE_BEGIN + 300, MADE_BEGIN + 340);
    made_kernel_of(ring, 3, 77, MADE_BEGIN + 400, MADE_BEGIN + 410);
    made_kernel_of(ring, 4, 0, MADE_BEGIN + 500, MADE_BEGIN + 510);
    made_ledger(ring, 0, 5, 5, 0);
    rtl_ring_close(ring);
}

static void calls_and_death(struct rtl_ring *ring)
{
    made_range(ring, RTL_RANGE_PUSH, 500, 0, MADE_BEGIN_NS, "until death");
    made_ledger(ring, 0, 0, 0, 0);
    (void)raise(SIGKILL);
}

static const char *check_calls(rtl_trace_t *trace)
{
    struct tally_calls tally;
    CHECK(tally_calls_read(trace, 0, 0, &tally) == RTL_OK);
    CHECK(tally.count == 2 && tally.calls == 4 && tally.total == 450);
    const struct tally_call *launch = &tally.names[0];
    CHECK(strcmp(launch->name, "hipLaunchKernel") == 0 && launch->stat.count == 2);
    CHECK(launch->stat.total == 400 && rtl_stat_min(&launch->stat) == 100);
    CHECK(launch->stat.max == 300 && launch->failed == 0);
    CHECK(strcmp(tally.names[1].name, "hipMemcpy") == 0 && tally.names[1].stat.count == 2);
    CHECK(tally.names[1].failed == 1);
    tally_calls_free(&tally);
    return NULL;
}

static const struct tally_range *named(const struct tally_ranges *tally, const char *name)
{
    for (size_t i = 0; i < tally->count; ++i)
        if (strcmp(tally->names[i].name, name) == 0)
            return &tally->names[i];
    return NULL;
}

static const char *check_ranges(rtl_trace_t *trace)
{
    struct tally_ranges tally;
    CHECK(tally_ranges_read(trace, 0, 0, &tally) == RTL_OK);
    CHECK(tally.count == 4 && tally.ranges == 5 && tally.marks == 1);
    CHECK(strcmp(tally.names[0].name, "step") == 0);
    const struct tally_range *step = named(&tally, "step");
    const struct tally_range *layer = named(&tally, "layer");
    const struct tally_range *open = named(&tally, "open");
    const struct tally_range *here = named(&tally, "here");
    CHECK(step && layer && open && here);
    CHECK(step->ranges == 1 && step->total == 1000 && step->max == 1000 && step->open == 0);
    CHECK(step->kernels == 2 && step->kernel_ns == 30 * MADE_TICK_NS);
    CHECK(layer->ranges == 3 && layer->total == 700 && layer->max == 500);
    CHECK(layer->kernels == 2 && layer->kernel_ns == 60 * MADE_TICK_NS);
    CHECK(open->ranges == 1 && open->open == 1 && open->total == 0 && open->kernels == 1);
    CHECK(here->ranges == 0 && here->marks == 1 && here->kernels == 0);
    tally_ranges_free(&tally);
    return NULL;
}

static const char *open_calls(struct made *made, made_work work, rtl_trace_t **trace)
{
    char error[512] = "";
    CHECK_DONE(made_begin(made));
    (void)made_process(made, work);
    CHECK_DONE(made_end(made));
    CHECK(rtlTraceOpen(made->trace, trace, error, sizeof error) == RTL_OK);
    return NULL;
}

static void count_damage(void *context, const char *what)
{
    (void)what;
    ++*(int *)context;
}

const char *Calls_Numbers(void)
{
    struct made made;
    rtl_trace_t *trace;
    struct links links;
    CHECK_DONE(open_calls(&made, calls, &trace));
    CHECK_DONE(check_calls(trace));
    CHECK_DONE(check_ranges(trace));
    for (int deep = 0; deep < 2; ++deep) {
        int told = 0;
        CHECK(links_read(trace, deep, count_damage, &told, &links) == RTL_OK && told == 0);
        CHECK(links.calls == 4 && links.kernels == 1 && links.copies == 0 && links.past == 0);
    }
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

const char *Calls_RangeOfAProcessThatDied(void)
{
    struct made made;
    rtl_trace_t *trace;
    rtl_range_iter_t *iter;
    rtl_range_t range;
    CHECK_DONE(open_calls(&made, calls_and_death, &trace));
    CHECK(rtlTraceRanges(trace, NULL, &iter) == RTL_OK);
    CHECK(rtlRangeNext(iter, &range) == RTL_OK && range.id == 500 && range.end == 0);
    CHECK(strcmp(range.name, "until death") == 0 && rtlRangeNext(iter, &range) == RTL_END);
    rtlRangeIterFree(iter);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

/* Runs `rtl COMMAND` on the trace; its status if `pattern` is in what it wrote, else -1. */
static int shows(const struct made *made, const char *command, const char *pattern)
{
    char line[4 * MADE_PATH];
    (void)snprintf(line, sizeof line,
                   "%s %s > %s/out 2>&1; status=$?; grep -qF -- '%s' %s/out || exit 200; "
                   "exit $status",
                   RTL_COMMAND, command, made->folder, pattern, made->folder);
    int status = made_shell(line);
    return status == 200 ? -1 : status;
}

const char *Calls_InTheTools(void)
{
    struct made made;
    rtl_trace_t *trace;
    char summary[MADE_PATH + 32];
    char info[MADE_PATH + 32];
    char check[MADE_PATH + 32];
    char sql[MADE_PATH + 128];
    CHECK_DONE(open_calls(&made, calls, &trace));
    rtlTraceClose(trace);
    (void)snprintf(summary, sizeof summary, "summary --json %s", made.trace);
    (void)snprintf(info, sizeof info, "info %s", made.trace);
    (void)snprintf(check, sizeof check, "check %s", made.trace);
    (void)snprintf(sql, sizeof sql, "sql %s \"SELECT name, stream, args FROM api WHERE range = 3\"",
                   made.trace);
    CHECK(shows(&made, summary, "\"call_count\": 4") == 0);
    CHECK(shows(&made, summary, "\"mark_count\": 1") == 0);
    CHECK(shows(&made, info, "host calls 4") == 0);
    CHECK(shows(&made, check, "complete: 5 of 5 kernels") == 0);
    CHECK(shows(&made, check, "kernels whose host call or range is not in the trace: 1") == 0);
    CHECK(shows(&made, sql, "hipLaunchKernel|1|f=0x400000, stream=0x5000") == 0);
    made_clean(&made);
    return NULL;
}

/* Runs SQL on the file, as any program could. */
static bool change(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    bool done = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    (void)sqlite3_close(db);
    return done;
}

/* rtl check reads all of a trace: a bit that fell over in what is packed is told, and where. */
static const char *flip_is_told(const char *table, const char *says)
{
    struct made made;
    rtl_trace_t *trace;
    char command[2 * MADE_PATH];
    char sql[256];
    CHECK_DONE(open_calls(&made, calls, &trace));
    rtlTraceClose(trace);
    (void)snprintf(sql, sizeof sql,
                   "UPDATE %s SET data = cast(substr(data, 1, 9) || x'EE' || substr(data, 11) AS "
                   "BLOB)",
                   table);
    CHECK(change(made.trace, sql));
    for (int deep = 0; deep < 2; ++deep) {
        (void)snprintf(command, sizeof command, "check %s %s", deep ? "--deep" : "", made.trace);
        CHECK(shows(&made, command, says) == 1);
        CHECK(shows(&made, command, "though its checksum is right") == -1);
    }
    made_clean(&made);
    return NULL;
}

const char *Calls_CheckFindsDamage(void)
{
    CHECK_DONE(
        flip_is_told("api_chunks", "DAMAGED: the checksum of chunk 1 in api_chunks is wrong"));
    CHECK_DONE(flip_is_told("kernel_chunks",
                            "DAMAGED: the checksum of chunk 1 in kernel_chunks is wrong"));
    return NULL;
}

/* The checksum that a row has to have, of what it has. */
static uint32_t right_sum(sqlite3_stmt *row)
{
    uint64_t fields[RTL_SUM_FIELDS];
    int count = sqlite3_column_count(row) - 1;
    for (int i = 0; i < count; ++i)
        fields[i] = rtl_sum_field(sqlite3_column_value(row, i + 1));
    return rtl_checksum_row(fields, (size_t)count, sqlite3_column_blob(row, 0),
                            (size_t)sqlite3_column_bytes(row, 0));
}

/* Changes chunk 1 of a table and seals it again, as a writer would that makes a mistake: there are
 * no digests either. */
static bool forge(const char *path, const char *table, const char *change_to)
{
    const struct rtl_sum *sum = rtl_sum_by_checksum(table, "checksum");
    char sql[512];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    (void)snprintf(sql, sizeof sql,
                   "DROP TABLE IF EXISTS digests; DELETE FROM meta WHERE key = 'digests';"
                   "UPDATE %s SET %s",
                   table, change_to);
    if (!sum || !change(path, sql) || sqlite3_open(path, &db) != SQLITE_OK)
        return false;
    (void)snprintf(sql, sizeof sql, "SELECT data, %s FROM %s", sum->columns, table);
    bool found =
        sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW;
    if (found)
        (void)snprintf(sql, sizeof sql, "UPDATE %s SET checksum = %u", table, right_sum(row));
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return found && change(path, sql);
}

/* What a checksum does not tell is found by unpacking. */
static const char *only_deep(const char *table, const char *change_to, const char *says)
{
    struct made made;
    rtl_trace_t *trace;
    char command[2 * MADE_PATH];
    CHECK_DONE(open_calls(&made, calls, &trace));
    rtlTraceClose(trace);
    CHECK(forge(made.trace, table, change_to));
    (void)snprintf(command, sizeof command, "check %s", made.trace);
    CHECK(shows(&made, command, "complete: 5 of 5 kernels") == 0);
    (void)snprintf(command, sizeof command, "check --deep %s", made.trace);
    CHECK(shows(&made, command, says) == 1);
    made_clean(&made);
    return NULL;
}

const char *Calls_DeepCheckFindsMore(void)
{
    static const char kernels[] =
        "DAMAGED: chunk 1 of kernels does not hold what its row says, though its checksum is right";
    static const char host_calls[] = "DAMAGED: chunk 1 of host calls does not hold what its row "
                                     "says, though its checksum is right";
    CHECK_DONE(only_deep("kernel_chunks", "end_max = end_max - 1", kernels));
    CHECK_DONE(only_deep("kernel_chunks", "packet_max = packet_max - 1", kernels));
    CHECK_DONE(only_deep("api_chunks", "end_max = end_max - 1", host_calls));
    CHECK_DONE(only_deep("api_chunks", "words = words + 1", host_calls));
    return NULL;
}
