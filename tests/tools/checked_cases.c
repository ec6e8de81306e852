/* What rtl check and rtl info say of hardware counters, of made-up traces whose numbers are known.
 */
#include "made.h"

#include <string.h>
#include <unistd.h>

static void push(struct rtl_ring *ring, enum rtl_wire_type type, const void *body, size_t size,
                 const void *rest, size_t rest_size)
{
    const struct rtl_piece pieces[] = {{body, size}, {rest, rest_size}};
    if (!rtl_ring_push(ring, type, pieces, 2))
        _exit(2);
}

/* Two counters in the pass that is made, one in the other. */
static void counting(struct rtl_ring *ring, enum rtl_counting_mode mode, uint16_t passes)
{
    const struct rtl_wire_counting body = {.mode = mode, .passes = passes, .text_length = 5};
    push(ring, RTL_WIRE_COUNTING, &body, sizeof body, "A,B,C", 5);
    for (uint32_t i = 0; i < 3 && passes > 0; ++i) {
        const char name = (char)('A' + i);
        const struct rtl_wire_counter counter = {
            .counter = i, .block = 6, .event = 4, .instances = 8, .pass = i == 2, .name_length = 1};
        push(ring, RTL_WIRE_COUNTER, &counter, sizeof counter, &name, 1);
    }
}

static void sample(struct rtl_ring *ring, uint32_t queue, uint64_t owner, uint16_t count)
{
    const uint64_t values[] = {1, 2};
    const struct rtl_wire_sample body = {
        .owner = owner, .queue = queue, .values = count, .flags = owner == 2};
    push(ring, RTL_WIRE_SAMPLE, &body, sizeof body, values, count * sizeof *values);
}

static void uncounted(struct rtl_ring *ring, enum rtl_uncounted_why why, uint32_t agent,
                      uint64_t count)
{
    const struct rtl_wire_uncounted body = {.count = count, .agent = agent, .why = why};
    push(ring, RTL_WIRE_UNCOUNTED, &body, sizeof body, "", 0);
}

/* Of 12 kernels 10 are in the trace; 7 of these were counted, and one that is not there; 3 were not
 * for a reason that is told. Of one of the samples a counter is not known. Copies are no kernels.
 */
static void kernels(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    made_copies(ring, 1);
    counting(ring, RTL_COUNTING_KERNEL, 2);
    for (uint64_t i = 0; i < 10; ++i)
        made_kernel(ring, 0, i, 0, MADE_BEGIN + 100 * i, MADE_BEGIN + 100 * i + 50);
    for (uint64_t i = 0; i < 7; ++i)
        sample(ring, 0, i, i == 4 ? 1 : 2);
    sample(ring, 0, 11, 2);
    uncounted(ring, RTL_UNCOUNTED_GRAPH, 0, 1);
    uncounted(ring, RTL_UNCOUNTED_GRAPH, 0, 2);
    uncounted(ring, RTL_UNCOUNTED_MEMORY, RTL_NONE, 1);
    made_ledger(ring, 0, 12, 10, 0);
    made_ledger(ring, 1, 5, 0, 5);
    rtl_ring_close(ring);
}

/* Three ranges, one of them not in the trace and one together with other work. */
static void ranges(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    counting(ring, RTL_COUNTING_RANGE, 2);
    for (uint64_t id = 1; id < 3; ++id) {
        made_range(ring, RTL_RANGE_PUSH, id, 0, MADE_BEGIN_NS + id * 100, "step");
        made_range_end(ring, id, MADE_BEGIN_NS + id * 100 + 50);
    }
    for (uint64_t id = 1; id < 4; ++id)
        sample(ring, RTL_NONE, id, 2);
    uncounted(ring, RTL_UNCOUNTED_SHUTDOWN, 0, 6);
    made_ledger(ring, 0, 12, 0, 12);
    rtl_ring_close(ring);
}

/* It wanted to count, and could not. */
static void nothing(struct rtl_ring *ring)
{
    made_definitions(ring);
    counting(ring, RTL_COUNTING_RANGE, 0);
    rtl_ring_close(ring);
}

/* Fewer than were seen, because a whole queue cannot be counted: that is told, and no error. */
static void queue_refused(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    counting(ring, RTL_COUNTING_KERNEL, 1);
    uncounted(ring, RTL_UNCOUNTED_QUEUE, 0, 1);
    made_ledger(ring, 0, 12, 0, 12);
    rtl_ring_close(ring);
}

