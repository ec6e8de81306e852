/* What a writer is given: each kind of record into memory, where it waits to be stored. */
#include "store/writer_state.h"

#include "ring/kinds.h"
#include "store/stored.h"

#include <stdlib.h>
#include <string.h>

/* Room for kernels over all queues: 56 bytes each, so 29 MB at most. */
#define ROOM_MAX   524288u
#define ROOM_FIRST 64u

/* Definitions that wait: stored early beyond the first, left out beyond the second. */
#define PENDING_SOON ((size_t)1 << 20)
#define PENDING_MAX  ((size_t)16 << 20)

/* Exchanges that wait, while a file is locked: some hours of them. */
#define MOST_EXCHANGES 4096u

/* Something found no room: none is left, or what waits for a locked file has taken it. */
static void drop(struct rtl_writer *writer, enum rtl_dropped what)
{
    writer->dropped[what]++;
    rtl_writer_fail(writer, "cannot write the trace %s: %s", writer->path,
                    writer->locked ? "another program has locked it" : "memory is short");
}

/* One of a kind whose rows do not tell how many there should be. */
static void drop_row(struct rtl_writer *writer, enum rtl_dropped what, uint32_t process,
                     enum rtl_kind kind)
{
    struct rtl_kinds_of *of = rtl_kinds_get(&writer->kinds, process);
    drop(writer, what);
    if (!of)
        return;
    of->accounts[kind].dropped++;
    of->is_new = true;
}

static void drop_definition(struct rtl_writer *writer, uint32_t process)
{
    drop_row(writer, RTL_DROPPED_DEFINITIONS, process, RTL_KIND_DEFINITIONS);
}

/* Queues. */

static struct rtl_queue_chunk *add_queue(struct rtl_writer *writer, uint32_t process,
                                         uint32_t queue)
{
    if (writer->queue_count == writer->queue_capacity) {
        uint32_t capacity = writer->queue_capacity ? writer->queue_capacity * 2 : 16;
        struct rtl_queue_chunk *queues = realloc(writer->queues, capacity * sizeof *queues);
        if (!queues)
            return NULL;
        writer->queues = queues;
        writer->queue_capacity = capacity;
    }
    uint32_t place = writer->queue_count;
    if (rtl_index_put(&writer->index, rtl_index_key(process, queue), place) != 0)
        return NULL;
    writer->queues[place] = (struct rtl_queue_chunk){.process = process, .queue = queue};
    writer->queue_count++;
    return &writer->queues[place];
}

/* The queue, made when it is first seen; NULL when memory is short. */
static struct rtl_queue_chunk *find_queue(struct rtl_writer *writer, uint32_t process,
                                          uint32_t queue)
{
    if (writer->last < writer->queue_count) {
        struct rtl_queue_chunk *last = &writer->queues[writer->last];
        if (last->queue == queue && last->process == process)
            return last;
    }
    uint32_t place = rtl_index_get(&writer->index, rtl_index_key(process, queue));
    struct rtl_queue_chunk *found =
        place != RTL_INDEX_MISSING ? &writer->queues[place] : add_queue(writer, process, queue);
    if (found)
        writer->last = (uint32_t)(found - writer->queues);
    return found;
}

static bool grow(struct rtl_writer *writer, struct rtl_queue_chunk *queue)
{
    uint32_t capacity = queue->capacity ? queue->capacity * 2 : ROOM_FIRST;
    if (writer->room + capacity - queue->capacity > ROOM_MAX) {
        if (!rtl_writer_may_store(writer) || rtl_writer_store(writer, NULL, true) != SQLITE_OK)
            return false;
        capacity = ROOM_FIRST;
    }
    struct rtl_wire_kernel *kernels = realloc(queue->kernels, capacity * sizeof *kernels);
    if (!kernels)
        return false;
    writer->room += capacity - queue->capacity;
    queue->kernels = kernels;
    queue->capacity = capacity;
    return true;
}

static bool make_room(struct rtl_writer *writer, struct rtl_queue_chunk *queue)
{
    if (queue->capacity < RTL_CHUNK_KERNELS)
        return grow(writer, queue);
    const struct rtl_writer_part only = {.queue = queue};
    return rtl_writer_may_store(writer) && rtl_writer_store(writer, &only, false) == SQLITE_OK;
}

