/* Which steps of the ranks belong together, and who waited in them for whom. */
#include "analysis/ranks.h"

#include "common/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ranks_name(const struct ranks *ranks, size_t rank)
{
    static char name[64];
    const rtl_process_t *process = ranks->list[rank].process;
    if (ranks->labelled)
        (void)snprintf(name, sizeof name, "rank %.48s", process->rank);
    else
        (void)snprintf(name, sizeof name, "process %" PRIu32, process->process);
    return name;
}

/* Belonging together. */

/* Where recording began at another step of each rank, those are left out that the last one to come
 * has not: no rank leaves a collective before all have begun the step that it is in. One host has
 * one clock. */
static void align(struct ranks *ranks)
{
    uint64_t begin = 0;
    for (size_t i = 0; i < ranks->count; ++i) {
        const struct rank *rank = &ranks->list[i];
        begin = rank->steps[0].begin > begin ? rank->steps[0].begin : begin;
    }
    for (size_t i = 0; i < ranks->count; ++i) {
        struct rank *rank = &ranks->list[i];
        while (rank->first + 1 < rank->count && rank->steps[rank->first].last <= begin)
            ++rank->first;
    }
}

static bool are_as_many(const struct ranks *ranks)
{
    for (size_t i = 1; i < ranks->count; ++i)
        if (ranks->list[i].count != ranks->list[0].count)
            return false;
    return true;
}

static bool have_collectives(const struct ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; ++i) {
        uint64_t all = 0;
        for (size_t k = 0; k < ranks->list[i].count; ++k)
            all += ranks->list[i].steps[k].collectives;
        if (all == 0)
            return false;
    }
    return true;
}

/* Judging. */

static const struct rank_step *step_of(const struct rank *rank, size_t step)
{
    return &rank->steps[rank->first + step];
}

static uint64_t duration_of(const struct rank_step *step)
{
    return step->end - step->begin;
}

/* Whether the ranks' collectives in a step can be compared. */
static bool are_alike(const struct ranks *ranks, size_t step)
{
    const struct rank_step *first = step_of(&ranks->list[0], step);
    for (size_t i = 0; i < ranks->count; ++i) {
        const struct rank_step *other = step_of(&ranks->list[i], step);
        if (other->collectives == 0 || other->collectives != first->collectives ||
            (first->name && strcmp(first->name, other->name) != 0))
            return false;
    }
    return true;
}

/* The one with the least number; RANKS_NONE: several have it. */
static size_t least_of(const uint64_t *numbers, size_t count)
{
    size_t least = 0;
    bool alone = true;
    for (size_t i = 1; i < count; ++i) {
        alone = numbers[i] == numbers[least] ? false : alone || numbers[i] < numbers[least];
        least = numbers[i] < numbers[least] ? i : least;
    }
    return alone ? least : RANKS_NONE;
}

static void add_wait(struct ranks *ranks, struct ranks_step *judged, size_t rank, uint64_t waited)
{
    struct rank *waiting = &ranks->list[rank];
    waiting->waited += waited;
    judged->waited += waited;
    if (waited > judged->longest) {
        judged->longest = waited;
        judged->longest_rank = rank;
    }
    if (judged->slowest == RANKS_NONE || waited == 0)
        return;
    waiting->waits[judged->slowest] += waited;
    ++waiting->waits_steps[judged->slowest];
}

static bool same_host(const struct ranks *ranks, size_t a, size_t b)
{
    return strcmp(ranks->list[a].process->host, ranks->list[b].process->host) == 0;
}

/* Of the ranks of its host: how long the last of them to come was in the collectives. */
static uint64_t least_of_host(const struct ranks *ranks, const uint64_t *numbers, size_t rank)
{
    uint64_t least = numbers[rank];
    for (size_t i = 0; i < ranks->count; ++i)
        if (numbers[i] < least && same_host(ranks, i, rank))
            least = numbers[i];
    return least;
}

/* By collectives: who spent least in them came last. */
static void judge_waits(struct ranks *ranks, struct ranks_step *judged, uint64_t *numbers,
                        size_t step)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < ranks->count; ++i) {
        numbers[i] = step_of(&ranks->list[i], step)->collective;
        least = numbers[i] < least ? numbers[i] : least;
    }
    judged->slowest = least_of(numbers, ranks->count);
    for (size_t i = 0; i < ranks->count; ++i) {
        add_wait(ranks, judged, i, numbers[i] - least);
        ranks->list[i].waited_for_host += numbers[i] - least_of_host(ranks, numbers, i);
    }
}

