#include "intercept/callbacks/events.h"

#include "common/clock.h"
#include "intercept/callbacks/definitions.h"

#include <stdlib.h>
#include <string.h>

#define BATCH       256u
#define WORDS       4096u
#define ORIGINS     (1u << 16) /* a power of two */
#define BUCKETS     256u
#define MOST_HELD   (1u << 20) /* kernels, whose clock should have come long ago */
#define RANGES_TEXT (64u << 10)
/* Two clocks are read after each other: again if it took longer, for something came between. */
#define OFFSET_WIDTH_NS 1000u
#define OFFSET_TRIES    8

/* What a correlation tells, as long as it has not been overwritten. */
struct origin {
    uint64_t correlation, range, stream;
    bool has_stream;
};

struct open_range {
    struct open_range *next;
    struct rtl_wire_range wire;
    char text[];
};

struct rtl_events {
    const struct rtl_ring_header *header;
    rtl_callbacks_t to;
    rtl_ring_handler counters;
    void *context;

    struct rtl_definitions definitions;
    struct origin origins[ORIGINS];
    struct open_range *open[BUCKETS];

    struct rtl_wire_kernel *held;
    size_t held_count, held_capacity;
    struct rtl_wire_copy *held_copies;
    size_t held_copy_count, held_copy_capacity;
    uint64_t dropped; /* that found no memory to be held */
    uint64_t missed;  /* rtl_events_missed */

    rtl_kernel_event_t kernels[BATCH];
    rtl_copy_event_t copies[BATCH];
    rtl_call_event_t call_events[BATCH];
    rtl_range_event_t ranges[BATCH];
    rtl_launch_event_t launches[BATCH];
    size_t kernel_count, copy_count, call_count, range_count, launch_count;
    uint64_t words[WORDS];
    size_t word_count;
    char text[RANGES_TEXT];
    size_t text_used;
};

struct rtl_events *rtl_events_new(const struct rtl_ring_header *header)
{
    struct rtl_events *events = calloc(1, sizeof *events);
    if (events == NULL)
        return NULL;
    events->header = header;
    rtl_definitions_begin(&events->definitions);
    return events;
}

void rtl_events_subscribe(struct rtl_events *events, const rtl_callbacks_t *callbacks,
                          void *context, rtl_ring_handler counters)
{
    static const rtl_callbacks_t nobody = {.size = sizeof nobody};
    events->to = callbacks != NULL ? *callbacks : nobody;
    events->context = context;
    events->counters = counters;
}

void rtl_events_missed(struct rtl_events *events, uint64_t missed)
{
    events->missed = missed;
}

/* ---- handing over ---- */

/* What is to be added to a time for CLOCK_REALTIME: of several readings the one that was held up
 * least. */
static int64_t read_realtime_offset(void)
{
    uint64_t least = UINT64_MAX;
    int64_t offset = 0;
    for (int i = 0; i < OFFSET_TRIES && least > OFFSET_WIDTH_NS; i++) {
        uint64_t before = rtl_now();
        uint64_t real = rtl_clock_ns(CLOCK_REALTIME);
        uint64_t width = rtl_now() - before;
        if (width < least) {
            least = width;
            offset = (int64_t)(real - (before + width / 2));
        }
    }
    return offset;
}

static rtl_batch_t describe(const struct rtl_events *events)
{
    rtl_batch_t batch = {.lost = events->dropped + events->missed,
                         .realtime_offset = read_realtime_offset()};
    uint32_t rows = atomic_load_explicit(&events->header->queues, memory_order_acquire);
    for (uint32_t row = 0; row < rows && row < RTL_LEDGER_ROWS; row++)
        for (unsigned reason = 0; reason < RTL_LOST_REASONS; reason++)
            batch.lost += atomic_load_explicit(&events->header->ledger[row].lost[reason],
                                               memory_order_relaxed);
    return batch;
}