void rtl_writer_kernel(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_kernel *kernel)
{
    writer->kernels++;
    struct rtl_queue_chunk *queue = find_queue(writer, process, kernel->queue);
    if (!queue || (queue->count == queue->capacity && !make_room(writer, queue))) {
        drop(writer, RTL_DROPPED_KERNELS);
        return;
    }
    queue->kernels[queue->count++] = *kernel;
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    if (graphs)
        rtl_graphs_kernel(graphs, kernel);
}

void rtl_writer_ledger(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                       const struct rtl_writer_account *account)
{
    struct rtl_queue_chunk *found = find_queue(writer, process, queue);
    if (!found) {
        drop_definition(writer, process);
        return;
    }
    found->account_new = true;
    found->account = *account;
}

void rtl_writer_recorded(struct rtl_writer *writer, uint32_t process, enum rtl_kind kind)
{
    struct rtl_kinds_of *of = rtl_kinds_get(&writer->kinds, process);
    if (!of)
        return;
    of->accounts[kind].recorded++;
    of->is_new = true;
}

uint64_t rtl_writer_recorded_so_far(const struct rtl_writer *writer, uint32_t process,
                                    enum rtl_kind kind)
{
    const struct rtl_kinds *kinds = &writer->kinds;
    return process - 1 < kinds->count ? kinds->processes[process - 1].accounts[kind].recorded : 0;
}

void rtl_writer_kinds(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_writer_kind kinds[RTL_KINDS])
{
    struct rtl_kinds_of *of = rtl_kinds_get(&writer->kinds, process);
    if (!of) {
        drop(writer, RTL_DROPPED_DEFINITIONS);
        return;
    }
    for (uint32_t kind = 0; kind < RTL_KINDS; kind++)
        of->accounts[kind].rest = kinds[kind];
    of->known = true;
    of->is_new = true;
}

void rtl_writer_miss_processes(struct rtl_writer *writer, uint64_t count)
{
    struct rtl_kinds_of *of = writer->processes ? rtl_kinds_get(&writer->kinds, 1) : NULL;
    if (!of)
        return;
    of->accounts[RTL_KIND_PROCESSES].recorded += count;
    of->accounts[RTL_KIND_PROCESSES].dropped += count;
    of->is_new = true;
}

void rtl_writer_ask_for_accounts(struct rtl_writer *writer, rtl_writer_ask ask, void *context)
{
    writer->ask = ask;
    writer->ask_context = context;
}

/* Definitions. */

static enum rtl_dropped dropped_as(enum rtl_wire_type type)
{
    if ((uint32_t)type >= RTL_GRAPH_TOLD)
        return RTL_DROPPED_GRAPHS;
    if (type == RTL_WIRE_COPY)
        return RTL_DROPPED_COPIES;
    return type == RTL_WIRE_RANGE || type == RTL_WIRE_RANGE_END ? RTL_DROPPED_RANGES
                                                                : RTL_DROPPED_DEFINITIONS;
}

static void drop_record(struct rtl_writer *writer, enum rtl_wire_type type, uint32_t process,
                        const void *body)
{
    enum rtl_dropped what = dropped_as(type);
    bool told = (uint32_t)type < RTL_GRAPH_TOLD;
    enum rtl_kind kind = told ? rtl_kind_of(type, body) : RTL_KIND_GRAPHS;
    if (kind == RTL_KIND_NAMES || kind == RTL_KIND_DEFINITIONS || kind == RTL_KIND_GRAPHS)
        drop_row(writer, what, process, kind);
    else
        drop(writer, what);
}

static void add(struct rtl_writer *writer, enum rtl_wire_type type, uint32_t process,
                const void *body, size_t body_size, const char *texts, size_t texts_size)
{
    if (writer->pending.size > PENDING_SOON && rtl_writer_may_store(writer))
        (void)rtl_writer_store(writer, NULL, false);
    if (writer->pending.size > PENDING_MAX ||
        rtl_deferred_add(&writer->pending, type, process, body, body_size, texts, texts_size) != 0)
        drop_record(writer, type, process, body);
}

