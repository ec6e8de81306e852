/* Ranges and marks: nested, open, in either order; by time and in SQL. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

static void begin(struct rtl_writer *writer, uint32_t process, enum rtl_range_kind kind,
                  uint64_t id, uint64_t start, uint64_t parent, const char *text)
{
    const struct rtl_wire_range body = {.id = id,
                                        .start_ns = start,
                                        .parent = parent,
                                        .thread = 70 + process,
                                        .kind = (uint16_t)kind,
                                        .text_length = (uint16_t)strlen(text)};
    rtl_writer_range(writer, process, &body, text);
}

static void end(struct rtl_writer *writer, uint32_t process, uint64_t id, uint64_t time)
{
    const struct rtl_wire_range_end body = {.id = id, .end_ns = time};
    rtl_writer_range_end(writer, process, &body);
}

/* Process 1: step [100, 900) > layer [200, 800) > (mark at 300, leaf [300, 400)); a range that is
 * stopped elsewhere [150, 950); one that stays open from 960 on; an end whose begin was lost.
 * Process 2: one range, whose end comes first. */
static bool write_ranges(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t one = fixture_define(writer, 1, 1);
    uint32_t two = fixture_define(writer, 1, 1);
    begin(writer, one, RTL_RANGE_PUSH, 1, 100, 0, "step");
    begin(writer, one, RTL_RANGE_START, 2, 150, 1, "elsewhere");
    begin(writer, one, RTL_RANGE_PUSH, 3, 200, 1, "layer");
    begin(writer, one, RTL_RANGE_MARK, 4, 300, 3, "here");
    begin(writer, one, RTL_RANGE_PUSH, 5, 300, 3, "leaf");
    (void)rtl_writer_checkpoint(writer);
    end(writer, one, 5, 400);
    end(writer, one, 3, 800);
    end(writer, one, 1, 900);
    end(writer, one, 2, 950);
    begin(writer, one, RTL_RANGE_PUSH, 6, 960, 0, "open");
    end(writer, one, 99, 970);
    end(writer, two, 1, 500);
    (void)rtl_writer_checkpoint(writer);
    begin(writer, two, RTL_RANGE_PUSH, 1, 120, 0, "\xc3\xa9\xff");
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static const rtl_range_t want[] = {
    {1, 1, 71, "step", "push", 100, 900, 0},       {1, 2, 72, "\xc3\xa9?", "push", 120, 500, 0},
    {2, 1, 71, "elsewhere", "start", 150, 950, 1}, {3, 1, 71, "layer", "push", 200, 800, 1},
    {4, 1, 71, "here", "mark", 300, 300, 3},       {5, 1, 71, "leaf", "push", 300, 400, 3},
    {6, 1, 71, "open", "push", 960, 0, 0},
};

enum { WANTED = sizeof want / sizeof *want };

static bool same(const rtl_range_t *a, const rtl_range_t *b)
{
    return a->id == b->id && a->process == b->process && a->thread == b->thread &&
           strcmp(a->name, b->name) == 0 && strcmp(a->kind, b->kind) == 0 && a->start == b->start &&
           a->end == b->end && a->parent == b->parent;
}

/* The iteration gives those of `want` whose bit is set, in that order. */
static const char *check(rtl_trace_t *trace, const rtl_range_filter_t *filter, unsigned bits)
{
    rtl_range_iter_t *iter;
    rtl_range_t range;
    CHECK(rtlTraceRanges(trace, filter, &iter) == RTL_OK);
    for (int i = 0; i < WANTED; i++) {
        if (!(bits >> i & 1))
            continue;
        CHECK(rtlRangeNext(iter, &range) == RTL_OK);
        CHECK(same(&range, &want[i]));
    }
    CHECK(rtlRangeNext(iter, &range) == RTL_END && rtlRangeNext(iter, &range) == RTL_END);
    rtlRangeIterFree(iter);
    return NULL;
}

const char *Ranges_ByTime(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace;
    rtl_trace_info_t info;
    CHECK(fixture_path(path) && write_ranges(path));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK_DONE(check(trace, NULL, 0x7f));
    CHECK_DONE(check(trace, &(rtl_range_filter_t){.process = 1}, 0x7d));
    CHECK_DONE(check(trace, &(rtl_range_filter_t){.process = 3}, 0));
    CHECK_DONE(check(trace, &(rtl_range_filter_t){.thread = 72}, 0x02));
    CHECK_DONE(check(trace, &(rtl_range_filter_t){.from = 500}, 0x4d));
    CHECK_DONE(check(trace, &(rtl_range_filter_t){.to = 200}, 0x07));
    CHECK_DONE(check(trace, &(rtl_range_filter_t){.from = 300, .to = 301}, 0x3f));
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK && info.ranges == WANTED);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Ranges_ById(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    char name[64];
    rtl_trace_t *trace;
    rtl_range_t range;
    CHECK(fixture_path(path) && write_ranges(path));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    for (int i = 0; i < WANTED; i++) {
        CHECK(rtlTraceRange(trace, want[i].process, want[i].id, &range, name, sizeof name) ==
              RTL_OK);
        CHECK(same(&range, &want[i]));
    }
    CHECK(rtlTraceRange(trace, want[0].process, want[0].id, &range, name, 2) == RTL_OK);
    CHECK(strlen(range.name) == 1 && range.name[0] == want[0].name[0]);
    CHECK(rtlTraceRange(trace, 9, want[0].id, &range, name, sizeof name) == RTL_END);
    CHECK(rtlTraceRange(trace, 1, UINT64_MAX, &range, name, sizeof name) == RTL_END);
    CHECK(rtlTraceRange(trace, 1, 1, &range, name, 0) == RTL_E_ARGUMENT);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Ranges_InSql(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && write_ranges(path));
    CHECK(fixture_number(path, "SELECT count(*) FROM ranges") == WANTED);
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM ranges WHERE id = 3 AND process = 1 AND"
                         " thread = 71 AND name = 'layer' AND start = 200 AND end = 800 AND"
                         " parent = 1 AND kind = 'push' AND depth = 1 AND duration = 600") == 1);
    CHECK(fixture_number(path, "SELECT group_concat(depth, '') FROM (SELECT depth FROM ranges"
                               " WHERE process = 1 ORDER BY id)") == 11220);
    CHECK(fixture_number(path, "SELECT count(*) FROM ranges WHERE name = 'open' AND end IS NULL AND"
                               " duration IS NULL AND parent IS NULL AND depth = 0") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM ranges WHERE kind = 'mark' AND end = start AND"
                               " duration = 0") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM threads") == 2);
    /* A circle of parents, which only damage makes. */
    CHECK(fixture_sql(path, "UPDATE ranges SET parent = 5 WHERE id = 1 AND process = 1"));
    CHECK(fixture_number(path, "SELECT depth FROM ranges WHERE process = 1 AND id = 5") == 3);
    fixture_remove(path);
    return NULL;
}
