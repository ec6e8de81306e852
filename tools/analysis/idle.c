#include "analysis/idle.h"

#include "common/memory.h"
#include "common/open.h"

#include <stdbool.h>
#include <stdlib.h>

/* The host calls of a thread, in order: the one that is looked at. */
struct idle_thread {
    uint32_t thread;
    rtl_api_iter_t *calls;
    bool has; /* a call */
    uint64_t start, end;
    size_t cause;
};

static struct idle_time *time_of(struct idle_times *times, size_t cause)
{
    if (cause >= times->count) {
        size_t count = cause + 16;
        times->by_cause = memory_grown(times->by_cause, count, sizeof *times->by_cause);
        for (size_t i = times->count; i < count; ++i)
            times->by_cause[i] = (struct idle_time){0};
        times->count = count;
    }
    return &times->by_cause[cause];
}

static void add(struct idle_times *times, size_t cause, uint64_t from, uint64_t to)
{
    if (to <= from)
        return;
    struct idle_time *time = time_of(times, cause);
    time->ns += to - from;
    time->gaps += time->last_gap != times->gaps;
    time->last_gap = times->gaps;
    if (to - from > times->last_ns) {
        times->last = cause;
        times->last_ns = to - from;
    }
    if (times->piece)
        times->piece(times->context, cause, from, to);
}