uint32_t rtl_writer_process(struct rtl_writer *writer, const struct rtl_wire_process *process,
                            const char *texts)
{
    uint32_t number = ++writer->processes;
    struct rtl_kinds_of *of = rtl_kinds_get(&writer->kinds, number);
    if (of)
        of->calls = process->mode == RTL_MODE_HIP || process->mode == RTL_MODE_FULL;
    rtl_writer_process_again(writer, number, process, texts);
    return number;
}

void rtl_writer_process_again(struct rtl_writer *writer, uint32_t process,
                              const struct rtl_wire_process *body, const char *texts)
{
    size_t size =
        (size_t)body->command_length + body->host_length + body->library_length + body->rank_length;
    add(writer, RTL_WIRE_PROCESS, process, body, sizeof *body, texts, size);
}

void rtl_writer_agent(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_agent *agent, const char *texts)
{
    size_t size = (size_t)agent->name_length + agent->product_length + agent->uuid_length;
    add(writer, RTL_WIRE_AGENT, process, agent, sizeof *agent, texts, size);
}

void rtl_writer_queue(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_queue *queue)
{
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    add(writer, RTL_WIRE_QUEUE, process, queue, sizeof *queue, NULL, 0);
    if (graphs)
        rtl_graphs_queue(graphs, queue);
}

void rtl_writer_queue_end(struct rtl_writer *writer, uint32_t process,
                          const struct rtl_wire_queue_end *end)
{
    add(writer, RTL_WIRE_QUEUE_END, process, end, sizeof *end, NULL, 0);
}

void rtl_writer_symbol(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_symbol *symbol, const char *texts)
{
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    add(writer, RTL_WIRE_SYMBOL, process, symbol, sizeof *symbol, texts, symbol->name_length);
    if (graphs)
        rtl_graphs_symbol(graphs, symbol, texts);
}

void rtl_writer_shape(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_shape *shape)
{
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    rtl_symbols_dispatched(&writer->symbols, process, shape->symbol);
    add(writer, RTL_WIRE_SHAPE, process, shape, sizeof *shape, NULL, 0);
    if (graphs)
        rtl_graphs_shape(graphs, shape);
}

void rtl_writer_clock(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_clock *clock)
{
    add(writer, RTL_WIRE_CLOCK, process, clock, sizeof *clock, NULL, 0);
}

void rtl_writer_clock_snapshot(struct rtl_writer *writer, uint32_t process,
                               const struct rtl_wire_clock_snapshot *snapshot)
{
    add(writer, RTL_WIRE_CLOCK_SNAPSHOT, process, snapshot, sizeof *snapshot, NULL, 0);
}

void rtl_writer_note(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_note *note,
                     const char *texts)
{
    add(writer, RTL_WIRE_NOTE, process, note, sizeof *note, texts, note->text_length);
}

void rtl_writer_copy(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_copy *copy)
{
    struct rtl_queue_chunk *queue = find_queue(writer, process, copy->queue);
    if (queue)
        queue->copied = true;
    add(writer, RTL_WIRE_COPY, process, copy, sizeof *copy, NULL, 0);
}

bool rtl_writer_has_kernel(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                           uint64_t packet)
{
    const struct rtl_queue_chunk *found = find_queue(writer, process, queue);
    for (uint32_t i = 0; found && i < found->count; i++)
        if (found->kernels[i].packet == packet)
            return true;
    return rtl_stored_kernel(writer->db, writer->codec, process, queue, packet);
}

bool rtl_writer_has_copy(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                         uint64_t ordinal)
{
    struct rtl_deferred_item item;
    for (size_t at = 0; rtl_deferred_next(&writer->pending, &at, &item);) {
        const struct rtl_wire_copy *copy = item.body;
        if (item.type == RTL_WIRE_COPY && item.process == process && copy->queue == queue &&
            copy->ordinal == ordinal)
            return true;
    }
    return rtl_stored_copy(writer->db, process, queue, ordinal);
}

void rtl_writer_call(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_call *call,
                     const char *texts)
{
    size_t size = (size_t)call->name_length + call->arguments_length;
    add(writer, RTL_WIRE_CALL, process, call, sizeof *call, texts, size);
}

/* Host calls. */

/* Stores what stands in the way of another call: the caller's full chunk, or all chunks. */
static bool clear_way(struct rtl_writer *writer, struct rtl_caller *caller, bool all)
{
    const struct rtl_writer_part only = {.caller = caller};
    return rtl_writer_may_store(writer) &&
           rtl_writer_store(writer, all ? NULL : &only, all) == SQLITE_OK;
}