static void hand_kernels(struct rtl_events *events)
{
    rtl_batch_t batch = describe(events);
    if (events->to.kernels != NULL && events->kernel_count > 0)
        events->to.kernels(events->context, &batch, events->kernels, events->kernel_count);
    events->kernel_count = 0;
}

static void hand_copies(struct rtl_events *events)
{
    rtl_batch_t batch = describe(events);
    if (events->to.copies != NULL && events->copy_count > 0)
        events->to.copies(events->context, &batch, events->copies, events->copy_count);
    events->copy_count = 0;
}

static void hand_calls(struct rtl_events *events)
{
    rtl_batch_t batch = describe(events);
    if (events->to.calls != NULL && events->call_count > 0)
        events->to.calls(events->context, &batch, events->call_events, events->call_count);
    events->call_count = 0;
    events->word_count = 0;
}

static void hand_ranges(struct rtl_events *events)
{
    rtl_batch_t batch = describe(events);
    if (events->to.ranges != NULL && events->range_count > 0)
        events->to.ranges(events->context, &batch, events->ranges, events->range_count);
    events->range_count = 0;
    events->text_used = 0;
}

static void hand_launches(struct rtl_events *events)
{
    rtl_batch_t batch = describe(events);
    if (events->to.launches != NULL && events->launch_count > 0)
        events->to.launches(events->context, &batch, events->launches, events->launch_count);
    events->launch_count = 0;
}

/* Whether something that ended at these ticks may go although not all is known. The first point of
 * a clock comes right behind what has told the ticks, and a flush may come between them. */
static bool may_go(const struct rtl_defined_agent *agent, uint64_t ticks,
                   enum rtl_events_which which)
{
    bool timed = agent->gpu == RTL_NONE || ticks == 0 || rtl_defined_has_clock(agent);
    return which == RTL_EVENTS_ALL || (which == RTL_EVENTS_TIMED && timed);
}

/* ---- where from ---- */

static void remember(struct rtl_events *events, const struct origin *origin)
{
    events->origins[origin->correlation & (ORIGINS - 1)] = *origin;
}

static const struct origin *recall(const struct rtl_events *events, uint64_t correlation)
{
    static const struct origin nothing;
    const struct origin *origin = &events->origins[correlation & (ORIGINS - 1)];
    return correlation != 0 && origin->correlation == correlation ? origin : &nothing;
}

/* ---- kernels ---- */

static void hold_kernel(struct rtl_events *events, const struct rtl_wire_kernel *wire)
{
    if (events->held_count == events->held_capacity) {
        size_t capacity = events->held_capacity > 0 ? 2 * events->held_capacity : 1024;
        struct rtl_wire_kernel *held = realloc(events->held, capacity * sizeof *held);
        if (held == NULL) {
            events->dropped++;
            return;
        }
        events->held = held;
        events->held_capacity = capacity;
    }
    events->held[events->held_count++] = *wire;
}

static void add_kernel(struct rtl_events *events, const struct rtl_wire_kernel *wire,
                       const struct rtl_defined_queue *queue, const struct rtl_wire_shape *shape)
{
    static const struct rtl_wire_shape no_shape = {.symbol = RTL_NONE};
    struct rtl_defined_agent *agent = rtl_defined_agent_of(&events->definitions, queue);
    const struct origin *origin = recall(events, wire->correlation);
    if (shape == NULL)
        shape = &no_shape;
    if (events->kernel_count == BATCH)
        hand_kernels(events);
    events->kernels[events->kernel_count++] = (rtl_kernel_event_t){
        .name = rtl_defined_name(&events->definitions, shape),
        .start = rtl_defined_time(&events->definitions, agent, wire->start),
        .end = rtl_defined_time(&events->definitions, agent, wire->end),
        .correlation = wire->correlation,
        .range = origin->range,
        .stream = origin->stream,
        .queue_address = queue != NULL ? queue->address : 0,
        .packet = wire->packet,
        .kernel_object = shape->kernel_object,
        .has_stream = origin->has_stream,
        .device = agent->gpu,
        .queue_id = wire->queue,
        .launch = wire->launch,
        .ordinal = wire->ordinal,
        .grid = {shape->grid[0], shape->grid[1], shape->grid[2]},
        .block = {shape->block[0], shape->block[1], shape->block[2]},
        .group_size = shape->group_size,
        .private_size = shape->private_size,
    };
}

