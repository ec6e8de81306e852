/* The accounts of what is neither kernel nor copy, and why kernels were left out. */
#include "fixture.h"

#include <string.h>

enum { CALLS = 7, RANGES = 5, SAID = 9 };

static void give_range(struct rtl_writer *writer, uint32_t process, uint64_t id,
                       enum rtl_range_kind kind)
{
    const struct rtl_wire_range range = {
        .id = id, .start_ns = 100 + id, .kind = (uint8_t)kind, .text_length = 1};
    const struct rtl_wire_range_end end = {.id = id, .end_ns = 200 + id};
    rtl_writer_recorded(writer, process, kind == RTL_RANGE_MARK ? RTL_KIND_MARKS : RTL_KIND_RANGES);
    rtl_writer_range(writer, process, &range, "r");
    if (kind == RTL_RANGE_MARK)
        return;
    rtl_writer_recorded(writer, process, RTL_KIND_RANGE_ENDS);
    rtl_writer_range_end(writer, process, &end);
}

/* Process 1 accounts for its kinds, and has handed over two host calls more than the file gets;
 * process 2 says nothing. */
static bool write_kinds(const char *path)
{
    char error[512];
    struct rtl_writer_kind kinds[RTL_KINDS] = {{0}};
    const struct rtl_writer_account account = {
        .seen = 30,
        .skipped = 30,
        .stopped = 12,
        .withheld = 3,
        .opaque = {[RTL_OPAQUE_PM4] = 7, [RTL_OPAQUE_DIRECT] = 2},
        .opaque_of_graphs = {[RTL_OPAQUE_PM4] = 4}};
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t one = fixture_define(writer, 1, 1);
    uint32_t two = fixture_define(writer, 1, 1);
    for (uint64_t i = 1; i <= CALLS + 2; i++) {
        const struct rtl_wire_api api = {.start_ns = i, .end_ns = i + 1, .correlation = i};
        rtl_writer_recorded(writer, one, RTL_KIND_CALLS);
        if (i <= CALLS)
            rtl_writer_api(writer, one, &api, NULL);
    }
    for (uint64_t i = 1; i <= RANGES; i++)
        give_range(writer, one, 100 + i, i == 1 ? RTL_RANGE_START : RTL_RANGE_PUSH);
    give_range(writer, one, 200, RTL_RANGE_MARK);
    kinds[RTL_KIND_RANGES].lost[RTL_LOST_RING] = 1;
    kinds[RTL_KIND_RANGES].waiting = 77;
    rtl_writer_kinds(writer, one, kinds);
    (void)rtl_writer_checkpoint(writer);
    kinds[RTL_KIND_RANGES] = (struct rtl_writer_kind){.stopped = 40, .withheld = 50};
    kinds[RTL_KIND_RANGES].lost[RTL_LOST_RING] = SAID;
    kinds[RTL_KIND_RANGES].lost[RTL_LOST_MEMORY] = 1;
    kinds[RTL_KIND_LAUNCHES].waiting = 2;
    rtl_writer_kinds(writer, one, kinds);
    rtl_writer_ledger(writer, one, 0, &account);
    rtl_writer_ledger(writer, two, 0, &account);
    rtl_writer_miss_processes(writer, 3);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static const rtl_kind_ledger_t *kind_of(const rtl_kind_ledger_t *kinds, size_t count,
                                        const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(kinds[i].kind, name) == 0)
            return &kinds[i];
    return NULL;
}

