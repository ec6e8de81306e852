/* From made-up records to the events of a subscriber. */
#include "intercept/callbacks/events.h"

#include "../../common/check.h"

#include <stdlib.h>
#include <string.h>

#define BEGIN UINT64_C(1000000000000) /* ns of the HSA system clock at tick 0 */
#define SHIFT UINT64_C(5000)          /* of CLOCK_BOOTTIME against it, ns */

static struct rtl_ring ring;
/* A state for each case: by contract the names that events have live on. */
static struct rtl_events *states[16];
static unsigned cases;

static struct {
    rtl_kernel_event_t kernels[1000];
    size_t kernel_count;
    rtl_copy_event_t copies[16];
    size_t copy_count;
    rtl_call_event_t calls[1000];
    uint64_t first_words[1000];
    size_t call_count;
    rtl_range_event_t ranges[16];
    char texts[16][16];
    size_t range_count;
    rtl_launch_event_t launches[16];
    size_t launch_count;
    uint64_t lost;
} got;

static void take_kernels(void *context, const rtl_batch_t *batch, const rtl_kernel_event_t *list,
                         size_t count)
{
    (void)context;
    got.lost = batch->lost;
    for (size_t i = 0; i < count && got.kernel_count < 1000; i++)
        got.kernels[got.kernel_count++] = list[i];
}

static void take_copies(void *context, const rtl_batch_t *batch, const rtl_copy_event_t *list,
                        size_t count)
{
    (void)context;
    (void)batch;
    for (size_t i = 0; i < count && got.copy_count < 16; i++)
        got.copies[got.copy_count++] = list[i];
}

static void take_calls(void *context, const rtl_batch_t *batch, const rtl_call_event_t *list,
                       size_t count)
{
    (void)context;
    (void)batch;
    for (size_t i = 0; i < count && got.call_count < 1000; i++) {
        got.first_words[got.call_count] = list[i].words[0];
        got.calls[got.call_count++] = list[i];
    }
}

static void take_ranges(void *context, const rtl_batch_t *batch, const rtl_range_event_t *list,
                        size_t count)
{
    (void)context;
    (void)batch;
    for (size_t i = 0; i < count && got.range_count < 16; i++) {
        (void)snprintf(got.texts[got.range_count], 16, "%s", list[i].text);
        got.ranges[got.range_count++] = list[i];
    }
}

static void take_launches(void *context, const rtl_batch_t *batch, const rtl_launch_event_t *list,
                          size_t count)
{
    (void)context;
    (void)batch;
    for (size_t i = 0; i < count && got.launch_count < 16; i++)
        got.launches[got.launch_count++] = list[i];
}

/* A record as the ring hands it over. */
static void give(enum rtl_wire_type type, const void *body, size_t size, const void *rest,
                 size_t rest_size)
{
    _Alignas(8) unsigned char bytes[8192];
    memcpy(bytes, body, size);
    if (rest_size > 0)
        memcpy(bytes + size, rest, rest_size);
    rtl_events_take(states[cases], type, bytes, sizeof bytes);
}

static void give_agent(uint32_t id, uint32_t gpu)
{
    struct rtl_wire_agent agent = {.agent = id, .gpu = gpu, .clock_hz = 100000000};
    give(RTL_WIRE_AGENT, &agent, sizeof agent, NULL, 0);
}

static void give_queue(uint32_t id, uint32_t agent)
{
    struct rtl_wire_queue queue = {.queue = id, .agent = agent, .address = 0x1000 + id};
    give(RTL_WIRE_QUEUE, &queue, sizeof queue, NULL, 0);
}

static void give_symbol(uint32_t id, const char *name)
{
    struct rtl_wire_symbol symbol = {.symbol = id, .name_length = (uint16_t)strlen(name)};
    give(RTL_WIRE_SYMBOL, &symbol, sizeof symbol, name, strlen(name));
}

static void give_shape(uint32_t id, uint32_t symbol)
{
    struct rtl_wire_shape shape = {.shape = id,
                                   .symbol = symbol,
                                   .grid = {64, 2, 1},
                                   .block = {32, 2, 1},
                                   .group_size = 48,
                                   .kernel_object = 0x9000};
    give(RTL_WIRE_SHAPE, &shape, sizeof shape, NULL, 0);
}

