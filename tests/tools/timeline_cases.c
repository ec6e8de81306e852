/* Kernels in columns of time, against sums made here, kernel by kernel. */
#include "made.h"
#include "store/select.h"
#include "timeline/timeline.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUES = 4, NAMES = 9, WIDTH = 60, MANY = 40000, ALL = 4 * MANY };

/* A kernel, in ticks since MADE_BEGIN. */
struct planted {
    uint32_t queue, name;
    uint64_t start, end;
};

static struct planted planted[ALL];
static uint32_t planted_count;

static uint64_t random_of(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*state >> 33) % below;
}

static void plant(uint32_t queue, uint32_t name, uint64_t start, uint64_t length)
{
    planted[planted_count++] = (struct planted){queue, name, start, start + length};
}

/* Swaps kernels of a queue that are up to `reach` apart: those of one chunk, and of two. */
static void stir(uint32_t first, uint32_t reach, uint64_t *seed)
{
    for (uint32_t i = first; i + reach < planted_count; i += 3) {
        uint32_t other = i + (uint32_t)random_of(seed, reach);
        struct planted kernel = planted[i];
        planted[i] = planted[other];
        planted[other] = kernel;
    }
}

/* Queue 0: one after the other. Queue 1: some run at once, so that chunks overlap at their ends.
 * Queue 2: in no order. Queue 3: a few that fill many columns. Of some kernels the time is 0. */
static void plant_all(void)
{
    uint64_t seed = 7;
    planted_count = 0;
    for (uint32_t i = 0; i < MANY; ++i)
        plant(0, (uint32_t)random_of(&seed, NAMES), 10 * (uint64_t)i, random_of(&seed, 10));
    for (uint32_t i = 0; i < MANY; ++i)
        plant(1, (uint32_t)(i / 5000 + random_of(&seed, 2)) % NAMES, 10 * (uint64_t)i,
              random_of(&seed, 100));
    for (uint32_t i = 0; i < MANY; ++i)
        plant(2, (uint32_t)random_of(&seed, NAMES), 10 * (uint64_t)i, random_of(&seed, 30));
    stir(2 * MANY, 9000, &seed);
    for (uint32_t i = 0; i < 5; ++i)
        plant(3, i, 50000 * (uint64_t)i + 777, 40000);
}

static const char *name_of(uint32_t name)
{
    static char text[16];
    (void)snprintf(text, sizeof text, "kernel_%c", (int)('a' + name));
    return text;
}

static void define(struct rtl_writer *writer, uint32_t process)
{
    const struct rtl_wire_agent agent = {.clock_hz = 100000000, .device_type = 1, .name_length = 6};
    rtl_writer_agent(writer, process, &agent, "gfx906");
    for (uint64_t i = 1; i <= 10; i += 9)
        rtl_writer_clock(
            writer, process,
            &(struct rtl_wire_clock){.ticks = i * MADE_BEGIN, .system_ns = i * MADE_BEGIN_NS});
    for (uint32_t i = 0; i < QUEUES; ++i)
        rtl_writer_queue(writer, process,
                         &(struct rtl_wire_queue){.queue = i, .interception = RTL_INTERPOSED});
    for (uint32_t i = 0; i < NAMES; ++i) {
        rtl_writer_symbol(writer, process, &(struct rtl_wire_symbol){.symbol = i, .name_length = 8},
                          name_of(i));
        rtl_writer_shape(writer, process, &(struct rtl_wire_shape){.shape = i, .symbol = i});
    }
}

static void write_planted(struct rtl_writer *writer)
{
    const struct rtl_wire_process body = {
        .time_ns = MADE_BEGIN_NS, .pid = 100, .mode = RTL_MODE_FULL};
    uint64_t packets[QUEUES] = {0};
    uint32_t process = rtl_writer_process(writer, &body, "");
    define(writer, process);
    for (uint32_t i = 0; i < planted_count; ++i) {
        const struct rtl_wire_kernel kernel = {.packet = packets[planted[i].queue]++,
                                               .start = MADE_BEGIN + planted[i].start,
                                               .end = MADE_BEGIN + planted[i].end,
                                               .queue = planted[i].queue,
                                               .shape = planted[i].name,
                                               .launch = RTL_NONE,
                                               .ordinal = RTL_NONE};
        rtl_writer_kernel(writer, process, &kernel);
    }
    rtl_writer_process_end(writer, process, "closed", 1, 0);
}

