/* Through a file and back: kernels, host calls, copies and ranges whose numbers are at the ends of
 * what they can be, in no order, ending before they begin. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#define KERNELS 70000
#define CALLS   40000
#define COPIES  3000
#define QUEUES  3u
#define WORDS   5u

/* Half of them near an end. */
static uint64_t extreme(uint64_t *seed)
{
    static const uint64_t ends[] = {0, UINT64_MAX, UINT64_C(1) << 63, UINT32_MAX,
                                    UINT64_C(1) << 32};
    uint64_t random = fixture_random(seed);
    uint64_t end = ends[random % (sizeof ends / sizeof *ends)];
    switch (random >> 32 & 3) {
    case 0:
        return end + (random >> 40 & 3);
    case 1:
        return end - (random >> 40 & 3);
    default:
        return fixture_random(seed) >> (random >> 40 & 63);
    }
}

/* A process whose GPU counts in ns of the trace's clock. */
static struct rtl_writer *begin(const char *path, uint32_t *process)
{
    struct rtl_writer *writer = fixture_open(path);
    const struct rtl_wire_process body = {.pid = 1};
    const struct rtl_wire_agent agent = {.clock_hz = 1000000000, .device_type = 1, .gpu = 0};
    if (!writer)
        return NULL;
    *process = rtl_writer_process(writer, &body, "");
    rtl_writer_agent(writer, *process, &agent, "");
    for (uint32_t i = 0; i <= QUEUES; i++) {
        const struct rtl_wire_queue queue = {
            .queue = i, .interception = i < QUEUES ? RTL_INTERPOSED : RTL_COPIES_ONLY};
        rtl_writer_queue(writer, *process, &queue);
    }
    return writer;
}

/* Ends the trace and opens it. */
static rtl_trace_t *finish(const char *path, struct rtl_writer *writer)
{
    char error[512] = "";
    rtl_trace_t *trace = NULL;
    if (rtl_writer_close(writer, 0, error, sizeof error) != 0 ||
        rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK)
        (void)fprintf(stderr, "%s\n", error);
    return trace;
}

/* Kernels. */

static bool same_kernel(const struct rtl_wire_kernel *in, const rtl_kernel_t *out)
{
    return out->queue == in->queue && out->packet == in->packet && out->start == in->start &&
           out->end == in->end && out->start_ticks == in->start && out->end_ticks == in->end &&
           out->correlation == in->correlation && out->launch_record == in->launch &&
           out->ordinal == in->ordinal && strcmp(out->name, "unknown kernel") == 0;
}

static int by_queue_and_id(const void *left, const void *right)
{
    const rtl_kernel_t *a = left;
    const rtl_kernel_t *b = right;
    if (a->queue != b->queue)
        return a->queue < b->queue ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static const char *check_kernels(rtl_trace_t *trace, int by_queue, const struct rtl_wire_kernel *in)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_status_t status = RTL_OK;
    size_t count = 0;
    filter.by_queue = by_queue;
    rtl_kernel_t *out = fixture_read(trace, &filter, &count, &status);
    CHECK(out && count == KERNELS);
    for (size_t i = 1; i < count; i++)
        CHECK(by_queue ? out[i].queue > out[i - 1].queue || (out[i].queue == out[i - 1].queue &&
                                                             out[i].packet >= out[i - 1].packet)
                       : out[i].start >= out[i - 1].start);
    qsort(out, count, sizeof *out, by_queue_and_id); /* ids rise as they were handed over */
    for (size_t i = 0; i < count; i++)
        CHECK(same_kernel(&in[i], &out[i]));
    free(out);
    return NULL;
}