/* False: something that is still to come is needed first. */
static bool release_kernel(struct rtl_events *events, const struct rtl_wire_kernel *wire,
                           enum rtl_events_which which)
{
    const struct rtl_defined_queue *queue = rtl_defined_queue_of(&events->definitions, wire->queue);
    const struct rtl_wire_shape *shape = rtl_defined_shape_of(&events->definitions, wire->shape);
    const struct rtl_defined_agent *agent = rtl_defined_agent_of(&events->definitions, queue);
    bool complete =
        queue != NULL && shape != NULL &&
        (shape->symbol == RTL_NONE || rtl_defined_name(&events->definitions, shape) != NULL) &&
        rtl_defined_clock_covers(agent, wire->end);
    if (!complete && !may_go(agent, wire->end, which))
        return false;
    add_kernel(events, wire, queue, shape);
    return true;
}

static void release_kernels(struct rtl_events *events, enum rtl_events_which which)
{
    size_t kept = 0;
    for (size_t i = 0; i < events->held_count; i++)
        if (!release_kernel(events, &events->held[i], which))
            events->held[kept++] = events->held[i];
    events->held_count = kept;
}

/* ---- copies ---- */

static void hold_copy(struct rtl_events *events, const struct rtl_wire_copy *wire)
{
    if (events->held_copy_count == events->held_copy_capacity) {
        size_t capacity = events->held_copy_capacity > 0 ? 2 * events->held_copy_capacity : 256;
        struct rtl_wire_copy *held = realloc(events->held_copies, capacity * sizeof *held);
        if (held == NULL) {
            events->dropped++;
            return;
        }
        events->held_copies = held;
        events->held_copy_capacity = capacity;
    }
    events->held_copies[events->held_copy_count++] = *wire;
}

static bool release_copy(struct rtl_events *events, const struct rtl_wire_copy *wire,
                         enum rtl_events_which which)
{
    const struct rtl_defined_queue *queue = rtl_defined_queue_of(&events->definitions, wire->queue);
    struct rtl_defined_agent *agent = rtl_defined_agent_of(&events->definitions, queue);
    bool complete = queue != NULL && rtl_defined_clock_covers(agent, wire->end);
    if (!complete && !may_go(agent, wire->end, which))
        return false;
    const struct origin *origin = recall(events, wire->correlation);
    if (events->copy_count == BATCH)
        hand_copies(events);
    events->copies[events->copy_count++] = (rtl_copy_event_t){
        .start = rtl_defined_time(&events->definitions, agent, wire->start),
        .end = rtl_defined_time(&events->definitions, agent, wire->end),
        .bytes = wire->bytes,
        .correlation = wire->correlation,
        .range = origin->range,
        .stream = origin->stream,
        .ordinal = wire->ordinal,
        .has_stream = origin->has_stream,
        .kind = wire->kind,
        .device = agent->gpu,
        .src = rtl_defined_gpu(&events->definitions, wire->src),
        .dst = rtl_defined_gpu(&events->definitions, wire->dst),
    };
    return true;
}

static void release_copies(struct rtl_events *events, enum rtl_events_which which)
{
    size_t kept = 0;
    for (size_t i = 0; i < events->held_copy_count; i++)
        if (!release_copy(events, &events->held_copies[i], which))
            events->held_copies[kept++] = events->held_copies[i];
    events->held_copy_count = kept;
}

/* ---- host calls, ranges, launches ---- */

