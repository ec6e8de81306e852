/* Copies: through the file and back, by time over several clocks, after a kill, in older files. */
#include "fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_queue(struct rtl_writer *writer, uint32_t process, uint32_t number, uint32_t agent)
{
    const struct rtl_wire_queue queue = {
        .queue = number, .agent = agent, .interception = RTL_COPIES_ONLY};
    rtl_writer_queue(writer, process, &queue);
}

/* A CPU and a second GPU, whose clock is twice as fast as that of the first and began later. */
static void add_agents(struct rtl_writer *writer, uint32_t process)
{
    const struct rtl_wire_agent cpu = {.agent = 1, .gpu = RTL_NONE, .name_length = 3};
    const struct rtl_wire_agent gpu = {
        .agent = 2, .gpu = 1, .device_type = 1, .clock_hz = 200000000, .name_length = 6};
    const struct rtl_wire_clock clocks[] = {
        {.agent = 2, .ticks = 0, .system_ns = 1000},
        {.agent = 2, .ticks = 2000000000, .system_ns = 10000001000}};
    rtl_writer_agent(writer, process, &cpu, "cpu");
    rtl_writer_agent(writer, process, &gpu, "gfx906");
    rtl_writer_clock(writer, process, &clocks[0]);
    rtl_writer_clock(writer, process, &clocks[1]);
}

static const struct rtl_wire_copy whole = {.ordinal = 7,
                                           .start = 5000,
                                           .end = 6001,
                                           .bytes = UINT64_C(1) << 40,
                                           .correlation = 9,
                                           .queue = 1,
                                           .src = 1,
                                           .dst = 0,
                                           .kind = RTL_COPY_HOST_TO_DEVICE,
                                           .engine = RTL_ENGINE_SDMA};
static const struct rtl_wire_copy bare = {.queue = 2,
                                          .bytes = 3,
                                          .src = RTL_NONE,
                                          .dst = RTL_NONE,
                                          .kind = RTL_COPY_HOST_TO_HOST,
                                          .engine = RTL_ENGINE_HOST};

static bool write_two(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t process = fixture_define(writer, 1, 1);
    const struct rtl_writer_account account = {.seen = 1, .recorded = 1};
    add_agents(writer, process);
    add_queue(writer, process, 1, 0);
    add_queue(writer, process, 2, 1);
    fixture_kernels(writer, process, 0, 0, 4);
    rtl_writer_copy(writer, process, &whole);
    rtl_writer_copy(writer, process, &bare);
    fixture_call(writer, process, 9);
    rtl_writer_ledger(writer, process, 1, &account);
    rtl_writer_ledger(writer, process, 2, &account);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static const char *check_whole(const rtl_copy_t *copy)
{
    CHECK(copy->process == 1 && copy->gpu == 0 && copy->queue == 1 && copy->ordinal == 7);
    CHECK(strcmp(copy->kind, "host-to-device") == 0 && strcmp(copy->engine, "sdma") == 0);
    CHECK(copy->src == 1 && copy->dst == 0 && copy->bytes == UINT64_C(1) << 40);
    CHECK(copy->start_ticks == 5000 && copy->end_ticks == 6001);
    CHECK(copy->start == 50000 && copy->end == 60010 && copy->correlation == 9);
    return NULL;
}

static const char *check_bare(const rtl_copy_t *copy)
{
    CHECK(copy->gpu == RTL_TRACE_NONE && copy->queue == 2 && copy->bytes == 3);
    CHECK(copy->src == RTL_TRACE_NONE && copy->dst == RTL_TRACE_NONE && copy->correlation == 0);
    CHECK(copy->start == 0 && copy->end == 0);
    CHECK(strcmp(copy->kind, "host-to-host") == 0 && strcmp(copy->engine, "host") == 0);
    return NULL;
}

const char *Copies_EveryField(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace;
    rtl_copy_iter_t *iter;
    rtl_copy_t copy;
    rtl_trace_info_t info;
    const rtl_queue_t *queues;
    const rtl_ledger_t *ledger;
    size_t count;
    CHECK(fixture_path(path) && write_two(path));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceCopies(trace, NULL, &iter) == RTL_OK);
    CHECK(rtlCopyNext(iter, &copy) == RTL_OK); /* without times: first */
    CHECK_DONE(check_bare(&copy));
    CHECK(rtlCopyNext(iter, &copy) == RTL_OK);
    CHECK_DONE(check_whole(&copy));
    CHECK(rtlCopyNext(iter, &copy) == RTL_END && rtlCopyNext(iter, &copy) == RTL_END);
    rtlCopyIterFree(iter);
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK && info.copies == 2 && info.kernels == 4);
    CHECK(rtlTraceQueues(trace, &queues, &count) == RTL_OK && count == 3);
    CHECK(queues[0].copies == 0 && queues[1].copies == 1 && queues[2].copies == 1);
    CHECK(strcmp(queues[1].way, "copies") == 0 && queues[1].kernels == 0);
    CHECK(rtlTraceLedger(trace, &ledger, &count) == RTL_OK && count == 3);
    CHECK(ledger[1].stored == 1 && ledger[2].stored == 1);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Copies_InSql(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && write_two(path));
    CHECK(fixture_number(path, "SELECT count(*) FROM copies") == 2);
    CHECK(fixture_number(
              path, "SELECT count(*) FROM copies WHERE process = 1 AND gpu = 0 AND queue = 1"
                    " AND start = 50000 AND end = 60010 AND duration = 10010 AND"
                    " bytes = 1099511627776 AND kind = 'host-to-device' AND src = 1 AND dst = 0"
                    " AND correlation = 9 AND engine = 'sdma' AND ordinal = 7 AND"
                    " start_ticks = 5000 AND end_ticks = 6001") == 1);
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM copies WHERE gpu IS NULL AND start IS NULL AND"
                         " end IS NULL AND duration IS NULL AND src IS NULL AND dst IS NULL AND"
                         " correlation IS NULL AND bytes = 3") == 1);
    CHECK(fixture_number(path, "SELECT copies FROM queues WHERE queue = 2") == 1);
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM ledger WHERE what = 'copies' AND stored = 1") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels") == 4);
    fixture_remove(path);
    return NULL;
}

