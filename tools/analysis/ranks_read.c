/* The steps of each rank, and how long it was in collectives. */
#include "analysis/ranks.h"

#include "analysis/collectives.h"
#include "analysis/hidden.h"
#include "analysis/steps_measure.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "store/exchanges.h"

#include <stdlib.h>
#include <string.h>

#define COLLECTIVE "collective"

/* A rank while its kernels come. */
struct place {
    size_t rank;          /* RANKS_NONE: the process is none */
    size_t step;          /* the one at hand */
    uint64_t until;       /* end of its last collective */
    struct piece *pieces; /* of its collectives that nothing hides */
    size_t count, room;
};

struct piece {
    struct exposed time;
    size_t step;
};

struct reading {
    rtl_trace_t *trace;
    const struct selection *selection;
    struct family_rules *rules;
    struct ranks *ranks;
    const rtl_process_t *processes;
    size_t process_count;
    struct place *places; /* by process, as the trace lists them */
    struct hidden hidden;
};

static struct rank *add_rank(struct ranks *ranks, const rtl_process_t *process)
{
    ranks->list = memory_grown(ranks->list, ranks->count + 1, sizeof *ranks->list);
    ranks->list[ranks->count] = (struct rank){.process = process};
    return &ranks->list[ranks->count++];
}

static void add_step(struct rank *rank, const struct rank_step *step)
{
    if (rank->count == rank->room) {
        rank->room = rank->room ? 2 * rank->room : 64;
        rank->steps = memory_grown(rank->steps, rank->room, sizeof *rank->steps);
    }
    rank->steps[rank->count++] = *step;
}

static size_t place_of(const struct reading *reading, uint32_t process)
{
    for (size_t i = 0; i < reading->process_count; ++i)
        if (reading->processes[i].process == process)
            return i;
    return RANKS_NONE;
}

static void free_rank(struct rank *rank)
{
    free(rank->steps);
    free(rank->waits);
    free(rank->waits_steps);
    stats_free(&rank->duration);
}

/* Steps as rtl steps finds them. */

/* Of a process's threads the one with most steps. */
static const struct steps_thread *thread_of(const struct steps *steps, uint32_t process)
{
    const struct steps_thread *most = NULL;
    for (size_t i = 0; i < steps->count; ++i)
        if (steps->threads[i].process == process &&
            (!most || steps->threads[i].count > most->count))
            most = &steps->threads[i];
    return most;
}

static void take_steps(struct reading *reading, const struct steps *steps)
{
    for (size_t i = 0; i < reading->process_count; ++i) {
        const struct steps_thread *thread = thread_of(steps, reading->processes[i].process);
        if (!thread)
            continue;
        struct rank *rank = add_rank(reading->ranks, &reading->processes[i]);
        for (size_t k = 0; k < thread->count; ++k)
            add_step(rank, &(struct rank_step){.begin = thread->steps[k].begin,
                                               .end = thread->steps[k].end});
    }
}

/* Processes that ran kernels, of those that are selected. */
static rtl_status_t count_processes(const struct reading *reading, size_t *count)
{
    const rtl_queue_t *queues;
    size_t queue_count;
    bool *seen = memory_new(reading->process_count, sizeof *seen);
    rtl_status_t status = rtlTraceQueues(reading->trace, &queues, &queue_count);
    *count = 0;
    for (size_t i = 0; status == RTL_OK && i < queue_count; ++i) {
        size_t at = place_of(reading, queues[i].process);
        if (at == RANKS_NONE || seen[at] || queues[i].kernels == 0 ||
            !(!reading->selection || selection_has_process(reading->selection, queues[i].process)))
            continue;
        seen[at] = true;
        ++*count;
    }
    free(seen);
    return status;
}

/* Where something repeats in one of several processes alone, which may be by chance, there is
 * nothing to put beside its steps. */