/* Where nobody waits for anybody, by their own time alone. */
static void judge_durations(const struct ranks *ranks, struct ranks_step *judged, uint64_t *numbers,
                            size_t step)
{
    for (size_t i = 0; i < ranks->count; ++i)
        numbers[i] = UINT64_MAX - duration_of(step_of(&ranks->list[i], step));
    judged->slowest = least_of(numbers, ranks->count);
}

static void judge_step(struct ranks *ranks, uint64_t *numbers, size_t step)
{
    struct ranks_step *judged = &ranks->steps[step];
    *judged = (struct ranks_step){.slowest = RANKS_NONE, .longest_rank = RANKS_NONE};
    for (size_t i = 0; i < ranks->count; ++i) {
        const struct rank_step *own = step_of(&ranks->list[i], step);
        stats_add(&ranks->list[i].duration, duration_of(own));
        ranks->list[i].collective += own->collective;
        ranks->list[i].exposed += own->exposed;
    }
    if (!ranks->collectives)
        judge_durations(ranks, judged, numbers, step);
    else if (are_alike(ranks, step))
        judge_waits(ranks, judged, numbers, step);
    else
        ++ranks->unlike;
    if (judged->slowest == RANKS_NONE)
        return;
    ++ranks->list[judged->slowest].slowest;
    ranks->list[judged->slowest].made_wait += judged->waited;
}

/* Steps belong together before a window leaves some of them out: it may cut ranks at other ones. */
static void cut(struct ranks *ranks, uint64_t from, uint64_t to)
{
    const struct rank *rank = &ranks->list[0];
    size_t end = ranks->all;
    ranks->before = 0;
    while (ranks->before < end && step_of(rank, ranks->before)->begin < from)
        ++ranks->before;
    while (to && end > ranks->before && step_of(rank, end - 1)->begin >= to)
        --end;
    ranks->step_count = end - ranks->before;
    for (size_t i = 0; i < ranks->count; ++i)
        ranks->list[i].first += ranks->before;
}

static void add_hosts(struct ranks *ranks)
{
    size_t count = 0;
    ranks->host_list = memory_new(ranks->hosts, sizeof *ranks->host_list);
    for (size_t i = 0; i < ranks->count; ++i) {
        const struct rank *rank = &ranks->list[i];
        size_t at = 0;
        while (at < count && strcmp(ranks->host_list[at].name, rank->process->host) != 0)
            ++at;
        struct ranks_host *host = &ranks->host_list[at];
        if (at == count)
            *host = (struct ranks_host){.name = rank->process->host};
        count += at == count;
        ++host->ranks;
        host->slowest += rank->slowest;
        host->total += rank->duration.total;
        host->collective += rank->collective;
        host->exposed += rank->exposed;
        host->waited += rank->waited;
        host->waited_for_host += rank->waited_for_host;
        host->made_wait += rank->made_wait;
    }
}

void ranks_judge(struct ranks *ranks, uint64_t from, uint64_t to)
{
    uint64_t *numbers = memory_new(ranks->count, sizeof *numbers);
    ranks->collectives = have_collectives(ranks);
    bool as_many = are_as_many(ranks);
    ranks->by_number = ranks->collectives && ranks->hosts > 1 && !as_many;
    if (ranks->collectives && ranks->hosts == 1 && !as_many)
        align(ranks);
    ranks->all = SIZE_MAX;
    for (size_t i = 0; i < ranks->count; ++i) {
        struct rank *rank = &ranks->list[i];
        size_t left = rank->count - rank->first;
        ranks->all = left < ranks->all ? left : ranks->all;
        rank->waits = memory_new(ranks->count, sizeof *rank->waits);
        rank->waits_steps = memory_new(ranks->count, sizeof *rank->waits_steps);
    }
    cut(ranks, from, to);
    ranks->steps = memory_new(ranks->step_count, sizeof *ranks->steps);
    for (size_t i = 0; i < ranks->step_count; ++i)
        judge_step(ranks, numbers, i);
    add_hosts(ranks);
    free(numbers);
}

size_t ranks_waited_for(const struct ranks *ranks, size_t rank)
{
    size_t most = 0;
    const uint64_t *waits = ranks->list[rank].waits;
    for (size_t i = 1; i < ranks->count; ++i)
        most = waits[i] > waits[most] ? i : most;
    return waits[most] ? most : RANKS_NONE;
}

size_t ranks_worst(const struct ranks *ranks, size_t *places, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < ranks->step_count; ++i) {
        size_t at = count;
        if (ranks->steps[i].waited == 0)
            continue;
        while (at > 0 && ranks->steps[places[at - 1]].waited < ranks->steps[i].waited)
            --at;
        if (at == most)
            continue;
        count += count < most;
        memmove(&places[at + 1], &places[at], (count - at - 1) * sizeof *places);
        places[at] = i;
    }
    return count;
}