/* A tick of the agent is 10 ns of the system clock. */
static void give_clock(uint32_t agent, uint64_t ticks)
{
    struct rtl_wire_clock clock = {.ticks = ticks, .system_ns = BEGIN + ticks * 10, .agent = agent};
    give(RTL_WIRE_CLOCK, &clock, sizeof clock, NULL, 0);
}

static void give_snapshot(void)
{
    struct rtl_wire_clock_snapshot snapshot = {
        .system_ns = BEGIN, .boottime_ns = BEGIN + SHIFT, .width_ns = 100};
    give(RTL_WIRE_CLOCK_SNAPSHOT, &snapshot, sizeof snapshot, NULL, 0);
}

static void give_kernel(uint64_t packet, uint64_t end, uint64_t correlation)
{
    struct rtl_wire_kernel kernel = {.packet = packet,
                                     .start = end - 5,
                                     .end = end,
                                     .correlation = correlation,
                                     .launch = RTL_NONE,
                                     .ordinal = RTL_NONE};
    give(RTL_WIRE_KERNEL, &kernel, sizeof kernel, NULL, 0);
}

static const char *set_up(void)
{
    static const rtl_callbacks_t callbacks = {.size = sizeof callbacks,
                                              .kernels = take_kernels,
                                              .copies = take_copies,
                                              .calls = take_calls,
                                              .ranges = take_ranges,
                                              .launches = take_launches};
    memset(&got, 0, sizeof got);
    CHECK(rtl_ring_create_private(&ring, 64u << 10) == 0);
    states[cases] = rtl_events_new(ring.header);
    CHECK(states[cases] != NULL);
    rtl_events_subscribe(states[cases], &callbacks, NULL, NULL);
    give_agent(0, RTL_NONE);
    give_agent(1, 0);
    give_queue(0, 1);
    give_snapshot();
    return NULL;
}

static void tear_down(void)
{
    rtl_events_subscribe(states[cases], NULL, NULL, NULL);
    rtl_ring_unmap(&ring);
    cases++;
}

const char *Events_WaitForTheClock(void)
{
    CHECK_DONE(set_up());
    give_symbol(0, "k");
    give_shape(0, 0);
    give_kernel(3, 1000, 0);
    give_kernel(4, 5000, 0);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.kernel_count == 0);
    give_clock(1, 100);
    give_clock(1, 2000);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.kernel_count == 1 && got.kernels[0].packet == 3);
    CHECK(got.kernels[0].end == BEGIN + 10000 + SHIFT);
    CHECK(got.kernels[0].start == BEGIN + 9950 + SHIFT);
    CHECK(got.kernels[0].device == 0 && got.kernels[0].queue_address == 0x1000);
    CHECK(got.kernels[0].grid[1] == 2 && got.kernels[0].block[0] == 32);
    CHECK(got.kernels[0].group_size == 48 && got.kernels[0].kernel_object == 0x9000);
    CHECK(strcmp(got.kernels[0].name, "k") == 0);
    rtl_events_deliver(states[cases], RTL_EVENTS_ALL);
    CHECK(got.kernel_count == 2 && got.kernels[1].end == BEGIN + 50000 + SHIFT);
    rtl_events_deliver(states[cases], RTL_EVENTS_ALL);
    CHECK(got.kernel_count == 2);
    tear_down();
    return NULL;
}

/* A flush between a kernel and its clock's first point. */
const char *Events_AFlushWaitsForTheClock(void)
{
    const struct rtl_wire_copy copy = {.start = 400, .end = 500};
    CHECK_DONE(set_up());
    give_shape(0, RTL_NONE);
    give_kernel(3, 1000, 0);
    give(RTL_WIRE_COPY, &copy, sizeof copy, NULL, 0);
    rtl_events_deliver(states[cases], RTL_EVENTS_TIMED);
    CHECK(got.kernel_count == 0 && got.copy_count == 0);
    give_clock(1, 100);
    give_clock(1, 200);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.kernel_count == 0 && got.copy_count == 0);
    rtl_events_deliver(states[cases], RTL_EVENTS_TIMED);
    CHECK(got.kernel_count == 1 && got.copy_count == 1);
    CHECK(got.kernels[0].start == BEGIN + 9950 + SHIFT);
    CHECK(got.kernels[0].end == BEGIN + 10000 + SHIFT);
    CHECK(got.copies[0].end == BEGIN + 5000 + SHIFT);
    tear_down();
    return NULL;
}