static rtl_status_t are_of_several(const struct reading *reading, const struct steps *steps,
                                   bool *several)
{
    size_t with = 0;
    size_t processes = 0;
    rtl_status_t status = count_processes(reading, &processes);
    for (size_t i = 0; i < reading->process_count; ++i)
        with += thread_of(steps, reading->processes[i].process) != NULL;
    *several = with > 1 || (with == 1 && processes < 2);
    return status;
}

static int read_steps(struct reading *reading, const char *path, struct steps_choice *by)
{
    struct steps steps = {0};
    int status = steps_by_find(reading->trace, path, by, &steps);
    if (status == EXIT_FINE && steps.count == 0 && by->text)
        status = steps_by_none(reading->trace, path, by, &steps);
    bool several = true;
    if (status == EXIT_FINE && !by->text && are_of_several(reading, &steps, &several) != RTL_OK)
        status = open_failed(reading->trace, path);
    if (status == EXIT_FINE && (steps.count == 0 || !several))
        reading->ranks->by_steps = false;
    if (status == EXIT_FINE && steps_measure(reading->trace, &steps) != RTL_OK)
        status = open_failed(reading->trace, path);
    if (status == EXIT_FINE && several)
        take_steps(reading, &steps);
    reading->ranks->by = steps.by;
    steps_free(&steps);
    return status;
}

/* Collectives. */

static void add_piece(struct place *place, const struct exposed *time, size_t step)
{
    if (place->count == place->room) {
        place->room = place->room ? 2 * place->room : 64;
        place->pieces = memory_grown(place->pieces, place->room, sizeof *place->pieces);
    }
    place->pieces[place->count++] = (struct piece){*time, step};
}

/* Adds what nothing hides of a collective to its step, once the time before `until` is. Those of
 * several GPUs may run at once, and be hidden on one alone: they are kept. */
static void expose(const struct reading *reading, struct rank *rank, struct place *place,
                   const struct collective *kernel, uint64_t from, uint64_t to, size_t step)
{
    struct exposed time;
    bool alone = hidden_gpus(&reading->hidden, kernel->process) == 1;
    from = alone && place->until > from ? place->until : from;
    while (hidden_next(&reading->hidden, kernel->process, kernel->gpu, from, to, &time)) {
        if (alone)
            rank->steps[step].exposed += time.end - time.start;
        else
            add_piece(place, &time, step);
        from = time.end;
    }
}

static int by_start(const void *left, const void *right)
{
    const struct piece *a = left;
    const struct piece *b = right;
    return (a->time.start > b->time.start) - (a->time.start < b->time.start);
}

/* Adds them to the rank's steps, which have no time in common, and frees them. */
static void add_exposed(struct rank *rank, struct place *place)
{
    uint64_t until = 0;
    if (place->count)
        qsort(place->pieces, place->count, sizeof *place->pieces, by_start);
    for (size_t i = 0; i < place->count; ++i) {
        const struct exposed *time = &place->pieces[i].time;
        uint64_t start = time->start > until ? time->start : until;
        if (time->end <= start)
            continue;
        rank->steps[place->pieces[i].step].exposed += time->end - start;
        until = time->end;
    }
    free(place->pieces);
    place->pieces = NULL;
    place->count = place->room = 0;
}

/* Adds what a collective took of the steps that are there. */
static void add_to_steps(const struct reading *reading, struct rank *rank, struct place *place,
                         const struct collective *kernel)
{
    while (place->step < rank->count && rank->steps[place->step].end <= kernel->start)
        ++place->step;
    struct rank_step *step = place->step < rank->count ? &rank->steps[place->step] : NULL;
    if (!step || kernel->start < step->begin)
        return;
    uint64_t start = kernel->start > place->until ? kernel->start : place->until;
    uint64_t end = kernel->end < step->end ? kernel->end : step->end;
    step->collective += end > start ? end - start : 0;
    expose(reading, rank, place, kernel, kernel->start, end, place->step);
    ++step->collectives;
    step->last = kernel->end > step->last ? kernel->end : step->last;
    place->until = end > place->until ? end : place->until;
}