const char *Extremes_Kernels(void)
{
    static struct rtl_wire_kernel in[KERNELS];
    char path[FIXTURE_PATH];
    uint64_t seed = 31;
    uint32_t process = 0;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = begin(path, &process);
    CHECK(writer != NULL);
    for (size_t i = 0; i < KERNELS; i++) {
        in[i] = (struct rtl_wire_kernel){.packet = extreme(&seed),
                                         .start = extreme(&seed),
                                         .end = extreme(&seed),
                                         .correlation = extreme(&seed),
                                         .queue = (uint32_t)(i * QUEUES / KERNELS),
                                         .shape = (uint32_t)extreme(&seed),
                                         .launch = (uint32_t)extreme(&seed),
                                         .ordinal = (uint32_t)extreme(&seed)};
        rtl_writer_kernel(writer, process, &in[i]);
        if (fixture_random(&seed) % 9000 == 0)
            CHECK(rtl_writer_checkpoint(writer) == 0);
    }
    rtl_trace_t *trace = finish(path, writer);
    CHECK(trace != NULL);
    CHECK_DONE(check_kernels(trace, 0, in));
    CHECK_DONE(check_kernels(trace, 1, in));
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Host calls. */

struct call {
    struct rtl_wire_api api;
    uint64_t words[WORDS];
};

static int by_id(const void *left, const void *right)
{
    uint64_t a = ((const rtl_api_t *)left)->id;
    uint64_t b = ((const rtl_api_t *)right)->id;
    return (a > b) - (a < b);
}

static bool same_call(const struct call *in, const rtl_api_t *out)
{
    return out->start == in->api.start_ns && out->end == in->api.end_ns &&
           out->correlation == in->api.correlation && out->range == in->api.range &&
           out->thread == in->api.thread && out->result == in->api.result &&
           out->word_count == in->api.words &&
           (out->stream == RTL_TRACE_NONE) == (in->api.flags == 0);
}

/* The calls by start; their words live until the next, so they are compared on the way. */
static const char *check_calls(rtl_trace_t *trace, const struct call *in)
{
    static rtl_api_t out[CALLS];
    rtl_api_iter_t *iter = NULL;
    CHECK(rtlTraceApi(trace, NULL, &iter) == RTL_OK);
    for (size_t i = 0; i < CALLS; i++) {
        CHECK(rtlApiNext(iter, &out[i]) == RTL_OK);
        CHECK(i == 0 || out[i].start >= out[i - 1].start);
        uint64_t id = out[i].id;
        /* Chunks of 16384, in the order in which they were handed over. */
        const struct call *from = &in[(id / 65536 - 1) * 16384 + id % 65536];
        CHECK(memcmp(out[i].words, from->words, out[i].word_count * sizeof *from->words) == 0);
    }
    rtl_api_t more;
    CHECK(rtlApiNext(iter, &more) == RTL_END);
    rtlApiIterFree(iter);
    qsort(out, CALLS, sizeof *out, by_id);
    for (size_t i = 0; i < CALLS; i++)
        CHECK(same_call(&in[i], &out[i]));
    return NULL;
}

const char *Extremes_Calls(void)
{
    static struct call in[CALLS];
    char path[FIXTURE_PATH];
    uint64_t seed = 32;
    uint32_t process = 0;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = begin(path, &process);
    CHECK(writer != NULL);
    for (size_t i = 0; i < CALLS; i++) {
        in[i].api = (struct rtl_wire_api){.start_ns = extreme(&seed),
                                          .end_ns = extreme(&seed),
                                          .correlation = extreme(&seed),
                                          .range = extreme(&seed),
                                          .stream = fixture_random(&seed) % 100,
                                          .call = (uint32_t)(fixture_random(&seed) % 300),
                                          .thread = (uint32_t)extreme(&seed),
                                          .result = (int32_t)extreme(&seed),
                                          .words = (uint16_t)(fixture_random(&seed) % (WORDS + 1)),
                                          .flags = (uint16_t)(fixture_random(&seed) % 2)};
        for (unsigned k = 0; k < WORDS; k++)
            in[i].words[k] = extreme(&seed);
        rtl_writer_api(writer, process, &in[i].api, in[i].words);
    }
    rtl_trace_t *trace = finish(path, writer);
    CHECK(trace != NULL);
    CHECK_DONE(check_calls(trace, in));
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Copies. Times of 0 and 0 are none, and SQLite, which puts copies in order, has no more than 63
 * bits: 292 years. */

static int by_copy_id(const void *left, const void *right)
{
    uint64_t a = ((const rtl_copy_t *)left)->id;
    uint64_t b = ((const rtl_copy_t *)right)->id;
    return (a > b) - (a < b);
}

const char *Extremes_Copies(void)
{
    static struct rtl_wire_copy in[COPIES];
    static rtl_copy_t out[COPIES];
    char path[FIXTURE_PATH];
    uint64_t seed = 33;
    uint32_t process = 0;
    rtl_copy_iter_t *iter = NULL;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = begin(path, &process);
    CHECK(writer != NULL);
    for (size_t i = 0; i < COPIES; i++) {
        in[i] = (struct rtl_wire_copy){.ordinal = extreme(&seed),
                                       .start = extreme(&seed) >> 1 | 1,
                                       .end = extreme(&seed),
                                       .bytes = extreme(&seed),
                                       .correlation = extreme(&seed),
                                       .queue = QUEUES,
                                       .src = (uint32_t)extreme(&seed),
                                       .dst = (uint32_t)extreme(&seed)};
        rtl_writer_copy(writer, process, &in[i]);
    }
    rtl_trace_t *trace = finish(path, writer);
    CHECK(trace && rtlTraceCopies(trace, NULL, &iter) == RTL_OK);
    for (size_t i = 0; i < COPIES; i++) {
        CHECK(rtlCopyNext(iter, &out[i]) == RTL_OK);
        CHECK(i == 0 || out[i].start >= out[i - 1].start);
    }
    qsort(out, COPIES, sizeof *out, by_copy_id);
    for (size_t i = 0; i < COPIES; i++) {
        CHECK(out[i].ordinal == in[i].ordinal && out[i].bytes == in[i].bytes);
        CHECK(out[i].start == in[i].start && out[i].end == in[i].end);
        CHECK(out[i].correlation == in[i].correlation && out[i].queue == QUEUES);
        CHECK(out[i].src == in[i].src && out[i].dst == in[i].dst);
    }
    rtlCopyIterFree(iter);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}
