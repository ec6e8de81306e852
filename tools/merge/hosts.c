#include "merge/hosts.h"

#include "analysis/collectives.h"
#include "common/memory.h"
#include "common/texts.h"
#include "merge/clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fewer may be chance: collectives belong together by their number alone. */
#define LEAST 3u

/* A collective of all ranks of a host, on that host's clock as it is moved so far. */
struct together {
    uint64_t start, end; /* of the last to begin, of the first to end */
    uint32_t name;
};

/* A host: inputs with one clock. */
struct host {
    struct together *list;
    size_t count;
    size_t ranks;
    const char *why; /* its ranks do not agree; NULL: they do */
};

/* Collectives that no rank leaves before all have begun: each needs something of each other one. A
 * broadcast's root or who sends may be done before. */
static bool waits_for_all(void *context, const char *name)
{
    (void)context;
    static const char *const words[] = {
        "allreduce",      "all_reduce", "allgather",  "all_gather", "reducescatter",
        "reduce_scatter", "alltoall",   "all_to_all", "barrier",    "cross_device_reduce"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

/* Times of several hosts may be hours apart: the difference is that of unsigned numbers. */
static uint64_t moved(uint64_t time, int64_t shift)
{
    return time + (uint64_t)shift;
}

static uint32_t number_of(struct texts *texts, const char *name)
{
    size_t number = texts_number(texts, name);
    if (number == TEXTS_NONE)
        memory_is_short();
    return (uint32_t)number;
}

static void begin_host(struct host *host, struct texts *texts, const struct collective *own,
                       size_t count, int64_t shift)
{
    host->list = memory_new(count, sizeof *host->list);
    host->count = count;
    for (size_t i = 0; i < count; ++i)
        host->list[i] = (struct together){moved(own[i].start, shift), moved(own[i].end, shift),
                                          number_of(texts, own[i].name)};
}

/* Adds the collectives of a rank. */
static void add_rank(struct host *host, struct texts *texts, const struct collective *own,
                     size_t count, int64_t shift)
{
    if (host->ranks++ == 0) {
        begin_host(host, texts, own, count, shift);
        return;
    }
    if (count != host->count) {
        host->why = "ranks of one host ran different numbers of them";
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        struct together *all = &host->list[i];
        uint64_t start = moved(own[i].start, shift);
        uint64_t end = moved(own[i].end, shift);
        if (all->name != number_of(texts, own[i].name))
            host->why = "ranks of one host ran different ones";
        all->start = start > all->start ? start : all->start;
        all->end = end < all->end ? end : all->end;
    }
}

/* Adds the collectives of an input to those of its host. */
static int read_input(struct host *host, struct texts *texts, const struct rtl_merge_input *input,
                      char *error, size_t error_size)
{
    const struct collectives_wanted wanted = {waits_for_all, NULL};
    rtl_trace_t *trace = NULL;
    struct collective *list = NULL;
    size_t count = 0;
    if (rtlTraceOpen(input->path, &trace, error, error_size) != RTL_OK)
        return -1;
    rtl_status_t status = collectives_read(trace, &wanted, &list, &count);
    if (status != RTL_OK)
        (void)snprintf(error, error_size, "%s", rtlTraceError(trace));
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && list[to].process == list[from].process)
            ++to;
        add_rank(host, texts, &list[from], to - from, input->shift);
    }
    free(list);
    rtlTraceClose(trace);
    return status == RTL_OK ? 0 : -1;
}

/* Why two hosts cannot be compared; NULL: they can. */
static const char *why_not(const struct host *a, const struct host *b)
{
    if (a->ranks == 0 || b->ranks == 0)
        return "no collective that waits for all ranks is in both";
    if (a->why || b->why)
        return a->why ? a->why : b->why;
    if (a->count != b->count)
        return "the hosts ran different numbers of collectives";
    if (a->count < LEAST)
        return "there are fewer than 3 collectives";
    for (size_t i = 0; i < a->count; ++i)
        if (a->list[i].name != b->list[i].name)
            return "the hosts ran different collectives";
    return NULL;
}

