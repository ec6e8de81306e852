#include "analysis/steps_by.h"

#include "analysis/period.h"
#include "analysis/steps_kernels.h"
#include "analysis/steps_launches.h"
#include "analysis/steps_ranges.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TRIES 3u /* each reads the kernels */

int steps_by_parse(const char *text, struct steps_choice *choice)
{
    static const char range[] = "range:";
    static const char graph[] = "graph:";
    choice->by = STEPS_BY_AUTO;
    if (strcmp(text, "auto") == 0)
        return 0;
    choice->by = STEPS_BY_LAUNCHES;
    if (strcmp(text, "launches") == 0)
        return 0;
    choice->by = STEPS_BY_KERNELS;
    if (strcmp(text, "kernels") == 0)
        return 0;
    choice->by = STEPS_BY_RANGE;
    choice->range = text + sizeof range - 1;
    if (strncmp(text, range, sizeof range - 1) == 0 && choice->range[0])
        return 0;
    choice->by = STEPS_BY_GRAPH;
    if (strncmp(text, graph, sizeof graph - 1) == 0 &&
        graph_id_read(text + sizeof graph - 1, &choice->graph) && !choice->graph.generation)
        return 0;
    return say_fail(EINVAL, "--by is auto, launches, kernels, graph:NUMBER or range:NAME, not '%s'",
                    text);
}

/* Nothing repeats by itself. */
static int no_steps(rtl_trace_t *trace, const char *path)
{
    char *name;
    uint64_t count;
    if (steps_by_ranges(trace, &name, &count) != RTL_OK)
        return open_failed(trace, path);
    if (name)
        (void)say_fail(EXIT_USAGE,
                       "%s has no steps: neither launches of graphs nor eager kernels repeat; its "
                       "ranges do, --by 'range:%s' for one",
                       path, name);
    else
        (void)say_fail(EXIT_USAGE,
                       "%s has no steps: no launches of graphs that do the same repeat three times "
                       "(--by graph:N: whatever graph N does), nor does a block of eager kernels "
                       "that holds half of its queue's",
                       path);
    free(name);
    return EXIT_USAGE;
}

int steps_by_none(rtl_trace_t *trace, const char *path, const struct steps_choice *choice,
                  const struct steps *steps)
{
    switch (choice->by) {
    case STEPS_BY_RANGE:
        if (steps->ranges == 0)
            return say_fail(EXIT_USAGE, "%s has no range '%s': rtl ranges shows those that it has",
                            path, plain(choice->range));
        return say_fail(EXIT_USAGE, "no kernel in %s belongs to a range '%s'", path,
                        plain(choice->range));
    case STEPS_BY_KERNELS:
        return say_fail(EXIT_USAGE,
                        "%s has no steps: no block of eager kernels repeats three times and holds "
                        "half of its queue's",
                        path);
    case STEPS_BY_AUTO:
        return no_steps(trace, path);
    default:
        return say_fail(EXIT_USAGE, "%s has no steps: %s", path,
                        steps->without_kernels
                            ? "it has no kernel of the launches of graphs"
                            : "no launches of graphs that do the same repeat three times "
                              "(--by graph:N: whatever graph N does)");
    }
}

int steps_by_find(rtl_trace_t *trace, const char *path, struct steps_choice *choice,
                  struct steps *steps)
{
    rtl_status_t status = RTL_OK;
    if (choice->by == STEPS_BY_GRAPH) {
        const rtl_graph_t *generations;
        size_t count;
        int failed = graph_id_find(trace, path, &choice->graph, &generations, &count);
        if (failed != EXIT_FINE)
            return failed;
        status = steps_by_graph(trace, &choice->graph, steps);
    } else if (choice->by == STEPS_BY_RANGE) {
        status = steps_by_range(trace, choice->range, steps, &steps->ranges);
    } else if (choice->by == STEPS_BY_LAUNCHES) {
        status = steps_by_launches(trace, steps);
    } else if (choice->by == STEPS_BY_KERNELS) {
        status = steps_by_kernels(trace, steps);
    } else {
        status = steps_find(trace, steps);
    }
    return status == RTL_OK ? EXIT_FINE : open_failed(trace, path);
}

/* Ranges of one name. */
struct repeated {
    uint64_t count, time;
};

static rtl_status_t add_ranges(rtl_range_iter_t *ranges, struct texts *names,
                               struct repeated **sums)
{
    rtl_range_t range;
    rtl_status_t status;
    size_t room = 0;
    while ((status = rtlRangeNext(ranges, &range)) == RTL_OK) {
        if (strcmp(range.kind, "mark") == 0 || range.end <= range.start)
            continue;
        size_t at = texts_number(names, range.name);
        if (at == TEXTS_NONE)
            memory_is_short();
        if (at >= room) {
            size_t more = room ? 2 * room : 64;
            *sums = memory_grown(*sums, more, sizeof **sums);
            memset(*sums + room, 0, (more - room) * sizeof **sums);
            room = more;
        }
        ++(*sums)[at].count;
        (*sums)[at].time += range.end - range.start;
    }
    return status == RTL_END ? RTL_OK : status;
}

/* A name that a shell takes as it is shown, in single quotes. */
static bool can_be_typed(const char *name)
{
    return !strchr(name, '\'') && strcmp(plain(name), name) == 0;
}

/* Takes the name with most time out: its place, or `count` when none is left. */
static size_t take_longest(struct repeated *sums, const struct texts *names)
{
    size_t best = names->count;
    for (size_t i = 0; i < names->count; ++i)
        if (sums[i].count >= PERIOD_LEAST_COUNT && can_be_typed(names->list[i]) &&
            (best == names->count || sums[i].time > sums[best].time))
            best = i;
    if (best < names->count)
        sums[best].count = 0;
    return best;
}

/* How many steps the ranges of a name make: those without work make none. */
static rtl_status_t count_steps(rtl_trace_t *trace, const char *name, uint64_t *count)
{
    struct steps steps = {0};
    uint64_t ranges;
    rtl_status_t status = steps_by_range(trace, name, &steps, &ranges);
    *count = 0;
    for (size_t i = 0; i < steps.count; ++i)
        *count += steps.threads[i].count;
    steps_free(&steps);
    return status;
}

rtl_status_t steps_by_ranges(rtl_trace_t *trace, char **name, uint64_t *count)
{
    struct texts names = {0};
    struct repeated *sums = NULL;
    rtl_range_iter_t *ranges;
    *name = NULL;
    rtl_status_t status = rtlTraceRanges(trace, NULL, &ranges);
    if (status != RTL_OK)
        return status;
    status = add_ranges(ranges, &names, &sums);
    rtlRangeIterFree(ranges);
    for (unsigned tries = 0; status == RTL_OK && !*name && tries < MOST_TRIES; ++tries) {
        size_t best = take_longest(sums, &names);
        if (best == names.count)
            break;
        status = count_steps(trace, names.list[best], count);
        if (status == RTL_OK && *count >= PERIOD_LEAST_COUNT && !(*name = strdup(names.list[best])))
            memory_is_short();
    }
    free(sums);
    texts_free(&names);
    return status;
}
