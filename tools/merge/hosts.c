#include "merge/hosts.h"

#include "analysis/collectives.h"
#include "common/memory.h"
#include "common/texts.h"
#include "merge/clocks.h"
#include "merge/exchanges.h"
#include "store/exchanges.h"
#include "store/scan.h"

#include <inttypes.h>
#include <math.h>
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
    struct exchanges exchanges;
    struct together *list;
    size_t count;
    size_t ranks;
    struct clocks_span span; /* of its processes and kernels, on its own clock */
    const char *why;         /* its ranks do not agree; NULL: they do */
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

static int64_t moved_by(int64_t shift, int64_t more)
{
    return (int64_t)((uint64_t)shift + (uint64_t)more);
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
static rtl_status_t read_collectives(struct host *host, struct texts *texts, rtl_trace_t *trace,
                                     int64_t shift)
{
    const struct collectives_wanted wanted = {waits_for_all, NULL};
    struct collective *list = NULL;
    size_t count = 0;
    rtl_status_t status = collectives_read(trace, &wanted, &list, &count);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && list[to].process == list[from].process)
            ++to;
        add_rank(host, texts, &list[from], to - from, shift);
    }
    free(list);
    return status;
}

/* The same of its exchanges. */
static rtl_status_t read_exchanges(struct host *host, rtl_trace_t *trace)
{
    struct exchanges *all = &host->exchanges;
    struct rtl_exchange *list = NULL;
    size_t count = 0;
    rtl_status_t status = rtl_exchanges_read(trace, &list, &count);
    if (count) {
        all->list = memory_grown(all->list, all->count + count, sizeof *all->list);
        memcpy(all->list + all->count, list, count * sizeof *list);
        all->count += count;
    }
    free(list);
    return status;
}

static void add_time(struct host *host, uint64_t from, uint64_t to)
{
    host->span.from = from < host->span.from ? from : host->span.from;
    host->span.to = to > host->span.to ? to : host->span.to;
}

/* A process that nobody saw begin or end, as one that runs, may have had something as long as was
 * recorded. */
static void add_process(struct host *host, const rtl_process_t *process,
                        const rtl_trace_info_t *info)
{
    uint64_t from = process->start ? process->start : info->start;
    uint64_t to = process->end ? process->end : info->end;
    if (from && to)
        add_time(host, from, to);
}

/* When an input has something that is moved. */
static rtl_status_t read_span(struct host *host, rtl_trace_t *trace)
{
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    const rtl_process_t *processes;
    rtl_trace_info_t info;
    size_t count;
    bool known;
    uint64_t from;
    uint64_t to;
    rtl_status_t status = rtlTraceInfo(trace, &info);
    if (status == RTL_OK)
        status = rtlTraceProcesses(trace, &processes, &count);
    if (status != RTL_OK)
        return status;
    for (size_t i = 0; i < count; ++i)
        add_process(host, &processes[i], &info);
    rtl_scan_extent(trace, &all, &known, &from, &to);
    if (known && to)
        add_time(host, from, to);
    return RTL_OK;
}

