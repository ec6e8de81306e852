/* The writer, with each of its calls failing: from the making of the file to its end. */
#include "../store/fixture.h"
#include "explore.h"
#include "world.h"

#include <dirent.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

struct outcome {
    bool opened, whole;
    char error[1024];
    uint64_t stored[WORLD_PARTS]; /* events in the file after each checkpoint */
};

static struct world_lines wanted; /* what a trace without faults holds */

/* Whether the folder of `path` has nothing in it. */
static bool folder_is_empty(const char *path)
{
    char folder[FIXTURE_PATH];
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    unsigned entries = 0;
    DIR *stream = opendir(folder);
    while (stream && readdir(stream)) /* NOLINT(concurrency-mt-unsafe): the stream is ours */
        entries++;
    if (stream)
        (void)closedir(stream);
    return entries == 2;
}

/* A checkpoint. What it says it stored must be in the file. */
static const char *checkpoint(struct world_writer *to, const char *path, unsigned part,
                              const struct fault_plan *plan, struct outcome *outcome)
{
    for (uint32_t queue = 0; queue < 3; queue++) {
        const struct rtl_writer_account account = world_account(part, queue);
        rtl_writer_ledger(to->writer, to->process, queue, &account);
    }
    bool stored = rtl_writer_checkpoint(to->writer) == 0;
    fault_disarm();
    outcome->stored[part] = world_events(part + 1);
    if (fault_failed())
        CHECK_DONE(world_stored(path, &outcome->stored[part]));
    /* A lock that could not be had looks as if a reader held it. */
    bool busy =
        plan->kind == FAULT_FILE || (plan->kind == FAULT_SQLITE && plan->error == SQLITE_BUSY);
    if (stored && !(plan->at && busy) && rtl_writer_error(to->writer)[0] == '\0')
        CHECK(outcome->stored[part] == world_events(part + 1));
    if (!stored)
        CHECK(strstr(rtl_writer_error(to->writer), path) != NULL);
    fault_pass(1000000000);
    fault_arm();
    return NULL;
}

static const char *record(const char *path, const struct fault_plan *plan, struct outcome *outcome)
{
    const struct rtl_writer_options options = {.command = "program"};
    struct world_writer to = {0};
    const char *failed = NULL;
    fault_arm();
    to.writer = rtl_writer_open(path, &options, outcome->error, sizeof outcome->error);
    outcome->opened = to.writer != NULL;
    if (!to.writer) {
        fault_disarm();
        return NULL;
    }
    for (unsigned part = 0; part < WORLD_PARTS && !failed; part++) {
        world_give(part, world_write, &to);
        failed = checkpoint(&to, path, part, plan, outcome);
    }
    rtl_writer_process_end(to.writer, to.process, "closed", 5, 0);
    outcome->whole = rtl_writer_close(to.writer, 0, outcome->error, sizeof outcome->error) == 0;
    fault_disarm();
    return failed;
}

static const char *judge(const char *path, const struct fault_plan *plan,
                         const struct outcome *outcome)
{
    struct world_lines got;
    if (!outcome->whole)
        CHECK(strstr(outcome->error, path) != NULL);
    if (!outcome->opened) {
        CHECK(plan->at != 0 && (plan->calls > 1 || folder_is_empty(path)));
        return NULL;
    }
    CHECK_DONE(world_read(path, &got));
    for (unsigned part = 0; part < WORLD_PARTS; part++)
        CHECK(got.events >= outcome->stored[part]);
    CHECK(!outcome->whole || got.finished);
    if (plan->at == 0 && wanted.count == 0) {
        CHECK(outcome->whole && got.events == world_events(WORLD_PARTS));
        wanted = got;
        return NULL;
    }
    const char *failed = world_compare(&wanted, &got, !outcome->whole);
    if (failed)
        (void)fprintf(stderr, "told: %s\n", outcome->error);
    world_free(&got);
    return failed;
}

static const char *write_a_trace(void *context, const struct fault_plan *plan)
{
    char path[FIXTURE_PATH];
    struct outcome outcome = {0};
    (void)context;
    CHECK(fixture_path(path));
    const char *failed = record(path, plan, &outcome);
    if (!failed)
        failed = judge(path, plan, &outcome);
    fixture_remove(path);
    return failed;
}

/* Somebody removes the file that is being written. */
const char *Writer_FileThatIsRemoved(void)
{
    char path[FIXTURE_PATH];
    char error[1024] = "";
    struct world_writer to = {0};
    CHECK(fixture_path(path));
    to.writer = rtl_writer_open(path, NULL, error, sizeof error);
    CHECK(to.writer != NULL);
    world_give(0, world_write, &to);
    CHECK(rtl_writer_checkpoint(to.writer) == 0);
    CHECK(unlink(path) == 0);
    world_give(1, world_write, &to);
    CHECK(rtl_writer_checkpoint(to.writer) == -1);
    CHECK(rtl_writer_close(to.writer, 0, error, sizeof error) == -1);
    CHECK(strstr(error, path) != NULL && strstr(error, "removed") != NULL);
    CHECK(access(path, F_OK) != 0);
    fixture_remove(path);
    return NULL;
}

/* Another program keeps the file locked, from the first checkpoint to the end. */
const char *Writer_FileThatStaysLocked(void)
{
    char path[FIXTURE_PATH];
    char error[1024] = "";
    uint64_t stored = 0;
    sqlite3 *other = NULL;
    struct world_writer to = {0};
    CHECK(fixture_path(path));
    to.writer = rtl_writer_open(path, NULL, error, sizeof error);
    CHECK(to.writer != NULL);
    world_give(0, world_write, &to);
    CHECK(rtl_writer_checkpoint(to.writer) == 0);
    CHECK(sqlite3_open_v2(path, &other, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    CHECK(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    world_give(1, world_write, &to);
    CHECK(rtl_writer_checkpoint(to.writer) == 0);
    CHECK(rtl_writer_close(to.writer, 0, error, sizeof error) == -1);
    CHECK(strstr(error, path) != NULL && strstr(error, "locked") != NULL);
    CHECK(sqlite3_close(other) == SQLITE_OK);
    CHECK_DONE(world_stored(path, &stored));
    CHECK(stored == world_events(1));
    fixture_remove(path);
    return NULL;
}

static const char *explore(const char *name, enum fault_kind kind)
{
    size_t count;
    const struct fault_way *ways = fault_ways(kind, &count);
    const char *failed = fault_explore(name, write_a_trace, NULL, kind, ways, count);
    world_free(&wanted);
    return failed;
}

const char *Writer_Memory(void)
{
    return explore("writer", FAULT_MEMORY);
}

const char *Writer_Files(void)
{
    return explore("writer", FAULT_FILE);
}

const char *Writer_Sqlite(void)
{
    return explore("writer", FAULT_SQLITE);
}