/* Where the runtime does not tell the rate of a clock, its first point alone is none to go by. */
const char *Events_WaitForTheRate(void)
{
    const struct rtl_wire_agent agent = {.agent = 2, .gpu = 1};
    CHECK_DONE(set_up());
    give(RTL_WIRE_AGENT, &agent, sizeof agent, NULL, 0);
    give_queue(0, 2);
    give_shape(0, RTL_NONE);
    give_kernel(3, 1000, 0);
    give_clock(2, 2000);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.kernel_count == 0);
    give_clock(2, 3000);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.kernel_count == 1 && got.kernels[0].start == BEGIN + 9950 + SHIFT);
    CHECK(got.kernels[0].end == BEGIN + 10000 + SHIFT);
    tear_down();
    return NULL;
}

const char *Events_WaitForTheName(void)
{
    CHECK_DONE(set_up());
    give_clock(1, 100);
    give_clock(1, 9000);
    give_kernel(0, 1000, 0);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    give_shape(0, 0);
    give_clock(1, 9100);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.kernel_count == 0);
    give_symbol(0, "late");
    give_clock(1, 9200);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.kernel_count == 1 && strcmp(got.kernels[0].name, "late") == 0);
    tear_down();
    return NULL;
}

const char *Events_UnknownThings(void)
{
    CHECK_DONE(set_up());
    ring.header->ledger[0].lost[RTL_LOST_RING] = 5;
    ring.header->queues = 1;
    give_kernel(0, 1000, 0);
    give_shape(0, RTL_NONE);
    rtl_events_deliver(states[cases], RTL_EVENTS_ALL); /* no clock at all */
    CHECK(got.kernel_count == 1 && got.kernels[0].name == NULL);
    CHECK(got.kernels[0].start == 0 && got.kernels[0].end == 0);
    CHECK(got.lost == 5);
    const struct rtl_wire_agent agent = {.agent = 2, .gpu = 1};
    give(RTL_WIRE_AGENT, &agent, sizeof agent, NULL, 0);
    give_queue(0, 2);
    give_clock(2, 2000);
    give_kernel(1, 1000, 0);
    rtl_events_deliver(states[cases], RTL_EVENTS_ALL); /* no rate */
    CHECK(got.kernel_count == 2 && got.kernels[1].start == 0 && got.kernels[1].end == 0);
    tear_down();
    return NULL;
}

const char *Events_WhereKernelsComeFrom(void)
{
    static const char call_text[] = "hipLaunchKernelfunction:f,grid:3";
    static const uint64_t words[] = {0xF00, 1, 2};
    struct rtl_wire_call call = {.call = 7, .name_length = 15, .arguments_length = 17};
    struct rtl_wire_api api = {.start_ns = 5,
                               .end_ns = 6,
                               .correlation = 300,
                               .range = 258,
                               .stream = 0xABC,
                               .call = 7,
                               .thread = 99,
                               .result = 1,
                               .words = 3,
                               .flags = RTL_API_STREAM};
    struct rtl_wire_range range = {.id = 258, .start_ns = 1, .thread = 99, .text_length = 2};
    struct rtl_wire_range_end end = {.id = 258, .end_ns = 9};
    CHECK_DONE(set_up());
    give_symbol(0, "k");
    give_shape(0, 0);
    give(RTL_WIRE_RANGE, &range, sizeof range, "r1", 2);
    give(RTL_WIRE_CALL, &call, sizeof call, call_text, sizeof call_text - 1);
    give(RTL_WIRE_API, &api, sizeof api, words, sizeof words);
    give(RTL_WIRE_RANGE_END, &end, sizeof end, NULL, 0);
    give_kernel(0, 1000, 300);
    give_kernel(1, 1000, 258);
    give_kernel(2, 1000, 999);
    rtl_events_deliver(states[cases], RTL_EVENTS_ALL);
    CHECK(got.call_count == 1 && strcmp(got.calls[0].name, "hipLaunchKernel") == 0);
    CHECK(strcmp(got.calls[0].arguments, "function:f,grid:3") == 0);
    CHECK(got.calls[0].word_count == 3 && got.first_words[0] == 0xF00);
    CHECK(got.calls[0].thread == 99 && got.calls[0].result == 1 && got.calls[0].range == 258);
    CHECK(got.range_count == 1 && strcmp(got.texts[0], "r1") == 0);
    CHECK(got.ranges[0].start == 1 && got.ranges[0].end == 9);
    CHECK(got.kernel_count == 3);
    CHECK(got.kernels[0].has_stream == 1 && got.kernels[0].stream == 0xABC);
    CHECK(got.kernels[0].range == 258 && got.kernels[0].correlation == 300);
    CHECK(got.kernels[1].range == 258 && got.kernels[1].has_stream == 0);
    CHECK(got.kernels[2].range == 0 && got.kernels[2].correlation == 999);
    tear_down();
    return NULL;
}