static bool add_api(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_api *api,
                    const void *words)
{
    struct rtl_caller *caller = rtl_callers_get(&writer->callers, process);
    enum rtl_append result = RTL_APPEND_NO_MEMORY;
    if (caller)
        result = rtl_caller_add(&writer->callers, caller, api, words);
    if ((result == RTL_APPEND_FULL || result == RTL_APPEND_CROWDED) &&
        clear_way(writer, caller, result == RTL_APPEND_CROWDED))
        result = rtl_caller_add(&writer->callers, caller, api, words);
    return result == RTL_APPEND_ADDED;
}

void rtl_writer_api(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_api *api,
                    const void *words)
{
    if (!add_api(writer, process, api, words))
        drop(writer, RTL_DROPPED_CALLS);
}

/* Threads are known by whatever names them. */
static void know_thread(struct rtl_writer *writer, uint32_t process, uint32_t thread)
{
    struct rtl_caller *caller = rtl_callers_get(&writer->callers, process);
    if (!caller || rtl_caller_thread(caller, thread) != 0)
        drop_definition(writer, process);
}

static void name_stream(struct rtl_writer *writer, uint32_t process,
                        const struct rtl_wire_name *name, const char *text)
{
    struct rtl_caller *caller = rtl_callers_get(&writer->callers, process);
    if (!caller || rtl_caller_name_stream(caller, name->handle, text, name->text_length) != 0)
        drop_definition(writer, process);
}

void rtl_writer_stream(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_stream *stream)
{
    struct rtl_caller *caller = rtl_callers_get(&writer->callers, process);
    if (!caller || rtl_caller_stream(caller, stream) != 0)
        drop_definition(writer, process);
}

void rtl_writer_range(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_range *range, const char *texts)
{
    know_thread(writer, process, range->thread);
    add(writer, RTL_WIRE_RANGE, process, range, sizeof *range, texts, range->text_length);
}

void rtl_writer_range_end(struct rtl_writer *writer, uint32_t process,
                          const struct rtl_wire_range_end *end)
{
    add(writer, RTL_WIRE_RANGE_END, process, end, sizeof *end, NULL, 0);
}

void rtl_writer_name(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_name *name,
                     const char *texts)
{
    if (name->kind == RTL_NAMED_THREAD || name->kind == RTL_NAMED_COMM)
        know_thread(writer, process, (uint32_t)name->handle);
    else if (name->kind == RTL_NAMED_STREAM)
        name_stream(writer, process, name, texts);
    add(writer, RTL_WIRE_NAME, process, name, sizeof *name, texts, name->text_length);
}

void rtl_writer_hip_queue(struct rtl_writer *writer, uint32_t process,
                          const struct rtl_wire_hip_queue *made, const char *texts)
{
    add(writer, RTL_WIRE_HIP_QUEUE, process, made, sizeof *made, texts, made->library_length);
}

/* Graphs. */

/* A launch on its way into a chunk; false if it belongs into a row. */
static bool add_launch(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_graph_launch_item *launch, const void *spans)
{
    static const struct rtl_writer_part launches = {.launches = true};
    enum rtl_launches_result result = rtl_launches_add(&writer->launches, process, launch, spans);
    if (result == RTL_LAUNCHES_CROWDED && rtl_writer_may_store(writer) &&
        rtl_writer_store(writer, NULL, true) == SQLITE_OK)
        result = rtl_launches_add(&writer->launches, process, launch, spans);
    if (result == RTL_LAUNCHES_FULL && rtl_writer_may_store(writer))
        (void)rtl_writer_store(writer, &launches, false);
    return result == RTL_LAUNCHES_ADDED || result == RTL_LAUNCHES_FULL;
}

void rtl_writer_graph_item(void *context, enum rtl_graph_item type, uint32_t process,
                           const void *body, size_t body_size, const void *rest, size_t rest_size)
{
    struct rtl_writer *writer = context;
    if (type != RTL_GRAPH_LAUNCH || !add_launch(writer, process, body, rest))
        add(writer, (enum rtl_wire_type)type, process, body, body_size, rest, rest_size);
}

