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
#define NAME_GRAPHS   6u /* that a phase's name tells, a row of numbers being one */
#define NAME_ROW      3u /* graphs with numbers one behind the other that are told as a row */

struct launch {
    uint32_t item, graph;
    uint64_t time, start, end; /* time: the thread began it */
};

/* What launches are told apart by. */
struct item {
    uint64_t alike;               /* what they do (graph_alike.h) */
    uint32_t process, graph;      /* the first of them */
    uint32_t generation;          /* the last of `graph` */
    uint32_t graphs, generations; /* how many; generations: of `graph` */
    uint32_t last;                /* graph that was counted last */
    uint32_t phase;               /* of which it is the only item, RTL_TRACE_NONE: none */
    uint32_t singles;             /* launches that no run has */
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
    struct rtl_index cycles; /* phases by what their blocks hash to */
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
    const rtl_pause_t *pauses;
    size_t pause_count;
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
        finder->item_of[i] = RTL_TRACE_NONE;
        if (graph->launches == 0)
            continue; /* one that was updated before its first launch */
        status = graph_alike(finder->trace, graph, &hash);
        uint64_t alike = hash;
        bool alone = launches_of(finder, i) == 1;
        hash = rtl_index_mix(rtl_index_mix(hash, graph->process),
                             alone ? RTL_TRACE_NONE : graph->graph);
        uint32_t number = rtl_index_get(&numbers, hash);
        if (number == RTL_INDEX_MISSING) {
            number = (uint32_t)finder->item_count++;
            finder->items[number] = (struct item){.alike = alike,
                                                  .process = graph->process,
                                                  .graph = graph->graph,
                                                  .generation = graph->generation,
                                                  .phase = RTL_TRACE_NONE};
            if (rtl_index_put(&numbers, hash, number) != 0)
                memory_is_short();
        }
        struct item *item = &finder->items[number];
        item->graphs += item->graphs == 0 || item->last != graph->graph;
        item->last = graph->graph;
        if (graph->graph == item->graph) {
            item->generation = graph->generation;
            ++item->generations;
        }
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
    const rtl_graph_t *graph = finder->graph_count > 0
                                   ? bsearch(launch, finder->graphs, finder->graph_count,
                                             sizeof *finder->graphs, compare_graphs)
                                   : NULL;
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
                        .time = launch->time,
                        .start = launch->start,
                        .end = launch->end};
}

static rtl_status_t read_launches(struct finder *finder)
{
    rtl_launch_iter_t *launches;
    rtl_graph_launch_t launch;
    rtl_status_t status = rtlTraceGraphs(finder->trace, &finder->graphs, &finder->graph_count);
    if (status == RTL_OK)
        status = rtlTracePauses(finder->trace, &finder->pauses, &finder->pause_count);
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

/* The place of the first launch behind the begin of a pause, from `at` on: there a run ends, since
 * nobody knows what was launched in between. */
static size_t next_pause(const struct finder *finder, const struct sequence *sequence, size_t at)
{
    const struct launch *launches = sequence->launches;
    size_t next = 0; /* of the pauses, which stand by process and begin */
    for (size_t i = at + 1; i < sequence->count; ++i) {
        while (next < finder->pause_count && (finder->pauses[next].process < sequence->process ||
                                              (finder->pauses[next].process == sequence->process &&
                                               finder->pauses[next].start <= launches[i - 1].time)))
            ++next;
        if (next < finder->pause_count && finder->pauses[next].process == sequence->process &&
            finder->pauses[next].start <= launches[i].time)
            return i;
    }
    return sequence->count;
}

static void add_runs(struct sequence *sequence, size_t begin, size_t end)
{
    struct run *runs;
    size_t count = runs_find(sequence->items + begin, end - begin, &runs);
    if (count)
        sequence->runs = memory_grown(sequence->runs, sequence->run_count + count, sizeof *runs);
    for (size_t i = 0; i < count; ++i) {
        struct run *run = &sequence->runs[sequence->run_count++];
        *run = runs[i];
        run->begin += begin;
        rotate(sequence, run, i + 1 < count ? runs[i + 1].begin + begin : end);
    }
    free(runs);
}

static void cut(const struct finder *finder, struct sequence *sequence)
{
    sequence->items = memory_new(sequence->count, sizeof *sequence->items);
    for (size_t i = 0; i < sequence->count; ++i)
        sequence->items[i] = sequence->launches[i].item;
    for (size_t at = 0; at < sequence->count;) {
        size_t end = next_pause(finder, sequence, at);
        add_runs(sequence, at, end);
        at = end;
    }
}

/* Names of phases. */

static bool has_other_items(const struct finder *finder, uint32_t number)
{
    const struct item *item = &finder->items[number];
    for (size_t i = 0; i < finder->item_count; ++i)
        if (i != number && finder->items[i].process == item->process &&
            finder->items[i].graph == item->graph)
            return true;
    return false;
}

/* "3", "1:3", "3.2", "3.2 and 4 like it", "4 and 2 like it". */
static void name_item(const struct finder *finder, uint32_t number, FILE *out)
{
    const struct item *item = &finder->items[number];
    uint32_t others = item->graphs > 1 ? item->graphs - 1 : 0;
    (void)fputs(graph_id_name(finder->trace, item->process, item->graph).text, out);
    if (item->graphs == 1 && has_other_items(finder, number)) {
        (void)fprintf(out, ".%" PRIu32, item->generation);
        others = item->generations - 1;
    }
    if (others)
        (void)fprintf(out, " and %" PRIu32 " like it", others);
}

/* How many items from the first on have a number alone as name, one behind the other. */
static uint32_t row_of(const struct finder *finder, const uint32_t *items, uint32_t length)
{
    uint32_t count = 0;
    while (count < length) {
        const struct item *item = &finder->items[items[count]];
        if (item->graphs > 1 || has_other_items(finder, items[count]) ||
            item->graph != finder->items[items[0]].graph + count)
            break;
        ++count;
    }
    return count;
}

static char *name_of(const struct finder *finder, const uint32_t *items, uint32_t length)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        memory_is_short();
    (void)fputs(length > 1 ? "graphs " : "graph ", out);
    uint32_t at = 0;
    for (uint32_t told = 0; at < length && told < NAME_GRAPHS; ++told) {
        uint32_t row = row_of(finder, items + at, length - at);
        (void)fputs(told ? ", " : "", out);
        name_item(finder, items[at], out);
        if (row >= NAME_ROW) {
            (void)fputs(" to ", out);
            name_item(finder, items[at + row - 1], out);
        }
        at += row >= NAME_ROW ? row : 1;
    }
    if (at < length)
        (void)fprintf(out, " and %" PRIu32 " more", length - at);
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

static uint64_t hash_of(const uint32_t *items, uint32_t length)
{
    uint64_t hash = length;
    for (uint32_t i = 0; i < length; ++i)
        hash = rtl_index_mix(hash, items[i]);
    return hash;
}

/* The phase of these items as they stand, which is that of the same before. */
static uint32_t phase_of(struct finder *finder, struct sequence *sequence,
                         struct steps_thread *thread, const uint32_t *items, uint32_t length)
{
    uint64_t hash = hash_of(items, length);
    uint32_t phase = rtl_index_get(&sequence->cycles, hash);
    if (phase != RTL_INDEX_MISSING)
        return phase;
    phase = new_phase(finder, thread, items, length);
    if (rtl_index_put(&sequence->cycles, hash, phase) != 0)
        memory_is_short();
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
    cut(finder, sequence);
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
        rtl_index_free(&sequence->cycles);
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