static void take_api(struct rtl_events *events, const struct rtl_wire_api *wire)
{
    struct origin origin = {wire->correlation, wire->range, wire->stream,
                            (wire->flags & RTL_API_STREAM) != 0};
    const struct rtl_defined_call *call = rtl_defined_call_of(&events->definitions, wire->call);
    remember(events, &origin);
    if (events->call_count == BATCH || events->word_count + wire->words > WORDS)
        hand_calls(events);
    uint32_t words = wire->words < WORDS ? wire->words : WORDS;
    uint64_t *values = events->words + events->word_count;
    if (words > 0)
        memcpy(values, wire + 1, words * sizeof *values);
    events->word_count += words;
    events->call_events[events->call_count++] = (rtl_call_event_t){
        .name = call != NULL ? call->name : NULL,
        .arguments = call != NULL ? call->arguments : NULL,
        .words = values,
        .start = wire->start_ns,
        .end = wire->end_ns,
        .correlation = wire->correlation,
        .range = wire->range,
        .stream = wire->stream,
        .has_stream = origin.has_stream,
        .word_count = words,
        .thread = rtl_thread_tid(wire->thread),
        .result = wire->result,
    };
}

static void add_range(struct rtl_events *events, const struct rtl_wire_range *wire,
                      const char *text, uint64_t end)
{
    size_t size = (size_t)wire->text_length + 1;
    if (size > RANGES_TEXT)
        size = RANGES_TEXT;
    if (events->range_count == BATCH || events->text_used + size > RANGES_TEXT)
        hand_ranges(events);
    char *copy = events->text + events->text_used;
    memcpy(copy, text, size - 1);
    copy[size - 1] = '\0';
    events->text_used += size;
    events->ranges[events->range_count++] = (rtl_range_event_t){
        .text = copy,
        .start = wire->start_ns,
        .end = end,
        .id = wire->id,
        .parent = wire->parent,
        .thread = rtl_thread_tid(wire->thread),
        .kind = wire->kind,
        .flags = wire->flags,
    };
}

static void take_range(struct rtl_events *events, const struct rtl_wire_range *wire)
{
    const char *text = (const char *)(wire + 1);
    if (wire->kind == RTL_RANGE_MARK) {
        add_range(events, wire, text, wire->start_ns);
        return;
    }
    if ((wire->flags & RTL_RANGE_ASIDE) != 0)
        add_range(events, wire, text, 0);
    struct origin origin = {.correlation = wire->id, .range = wire->id};
    struct open_range **bucket = &events->open[wire->id % BUCKETS];
    struct open_range *range = malloc(sizeof *range + wire->text_length + 1);
    remember(events, &origin);
    if (range == NULL)
        return;
    range->wire = *wire;
    memcpy(range->text, text, wire->text_length);
    range->next = *bucket;
    *bucket = range;
}

static void take_range_end(struct rtl_events *events, const struct rtl_wire_range_end *wire)
{
    struct open_range **at = &events->open[wire->id % BUCKETS];
    while (*at != NULL && (*at)->wire.id != wire->id)
        at = &(*at)->next;
    struct open_range *range = *at;
    if (range == NULL)
        return;
    *at = range->next;
    add_range(events, &range->wire, range->text, wire->end_ns);
    free(range);
}

static void take_launch(struct rtl_events *events, const struct rtl_wire_launch *wire)
{
    if (events->launch_count == BATCH)
        hand_launches(events);
    events->launches[events->launch_count++] = (rtl_launch_event_t){
        .start = wire->time_ns,
        .correlation = wire->correlation,
        .range = wire->range,
        .fingerprint = wire->fingerprint,
        .launch = wire->launch,
        .graph = wire->graph,
        .generation = wire->generation,
        .thread = rtl_thread_tid(wire->thread),
        .packets = wire->packets,
        .kernels = wire->kernels - wire->left_out,
    };
}

static void take_name(const struct rtl_events *events, const struct rtl_wire_name *wire)
{
    char *text =
        events->to.name != NULL ? strndup((const char *)(wire + 1), wire->text_length) : NULL;
    if (text != NULL && wire->kind <= RTL_NAMED_AGENT) /* that the program gave by roctx */
        events->to.name(events->context, (rtl_name_event_kind_t)wire->kind,
                        wire->kind == RTL_NAMED_THREAD ? rtl_thread_tid((uint32_t)wire->handle)
                                                       : wire->handle,
                        text);
    free(text);
}