const char *Events_MoreThanABatch(void)
{
    uint64_t words[1000];
    CHECK_DONE(set_up());
    give_symbol(0, "k");
    give_shape(0, 0);
    give_clock(1, 100);
    for (unsigned i = 0; i < 900; i++) {
        struct rtl_wire_api api = {.correlation = 1 + i, .words = (uint16_t)(1 + i)};
        for (unsigned k = 0; k < 1000; k++)
            words[k] = i;
        give(RTL_WIRE_API, &api, sizeof api, words, api.words * sizeof *words);
        give_kernel(i, 1000 + i, 0);
    }
    give_clock(1, 100000);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.call_count == 900 && got.kernel_count == 900);
    for (unsigned i = 0; i < 900; i++) {
        CHECK(got.first_words[i] == i && got.calls[i].word_count == 1 + i);
        CHECK(got.calls[i].correlation == 1 + i && got.kernels[i].packet == i);
    }
    tear_down();
    return NULL;
}

const char *Events_CopiesLaunchesAndMarks(void)
{
    struct rtl_wire_copy by_host = {
        .bytes = 10, .queue = 1, .src = 0, .dst = 0, .kind = RTL_COPY_HOST_TO_HOST};
    struct rtl_wire_copy by_gpu = {.start = 100,
                                   .end = 200,
                                   .bytes = 20,
                                   .queue = 2,
                                   .src = 1,
                                   .dst = 0,
                                   .kind = RTL_COPY_DEVICE_TO_HOST};
    struct rtl_wire_launch launch = {.time_ns = 77, .launch = 3, .graph = RTL_NONE, .packets = 9};
    struct rtl_wire_range mark = {.id = 5, .start_ns = 8, .kind = RTL_RANGE_MARK, .text_length = 1};
    struct rtl_wire_range open = {.id = 6, .start_ns = 9, .text_length = 0};
    CHECK_DONE(set_up());
    give_queue(1, 0);
    give_queue(2, 1);
    give(RTL_WIRE_COPY, &by_host, sizeof by_host, NULL, 0);
    give(RTL_WIRE_COPY, &by_gpu, sizeof by_gpu, NULL, 0);
    give(RTL_WIRE_LAUNCH, &launch, sizeof launch, NULL, 0);
    give(RTL_WIRE_RANGE, &mark, sizeof mark, "m", 1);
    give(RTL_WIRE_RANGE, &open, sizeof open, NULL, 0);
    give_clock(1, 50);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.copy_count == 1 && got.copies[0].device == RTL_EVENT_NONE);
    CHECK(got.copies[0].start == 0 && got.copies[0].bytes == 10);
    give_clock(1, 500);
    rtl_events_deliver(states[cases], RTL_EVENTS_SURE);
    CHECK(got.copy_count == 2 && got.copies[1].device == 0 && got.copies[1].src == 0);
    CHECK(got.copies[1].dst == RTL_EVENT_NONE);
    CHECK(got.copies[1].end == BEGIN + 2000 + SHIFT);
    CHECK(got.launch_count == 1 && got.launches[0].start == 77 && got.launches[0].packets == 9);
    CHECK(got.range_count == 1 && got.ranges[0].kind == RTL_EVENT_MARKED);
    CHECK(got.ranges[0].start == 8 && got.ranges[0].end == 8);
    rtl_events_deliver_open(states[cases]);
    CHECK(got.range_count == 2 && got.ranges[1].id == 6 && got.ranges[1].end == 0);
    tear_down();
    return NULL;
}
