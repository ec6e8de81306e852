/* Exchanges of packets with other hosts' clocks. */
#include "fixture.h"

#include "store/exchanges.h"
#include "store/file.h"
#include "store/merge.h"

#include <stdlib.h>
#include <string.h>

/* Times of the peer's may be anywhere. */
static const struct rtl_exchange want[] = {
    {100, 190, 5, 15, "boot-of-head", "head"},
    {1000, 1100, UINT64_C(1) << 62, (UINT64_C(1) << 62) + 1, "boot-of-head", "head"},
    {2000, 2100, 7, 7, "", ""},
};

enum { WANTED = sizeof want / sizeof *want };

static bool write_exchanges(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    (void)fixture_define(writer, 1, 1);
    rtl_writer_exchange(writer, &want[1]);
    (void)rtl_writer_checkpoint(writer);
    rtl_writer_exchange(writer, &want[0]);
    rtl_writer_exchange(writer, &want[2]);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static bool same(const struct rtl_exchange *a, const struct rtl_exchange *b)
{
    return a->sent == b->sent && a->returned == b->returned && a->received == b->received &&
           a->answered == b->answered && strcmp(a->peer_boot, b->peer_boot) == 0 &&
           strcmp(a->peer_host, b->peer_host) == 0;
}

static const char *read_all(const char *path, struct rtl_exchange **list, size_t *count)
{
    rtl_trace_t *trace;
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    rtl_status_t status = rtl_exchanges_read(trace, list, count);
    rtlTraceClose(trace);
    CHECK(status == RTL_OK);
    return NULL;
}

const char *Exchanges_EveryField(void)
{
    char path[FIXTURE_PATH];
    struct rtl_exchange *list;
    size_t count;
    CHECK(fixture_path(path));
    CHECK(write_exchanges(path));
    CHECK_DONE(read_all(path, &list, &count));
    CHECK(count == WANTED);
    for (size_t i = 0; i < count; i++)
        CHECK(same(&list[i], &want[i]));
    free(list);
    CHECK(fixture_number(path, "SELECT least FROM clock_exchanges WHERE sent = 100") == 15 - 190);
    CHECK(fixture_number(path, "SELECT most FROM clock_exchanges WHERE sent = 100") == 5 - 100);
    CHECK(fixture_number(path, "SELECT count(*) FROM clock_exchanges e JOIN meta m ON e.boot ="
                               " m.value WHERE m.key = 'boot'") == WANTED);
    fixture_remove(path);
    return NULL;
}

const char *Exchanges_OlderFilesHaveNone(void)
{
    char path[FIXTURE_PATH];
    struct rtl_exchange *list;
    size_t count = 7;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(fixture_sql(path, "DROP TABLE clock_exchanges"));
    CHECK_DONE(read_all(path, &list, &count));
    CHECK(count == 0 && !list);
    CHECK(fixture_number(path, "SELECT count(*) FROM clock_exchanges") == 0);
    fixture_remove(path);
    return NULL;
}

/* The second host's clock is 500 ns behind: its own times move, its peer's do not, and its
 * exchanges are none of the new trace's clock. */
const char *Exchanges_Merged(void)
{
    char paths[3][FIXTURE_PATH];
    char error[512];
    struct rtl_exchange *list;
    size_t count;
    for (int i = 0; i < 3; i++)
        CHECK(fixture_path(paths[i]));
    CHECK(write_exchanges(paths[0]) && write_exchanges(paths[1]));
    CHECK(fixture_sql(paths[0], "UPDATE meta SET value = 1000 WHERE key = 'realtime_offset'"));
    CHECK(fixture_sql(paths[1], "UPDATE meta SET value = 1500 WHERE key = 'realtime_offset';"
                                "UPDATE meta SET value = 'other' WHERE key = 'boot';"
                                "UPDATE clock_exchanges SET boot = 'other';"
                                "UPDATE processes SET pid = pid + 1"));
    for (int i = 0; i < 2; i++)
        CHECK(fixture_sql(paths[i], "DROP TABLE digests; DELETE FROM meta WHERE key = 'digests'"));
    struct rtl_merge_input inputs[] = {{.path = paths[0]}, {.path = paths[1]}};
    struct rtl_merge plan = {
        .path = paths[2], .command = "merge", .options = "", .inputs = inputs, .count = 2};
    CHECK(rtl_merge_create(paths[2], error, sizeof error) == 0);
    CHECK(rtl_merge(&plan, error, sizeof error) == 0);
    CHECK_DONE(read_all(paths[2], &list, &count));
    CHECK(count == WANTED && same(&list[0], &want[0]));
    free(list);
    CHECK(fixture_number(paths[2], "SELECT sum(sent - 500) FROM clock_exchanges WHERE boot ="
                                   " 'other'") == 100 + 1000 + 2000);
    CHECK(fixture_number(paths[2], "SELECT count(*) FROM clock_exchanges WHERE received = 5 AND"
                                   " answered = 15 AND returned IN (190, 690)") == 2);
    for (int i = 0; i < 3; i++)
        fixture_remove(paths[i]);
    return NULL;
}