static void take_note(const struct rtl_events *events, const struct rtl_wire_note *wire)
{
    char *text =
        events->to.note != NULL ? strndup((const char *)(wire + 1), wire->text_length) : NULL;
    if (text != NULL)
        events->to.note(events->context, wire->time_ns, text);
    free(text);
}

void rtl_events_take(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    struct rtl_events *events = context;
    if (body == NULL) {
        events->missed++;
        return;
    }
    switch (type) {
    case RTL_WIRE_AGENT:
        rtl_definitions_agent(&events->definitions, body);
        break;
    case RTL_WIRE_QUEUE:
        rtl_definitions_queue(&events->definitions, body);
        break;
    case RTL_WIRE_SYMBOL:
        rtl_definitions_symbol(&events->definitions, body);
        break;
    case RTL_WIRE_SHAPE:
        rtl_definitions_shape(&events->definitions, body);
        break;
    case RTL_WIRE_KERNEL:
        hold_kernel(events, body);
        break;
    case RTL_WIRE_COPY:
        hold_copy(events, body);
        break;
    case RTL_WIRE_CLOCK:
        rtl_definitions_clock(&events->definitions, body);
        break;
    case RTL_WIRE_CLOCK_SNAPSHOT:
        rtl_definitions_snapshot(&events->definitions, body);
        break;
    case RTL_WIRE_NOTE:
        take_note(events, body);
        break;
    case RTL_WIRE_CALL:
        rtl_definitions_call(&events->definitions, body);
        break;
    case RTL_WIRE_API:
        take_api(events, body);
        break;
    case RTL_WIRE_RANGE:
        take_range(events, body);
        break;
    case RTL_WIRE_RANGE_END:
        take_range_end(events, body);
        break;
    case RTL_WIRE_NAME:
        take_name(events, body);
        break;
    case RTL_WIRE_LAUNCH:
        take_launch(events, body);
        break;
    case RTL_WIRE_PROCESS:
    case RTL_WIRE_QUEUE_END:
    case RTL_WIRE_KERNELS:
    case RTL_WIRE_VOID:
    case RTL_WIRE_DRAFT_KERNEL:
    case RTL_WIRE_DRAFT_COPY:
    case RTL_WIRE_DRAFT_LAUNCH:
    case RTL_WIRE_GRAPH:
    case RTL_WIRE_NODE:
    case RTL_WIRE_PAUSE:
    case RTL_WIRE_HIP_QUEUE:
    case RTL_WIRE_STREAM:
        break;
    case RTL_WIRE_COUNTING:
    case RTL_WIRE_COUNTER:
    case RTL_WIRE_SAMPLE:
    case RTL_WIRE_UNCOUNTED:
        if (events->counters != NULL)
            events->counters(events->context, type, body, size);
        break;
    }
}

void rtl_events_deliver(struct rtl_events *events, enum rtl_events_which which)
{
    if (events->held_count > MOST_HELD)
        which = RTL_EVENTS_ALL;
    if (events->definitions.clock_moved || which != RTL_EVENTS_SURE) {
        release_kernels(events, which);
        release_copies(events, which);
    }
    events->definitions.clock_moved = false;
    if (events->kernel_count > 0)
        hand_kernels(events);
    if (events->copy_count > 0)
        hand_copies(events);
    if (events->call_count > 0)
        hand_calls(events);
    if (events->range_count > 0)
        hand_ranges(events);
    if (events->launch_count > 0)
        hand_launches(events);
}

void rtl_events_deliver_open(struct rtl_events *events)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct open_range *range = events->open[i]; range != NULL; range = range->next)
            add_range(events, &range->wire, range->text, 0);
    hand_ranges(events);
}
