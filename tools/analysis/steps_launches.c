#include "analysis/steps_launches.h"

#include "analysis/graph_alike.h"
#include "analysis/runs.h"
#include "common/index.h"
#include "common/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SINGLES 3u /* launches that stand alone and are a phase of their own all the same */
#define NAME_GRAPHS   6u /* that a phase's name tells */

struct launch {
    uint32_t item, graph;
    uint64_t start, end;
};

/* What launches are told apart by. */
struct item {
    uint64_t alike;                       /* what they do (graph_alike.h) */
    uint32_t graph, last_graph;           /* the first and the last in number */
    uint32_t generation, last_generation; /* of `graph` */
    uint32_t phase;                       /* of which it is the only item, RTL_TRACE_NONE: none */
    uint32_t singles;                     /* launches that no run has */
};

/* A block of items, as it is rotated, and its phase. */
struct cycle {
    const uint32_t *items;
    uint32_t length, phase;
};

/* The launches of one thread. */
struct sequence {
    uint32_t process, thread;
    struct launch *launches;
    size_t count, room;
    uint32_t *items; /* of the launches */
    struct run *runs;
    uint32_t *phases; /* of the runs */
    size_t run_count;
    struct cycle *cycles;
    size_t cycle_count;
};

struct finder {
    rtl_trace_t *trace;
    const rtl_graph_t *graphs;
    size_t graph_count;
    uint32_t *item_of; /* by place in `graphs` */
    struct item *items;
    size_t item_count;
    struct sequence *sequences;
    size_t sequence_count;
    uint64_t without_kernels;
};

/* Launches of all generations of the graph at this place. */
static uint64_t launches_of(const struct finder *finder, size_t at)
{
    const rtl_graph_t *graph = &finder->graphs[at];
    uint64_t launches = 0;
    while (at > 0 && graph[-1].process == graph->process && graph[-1].graph == graph->graph)
        --graph, --at;
    uint32_t number = graph->graph;
    uint32_t process = graph->process;
    for (; at < finder->graph_count && graph->process == process && graph->graph == number;
         ++at, ++graph)
        launches += graph->launches;
    return launches;
}

static rtl_status_t number_items(struct finder *finder)
{
    struct rtl_index numbers = {0};
    rtl_status_t status = RTL_OK;
    finder->item_of = memory_new(finder->graph_count, sizeof *finder->item_of);
    finder->items = memory_new(finder->graph_count, sizeof *finder->items);
    for (size_t i = 0; i < finder->graph_count && status == RTL_OK; ++i) {
        const rtl_graph_t *graph = &finder->graphs[i];
        uint64_t hash = 0;
        status = graph_alike(finder->trace, graph, &hash);
        uint64_t alike = hash;
        bool alone = launches_of(finder, i) == 1;
        hash = rtl_index_mix(rtl_index_mix(hash, graph->process),
                             alone ? RTL_TRACE_NONE : graph->graph);
        uint32_t number = rtl_index_get(&numbers, hash);
        if (number == RTL_INDEX_MISSING) {
            number = (uint32_t)finder->item_count++;
            finder->items[number] = (struct item){.alike = alike,
                                                  .graph = graph->graph,
                                                  .generation = graph->generation,
                                                  .phase = RTL_TRACE_NONE};
            if (rtl_index_put(&numbers, hash, number) != 0)
                memory_is_short();
        }
        struct item *item = &finder->items[number];
        item->last_graph = graph->graph;
        if (graph->graph == item->graph)
            item->last_generation = graph->generation;
        finder->item_of[i] = number;
    }
    rtl_index_free(&numbers);
    return status;
}

static int compare_graphs(const void *key, const void *element)
{
    const rtl_graph_launch_t *launch = key;
    const rtl_graph_t *graph = element;
    if (launch->process != graph->process)
        return launch->process < graph->process ? -1 : 1;
    if (launch->graph != graph->graph)
        return launch->graph < graph->graph ? -1 : 1;
    return (launch->generation > graph->generation) - (launch->generation < graph->generation);
}