/* What is to be added to the times of `other`. */
static bool compare(const struct host *reference, const struct host *other, struct clocks *clocks)
{
    struct clocks_bound *bounds = memory_new(reference->count, sizeof *bounds);
    for (size_t i = 0; i < reference->count; ++i) {
        const struct together *a = &reference->list[i];
        const struct together *b = &other->list[i];
        bounds[i] = (struct clocks_bound){.at = a->end,
                                          .least = (int64_t)(a->start - b->end),
                                          .most = (int64_t)(a->end - b->start)};
    }
    bool found = clocks_find(bounds, reference->count, clocks);
    free(bounds);
    return found;
}

/* Inputs with one clock have one shift; the reference's is 0. */
static bool is_of(const struct rtl_merge_input *input, const struct rtl_merge_input *first)
{
    bool moved = first->clock == RTL_MERGE_TIME_OF_DAY;
    return moved == (input->clock == RTL_MERGE_TIME_OF_DAY) &&
           (!moved || (input->shift == first->shift && strcmp(input->host, first->host) == 0 &&
                       strcmp(input->boot, first->boot) == 0));
}

static int read_host(struct host *host, struct texts *names, const struct rtl_merge_input *inputs,
                     size_t count, const struct rtl_merge_input *first, char *error,
                     size_t error_size)
{
    for (size_t i = 0; i < count; ++i)
        if (is_of(&inputs[i], first) && read_input(host, names, &inputs[i], error, error_size) != 0)
            return -1;
    return 0;
}

/* Moves the inputs of a host, of which `first` is one. */
static void move_host(struct rtl_merge_input *inputs, size_t count,
                      const struct rtl_merge_input *first, const struct clocks *clocks,
                      size_t collectives)
{
    const struct rtl_merge_input of = *first;
    for (size_t i = 0; i < count; ++i) {
        if (!is_of(&inputs[i], &of))
            continue;
        inputs[i].clock = RTL_MERGE_COLLECTIVES;
        inputs[i].shift += clocks->shift;
        inputs[i].corrected = clocks->shift;
        inputs[i].error = clocks->error;
        inputs[i].clock_drift = clocks->drift;
        inputs[i].collectives = collectives;
    }
}

static void say_unaligned(struct rtl_merge_input *inputs, size_t count,
                          const struct rtl_merge_input *first, const char *why)
{
    const struct rtl_merge_input of = *first;
    for (size_t i = 0; i < count; ++i)
        if (is_of(&inputs[i], &of))
            inputs[i].unaligned = why;
}

int hosts_align(void *context, struct rtl_merge_input *inputs, size_t count, char *error,
                size_t error_size)
{
    const struct hosts *hosts = context;
    const struct rtl_merge_input *reference = inputs;
    struct texts names = {0};
    struct host here = {0};
    int result = 0;
    bool read = false;
    while (reference->clock != RTL_MERGE_REFERENCE)
        ++reference;
    for (size_t i = 0; i < count && hosts->wanted && result == 0; ++i) {
        struct host there = {0};
        struct clocks clocks;
        if (inputs[i].clock != RTL_MERGE_TIME_OF_DAY || inputs[i].unaligned)
            continue;
        if (!read)
            result = read_host(&here, &names, inputs, count, reference, error, error_size);
        read = true;
        if (result == 0)
            result = read_host(&there, &names, inputs, count, &inputs[i], error, error_size);
        const char *why = result == 0 ? why_not(&here, &there) : NULL;
        if (result == 0 && !why && !compare(&here, &there, &clocks))
            why = "no difference of the clocks fits all of them: they do not belong together by "
                  "their numbers";
        if (result == 0 && !why)
            move_host(inputs, count, &inputs[i], &clocks, here.count);
        else if (result == 0)
            say_unaligned(inputs, count, &inputs[i], why);
        if (why && hosts->required) {
            (void)snprintf(error, error_size, "%s cannot be aligned by collectives: %s",
                           inputs[i].path, why);
            result = -1;
        }
        free(there.list);
    }
    free(here.list);
    texts_free(&names);
    return result;
}