/* Makes a step of a collective: from the end of the one before. Before the first nobody knows how
 * long the rank has been at it. */
static void add_as_step(const struct reading *reading, struct rank *rank, struct place *place,
                        const struct collective *kernel)
{
    uint64_t begin = rank->count ? rank->steps[rank->count - 1].end : kernel->start;
    uint64_t end = kernel->end > begin ? kernel->end : begin;
    uint64_t start = kernel->start > begin ? kernel->start : begin;
    add_step(rank, &(struct rank_step){.begin = begin,
                                       .end = end,
                                       .collective = end > start ? end - start : 0,
                                       .collectives = 1,
                                       .last = end,
                                       .name = kernel->name});
    expose(reading, rank, place, kernel, start, end, rank->count - 1);
    place->until = end;
}

static void take_kernel(struct reading *reading, const struct collective *kernel)
{
    size_t at = place_of(reading, kernel->process);
    if (at == RANKS_NONE)
        return;
    struct place *place = &reading->places[at];
    struct ranks *ranks = reading->ranks;
    if (place->rank == RANKS_NONE && !ranks->by_steps) {
        (void)add_rank(ranks, &reading->processes[at]);
        place->rank = ranks->count - 1;
    }
    if (place->rank == RANKS_NONE)
        return;
    if (ranks->by_steps)
        add_to_steps(reading, &ranks->list[place->rank], place, kernel);
    else
        add_as_step(reading, &ranks->list[place->rank], place, kernel);
}

/* What moves data hides no other such kernel. */
static bool computes(void *rules, const char *name)
{
    return strcmp(family_of(rules, name), COLLECTIVE) != 0;
}

static rtl_status_t read_collectives(struct reading *reading)
{
    const struct collectives_wanted wanted = {collectives_wait, reading->rules};
    const struct collectives_wanted hides = {computes, reading->rules};
    struct collective *list;
    size_t count;
    for (size_t i = 0; i < reading->process_count; ++i)
        reading->places[i] = (struct place){.rank = RANKS_NONE};
    for (size_t i = 0; i < reading->ranks->count; ++i)
        reading->places[reading->ranks->list[i].process - reading->processes].rank = i;
    rtl_status_t status = collectives_read(reading->trace, &wanted, &list, &count);
    if (status == RTL_OK)
        status = hidden_read(reading->trace, list, count, &hides, &reading->hidden);
    for (size_t i = 0; i < count && status == RTL_OK; ++i)
        take_kernel(reading, &list[i]);
    for (size_t i = 0; i < reading->process_count; ++i)
        if (reading->places[i].rank != RANKS_NONE)
            add_exposed(&reading->ranks->list[reading->places[i].rank], &reading->places[i]);
    hidden_free(&reading->hidden);
    free(list);
    return status;
}

/* Which processes are ranks. */

static void drop(struct ranks *ranks, bool (*is_wanted)(const struct ranks *, size_t))
{
    bool *wanted = memory_new(ranks->count, sizeof *wanted);
    size_t kept = 0;
    for (size_t i = 0; i < ranks->count; ++i)
        wanted[i] = is_wanted(ranks, i);
    for (size_t i = 0; i < ranks->count; ++i) {
        if (wanted[i])
            ranks->list[kept++] = ranks->list[i];
        else
            free_rank(&ranks->list[i]);
    }
    ranks->count = kept;
    free(wanted);
}

static bool has_steps(const struct ranks *ranks, size_t rank)
{
    return ranks->list[rank].count > 0;
}

/* Where launchers have told ranks, it has one, and is that one's process with most steps. */
static bool is_rank(const struct ranks *ranks, size_t rank)
{
    const struct rank *this = &ranks->list[rank];
    if (!ranks->labelled)
        return true;
    if (!this->process->rank[0])
        return false;
    for (size_t i = 0; i < ranks->count; ++i) {
        const struct rank *other = &ranks->list[i];
        if (strcmp(other->process->rank, this->process->rank) == 0 &&
            (other->count > this->count || (other->count == this->count && i < rank)))
            return false;
    }
    return true;
}