static struct sequence *sequence_of(struct finder *finder, uint32_t process, uint32_t thread)
{
    for (size_t i = finder->sequence_count; i-- > 0;)
        if (finder->sequences[i].process == process && finder->sequences[i].thread == thread)
            return &finder->sequences[i];
    finder->sequences =
        memory_grown(finder->sequences, finder->sequence_count + 1, sizeof *finder->sequences);
    struct sequence *added = &finder->sequences[finder->sequence_count++];
    *added = (struct sequence){.process = process, .thread = thread};
    return added;
}

static void take(struct finder *finder, const rtl_graph_launch_t *launch)
{
    const rtl_graph_t *graph = bsearch(launch, finder->graphs, finder->graph_count,
                                       sizeof *finder->graphs, compare_graphs);
    if (launch->start == 0 || !graph) {
        ++finder->without_kernels;
        return;
    }
    struct sequence *sequence = sequence_of(finder, launch->process, launch->thread);
    if (sequence->count == sequence->room) {
        sequence->room = sequence->room ? 2 * sequence->room : 64;
        sequence->launches =
            memory_grown(sequence->launches, sequence->room, sizeof *sequence->launches);
    }
    sequence->launches[sequence->count++] =
        (struct launch){.item = finder->item_of[graph - finder->graphs],
                        .graph = launch->graph,
                        .start = launch->start,
                        .end = launch->end};
}

static rtl_status_t read_launches(struct finder *finder)
{
    rtl_launch_iter_t *launches;
    rtl_graph_launch_t launch;
    rtl_status_t status = rtlTraceGraphs(finder->trace, &finder->graphs, &finder->graph_count);
    if (status == RTL_OK)
        status = number_items(finder);
    if (status == RTL_OK)
        status = rtlTraceLaunches(finder->trace, NULL, &launches);
    if (status != RTL_OK)
        return status;
    while ((status = rtlLaunchNext(launches, &launch)) == RTL_OK)
        take(finder, &launch);
    rtlLaunchIterFree(launches);
    return status == RTL_END ? RTL_OK : status;
}

/* Lets a run begin where the least rotation of its block does, so that runs of the same steps begin
 * with the same launch. What is before is in no run then; what goes on behind is, up to `end`. */
static void rotate(const struct sequence *sequence, struct run *run, size_t end)
{
    uint32_t by = runs_least_rotation(sequence->items + run->begin, run->length);
    size_t last = run->begin + (size_t)run->length * run->count;
    while (last < end && sequence->items[last] == sequence->items[last - run->length])
        ++last;
    run->begin += by;
    run->count = (uint32_t)((last - run->begin) / run->length);
}

static void cut(struct sequence *sequence)
{
    sequence->items = memory_new(sequence->count, sizeof *sequence->items);
    for (size_t i = 0; i < sequence->count; ++i)
        sequence->items[i] = sequence->launches[i].item;
    sequence->run_count = runs_find(sequence->items, sequence->count, &sequence->runs);
    for (size_t i = 0; i < sequence->run_count; ++i)
        rotate(sequence, &sequence->runs[i],
               i + 1 < sequence->run_count ? sequence->runs[i + 1].begin : sequence->count);
}

/* Names of phases. */

static bool has_other_items(const struct finder *finder, uint32_t number)
{
    for (size_t i = 0; i < finder->item_count; ++i)
        if (i != number && finder->items[i].graph == finder->items[number].graph)
            return true;
    return false;
}

/* "3", "3.2", "3.2 to 3.9" or "4 to 31". */
static void name_item(const struct finder *finder, uint32_t number, FILE *out)
{
    const struct item *item = &finder->items[number];
    (void)fprintf(out, "%" PRIu32, item->graph);
    if (item->last_graph != item->graph) {
        (void)fprintf(out, " to %" PRIu32, item->last_graph);
    } else if (has_other_items(finder, number)) {
        (void)fprintf(out, ".%" PRIu32, item->generation);
        if (item->last_generation != item->generation)
            (void)fprintf(out, " to %" PRIu32 ".%" PRIu32, item->graph, item->last_generation);
    }
}

