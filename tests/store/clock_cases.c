#include "fixture.h"
#include "ring/clock_line.h"
#include "store/translate.h"

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

/* The truth: a counter of 27 MHz that stood at 0 at time 0. A point has the ticks that a reader of
 * the counter gets. */
#define HZ UINT64_C(27000000)

static uint64_t ticks_at(uint64_t ns)
{
    return ns / SECOND * HZ + ns % SECOND * HZ / SECOND;
}

const char *Clock_WithinATickOfTheTruth(void)
{
    const uint64_t tick = SECOND / HZ + 1;
    uint64_t seed = 5;
    struct rtl_line line = {0};
    uint64_t begin = 86400 * SECOND;
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t ns = begin + i * 700000001;
        CHECK(rtl_line_add(&line, ticks_at(ns), ns) == 0);
    }
    rtl_clock_finish_ticks(&line, HZ);
    for (int i = 0; i < 100000; i++) {
        /* A little before the first point, and beyond the last. */
        uint64_t ns = begin - SECOND + fixture_random(&seed) % (16 * SECOND);
        uint64_t got = rtl_line_at(&line, ticks_at(ns));
        uint64_t away = got > ns ? got - ns : ns - got;
        bool between = ns >= begin && ns <= line.y[line.points - 1];
        CHECK(away <= (between ? tick : 2 * tick));
    }
    rtl_line_free(&line);
    return NULL;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

const char *Clock_KeepsOrder(void)
{
    enum { TICKS = 4000 };
    static uint64_t ticks[TICKS];
    uint64_t seed = 6;
    for (int round = 0; round < 20; round++) {
        struct rtl_line line = {0};
        uint64_t x = 1000000;
        uint64_t y = 50;
        for (int i = 0; i < 10; i++) {
            CHECK(rtl_line_add(&line, x, y) == 0);
            x += 1 + fixture_random(&seed) % 1000;
            y += 1 + fixture_random(&seed) % (round % 2 ? 10 : 100000);
        }
        rtl_clock_finish_ticks(&line, 1 + fixture_random(&seed) % SECOND);
        for (int i = 0; i < TICKS; i++)
            ticks[i] = 999000 + fixture_random(&seed) % 12000;
        qsort(ticks, TICKS, sizeof *ticks, by_number);
        uint64_t before = 0;
        for (int i = 0; i < TICKS; i++) {
            uint64_t ns = rtl_line_at(&line, ticks[i]);
            CHECK(ns >= before);
            before = ns;
        }
        for (size_t i = 0; i < line.points; i++)
            CHECK(rtl_line_at(&line, line.x[i]) == line.y[i]);
        rtl_line_free(&line);
    }
    return NULL;
}

const char *Clock_ExtendsBeyondItsPoints(void)
{
    struct rtl_line none = {0};
    rtl_clock_finish_ticks(&none, 100000000);
    CHECK(rtl_line_at(&none, 123) == 1230);

    struct rtl_line one = {0};
    CHECK(rtl_line_add(&one, 1000, 50000) == 0);
    rtl_clock_finish_ticks(&one, 100000000);
    CHECK(rtl_line_at(&one, 1001) == 50010);
    CHECK(rtl_line_at(&one, 999) == 49990);
    CHECK(rtl_line_at(&one, 0) == 40000);
    rtl_line_free(&one);

    /* Two points within a millisecond do not outweigh the frequency… */
    struct rtl_line near = {0};
    CHECK(rtl_line_add(&near, 0, 0) == 0 && rtl_line_add(&near, 1000, 11000) == 0);
    rtl_clock_finish_ticks(&near, 100000000);
    CHECK(rtl_line_at(&near, 2000) == 21000);
    rtl_line_free(&near);

    /* …and two that are seconds apart do. */
    struct rtl_line far = {0};
    CHECK(rtl_line_add(&far, 0, 0) == 0 && rtl_line_add(&far, 1000, 2 * SECOND) == 0);
    rtl_clock_finish_ticks(&far, 100000000);
    CHECK(rtl_line_at(&far, 2000) == 4 * SECOND);
    rtl_line_free(&far);
    return NULL;
}

const char *Clock_TakesExtremes(void)
{
    struct rtl_line line = {0};
    CHECK(rtl_line_add(&line, 10, 5) == 0 && rtl_line_add(&line, UINT64_MAX - 1, UINT64_MAX) == 0);
    rtl_clock_finish_ticks(&line, 1);
    CHECK(rtl_line_at(&line, UINT64_MAX) == UINT64_MAX);
    CHECK(rtl_line_at(&line, 0) == 0);
    CHECK(rtl_line_at(&line, UINT64_MAX - 1) == UINT64_MAX);
    rtl_line_free(&line);
    struct rtl_line none = {0};
    rtl_clock_finish_ticks(&none, 1);
    CHECK(rtl_line_at(&none, UINT64_MAX) == UINT64_MAX);
    return NULL;
}

const char *Clock_LeavesOutPointsThatDoNotRise(void)
{
    struct rtl_line line = {0};
    CHECK(rtl_line_add(&line, 100, 1000) == 0);
    CHECK(rtl_line_add(&line, 100, 2000) == 0);
    CHECK(rtl_line_add(&line, 150, 900) == 0);
    CHECK(rtl_line_add(&line, 200, 2000) == 0);
    CHECK(line.points == 2 && rtl_line_at(&line, 150) == 1500);
    rtl_line_free(&line);
    return NULL;
}