static const char *check_kinds(const rtl_kind_ledger_t *kinds, size_t count)
{
    const rtl_kind_ledger_t *calls = kind_of(kinds, count, "calls");
    const rtl_kind_ledger_t *ranges = kind_of(kinds, count, "ranges");
    const rtl_kind_ledger_t *launches = kind_of(kinds, count, "launches");
    const rtl_kind_ledger_t *unread = kind_of(kinds, count, "processes");
    for (size_t i = 0; i < count; i++)
        CHECK(kinds[i].process == 1);
    CHECK(calls && ranges && launches && unread && !kind_of(kinds, count, "names"));
    CHECK(calls->seen == CALLS + 2 && calls->recorded == CALLS + 2 && calls->stored == CALLS);
    CHECK(ranges->seen == RANGES + 40 + 50 + SAID + 1 && ranges->recorded == RANGES);
    CHECK(ranges->stored == RANGES && ranges->stopped == 40 && ranges->withheld == 50);
    CHECK(ranges->lost[RTL_LOSS_RING] == SAID && ranges->lost[RTL_LOSS_MEMORY] == 1);
    CHECK(ranges->waiting == 0 && ranges->lost[RTL_LOSS_POOL] == 0);
    CHECK(kind_of(kinds, count, "range_ends")->stored == RANGES);
    CHECK(kind_of(kinds, count, "marks")->stored == 1);
    CHECK(launches->waiting == 2 && launches->seen == 2 && launches->stored == 0);
    CHECK(unread->recorded == 3 && unread->stored == 0);
    return NULL;
}

const char *Kinds_EveryField(void)
{
    char path[FIXTURE_PATH];
    const rtl_kind_ledger_t *kinds;
    const rtl_ledger_t *ledger;
    size_t count;
    rtl_trace_t *trace;
    CHECK(fixture_path(path));
    CHECK(write_kinds(path));
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTraceKinds(trace, &kinds, &count) == RTL_OK);
    CHECK_DONE(check_kinds(kinds, count));
    CHECK(rtlTraceKinds(trace, &kinds, &count) == RTL_OK); /* again */
    CHECK_DONE(check_kinds(kinds, count));
    CHECK(rtlTraceLedger(trace, &ledger, &count) == RTL_OK && count == 2);
    for (size_t i = 0; i < count; i++) {
        CHECK(ledger[i].skipped == 30 && ledger[i].stopped == 12 && ledger[i].withheld == 3);
        CHECK(ledger[i].opaque[RTL_OPAQUE_OF_PM4] == 7);
        CHECK(ledger[i].opaque_of_graphs[RTL_OPAQUE_OF_PM4] == 4);
        CHECK(ledger[i].opaque[RTL_OPAQUE_OF_DIRECT] == 2);
        CHECK(ledger[i].opaque[RTL_OPAQUE_OF_VENDOR] == 0);
    }
    rtlTraceClose(trace);
    CHECK(rtlTraceKinds(NULL, &kinds, &count) == RTL_E_ARGUMENT);
    fixture_remove(path);
    return NULL;
}

#define OF(kind) " FROM ledger_kinds WHERE kind = '" kind "'"

const char *Kinds_InSql(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(write_kinds(path));
    CHECK(fixture_number(path, "SELECT sum(seen)" OF("ranges")) == RANGES + 90 + SAID + 1);
    CHECK(fixture_number(path, "SELECT sum(lost)" OF("ranges")) == SAID + 1);
    CHECK(fixture_number(path, "SELECT lost" OF("ranges") " AND reason = 'memory'") == 1);
    CHECK(fixture_number(path, "SELECT sum(recorded - stored)" OF("calls")) == 2);
    CHECK(fixture_number(path, "SELECT sum(stored)" OF("range_ends")) == RANGES);
    CHECK(fixture_number(path, "SELECT sum(stored)" OF("marks")) == 1);
    CHECK(fixture_number(path, "SELECT sum(recorded - stored)" OF("processes")) == 3);
    CHECK(fixture_number(path, "SELECT sum(stopped) FROM ledger WHERE process = 1") == 12);
    CHECK(fixture_number(path, "SELECT sum(packets) * 10 + sum(of_graphs) FROM ledger_opaque"
                               " WHERE process = 1") == 94);
    CHECK(fixture_number(path, "SELECT sum(withheld) FROM ledger") == 6);
    fixture_remove(path);
    return NULL;
}
