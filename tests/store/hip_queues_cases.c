/* Which queues a HIP made, and what became of its host calls. */
#include "fixture.h"

#include <string.h>

static void tell(struct rtl_writer *writer, uint32_t process, uint32_t queue, uint32_t calls,
                 const char *library)
{
    const struct rtl_wire_hip_queue body = {
        .queue = queue, .calls = calls, .library_length = (uint16_t)strlen(library)};
    rtl_writer_hip_queue(writer, process, &body, library);
}

/* Of queue 1 of process 1 more is known later, when a checkpoint lies between. */
static bool write_made(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t one = fixture_define(writer, 2, 1);
    uint32_t two = fixture_define(writer, 1, 1);
    tell(writer, two, 0, RTL_HIP_CALLS_STATIC, "");
    tell(writer, one, 1, RTL_HIP_CALLS_PASSED_BY, "/opt/libhip.so");
    (void)rtl_writer_checkpoint(writer);
    tell(writer, one, 1, RTL_HIP_CALLS_FOLLOWED, "/opt/libhip.so");
    tell(writer, one, 0, 77, "/opt/libother.so");
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static const rtl_trace_hip_queue_t want[] = {
    {1, 0, "/opt/libother.so", "unknown"},
    {1, 1, "/opt/libhip.so", "followed"},
    {2, 0, "", "static"},
};

enum { WANTED = sizeof want / sizeof *want };

const char *HipQueues_TheLastWordHolds(void)
{
    char path[FIXTURE_PATH];
    const rtl_trace_hip_queue_t *made;
    size_t count;
    rtl_trace_t *trace;
    CHECK(fixture_path(path));
    CHECK(write_made(path));
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTraceHipQueues(trace, &made, &count) == RTL_OK);
    CHECK(count == WANTED);
    for (size_t i = 0; i < count; i++) {
        CHECK(made[i].process == want[i].process && made[i].queue == want[i].queue);
        CHECK(strcmp(made[i].library, want[i].library) == 0);
        CHECK(strcmp(made[i].calls, want[i].calls) == 0);
    }
    rtlTraceClose(trace);
    CHECK(rtlTraceHipQueues(NULL, &made, &count) == RTL_E_ARGUMENT);
    CHECK(fixture_number(path, "SELECT count(*) FROM hip_queues WHERE library = ''") == 1);
    fixture_remove(path);
    return NULL;
}

const char *HipQueues_OlderFilesHaveNone(void)
{
    char path[FIXTURE_PATH];
    const rtl_trace_hip_queue_t *made;
    size_t count = 7;
    rtl_trace_t *trace;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(fixture_sql(path, "DROP TABLE hip_queues; PRAGMA user_version = 1004"));
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTraceHipQueues(trace, &made, &count) == RTL_OK);
    CHECK(count == 0);
    rtlTraceClose(trace);
    CHECK(fixture_number(path, "SELECT count(*) FROM hip_queues") == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels") == 20);
    fixture_remove(path);
    return NULL;
}