/* What has to come out. */
struct truth {
    uint64_t from, column; /* ns */
    const char *only;      /* names, NULL: all */
    uint64_t events[QUEUES], busy[QUEUES][WIDTH], ns[QUEUES][WIDTH][NAMES];
    uint64_t name_events[NAMES], name_ns[NAMES];
};

static uint64_t low(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t high(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int by_start(const void *left, const void *right)
{
    const struct planted *a = left;
    const struct planted *b = right;
    if (a->queue != b->queue)
        return a->queue < b->queue ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static uint64_t ns_of(uint64_t ticks)
{
    return MADE_BEGIN_NS + ticks * MADE_TICK_NS;
}

/* A kernel whose queue was busy from the start of the window up to `*until`. */
static void add_truth(struct truth *truth, const struct planted *kernel, uint64_t *until)
{
    uint64_t to = truth->from + WIDTH * truth->column;
    uint64_t start = ns_of(kernel->start);
    uint64_t end = ns_of(kernel->end);
    if (start >= to || !(end > truth->from || start >= truth->from) ||
        (truth->only && !strchr(truth->only, (int)('a' + kernel->name))))
        return;
    ++truth->events[kernel->queue];
    ++truth->name_events[kernel->name];
    for (uint32_t i = 0; i < WIDTH; ++i) {
        uint64_t first = truth->from + i * truth->column;
        uint64_t last = first + truth->column;
        uint64_t a = high(first, start);
        uint64_t b = low(last, end);
        uint64_t fresh = high(a, *until);
        truth->ns[kernel->queue][i][kernel->name] += b > a ? b - a : 0;
        truth->name_ns[kernel->name] += b > a ? b - a : 0;
        truth->busy[kernel->queue][i] += b > fresh ? b - fresh : 0;
    }
    *until = high(*until, end);
}

static void make_truth(struct truth *truth)
{
    uint64_t until = 0;
    qsort(planted, planted_count, sizeof *planted, by_start);
    for (uint32_t i = 0; i < planted_count; ++i) {
        until = i && planted[i - 1].queue == planted[i].queue ? until : 0;
        add_truth(truth, &planted[i], &until);
    }
}

static const char *check_lane(const struct timeline *timeline, const struct timeline_lane *lane,
                              const struct truth *truth)
{
    uint64_t sum = 0;
    CHECK(lane->events == truth->events[lane->queue]);
    for (uint32_t i = 0; i < WIDTH; ++i) {
        const uint64_t *ns = truth->ns[lane->queue][i];
        uint64_t most = 0;
        uint32_t name = lane->columns[i].name;
        for (uint32_t other = 0; other < NAMES; ++other)
            most = high(most, ns[other]);
        CHECK(lane->columns[i].busy == truth->busy[lane->queue][i]);
        CHECK((name == RTL_TRACE_NONE) == (most == 0));
        if (most)
            CHECK(ns[timeline->texts.list[name][7] - 'a'] == most);
        sum += truth->busy[lane->queue][i];
    }
    CHECK(lane->busy == sum);
    return NULL;
}

static const char *check_names(const struct timeline *timeline, const struct truth *truth)
{
    uint32_t there = 0;
    for (uint32_t i = 0; i < NAMES; ++i)
        there += truth->name_events[i] > 0;
    CHECK(timeline->name_count == there);
    for (uint32_t i = 0; i < there; ++i) {
        uint32_t name = (uint32_t)(timeline->texts.list[i][7] - 'a');
        CHECK(timeline->names[i].events == truth->name_events[name]);
        CHECK(timeline->names[i].ns == truth->name_ns[name]);
    }
    for (uint32_t i = 1; i < there; ++i)
        CHECK(timeline->names[timeline->ranked[i - 1]].ns >=
              timeline->names[timeline->ranked[i]].ns);
    return NULL;
}

/* The long kernels of queue 3, in their order. */
static const char *check_longs(const struct timeline *timeline, const struct timeline_lane *lane)
{
    CHECK(lane->long_count == 5);
    for (uint32_t i = 0; i < 5; ++i) {
        const struct timeline_long *event = &lane->longs[i];
        uint64_t column = (timeline->to - timeline->from) / WIDTH;
        CHECK(strcmp(timeline->texts.list[event->name], name_of(i)) == 0);
        CHECK(event->node == RTL_TRACE_NONE);
        CHECK(event->from == (ns_of(50000 * (uint64_t)i + 777) - timeline->from) / column);
        CHECK(event->to == (ns_of(50000 * (uint64_t)i + 40777) - 1 - timeline->from) / column + 1);
    }
    return NULL;
}

static const char *check_window(rtl_trace_t *trace, struct truth *truth, uint32_t lanes)
{
    struct timeline timeline = {
        .from = truth->from, .to = truth->from + WIDTH * truth->column, .width = WIDTH};
    make_truth(truth);
    CHECK(timeline_read(trace, &timeline) == RTL_OK);
    CHECK(timeline.lane_count == lanes);
    for (size_t i = 0; i < timeline.lane_count; ++i)
        CHECK_DONE(check_lane(&timeline, &timeline.lanes[i], truth));
    CHECK_DONE(check_names(&timeline, truth));
    if (lanes == QUEUES && !truth->only && truth->from <= MADE_BEGIN_NS)
        CHECK_DONE(check_longs(&timeline, &timeline.lanes[3]));
    timeline_free(&timeline);
    return NULL;
}

static const char *open_planted(struct made *made, rtl_trace_t **trace)
{
    char error[512] = "";
    CHECK_DONE(made_begin(made));
    plant_all();
    write_planted(made->writer);
    CHECK_DONE(made_end(made));
    CHECK(rtlTraceOpen(made->trace, trace, error, sizeof error) == RTL_OK);
    return NULL;
}

const char *Timeline_AgreesWithSums(void)
{
    /* The whole; a part, whose first and last columns cut kernels; a window of a few kernels. */
    static const uint64_t windows[][2] = {
        {MADE_BEGIN_NS, 70000}, {MADE_BEGIN_NS + 1234563, 40009}, {MADE_BEGIN_NS + 400001, 7}};
    struct made made;
    rtl_trace_t *trace;
    CHECK_DONE(open_planted(&made, &trace));
    for (size_t i = 0; i < sizeof windows / sizeof *windows; ++i) {
        struct truth truth = {.from = windows[i][0], .column = windows[i][1]};
        CHECK_DONE(check_window(trace, &truth, QUEUES));
    }
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

static bool is_chosen(void *context, const char *name)
{
    return strlen(name) == 8 && strchr(context, name[7]) != NULL;
}

/* A selection leaves some names and times. */
const char *Timeline_OfASelection(void)
{
    char names[] = "fgh";
    const struct rtl_selection selection = {.kernel = is_chosen, .context = names};
    struct truth truth = {.from = MADE_BEGIN_NS, .column = 70000, .only = names};
    struct made made;
    rtl_trace_t *trace;
    CHECK_DONE(open_planted(&made, &trace));
    CHECK(rtl_trace_select(trace, &selection) == RTL_OK);
    CHECK_DONE(check_window(trace, &truth, QUEUES - 1));
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

const char *Timeline_DamageIsTold(void)
{
    struct made made;
    rtl_trace_t *trace;
    char error[512];
    sqlite3 *db = NULL;
    struct timeline timeline = {
        .from = MADE_BEGIN_NS, .to = MADE_BEGIN_NS + 1000000, .width = WIDTH};
    CHECK_DONE(open_planted(&made, &trace));
    rtlTraceClose(trace);
    CHECK(sqlite3_open(made.trace, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "UPDATE kernel_chunks SET checksum = checksum - 1 WHERE chunk = 1", NULL,
                       NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(timeline_read(trace, &timeline) == RTL_E_DAMAGED);
    CHECK(strstr(rtlTraceError(trace), "kernel chunk 1 does not match its checksum") != NULL);
    timeline_free(&timeline);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}