enum { MANY = 3000 };

/* Copies that begin anywhere, on two GPUs and, without times, by the host. */
static void write_many(struct rtl_writer *writer, uint32_t process, uint64_t *seed, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct rtl_wire_copy copy = {.ordinal = i,
                                     .queue = 1 + (uint32_t)(fixture_random(seed) % 3),
                                     .bytes = i + 1,
                                     .src = RTL_NONE,
                                     .dst = RTL_NONE,
                                     .engine = RTL_ENGINE_SDMA};
        if (copy.queue != 3) {
            copy.start = 1 + fixture_random(seed) % 100000;
            copy.end = copy.start + fixture_random(seed) % 1000;
        }
        rtl_writer_copy(writer, process, &copy);
    }
}

static uint32_t define_many(struct rtl_writer *writer)
{
    uint32_t process = fixture_define(writer, 1, 1);
    add_agents(writer, process);
    add_queue(writer, process, 1, 0);
    add_queue(writer, process, 2, 2);
    add_queue(writer, process, 3, 1);
    return process;
}

static uint64_t ns_of(const rtl_copy_t *copy, uint64_t ticks)
{
    if (copy->start_ticks == 0)
        return 0;
    return copy->queue == 1 ? ticks * 10 : 1000 + ticks * 5;
}

static const char *check_order(rtl_trace_t *trace, const rtl_copy_filter_t *filter, uint64_t *count)
{
    rtl_copy_iter_t *iter;
    rtl_copy_t copy;
    rtl_status_t status;
    uint64_t last = 0;
    *count = 0;
    CHECK(rtlTraceCopies(trace, filter, &iter) == RTL_OK);
    while ((status = rtlCopyNext(iter, &copy)) == RTL_OK) {
        CHECK(copy.start >= last);
        CHECK(copy.start == ns_of(&copy, copy.start_ticks));
        CHECK(copy.end == ns_of(&copy, copy.end_ticks));
        if (filter && filter->to)
            CHECK(copy.start < filter->to && copy.end >= filter->from);
        last = copy.start;
        ++*count;
    }
    CHECK(status == RTL_END);
    rtlCopyIterFree(iter);
    return NULL;
}

const char *Copies_ByTimeOverAllClocks(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace;
    uint64_t seed = 11;
    uint64_t count;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = define_many(writer);
    write_many(writer, process, &seed, MANY);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK_DONE(check_order(trace, NULL, &count));
    CHECK(count == MANY);
    const rtl_copy_filter_t some = {.from = 200000, .to = 300000};
    CHECK_DONE(check_order(trace, &some, &count));
    CHECK(count > 0 &&
          (int64_t)count == fixture_number(path,
                                           "SELECT count(*) FROM copies WHERE start < 300000 AND"
                                           " (end > 200000 OR start >= 200000)"));
    const rtl_copy_filter_t other = {.process = process + 1};
    CHECK_DONE(check_order(trace, &other, &count));
    CHECK(count == 0);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Writes, stores, writes more, and is killed. */
const char *Copies_KilledWriterLeavesWhatItStored(void)
{
    char path[FIXTURE_PATH];
    uint64_t seed = 3;
    CHECK(fixture_path(path));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct rtl_writer *writer = fixture_open(path);
        uint32_t process = define_many(writer);
        write_many(writer, process, &seed, MANY);
        if (rtl_writer_checkpoint(writer) != 0)
            _exit(1);
        write_many(writer, process, &seed, 10);
        (void)raise(SIGKILL);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(fixture_number(path, "SELECT count(*) FROM copies") == MANY);
    CHECK(fixture_number(path, "SELECT sum(bytes) FROM copies") == (int64_t)MANY * (MANY + 1) / 2);
    fixture_remove(path);
    return NULL;
}

/* A file of format 1.0 has no such table. */
const char *Copies_OlderFilesHaveNone(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace;
    uint64_t count;
    CHECK(fixture_path(path) && fixture_trace(path, 10));
    CHECK(fixture_sql(path, "DROP TABLE copies; PRAGMA user_version = 1000"));
    CHECK(fixture_number(path, "SELECT count(*) FROM copies") == 0);
    CHECK(fixture_number(path, "SELECT sum(kernels) + sum(copies) FROM queues") == 20);
    CHECK(fixture_number(path, "SELECT count(*) FROM ledger WHERE what = 'copies'") == 0);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK_DONE(check_order(trace, NULL, &count));
    CHECK(count == 0);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}