static int by_rank(const void *left, const void *right)
{
    const rtl_process_t *a = ((const struct rank *)left)->process;
    const rtl_process_t *b = ((const struct rank *)right)->process;
    unsigned long one = strtoul(a->rank, NULL, 10);
    unsigned long other = strtoul(b->rank, NULL, 10);
    if (one != other)
        return one < other ? -1 : 1;
    int order = strcmp(a->rank, b->rank);
    return order ? order : (a->process > b->process) - (a->process < b->process);
}

static void choose_ranks(struct ranks *ranks)
{
    size_t labelled = 0;
    drop(ranks, has_steps);
    for (size_t i = 0; i < ranks->count; ++i)
        labelled += ranks->list[i].process->rank[0] != 0;
    ranks->labelled = labelled > 0;
    drop(ranks, is_rank);
    if (ranks->count)
        qsort(ranks->list, ranks->count, sizeof *ranks->list, by_rank);
}

static size_t count_hosts(const struct ranks *ranks)
{
    size_t hosts = 0;
    for (size_t i = 0; i < ranks->count; ++i) {
        size_t before = 0;
        while (before < i &&
               strcmp(ranks->list[before].process->host, ranks->list[i].process->host) != 0)
            ++before;
        hosts += before == i;
    }
    return hosts;
}

/* Once the steps are there, or each collective is to be one. */
static rtl_status_t read_rest(struct reading *reading)
{
    struct ranks *ranks = reading->ranks;
    size_t processes = 0;
    rtl_status_t status = read_collectives(reading);
    if (status == RTL_OK)
        status = count_processes(reading, &processes);
    choose_ranks(ranks);
    ranks->without = processes > ranks->count ? processes - ranks->count : 0;
    ranks->hosts = count_hosts(ranks);
    ranks->hosts_error = rtl_hosts_error(reading->trace);
    return status;
}

static rtl_status_t begin(struct reading *reading)
{
    rtl_status_t status =
        rtlTraceProcesses(reading->trace, &reading->processes, &reading->process_count);
    if (status == RTL_OK)
        reading->places = memory_new(reading->process_count, sizeof *reading->places);
    return status;
}

rtl_status_t ranks_of_steps(rtl_trace_t *trace, const struct steps *steps,
                            struct family_rules *rules, struct ranks *ranks)
{
    struct reading reading = {.trace = trace, .rules = rules, .ranks = ranks};
    bool several = false;
    ranks->by = steps->by;
    rtl_status_t status = begin(&reading);
    if (status == RTL_OK)
        status = are_of_several(&reading, steps, &several);
    ranks->by_steps = several;
    if (status == RTL_OK && several)
        take_steps(&reading, steps);
    if (status == RTL_OK)
        status = read_rest(&reading);
    free(reading.places);
    return status;
}

int ranks_read(rtl_trace_t *trace, const char *path, const struct selection *selection,
               struct steps_choice *by, struct family_rules *rules, struct ranks *ranks)
{
    struct reading reading = {
        .trace = trace, .selection = selection, .rules = rules, .ranks = ranks};
    ranks->by_steps = by != NULL;
    if (begin(&reading) != RTL_OK)
        return open_failed(trace, path);
    int status = by ? read_steps(&reading, path, by) : EXIT_FINE;
    if (status == EXIT_FINE && read_rest(&reading) != RTL_OK)
        status = open_failed(trace, path);
    free(reading.places);
    return status;
}

void ranks_free(struct ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; ++i)
        free_rank(&ranks->list[i]);
    free(ranks->list);
    free(ranks->host_list);
    free(ranks->steps);
    *ranks = (struct ranks){0};
}