static rtl_status_t next_call(struct idle_causes *causes, struct idle_thread *thread)
{
    rtl_api_t call;
    rtl_status_t status = rtlApiNext(thread->calls, &call);
    thread->has = status == RTL_OK;
    if (status == RTL_OK) {
        size_t number = texts_number(&causes->names, call.name);
        if (number == TEXTS_NONE)
            memory_is_short();
        thread->start = call.start;
        thread->end = call.end;
        thread->cause = IDLE_CALLS + number;
    }
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t find_thread(struct idle_causes *causes, uint32_t number, uint64_t from,
                                struct idle_thread **thread)
{
    for (size_t i = 0; i < causes->thread_count; ++i) {
        *thread = &causes->threads[i];
        if ((*thread)->thread == number)
            return RTL_OK;
    }
    rtl_api_filter_t filter = {.process = causes->process, .thread = number, .from = from};
    rtl_api_iter_t *calls;
    rtl_status_t status = rtlTraceApi(causes->trace, &filter, &calls);
    if (status != RTL_OK)
        return status;
    causes->threads =
        memory_grown(causes->threads, causes->thread_count + 1, sizeof *causes->threads);
    *thread = &causes->threads[causes->thread_count++];
    **thread = (struct idle_thread){.thread = number, .calls = calls};
    return next_call(causes, *thread);
}

/* The call that the thread is in at a time, or its next one. */
static rtl_status_t seek(struct idle_causes *causes, struct idle_thread *thread, uint64_t time)
{
    rtl_status_t status = RTL_OK;
    while (status == RTL_OK && thread->has && thread->end <= time)
        status = next_call(causes, thread);
    return status;
}

/* Before the submission: calls, and what is between them. */
static rtl_status_t add_before(struct idle_causes *causes, struct idle_thread *thread,
                               uint64_t from, uint64_t to, struct idle_times *times)
{
    rtl_status_t status = RTL_OK;
    while (from < to && (status = seek(causes, thread, from)) == RTL_OK) {
        uint64_t begin = thread->has && thread->start < to ? thread->start : to;
        if (begin > from) {
            add(times, IDLE_NO_CALL, from, begin);
            from = begin;
            continue;
        }
        uint64_t end = thread->end < to ? thread->end : to;
        add(times, thread->cause, from, end);
        from = end;
    }
    return status;
}

/* Submitted work waits: for the GPU itself, or for what another one does. */
static rtl_status_t add_submitted(struct idle_causes *causes, struct idle_span within,
                                  struct idle_times *times)
{
    struct idle_span ran;
    rtl_status_t status = RTL_OK;
    while (within.from < within.to &&
           (status = idle_others_next(&causes->others, within, &ran)) == RTL_OK) {
        add(times, IDLE_SUBMITTED, within.from, ran.from);
        add(times, IDLE_OTHER_GPU, ran.from, ran.to);
        within.from = ran.to;
    }
    add(times, IDLE_SUBMITTED, within.from, within.to);
    return status == RTL_END ? RTL_OK : status;
}

/* From the submission on: the call that submits, and then nothing that the thread does has a part
 * in it. */
static rtl_status_t add_behind(struct idle_causes *causes, struct idle_thread *thread,
                               uint64_t from, uint64_t to, uint64_t submitted,
                               struct idle_times *times)
{
    rtl_status_t status = seek(causes, thread, from);
    if (status == RTL_OK && thread->has && thread->start <= submitted) {
        uint64_t end = thread->end < to ? thread->end : to;
        add(times, thread->cause, from, end);
        from = end;
    }
    return status == RTL_OK ? add_submitted(causes, (struct idle_span){from, to}, times) : status;
}

static rtl_status_t add_calls(struct idle_causes *causes, uint64_t from, uint64_t to,
                              const rtl_trace_origin_t *origin, struct idle_times *times)
{
    struct idle_thread *thread;
    uint64_t middle = origin->start < from ? from : origin->start > to ? to : origin->start;
    rtl_status_t status = find_thread(causes, origin->thread, from, &thread);
    if (status == RTL_OK)
        status = add_before(causes, thread, from, middle, times);
    if (status == RTL_OK && middle < to)
        status = add_behind(causes, thread, middle, to, origin->start, times);
    return status;
}

static bool in_graph(const struct idle_causes *causes, const struct activity_work *next)
{
    return next->kind == ACTIVITY_GRAPH && next->graph == causes->graph &&
           next->launch == causes->launch;
}

bool idle_in_graph(const struct idle_causes *causes, const struct activity_work *next)
{
    return causes->paused && causes->pause_count == 0 && in_graph(causes, next);
}

static rtl_status_t attribute(struct idle_causes *causes, uint64_t from, uint64_t to,
                              const struct activity_work *next, struct idle_times *times)
{
    rtl_trace_origin_t origin = {0};
    if (in_graph(causes, next)) {
        add(times, IDLE_IN_GRAPH, from, to);
        return RTL_OK;
    }
    rtl_status_t status = next->correlation ? rtlTraceOrigin(causes->trace, causes->process,
                                                             next->correlation, &origin)
                                            : RTL_OK;
    if (status != RTL_OK)
        return status;
    if (origin.call)
        return add_calls(causes, from, to, &origin, times);
    add(times, IDLE_UNKNOWN, from, to);
    return RTL_OK;
}

static uint64_t end_of(const rtl_pause_t *pause)
{
    return pause->end ? pause->end : UINT64_MAX;
}

/* The end of the pause that is under way, 0: none is, and `*next` is brought down to the begin of
 * the next one. They stand by process and begin, and times come in order. */
static uint64_t pause_at(struct idle_causes *causes, uint64_t time, uint64_t *next)
{
    const rtl_pause_t *pauses = causes->pauses;
    while (causes->pause < causes->pause_count &&
           (pauses[causes->pause].process < causes->process ||
            (pauses[causes->pause].process == causes->process &&
             end_of(&pauses[causes->pause]) <= time)))
        ++causes->pause;
    if (causes->pause == causes->pause_count || pauses[causes->pause].process != causes->process)
        return 0;
    const rtl_pause_t *pause = &pauses[causes->pause];
    if (pause->start <= time)
        return end_of(pause);
    if (pause->start < *next)
        *next = pause->start;
    return 0;
}

rtl_status_t idle_attribute(struct idle_causes *causes, uint64_t from, uint64_t to,
                            const struct activity_work *next, struct idle_times *times)
{
    rtl_status_t status = RTL_OK;
    uint64_t ns = to - from;
    times->ns += ns;
    ++times->gaps;
    times->last_ns = 0;
    times->longest = ns > times->longest ? ns : times->longest;
    if (!causes->paused)
        status = rtlTracePauses(causes->trace, &causes->pauses, &causes->pause_count);
    causes->paused = true;
    while (from < to && status == RTL_OK) {
        uint64_t end = to;
        uint64_t stopped = pause_at(causes, from, &end);
        if (stopped) {
            end = stopped < to ? stopped : to;
            add(times, IDLE_STOPPED, from, end);
        } else {
            status = attribute(causes, from, end, next, times);
        }
        from = end;
    }
    return status;
}

void idle_begun(struct idle_causes *causes, const struct activity_work *work)
{
    if (work->kind != ACTIVITY_GRAPH)
        return;
    causes->graph = work->graph;
    causes->launch = work->launch;
}

static const struct {
    const char *label, *name;
} no_calls[IDLE_CALLS] = {
    [IDLE_IN_GRAPH] = {"between kernels of a graph", "in_graph"},
    [IDLE_SUBMITTED] = {"submitted and not begun", "submitted"},
    [IDLE_OTHER_GPU] = {"submitted, and another GPU ran", "other_gpu"},
    [IDLE_NO_CALL] = {"in no host call", "no_call"},
    [IDLE_UNKNOWN] = {"not known: no host call", "unknown"},
    [IDLE_STOPPED] = {"recording was stopped", "stopped"},
};

const char *idle_label(const struct idle_causes *causes, size_t cause)
{
    return cause < IDLE_CALLS ? no_calls[cause].label : causes->names.list[cause - IDLE_CALLS];
}

const char *idle_name(const struct idle_causes *causes, size_t cause)
{
    return cause < IDLE_CALLS ? no_calls[cause].name : causes->names.list[cause - IDLE_CALLS];
}

size_t idle_order(const struct idle_times *times, size_t *order)
{
    size_t count = 0;
    for (size_t cause = 0; cause < times->count; ++cause) {
        if (times->by_cause[cause].ns == 0)
            continue;
        size_t at = count++;
        for (; at > 0 && times->by_cause[order[at - 1]].ns < times->by_cause[cause].ns; --at)
            order[at] = order[at - 1];
        order[at] = cause;
    }
    return count;
}

json_t *idle_json(const struct idle_causes *causes, const struct idle_times *times, size_t cause)
{
    const struct idle_time *time = &times->by_cause[cause];
    return json_pack("{s:o, s:b, s:o, s:o}", "cause", open_text(idle_name(causes, cause)), "call",
                     cause >= IDLE_CALLS, "ns", open_number(time->ns), "gaps",
                     open_number(time->gaps));
}

void idle_causes_free(struct idle_causes *causes)
{
    for (size_t i = 0; i < causes->thread_count; ++i)
        rtlApiIterFree(causes->threads[i].calls);
    free(causes->threads);
    texts_free(&causes->names);
    idle_others_close(&causes->others);
    causes->threads = NULL;
    causes->thread_count = 0;
}

void idle_times_free(struct idle_times *times)
{
    free(times->by_cause);
    *times = (struct idle_times){0};
}
