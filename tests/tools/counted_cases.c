/* Traces with hardware counters, made up: what rtl ranges and rtl summary say is compared by
 * counted.py with what follows from the rows of SQL, and here with numbers worked out by hand. */
#include "made.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASKED "waves,waves_max,l2_hit,fetch_bytes,SQ_WAVES,kernels,fetch_rate"

/* What the fake process does; it is forked after this was set. */
static struct {
    enum rtl_counting_mode mode;
    uint16_t pass, passes;
    uint64_t seed;
} world;

static uint64_t next_random(void)
{
    uint64_t z = (world.seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void push(struct rtl_ring *ring, enum rtl_wire_type type, const void *body, size_t size,
                 const void *rest, size_t rest_size)
{
    const struct rtl_piece pieces[] = {{body, size}, {rest, rest_size}};
    if (!rtl_ring_push(ring, type, pieces, 2))
        _exit(2);
}

static void counting(struct rtl_ring *ring)
{
    const struct rtl_wire_counting body = {.mode = world.mode,
                                           .pass = world.pass,
                                           .passes = world.passes,
                                           .text_length = strlen(ASKED)};
    push(ring, RTL_WIRE_COUNTING, &body, sizeof body, ASKED, strlen(ASKED));
}

static void counter(struct rtl_ring *ring, uint32_t id, uint16_t pass, const char *name)
{
    const struct rtl_wire_counter body = {.counter = id,
                                          .block = 6,
                                          .event = 4 + id,
                                          .instances = 8,
                                          .pass = pass,
                                          .name_length = (uint16_t)strlen(name)};
    push(ring, RTL_WIRE_COUNTER, &body, sizeof body, name, strlen(name));
}

static void sample(struct rtl_ring *ring, uint32_t queue, uint64_t owner, uint16_t flags,
                   const uint64_t *values, uint16_t count)
{
    const struct rtl_wire_sample body = {
        .owner = owner, .queue = queue, .values = count, .flags = flags};
    push(ring, RTL_WIRE_SAMPLE, &body, sizeof body, values, count * sizeof *values);
}

static void uncounted(struct rtl_ring *ring, enum rtl_uncounted_why why, uint64_t count)
{
    const struct rtl_wire_uncounted body = {.count = count, .why = why};
    push(ring, RTL_WIRE_UNCOUNTED, &body, sizeof body, "", 0);
}

static void kernel(struct rtl_ring *ring, uint32_t queue, uint64_t packet, uint32_t shape,
                   uint64_t range)
{
    const uint64_t start = MADE_BEGIN + 1000 * packet + (uint64_t)500 * queue;
    const struct rtl_wire_kernel body = {.packet = packet,
                                         .start = start,
                                         .end = start + 100 + packet,
                                         .correlation = range,
                                         .queue = queue,
                                         .shape = shape,
                                         .launch = RTL_NONE,
                                         .ordinal = RTL_NONE};
    if (rtl_ring_push_kernels(ring, &body, 1) != 1)
        _exit(2);
}

/* A range of 10 us, at a time of its own. */
static void range(struct rtl_ring *ring, uint64_t id, uint64_t parent, const char *name)
{
    const uint64_t start = MADE_BEGIN_NS + 20000 * id;
    made_range(ring, RTL_RANGE_PUSH, id, parent, start, name);
    made_range_end(ring, id, start + 10000);
}

/* Kernels one by one. */

enum { FIVE = 5, DEEPEST = 64 };

static void five_counters(struct rtl_ring *ring)
{
    static const char *const names[FIVE] = {"SQ_WAVES", "TCC_HIT", "TCC_MISS", "TCC_EA_RDREQ",
                                            "TCC_EA_RDREQ_32B"};
    counting(ring);
    for (uint32_t i = 0; i < FIVE; ++i)
        counter(ring, i, 0, names[i]);
}

static void counted_kernel(struct rtl_ring *ring, uint32_t queue, uint64_t packet, uint64_t id)
{
    const uint64_t small = next_random() % 1000;
    const uint64_t values[FIVE] = {packet + 1, next_random() % 1000, next_random() % 1000,
                                   1000 + small, small};
    kernel(ring, queue, packet, (uint32_t)packet % 2, id);
    sample(ring, queue, packet, 0, values, FIVE);
}

/* 0 % and 100 %: 900 requests that miss, 100 that hit. */
static void pair(struct rtl_ring *ring, uint64_t packet, uint64_t id)
{
    static const uint64_t cold[FIVE] = {1, 0, 900, 1, 0};
    static const uint64_t warm[FIVE] = {9, 100, 0, 1, 1};
    range(ring, id, 0, "pair");
    kernel(ring, 0, packet, 0, id);
    sample(ring, 0, packet, 0, cold, FIVE);
    kernel(ring, 0, packet + 1, 1, id);
    sample(ring, 0, packet + 1, 0, warm, FIVE);
}

static void one_by_one(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    made_queue(ring, 1, 0x2000, MADE_BEGIN_NS);
    five_counters(ring);
    for (uint64_t i = 0; i < DEEPEST; ++i) {
        made_range(ring, RTL_RANGE_PUSH, i + 1, i, MADE_BEGIN_NS + i, "deep");
        counted_kernel(ring, i % 2, i, i + 1);
    }
    for (uint64_t i = DEEPEST; i > 0; --i)
        made_range_end(ring, i, MADE_BEGIN_NS + 1000 - i);
    pair(ring, 100, 70);
    range(ring, 71, 0, "empty");
    range(ring, 72, 0, "partly");
    counted_kernel(ring, 0, 200, 72);
    kernel(ring, 0, 201, 0, 72);
    uncounted(ring, RTL_UNCOUNTED_GRAPH, 1);
    range(ring, 73, 0, "unlucky");
    kernel(ring, 1, 202, 0, 73);
    uncounted(ring, RTL_UNCOUNTED_MEMORY, 1);
    counted_kernel(ring, 1, 203, 0);                    /* in no range */
    sample(ring, 1, 300, 0, (uint64_t[FIVE]){1}, FIVE); /* its kernel was lost */
    made_ledger(ring, 0, 36, 36, 0);
    made_ledger(ring, 1, 34, 34, 0);
    rtl_ring_close(ring);
}

static const char *run(const struct made *made, const char *command)
{
    char line[2 * MADE_PATH];
    (void)snprintf(line, sizeof line, "cd %s && T=trace.db RTL=%s && %s", made->folder, RTL_COMMAND,
                   command);
    CHECK(made_shell(line) == 0);
    return NULL;
}

#define SAME "python3 " COUNTED_PY " $RTL $T"
/* A number of a range by name in rtl ranges --json, or of its metrics. */
#define OF_RANGE(name, what, is)                                                                   \
    "$RTL ranges --json -N " name " $T | python3 -c 'import json, sys; "                           \
    "row = json.load(sys.stdin)[\"ranges\"][0]; sys.exit(row" what " != " is ")'"

/* The same of all ranges of a name. */
#define OF_NAME(name, what, is)                                                                    \
    "$RTL ranges --json -N " name " $T | python3 -c 'import json, sys; "                           \
    "row = json.load(sys.stdin)[\"by_name\"][0]; sys.exit(row" what " != " is ")'"

static const char *make(struct made *made, made_work work)
{
    CHECK_DONE(made_begin(made));
    world.mode = RTL_COUNTING_KERNEL;
    world.pass = 0;
    world.passes = 1;
    world.seed = 8;
    (void)made_process(made, work);
    return NULL;
}

const char *Counted_Kernels(void)
{
    struct made made;
    CHECK_DONE(make(&made, one_by_one));
    CHECK_DONE(made_end(&made));
    CHECK_DONE(run(&made, SAME));
    CHECK_DONE(run(&made, OF_RANGE("pair", "[\"metrics\"][\"l2_hit\"]", "10")));
    CHECK_DONE(run(&made, OF_RANGE("pair", "[\"metrics\"][\"waves_max\"]", "9")));
    CHECK_DONE(run(&made, OF_RANGE("pair", "[\"metrics\"][\"waves\"]", "10")));
    CHECK_DONE(run(&made, OF_RANGE("deep", "[\"metrics\"][\"waves\"]", "64 * 65 // 2")));
    CHECK_DONE(run(&made, OF_RANGE("deep", "[\"counted_kernels\"]", "64")));
    CHECK_DONE(run(&made, OF_RANGE("empty", "[\"metrics\"][\"waves\"]", "None")));
    CHECK_DONE(run(&made, OF_RANGE("partly", "[\"counted_kernels\"]", "1")));
    CHECK_DONE(run(&made, OF_RANGE("unlucky", "[\"counters\"]", "{}")));
    made_clean(&made);
    return NULL;
}

const char *Counted_Text(void)
{
    struct made made;
    CHECK_DONE(make(&made, one_by_one));
    CHECK_DONE(made_end(&made));
    CHECK_DONE(
        run(&made, "$RTL ranges -e -N pair $T > out && grep -q '^  70 .* 10.0 % .* pair$' out"));
    CHECK_DONE(run(&made, "$RTL ranges --each -n 0 $T > out && grep -q '^ *72~ .* partly$' out"));
    CHECK_DONE(run(&made,
                   "grep -q '^not counted: 1 (in replays of graphs), 1 (no buffer was free)$' "
                   "out"));
    CHECK_DONE(run(&made, "grep -q '^counters: of each kernel, one at a time; 1 kernel is not in "
                          "the trace' out"));
    CHECK_DONE(run(&made, "$RTL ranges $T -r 70 -k -m l2_hit > out && grep -q ' 0.0 % *add' out && "
                          "grep -q ' 100.0 % *mul' out"));
    CHECK_DONE(run(&made, "$RTL summary $T | grep -q '^not counted: 1 (in replays of graphs)'"));
    /* What was not recorded is refused by the counter that lacks. */
    CHECK_DONE(run(&made, "! $RTL ranges $T -m write_bytes 2> err > out && test ! -s out"));
    CHECK_DONE(run(&made, "grep -q 'no counter TCC_EA_WRREQ, which the metric write_bytes' err"));
    CHECK_DONE(run(&made, "! $RTL ranges $T -m l2_hitt 2> err && grep -q \"'l2_hit'\" err"));
    made_clean(&made);
    return NULL;
}

/* Whole ranges, with other work beside some. */

static void wholes(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    five_counters(ring);
    for (uint64_t i = 1; i <= 40; ++i) {
        const uint64_t values[FIVE] = {i, next_random() % 100, next_random() % 100, 10 * i, i};
        range(ring, i, i % 4 == 1 ? 0 : i - 1, i % 4 == 1 ? "step" : "layer");
        kernel(ring, 0, i, 0, i);
        if (i % 5 != 0) /* the fifth was not counted */
            sample(ring, RTL_NONE, i, i % 3 == 0 ? RTL_SAMPLE_SHARED : 0, values, FIVE);
    }
    sample(ring, RTL_NONE, 99, 0, (uint64_t[FIVE]){1}, FIVE); /* its range was lost */
    uncounted(ring, RTL_UNCOUNTED_SHUTDOWN, 8);
    made_ledger(ring, 0, 40, 40, 0);
    rtl_ring_close(ring);
}

const char *Counted_Ranges(void)
{
    struct made made;
    CHECK_DONE(made_begin(&made));
    world.mode = RTL_COUNTING_RANGE;
    world.pass = 0;
    world.passes = 1;
    (void)made_process(&made, wholes);
    CHECK_DONE(made_end(&made));
    CHECK_DONE(run(&made, SAME));
    /* A maximum of kernels is not known where ranges were counted as a whole. */
    CHECK_DONE(run(&made, OF_RANGE("step", "[\"metrics\"][\"waves_max\"]", "None")));
    CHECK_DONE(run(&made, OF_RANGE("step", "[\"metrics\"][\"waves\"]", "1")));
    CHECK_DONE(run(&made, "$RTL ranges -e $T | grep -q '^ *3\\* .* layer$'"));
    /* By name: 10 steps, in each a layer, in which is another one and in that a third. Of the steps
     * 2 were not counted, and 3 with other work. */
    CHECK_DONE(run(&made, "$RTL ranges $T > out && grep -q '^ *10\\* .*  step$' out &&"
                          " test $(grep -c '^ *10.* layer$' out) = 3"));
    CHECK_DONE(run(&made, OF_NAME("step", "[\"metrics\"][\"waves\"]",
                                  "sum(i for i in range(1, 41, 4) if i % 5)")));
    made_clean(&made);
    return NULL;
}

/* Two passes of a program that is not quite the same: kernels 3 and 9 are other ones, 5 is
 * missing, 20 is new; a range is new before others, and one more of a name is after them. Its queue
 * has another number. */
static void run_of_two(struct rtl_ring *ring)
{
    static const uint64_t values[2] = {1, 2};
    const uint32_t queue = world.pass;
    const bool second = world.pass == 1;
    const uint16_t count = second ? 2 : 1;
    uint64_t id = 1;
    made_definitions(ring);
    if (second)
        made_copies(ring, 0);
    made_queue(ring, queue, 0x1000, MADE_BEGIN_NS);
    counting(ring);
    counter(ring, 0, 0, "SQ_WAVES");
    counter(ring, 1, 1, "TCC_HIT");
    counter(ring, 2, 1, "TCC_MISS");
    for (uint64_t step = 0; step < 3; ++step) {
        const uint64_t outer = id++;
        range(ring, outer, 0, "step");
        if (second && step == 1)
            range(ring, id++, outer, "warm-up");
        for (uint64_t layer = 0; layer < (second && step == 1 ? 5U : 4U); ++layer) {
            const uint64_t packet = layer == 4 ? 20 : 4 * step + layer;
            const uint64_t inner = id++;
            range(ring, inner, outer, "layer");
            if (!(second && packet == 5))
                kernel(ring, queue, packet, second && packet % 6 == 3 ? 1 : 0, inner);
            const uint64_t counts[2] = {1 + packet * values[0], packet * packet};
            if (world.mode == RTL_COUNTING_RANGE)
                sample(ring, RTL_NONE, inner, 0, counts, count);
            else if (!(second && packet == 5))
                sample(ring, queue, packet, 0, counts, count);
        }
    }
    made_ledger(ring, queue, 12, 12, 0);
    rtl_ring_close(ring);
}

static const char *two_passes(struct made *made, enum rtl_counting_mode mode)
{
    CHECK_DONE(made_begin(made));
    world.mode = mode;
    world.passes = 2;
    for (world.pass = 0; world.pass < 2; ++world.pass)
        (void)made_process(made, run_of_two);
    CHECK_DONE(made_end(made));
    CHECK_DONE(run(made, SAME));
    return NULL;
}

#define COUNTING(what, is)                                                                         \
    "$RTL ranges --json $T | python3 -c 'import json, sys; "                                       \
    "sys.exit(json.load(sys.stdin)[\"counting\"][\"" what "\"] != " is ")'"

const char *Counted_PassesOfKernels(void)
{
    struct made made;
    CHECK_DONE(two_passes(&made, RTL_COUNTING_KERNEL));
    CHECK_DONE(run(&made, COUNTING("passes", "2")));
    CHECK_DONE(run(&made, COUNTING("unmatched_kernels", "3"))); /* 3, 9 and 20 */
    CHECK_DONE(run(&made, COUNTING("changed_ranges", "1")));    /* that of kernel 5 */
    made_clean(&made);
    return NULL;
}

const char *Counted_PassesOfRanges(void)
{
    struct made made;
    CHECK_DONE(two_passes(&made, RTL_COUNTING_RANGE));
    CHECK_DONE(run(&made, COUNTING("unmatched_ranges", "1"))); /* the fifth layer */
    made_clean(&made);
    return NULL;
}

/* What a trace without counters says is what it said before there were any. */
static void nothing_counted(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    range(ring, 1, 0, "step");
    kernel(ring, 0, 0, 0, 1);
    made_ledger(ring, 0, 1, 1, 0);
    rtl_ring_close(ring);
}

const char *Counted_Nothing(void)
{
    struct made made;
    CHECK_DONE(make(&made, nothing_counted));
    CHECK_DONE(made_end(&made));
    CHECK_DONE(run(&made, SAME));
    CHECK_DONE(run(&made, "! $RTL ranges $T | grep -q counte"));
    CHECK_DONE(run(&made, "! $RTL summary $T | grep -q counte"));
    made_clean(&made);
    return NULL;
}