static struct rtl_wire_clock_snapshot snapshot(uint64_t system, uint64_t boottime, uint64_t width)
{
    return (struct rtl_wire_clock_snapshot){
        .system_ns = system, .boottime_ns = boottime, .width_ns = width};
}

const char *Clock_OneClockIsExact(void)
{
    const struct rtl_wire_clock_snapshot snapshots[] = {snapshot(1000, 1080, 100),
                                                        snapshot(9000, 8990, 20)};
    struct rtl_line line = {0};
    CHECK(rtl_clock_make_system(&line, snapshots, 2) == 0);
    CHECK(rtl_line_at(&line, 0) == 0 && rtl_line_at(&line, 1000) == 1000);
    CHECK(rtl_line_at(&line, UINT64_MAX) == UINT64_MAX);
    rtl_line_free(&line);
    CHECK(rtl_clock_make_system(&line, NULL, 0) == 0);
    CHECK(rtl_line_at(&line, 77) == 77);
    return NULL;
}

const char *Clock_OffsetOfTheTightestSnapshot(void)
{
    const struct rtl_wire_clock_snapshot snapshots[] = {
        snapshot(1000, 501080, 100), snapshot(5000, 505003, 10), snapshot(9000, 508950, 60)};
    struct rtl_line line = {0};
    CHECK(rtl_clock_make_system(&line, snapshots, 3) == 0);
    CHECK(rtl_line_at(&line, 1000) == 501003 && rtl_line_at(&line, 20000) == 520003);
    rtl_line_free(&line);
    return NULL;
}

/* The system clock stood still for an hour between the second and the third snapshot. */
const char *Clock_FollowsASuspend(void)
{
    const uint64_t hour = 3600 * SECOND;
    const struct rtl_wire_clock_snapshot snapshots[] = {
        snapshot(1 * SECOND, 1 * SECOND, 50), snapshot(2 * SECOND, 2 * SECOND, 50),
        snapshot(3 * SECOND, 3 * SECOND + hour, 50), snapshot(4 * SECOND, 4 * SECOND + hour, 50)};
    struct rtl_line line = {0};
    CHECK(rtl_clock_make_system(&line, snapshots, 4) == 0);
    CHECK(rtl_line_at(&line, SECOND / 2) == SECOND / 2);
    CHECK(rtl_line_at(&line, SECOND + 5) == SECOND + 5);
    CHECK(rtl_line_at(&line, 5 * SECOND) == 5 * SECOND + hour);
    rtl_line_free(&line);
    return NULL;
}

/* A line of an agent, its rate drawn from easy and awkward ones, with up to five points. */
static const char *draw_line(struct rtl_line *line, uint64_t *seed)
{
    static const uint64_t rates[] = {1, 3, 7, 25000000, 100000000, 300000000, 1000000007, 0};
    uint64_t x = fixture_random(seed) % 1000;
    uint64_t y = fixture_random(seed) % 100000;
    uint64_t points = fixture_random(seed) % 6;
    *line = (struct rtl_line){.dx = 1, .dy = 1};
    for (uint64_t i = 0; i < points; i++) {
        CHECK(rtl_line_add(line, x, y) == 0);
        x += 1 + fixture_random(seed) % 3000;
        y += 1 + fixture_random(seed) % 30000;
    }
    rtl_clock_finish_ticks(line, rates[fixture_random(seed) % (sizeof rates / sizeof *rates)]);
    return NULL;
}

static const char *compare_all(struct rtl_agent_clock *clock, uint64_t begin, uint64_t *seed)
{
    struct rtl_translator translator;
    rtl_translator_begin(&translator, clock);
    for (int round = 0; round < 8; round++) {
        uint64_t ticks[64];
        uint64_t ns[64];
        uint64_t low = UINT64_MAX;
        uint64_t high = 0;
        begin += fixture_random(seed) % 4000;
        for (int i = 0; i < 64; i++) {
            ticks[i] = ns[i] = begin + fixture_random(seed) % 500;
            low = ticks[i] < low ? ticks[i] : low;
            high = ticks[i] > high ? ticks[i] : high;
        }
        rtl_translate(&translator, ns, 64, low, high);
        for (int i = 0; i < 64; i++)
            CHECK(ns[i] == rtl_trace_ns(clock, ticks[i]));
    }
    return NULL;
}

/* Host clocks that are one, apart, or drift; ticks on, before and beyond the points, and near the
 * ends of what 64 bits hold. */
const char *Clock_ManyAtOnceAsOneByOne(void)
{
    static const uint64_t begins[] = {
        0, 5000, UINT64_C(1) << 31, INT64_MAX, UINT32_MAX, UINT64_MAX - 40000, UINT64_C(1) << 50};
    uint64_t seed = 9;
    for (int round = 0; round < 3000; round++) {
        struct rtl_agent_clock clock = {0};
        struct rtl_line system = {.dx = 1, .dy = 1};
        uint64_t offset = fixture_random(&seed);
        CHECK_DONE(draw_line(&clock.ticks, &seed));
        for (int i = 0; i < round % 4; i++)
            CHECK(rtl_line_add(&system, 100 + (uint64_t)i * 10000,
                               offset % 1000 + (uint64_t)i * 10001) == 0);
        clock.system = round % 5 ? &system : NULL;
        CHECK_DONE(compare_all(&clock, begins[offset % (sizeof begins / sizeof *begins)], &seed));
        rtl_line_free(&clock.ticks);
        rtl_line_free(&system);
    }
    return NULL;
}