static char *name_of(const struct finder *finder, const uint32_t *items, uint32_t length)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        memory_is_short();
    const struct item *first = &finder->items[items[0]];
    (void)fputs(length > 1 || first->last_graph != first->graph ? "graphs " : "graph ", out);
    for (uint32_t i = 0; i < length && i < NAME_GRAPHS; ++i) {
        (void)fputs(i ? ", " : "", out);
        name_item(finder, items[i], out);
    }
    if (length > NAME_GRAPHS)
        (void)fprintf(out, " and %" PRIu32 " more", length - NAME_GRAPHS);
    if (fclose(out) != 0)
        memory_is_short();
    return text;
}

/* Phases. */

static uint32_t new_phase(const struct finder *finder, struct steps_thread *thread,
                          const uint32_t *items, uint32_t length)
{
    char *name = name_of(finder, items, length);
    uint32_t phase = steps_phase(thread, name);
    uint64_t key = length;
    for (uint32_t i = 0; i < length; ++i)
        key = rtl_index_mix(key, finder->items[items[i]].alike);
    thread->phases[phase].key = key;
    free(name);
    return phase;
}

/* The phase of these items as they stand, which is that of the same before. */
static uint32_t phase_of(struct finder *finder, struct sequence *sequence,
                         struct steps_thread *thread, const uint32_t *items, uint32_t length)
{
    for (size_t i = 0; i < sequence->cycle_count; ++i) {
        const struct cycle *cycle = &sequence->cycles[i];
        if (cycle->length == length && memcmp(cycle->items, items, length * sizeof *items) == 0)
            return cycle->phase;
    }
    sequence->cycles =
        memory_grown(sequence->cycles, sequence->cycle_count + 1, sizeof *sequence->cycles);
    uint32_t phase = new_phase(finder, thread, items, length);
    sequence->cycles[sequence->cycle_count++] = (struct cycle){items, length, phase};
    if (length == 1)
        finder->items[items[0]].phase = phase;
    return phase;
}

static void add_step(struct steps_thread *thread, const struct launch *launches, uint32_t length,
                     struct step *step)
{
    step->begin = launches[0].start;
    step->own_end = 0;
    step->launches = length;
    for (uint32_t i = 0; i < length; ++i)
        if (launches[i].end > step->own_end)
            step->own_end = launches[i].end;
    steps_add(thread, step);
}

static void add_run(const struct sequence *sequence, struct steps_thread *thread, size_t number)
{
    const struct run *run = &sequence->runs[number];
    for (uint32_t block = 0; block < run->count; ++block) {
        struct step step = {.phase = sequence->phases[number],
                            .first = block == 0,
                            .last = block + 1 == run->count};
        add_step(thread, sequence->launches + run->begin + (size_t)block * run->length, run->length,
                 &step);
    }
}

/* A launch in no run is a step if there is a phase of such ones, or there are enough of it. */
static void add_single(struct finder *finder, struct sequence *sequence,
                       struct steps_thread *thread, size_t at)
{
    struct item *item = &finder->items[sequence->items[at]];
    if (item->phase == RTL_TRACE_NONE && item->singles >= LEAST_SINGLES)
        (void)phase_of(finder, sequence, thread, &sequence->items[at], 1);
    if (item->phase == RTL_TRACE_NONE) {
        ++thread->launches_outside;
        return;
    }
    struct step step = {.phase = item->phase, .first = true, .last = true};
    add_step(thread, &sequence->launches[at], 1, &step);
}

