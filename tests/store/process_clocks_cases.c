/* What tells a process from all others, in whatever trace it is. */
#include "fixture.h"

#include "store/merge.h"
#include "store/process_clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART 3600000000000 /* ns, of the times of day of the two hosts */

/* Whether the trace has two processes, which began at these ns of these boots. */
static const char *began(const char *path, const char *const boots[2], const uint64_t starts[2])
{
    rtl_trace_t *trace;
    struct rtl_process_clock *list;
    size_t count;
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtl_process_clocks_read(trace, &list, &count) == RTL_OK);
    CHECK(count == 2);
    for (size_t i = 0; i < count; i++)
        CHECK(strcmp(list[i].boot, boots[i]) == 0 && list[i].start == starts[i]);
    free(list);
    rtlTraceClose(trace);
    return NULL;
}

/* A trace of a process of a host that has this boot, NULL: nobody knows, and another time of day.
 */
static bool write_host(const char *path, const char *boot, uint64_t start, int64_t offset)
{
    char sql[512];
    (void)snprintf(sql, sizeof sql,
                   "DROP TABLE digests; DELETE FROM meta WHERE key IN ('digests', 'boot');"
                   "INSERT INTO meta VALUES('boot', '%s');"
                   "DELETE FROM meta WHERE value = '';"
                   "UPDATE meta SET value = %lld WHERE key = 'realtime_offset';"
                   "UPDATE processes SET start = %lld",
                   boot, (long long)offset, (long long)start);
    return fixture_trace(path, 10) && fixture_sql(path, sql);
}

static bool merge(const char *path, const char *first, const char *second)
{
    char error[512];
    struct rtl_merge_input inputs[] = {{.path = first}, {.path = second}};
    struct rtl_merge plan = {
        .path = path, .command = "merge", .options = "", .inputs = inputs, .count = 2};
    return rtl_merge_create(path, error, sizeof error) == 0 &&
           rtl_merge(&plan, error, sizeof error) == 0;
}

static bool merges(const char *first, const char *second)
{
    char path[FIXTURE_PATH];
    bool done = fixture_path(path) && merge(path, first, second);
    fixture_remove(path);
    return done;
}

/* Those of the first host's clock are moved by an hour, and told as it had them. */
const char *ProcessClocks_AMergeKeepsThem(void)
{
    static const char *const boots[] = {"one", "two"};
    static const char *const none[] = {"", ""};
    char paths[3][FIXTURE_PATH];
    for (int i = 0; i < 3; i++)
        CHECK(fixture_path(paths[i]));
    CHECK(write_host(paths[0], "one", 1000, APART) && write_host(paths[1], "two", 5000, 0));
    CHECK(merge(paths[2], paths[0], paths[1]));
    CHECK(fixture_number(paths[2], "SELECT start FROM processes WHERE process = 1") ==
          1000 + APART);
    CHECK_DONE(began(paths[2], boots, (const uint64_t[]){1000, 5000}));
    for (int i = 0; i < 2; i++)
        CHECK(!merges(paths[2], paths[i]) && !merges(paths[i], paths[2]));
    /* As a version has made it that did not keep them. */
    CHECK(fixture_sql(paths[2], "DROP TABLE process_clocks; DROP TABLE digests;"
                                "DELETE FROM meta WHERE key = 'digests'"));
    CHECK_DONE(began(paths[2], none, (const uint64_t[]){0, 0}));
    for (int i = 0; i < 3; i++)
        fixture_remove(paths[i]);
    return NULL;
}

/* Of a trace that does not say on whose clock it was recorded nothing is told in a merged one. */
const char *ProcessClocks_WhatNobodyKnowsStaysUnknown(void)
{
    static const char *const boots[] = {"one", ""};
    char paths[3][FIXTURE_PATH];
    for (int i = 0; i < 3; i++)
        CHECK(fixture_path(paths[i]));
    CHECK(write_host(paths[0], "one", 1000, APART) && write_host(paths[1], "", 5000, 0));
    CHECK(merge(paths[2], paths[0], paths[1]));
    CHECK_DONE(began(paths[2], boots, (const uint64_t[]){1000, 0}));
    for (int i = 0; i < 3; i++)
        fixture_remove(paths[i]);
    return NULL;
}

/* By host, pid, boot and ns; within a second where a boot is not known. */
const char *ProcessClocks_AProcessIsMergedOnce(void)
{
    char paths[2][FIXTURE_PATH];
    const struct {
        const char *boot;
        uint64_t start;
        bool merges;
    } cases[] = {{"one", 1000, false}, {"one", 1001, true},    {"two", 1000, true},
                 {"", 1000, false},    {"", 999001000, false}, {"", 1000001000, true}};
    CHECK(fixture_path(paths[0]));
    CHECK(write_host(paths[0], "one", 1000, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(fixture_path(paths[1]));
        CHECK(write_host(paths[1], cases[i].boot, cases[i].start, 0));
        CHECK(merges(paths[0], paths[1]) == cases[i].merges);
        CHECK(merges(paths[1], paths[0]) == cases[i].merges);
        fixture_remove(paths[1]);
    }
    fixture_remove(paths[0]);
    return NULL;
}