static const char *make(struct made *made)
{
    CHECK_DONE(made_begin(made));
    (void)made_process(made, kernels);
    (void)made_process(made, ranges);
    (void)made_process(made, nothing);
    (void)made_process(made, queue_refused);
    return made_end(made);
}

static const char *run(const struct made *made, const char *command)
{
    char line[2 * MADE_PATH];
    (void)snprintf(line, sizeof line, "cd %s && RTL=%s && %s", made->folder, RTL_COMMAND, command);
    CHECK(made_shell(line) == 0);
    return NULL;
}

#define SAYS(sentence) "grep -qxF '" sentence "' out"

const char *Checked_Text(void)
{
    struct made made;
    CHECK_DONE(make(&made));
    CHECK_DONE(run(&made, "{ $RTL check trace.db > out; test $? = 1; }"));
    CHECK_DONE(run(&made, SAYS("  hardware counters, process 1: mode kernel, pass 1 of 2, 8 of 12 "
                               "kernels counted")));
    CHECK_DONE(
        run(&made, SAYS("    not counted: 2 (in replays of graphs), 1 (no buffer was free)")));
    CHECK_DONE(run(&made, SAYS("    neither counted nor accounted for: 1, which is an error of RTL:"
                               " report it")));
    CHECK_DONE(run(&made, "test \"$(grep -c 'neither counted' out)\" = 1"));
    CHECK_DONE(
        run(&made, SAYS("    samples whose counters are not known, because their definitions were "
                        "lost: 1")));
    CHECK_DONE(run(&made, SAYS("  hardware counters, process 2: mode range, pass 1 of 2, 3 ranges "
                               "counted, in 1 of 3 samples together with other work")));
    CHECK_DONE(run(&made, "test \"$(grep -c 'samples whose kernel or range is not in the trace: 1' "
                          "out)\" = 2"));
    CHECK_DONE(run(&made, SAYS("  hardware counters, process 3: mode range, nothing was counted: "
                               "the notes tell why")));
    CHECK_DONE(
        run(&made, SAYS("  hardware counters, process 4: mode kernel, 0 of 12 kernels counted")));
    made_clean(&made);
    return NULL;
}

/* An item of a list of `rtl COMMAND --json` is a Python value. */
#define IS(command, list, item, value)                                                             \
    "{ $RTL " command " --json trace.db || true; } | python3 -c 'import json, sys; "               \
    "sys.exit(json.load(sys.stdin)[\"" list "\"]" item " != " value ")'"

const char *Checked_Json(void)
{
    struct made made;
    CHECK_DONE(make(&made));
    CHECK_DONE(
        run(&made, IS("check", "counters", "[0]",
                      "dict(process=1, mode=\"kernel\", passes=2, expected=12, counted=8, "
                      "samples=8, shared=1, uncounted=dict(graph=2, memory=1), "
                      "unexplained=1, without_owner=1, without_counters=1, **{\"pass\": 0})")));
    CHECK_DONE(run(&made, IS("check", "counters", "[1]",
                             "dict(process=2, mode=\"range\", passes=2, expected=None, counted=3, "
                             "samples=3, shared=1, uncounted=dict(shutdown=6), unexplained=0, "
                             "without_owner=1, without_counters=0, **{\"pass\": 0})")));
    CHECK_DONE(run(&made, IS("check", "counters", "[2][\"passes\"]", "0")));
    CHECK_DONE(run(&made, IS("check", "counters", "[3][\"unexplained\"]", "0")));
    made_clean(&made);
    return NULL;
}

const char *Checked_Info(void)
{
    struct made made;
    CHECK_DONE(make(&made));
    CHECK_DONE(run(&made, "$RTL info trace.db > out"));
    CHECK_DONE(run(&made, SAYS("  samples    8 of kernels, 3 of ranges")));
    CHECK_DONE(run(&made, SAYS("  process 1: mode kernel, pass 1 of 2, asked for A,B,C")));
    CHECK_DONE(run(&made, SAYS("    GPU 0: A, B, C (pass 2)")));
    CHECK_DONE(run(&made, SAYS("  process 3: mode range, nothing was counted (the notes tell why),"
                               " asked for A,B,C")));
    CHECK_DONE(run(&made, IS("info", "counting", "[1][\"counters\"][2]",
                             "dict(counter=2, agent=0, name=\"C\", block=6, event=4, instances=8, "
                             "**{\"pass\": 1})")));
    CHECK_DONE(run(&made, IS("info", "kernel_samples", "", "8")));
    CHECK_DONE(run(&made, IS("info", "range_samples", "", "3")));
    made_clean(&made);
    return NULL;
}