static void count_singles(struct finder *finder, const struct sequence *sequence)
{
    size_t at = 0;
    for (size_t i = 0; i < finder->item_count; ++i) {
        finder->items[i].phase = RTL_TRACE_NONE;
        finder->items[i].singles = 0;
    }
    for (size_t i = 0; i <= sequence->run_count; ++i) {
        const struct run *run = i < sequence->run_count ? &sequence->runs[i] : NULL;
        for (; at < (run ? run->begin : sequence->count); ++at)
            ++finder->items[sequence->items[at]].singles;
        at += run ? (size_t)run->length * run->count : 0;
    }
}

static void find_steps(struct finder *finder, struct sequence *sequence,
                       struct steps_thread *thread)
{
    size_t at = 0;
    cut(sequence);
    count_singles(finder, sequence);
    sequence->phases = memory_new(sequence->run_count, sizeof *sequence->phases);
    for (size_t i = 0; i < sequence->run_count; ++i) {
        const struct run *run = &sequence->runs[i];
        sequence->phases[i] =
            phase_of(finder, sequence, thread, sequence->items + run->begin, run->length);
    }
    for (size_t i = 0; i <= sequence->run_count; ++i) {
        const struct run *run = i < sequence->run_count ? &sequence->runs[i] : NULL;
        for (; at < (run ? run->begin : sequence->count); ++at)
            add_single(finder, sequence, thread, at);
        if (run) {
            add_run(sequence, thread, i);
            at += (size_t)run->length * run->count;
        }
    }
}

static void free_finder(struct finder *finder)
{
    for (size_t i = 0; i < finder->sequence_count; ++i) {
        struct sequence *sequence = &finder->sequences[i];
        free(sequence->launches);
        free(sequence->items);
        free(sequence->runs);
        free(sequence->phases);
        free(sequence->cycles);
    }
    free(finder->sequences);
    free(finder->item_of);
    free(finder->items);
}

rtl_status_t steps_by_launches(rtl_trace_t *trace, struct steps *steps)
{
    struct finder finder = {.trace = trace};
    rtl_status_t status = read_launches(&finder);
    steps->by = STEPS_BY_LAUNCHES;
    steps->without_kernels = finder.without_kernels;
    for (size_t i = 0; i < finder.sequence_count && status == RTL_OK; ++i) {
        struct sequence *sequence = &finder.sequences[i];
        find_steps(&finder, sequence, steps_thread(steps, sequence->process, sequence->thread));
    }
    free_finder(&finder);
    steps_drop_empty(steps);
    return status;
}

/* Each launch of the graph, and those up to the next one. */
static void cut_at(const struct sequence *sequence, uint32_t graph, struct steps_thread *thread,
                   const char *name)
{
    uint32_t phase = RTL_TRACE_NONE;
    size_t at = 0;
    for (; at < sequence->count && sequence->launches[at].graph != graph; ++at)
        ++thread->launches_outside;
    while (at < sequence->count) {
        size_t next = at + 1;
        while (next < sequence->count && sequence->launches[next].graph != graph)
            ++next;
        struct step step = {.first = phase == RTL_TRACE_NONE, .last = next == sequence->count};
        if (phase == RTL_TRACE_NONE)
            phase = steps_phase(thread, name);
        step.phase = phase;
        add_step(thread, sequence->launches + at, (uint32_t)(next - at), &step);
        at = next;
    }
}

rtl_status_t steps_by_graph(rtl_trace_t *trace, const struct graph_id *id, struct steps *steps)
{
    struct finder finder = {.trace = trace};
    char name[32];
    rtl_status_t status = read_launches(&finder);
    steps->by = STEPS_BY_GRAPH;
    steps->without_kernels = finder.without_kernels;
    (void)snprintf(name, sizeof name, "graph %" PRIu32, id->graph);
    for (size_t i = 0; i < finder.sequence_count && status == RTL_OK; ++i) {
        const struct sequence *sequence = &finder.sequences[i];
        if (sequence->process == id->process)
            cut_at(sequence, id->graph, steps_thread(steps, sequence->process, sequence->thread),
                   name);
    }
    free_finder(&finder);
    steps_drop_empty(steps);
    return status;
}