static int read_input(const struct hosts *hosts, struct host *host, struct texts *texts,
                      const struct rtl_merge_input *input, char *error, size_t error_size)
{
    rtl_trace_t *trace = NULL;
    rtl_status_t status;
    if (rtlTraceOpen(input->path, &trace, error, error_size) != RTL_OK)
        return -1;
    status = read_span(host, trace);
    if (status == RTL_OK && hosts->exchanges)
        status = read_exchanges(host, trace);
    if (status == RTL_OK && hosts->collectives)
        status = read_collectives(host, texts, trace, input->shift);
    if (status != RTL_OK)
        (void)snprintf(error, error_size, "%s", rtlTraceError(trace));
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

/* Bounds of what is to be added to the times of `other`. */

struct bounds {
    struct clocks_bound *list; /* exchanges first */
    size_t exchanges, collectives;
    struct clocks_span span;        /* in which there are times to add to, as moved so far */
    const char *contradiction;      /* among exchanges with a third host; NULL: none */
    const char *why_no_collectives; /* NULL: there are some */
};

static const char not_exchanged[] =
    "the hosts exchanged no messages with each other or a third one";
static const char no_clock[] =
    "no difference of the clocks fits all messages that were exchanged: a "
    "host was stopped for a time, or its clock set";

static void find_exchanges(const struct host *reference, const struct host *other,
                           struct bounds *bounds)
{
    bool fits;
    bounds->exchanges =
        exchanges_bounds(&reference->exchanges, &other->exchanges, &bounds->list, &fits);
    if (!fits)
        bounds->contradiction = no_clock;
}

static void find_collectives(const struct host *reference, const struct host *other,
                             struct bounds *bounds)
{
    bounds->why_no_collectives = why_not(reference, other);
    if (bounds->why_no_collectives)
        return;
    bounds->list =
        memory_grown(bounds->list, bounds->exchanges + reference->count, sizeof *bounds->list);
    for (size_t i = 0; i < reference->count; ++i) {
        const struct together *a = &reference->list[i];
        const struct together *b = &other->list[i];
        bounds->list[bounds->exchanges + bounds->collectives++] =
            (struct clocks_bound){.at = a->end,
                                  .least = (int64_t)(a->start - b->end),
                                  .most = (int64_t)(a->end - b->start)};
    }
}

/* What was found of a host. */
struct finding {
    struct clocks clocks;
    enum rtl_merge_clock by; /* RTL_MERGE_TIME_OF_DAY: nothing */
    const char *why;         /* what tells nothing, or contradicts; NULL: nothing does */
};

/* So many of them, of which exchanges are the first. */
static bool fits(const struct bounds *bounds, size_t count, struct clocks *clocks)
{
    return clocks_find(bounds->list, count, &bounds->span, clocks) ||
           clocks_follow(bounds->list, count, &bounds->span, clocks);
}

/* Where messages were exchanged. They are about the clocks alone; collectives belong together by
 * their numbers, and their times are a GPU's. So where they contradict each other it is messages
 * that count. */
static bool judge_exchanges(const struct bounds *bounds, struct finding *finding)
{
    size_t all = bounds->exchanges + bounds->collectives;
    if (bounds->collectives && fits(bounds, all, &finding->clocks)) {
        finding->by = RTL_MERGE_BOTH;
        return true;
    }
    if (!fits(bounds, bounds->exchanges, &finding->clocks)) {
        finding->why = no_clock;
        return false;
    }
    finding->by = RTL_MERGE_EXCHANGES;
    if (bounds->collectives)
        finding->why = "the collectives that both ran contradict the messages: they do not belong "
                       "together by their numbers, or their times are not right";
    return true;
}

static void judge(const struct hosts *hosts, const struct bounds *bounds, struct finding *finding)
{
    *finding = (struct finding){.by = RTL_MERGE_TIME_OF_DAY, .why = bounds->contradiction};
    if (bounds->exchanges && judge_exchanges(bounds, finding))
        return;
    if (bounds->collectives && clocks_find(bounds->list + bounds->exchanges, bounds->collectives,
                                           &bounds->span, &finding->clocks)) {
        finding->by = RTL_MERGE_COLLECTIVES;
        return;
    }
    if (finding->why)
        return;
    if (bounds->collectives)
        finding->why =
            "no difference of the clocks fits all collectives that both ran: they do not "
            "belong together by their numbers";
    else
        finding->why = hosts->collectives ? bounds->why_no_collectives : not_exchanged;
}

static void compare(const struct hosts *hosts, const struct host *reference,
                    const struct host *other, struct finding *finding, struct bounds *bounds)
{
    const struct clocks_span *span = &other->span;
    int64_t shift = other->exchanges.shift;
    *bounds = (struct bounds){.span = {1, 0}};
    if (span->from <= span->to)
        bounds->span = (struct clocks_span){moved(span->from, shift), moved(span->to, shift)};
    if (hosts->exchanges)
        find_exchanges(reference, other, bounds);
    if (hosts->collectives)
        find_collectives(reference, other, bounds);
    judge(hosts, bounds, finding);
    free(bounds->list);
}

/* Inputs with one clock have one shift; the reference's is 0. */
static bool is_of(const struct rtl_merge_input *input, const struct rtl_merge_input *first)
{
    bool moved = first->clock == RTL_MERGE_TIME_OF_DAY;
    return moved == (input->clock == RTL_MERGE_TIME_OF_DAY) &&
           (!moved || (input->shift == first->shift && strcmp(input->host, first->host) == 0 &&
                       strcmp(input->boot, first->boot) == 0));
}

static int read_host(const struct hosts *hosts, struct host *host, struct texts *names,
                     const struct rtl_merge_input *inputs, size_t count,
                     const struct rtl_merge_input *first, char *error, size_t error_size)
{
    host->exchanges.boot = first->boot;
    host->exchanges.shift = first->shift;
    host->span = (struct clocks_span){UINT64_MAX, 0};
    for (size_t i = 0; i < count; ++i)
        if (is_of(&inputs[i], first) &&
            read_input(hosts, host, names, &inputs[i], error, error_size) != 0)
            return -1;
    return 0;
}

static void free_host(struct host *host)
{
    free(host->list);
    free(host->exchanges.list);
}

/* Moves the inputs of a host, of which `first` is one, and says what tells nothing. */
static void move_host(struct rtl_merge_input *inputs, size_t count,
                      const struct rtl_merge_input *first, const struct finding *finding,
                      const struct bounds *bounds)
{
    const struct rtl_merge_input of = *first;
    const struct clocks *clocks = &finding->clocks;
    for (size_t i = 0; i < count; ++i) {
        if (!is_of(&inputs[i], &of))
            continue;
        inputs[i].unaligned = finding->why;
        inputs[i].clock = finding->by;
        if (finding->by == RTL_MERGE_TIME_OF_DAY)
            continue;
        inputs[i].shift = moved_by(inputs[i].shift, clocks->shift);
        inputs[i].corrected = clocks->shift;
        inputs[i].error = clocks->error;
        inputs[i].error_between = clocks->between;
        inputs[i].before = clocks->before;
        inputs[i].after = clocks->after;
        inputs[i].clock_drift = clocks->drift;
        inputs[i].clock_drift_error =
            fmax(clocks->drift_most - clocks->drift, clocks->drift - clocks->drift_least);
        inputs[i].changes = !clocks->steady;
        inputs[i].exchanges = finding->by == RTL_MERGE_COLLECTIVES ? 0 : bounds->exchanges;
        inputs[i].collectives = finding->by == RTL_MERGE_EXCHANGES ? 0 : bounds->collectives;
    }
}

static int refuse(const struct hosts *hosts, const char *path, const char *why, char *error,
                  size_t error_size)
{
    (void)snprintf(error, error_size, "%s cannot be aligned by %s: %s", path,
                   hosts->exchanges ? "exchanges" : "collectives", why);
    return -1;
}

/* The host of the first input of it that there is. */
static int align_host(const struct hosts *hosts, const struct host *here, struct texts *names,
                      struct rtl_merge_input *inputs, size_t count, struct rtl_merge_input *first,
                      char *error, size_t error_size)
{
    struct host there = {0};
    struct bounds bounds;
    struct finding finding = {0};
    if (read_host(hosts, &there, names, inputs, count, first, error, error_size) != 0) {
        free_host(&there);
        return -1;
    }
    compare(hosts, here, &there, &finding, &bounds);
    free_host(&there);
    if (finding.by == RTL_MERGE_TIME_OF_DAY && hosts->required)
        return refuse(hosts, first->path, finding.why, error, error_size);
    move_host(inputs, count, first, &finding, &bounds);
    return 0;
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
    for (size_t i = 0; i < count && result == 0; ++i) {
        if (inputs[i].clock != RTL_MERGE_TIME_OF_DAY || inputs[i].unaligned ||
            (!hosts->exchanges && !hosts->collectives))
            continue;
        if (!read)
            result = read_host(hosts, &here, &names, inputs, count, reference, error, error_size);
        read = true;
        if (result == 0)
            result = align_host(hosts, &here, &names, inputs, count, &inputs[i], error, error_size);
    }
    free_host(&here);
    texts_free(&names);
    return result;
}