void rtl_writer_graph(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_graph *graph)
{
    rtl_graph_feed_graph(&writer->graphs, process, graph);
}

void rtl_writer_node(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_node *node,
                     const void *rest)
{
    rtl_graph_feed_node(&writer->graphs, process, node, rest);
}

void rtl_writer_launch(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_launch *launch)
{
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    if (graphs)
        rtl_graphs_launch(graphs, launch);
}

void rtl_writer_pause(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_pause *pause)
{
    add(writer, RTL_WIRE_PAUSE, process, pause, sizeof *pause, NULL, 0);
}

/* Hardware counters. */

void rtl_writer_counting(struct rtl_writer *writer, uint32_t process,
                         const struct rtl_wire_counting *counting, const char *texts)
{
    add(writer, RTL_WIRE_COUNTING, process, counting, sizeof *counting, texts,
        counting->text_length);
}

void rtl_writer_counter(struct rtl_writer *writer, uint32_t process,
                        const struct rtl_wire_counter *counter, const char *texts)
{
    add(writer, RTL_WIRE_COUNTER, process, counter, sizeof *counter, texts, counter->name_length);
}

void rtl_writer_uncounted(struct rtl_writer *writer, uint32_t process,
                          const struct rtl_wire_uncounted *uncounted)
{
    add(writer, RTL_WIRE_UNCOUNTED, process, uncounted, sizeof *uncounted, NULL, 0);
}

static bool add_sample(struct rtl_writer *writer, struct rtl_sampler *sampler,
                       const struct rtl_wire_sample *sample, const void *values)
{
    const struct rtl_writer_part only = {.sampler = sampler};
    enum rtl_append result = rtl_sampler_add(&writer->samples, sampler, sample, values);
    bool all = result == RTL_APPEND_CROWDED;
    if ((result == RTL_APPEND_FULL || all) && rtl_writer_may_store(writer) &&
        rtl_writer_store(writer, all ? NULL : &only, all) == SQLITE_OK)
        result = rtl_sampler_add(&writer->samples, sampler, sample, values);
    return result == RTL_APPEND_ADDED;
}

void rtl_writer_sample(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_sample *sample, const void *values)
{
    struct rtl_sampler *sampler = rtl_samples_get(&writer->samples, process, sample->queue);
    if (!sampler || !add_sample(writer, sampler, sample, values))
        drop(writer, RTL_DROPPED_SAMPLES);
}

void rtl_writer_end_graphs(struct rtl_writer *writer, uint32_t process)
{
    writer->graphs_forgotten += rtl_graph_feed_end(&writer->graphs, process);
}

void rtl_writer_process_end(struct rtl_writer *writer, uint32_t process, const char *state,
                            uint64_t time, uint64_t torn)
{
    rtl_writer_end_graphs(writer, process);
    rtl_launches_end(&writer->launches, process);
    struct rtl_process_end *ends =
        realloc(writer->ends, (writer->end_count + 1) * sizeof *writer->ends);
    if (!ends) {
        drop_definition(writer, process);
        return;
    }
    writer->ends = ends;
    /* The states that a caller may name; the text may not outlive the call. */
    const char *known = strcmp(state, "closed") == 0        ? "closed"
                        : strcmp(state, "exited") == 0      ? "exited"
                        : strcmp(state, "replaced") == 0    ? "replaced"
                        : strcmp(state, "refused") == 0     ? "refused"
                        : strcmp(state, "unrecorded") == 0  ? "unrecorded"
                        : strcmp(state, "not_started") == 0 ? "not_started"
                        : strcmp(state, "imported") == 0    ? "imported"
                                                            : "died";
    ends[writer->end_count++] = (struct rtl_process_end){process, known, time, torn};
}

void rtl_writer_exchange(struct rtl_writer *writer, const struct rtl_exchange *exchange)
{
    size_t count = writer->exchange_count;
    struct rtl_exchange *exchanges =
        count < MOST_EXCHANGES ? realloc(writer->exchanges, (count + 1) * sizeof *exchanges) : NULL;
    if (!exchanges) {
        drop(writer, RTL_DROPPED_DEFINITIONS);
        return;
    }
    writer->exchanges = exchanges;
    exchanges[writer->exchange_count++] = *exchange;
}
