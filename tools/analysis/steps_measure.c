#include "analysis/steps_measure.h"

#include "analysis/steps_split.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

/* Where a thread is in the walk over its process's work. */
struct place {
    struct steps_thread *thread;
    struct idle_causes *causes;
    size_t step;    /* it is in, or was in last; count of steps: none yet */
    bool in;        /* the step, and not behind it */
    uint64_t own;   /* its own work ends there, as far as is known */
    uint64_t close; /* the step ends there, UINT64_MAX: not known yet */
};

struct measure {
    struct steps_families *families; /* NULL: not asked for */
    struct place *places;
    size_t count;
};

static bool is_before_all(const struct place *place)
{
    return place->step == place->thread->count;
}

static struct step *current(const struct place *place)
{
    return &place->thread->steps[place->step];
}

static size_t next_step(const struct place *place)
{
    return is_before_all(place) ? 0 : place->step + 1;
}

static uint64_t next_begin(const struct place *place)
{
    size_t next = next_step(place);
    return next < place->thread->count ? place->thread->steps[next].begin : UINT64_MAX;
}

static struct outside_steps *outside_of(const struct place *place)
{
    if (is_before_all(place))
        return &place->thread->outside[OUTSIDE_BEFORE];
    bool behind = place->step + 1 == place->thread->count;
    return &place->thread->outside[behind ? OUTSIDE_BEHIND : OUTSIDE_BETWEEN];
}

/* What the place changes at next. */
static uint64_t boundary(const struct place *place)
{
    uint64_t begin = next_begin(place);
    return place->in && place->close < begin ? place->close : begin;
}

/* Passes all boundaries up to a time. A step that is not the last of its run ends where the next
 * one begins. */
static void pass(struct place *place, uint64_t at)
{
    while (boundary(place) <= at) {
        uint64_t end = boundary(place);
        bool next = !place->in || end == next_begin(place);
        if (place->in)
            current(place)->end = end;
        place->in = next;
        if (next) {
            place->step = next_step(place);
            place->own = current(place)->own_end;
        }
        place->close = UINT64_MAX;
    }
}

/* So many eager kernels and copies may follow the own work of the last step of a run. */
static uint32_t allowed(const struct place *place)
{
    const struct step *step = current(place);
    if (step->closed)
        return 0;
    if (step->split)
        return place->thread->phases[step->phase].allowed;
    return step->first ? UINT32_MAX : step[-1].eager + step[-1].copies;
}

/* Whether work behind the last step's own is part of it; else the step ends before it. */
static void coming_to(struct place *place, const struct activity_work *work)
{
    if (!place->in || !current(place)->last || place->close != UINT64_MAX)
        return;
    const struct step *step = current(place);
    if (work && work->start < place->own)
        return;
    if (work && work->start < next_begin(place) && work->kind != ACTIVITY_GRAPH &&
        step->eager + step->copies < allowed(place)) {
        place->own = work->end > place->own ? work->end : place->own;
        return;
    }
    place->close = place->own;
}

static rtl_status_t coming(void *context, const struct activity_work *work)
{
    struct measure *measure = context;
    for (size_t i = 0; i < measure->count; ++i)
        coming_to(&measure->places[i], work);
    return RTL_OK;
}

/* What idle times are added to. */
static struct idle_times *idle_of(const struct place *place)
{
    if (!place->in)
        return &outside_of(place)->idle;
    return current(place)->left_out ? &place->thread->left_out
                                    : &place->thread->phases[current(place)->phase].idle;
}

static rtl_status_t stretch_of(struct place *place, enum activity kind, uint64_t from, uint64_t to,
                               const struct activity_work *next)
{
    rtl_status_t status = RTL_OK;
    while (from < to && status == RTL_OK) {
        pass(place, from);
        uint64_t end = boundary(place) < to ? boundary(place) : to;
        uint64_t *time = place->in ? current(place)->time : outside_of(place)->time;
        struct idle_times *idle = idle_of(place);
        time[kind] += end - from;
        if (kind == ACTIVITY_IDLE)
            status = idle_attribute(place->causes, from, end, next, idle);
        from = end;
    }
    return status;
}

static rtl_status_t stretch(void *context, enum activity kind, uint64_t from, uint64_t to,
                            const struct activity_work *next)
{
    struct measure *measure = context;
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < measure->count && status == RTL_OK; ++i)
        status = stretch_of(&measure->places[i], kind, from, to, next);
    return status;
}

static rtl_status_t begun(void *context, const struct activity_work *work)
{
    struct measure *measure = context;
    for (size_t i = 0; i < measure->count; ++i) {
        struct place *place = &measure->places[i];
        pass(place, work->start);
        idle_begun(place->causes, work);
        if (place->in) {
            struct step *step = current(place);
            step->in_graphs += work->kind == ACTIVITY_GRAPH;
            step->eager += work->kind == ACTIVITY_EAGER;
            step->copies += work->kind == ACTIVITY_COPY;
            if (work->name && measure->families && !step->left_out)
                steps_families_add(measure->families, &place->thread->phases[step->phase].families,
                                   place->step, work->name, work->end - work->start);
        } else {
            struct outside_steps *outside = outside_of(place);
            outside->in_graphs += work->kind == ACTIVITY_GRAPH;
            outside->eager += work->kind == ACTIVITY_EAGER;
            outside->copies += work->kind == ACTIVITY_COPY;
        }
    }
    return RTL_OK;
}

static rtl_status_t measure_process(rtl_trace_t *trace, struct measure *measure)
{
    const struct activity_watcher watcher = {measure, coming, stretch, begun};
    rtl_status_t status =
        activity_walk(trace, measure->places[0].thread->process, RTL_TRACE_NONE, &watcher);
    for (size_t i = 0; i < measure->count && status == RTL_OK; ++i)
        pass(&measure->places[i], UINT64_MAX - 1);
    return status;
}

/* Host calls belong to the step that they begin in. */
static rtl_status_t count_calls(rtl_trace_t *trace, struct steps_thread *thread)
{
    rtl_api_filter_t filter = {.process = thread->process, .thread = thread->thread};
    rtl_api_iter_t *calls;
    rtl_api_t call;
    size_t at = 0;
    rtl_status_t status = rtlTraceApi(trace, &filter, &calls);
    if (status != RTL_OK)
        return status;
    while ((status = rtlApiNext(calls, &call)) == RTL_OK) {
        while (at < thread->count && thread->steps[at].end <= call.start)
            ++at;
        if (at < thread->count && thread->steps[at].begin <= call.start)
            ++thread->steps[at].calls;
    }
    rtlApiIterFree(calls);
    return status == RTL_END ? RTL_OK : status;
}

static void sum_up(struct steps_thread *thread)
{
    for (size_t i = 0; i < thread->count; ++i) {
        const struct step *step = &thread->steps[i];
        struct phase *phase = &thread->phases[step->phase];
        if (step->left_out)
            continue;
        if (phase->steps++ == 0)
            phase->first = step->begin;
        phase->last = step->end;
        stats_add(&phase->duration, step->end - step->begin);
        for (unsigned kind = 0; kind < ACTIVITIES; ++kind)
            stats_add(&phase->time[kind], step->time[kind]);
        phase->launches += step->launches;
        phase->in_graphs += step->in_graphs;
        phase->eager += step->eager;
        phase->copies += step->copies;
        phase->calls += step->calls;
    }
}

/* The first and the last quarter of a phase's steps. */
struct quarters {
    struct stats first, last;
    uint64_t at;
};

static void find_trends(struct steps_thread *thread)
{
    struct quarters *quarters = memory_new(thread->phase_count, sizeof *quarters);
    for (size_t i = 0; i < thread->count; ++i) {
        const struct step *step = &thread->steps[i];
        const struct phase *phase = &thread->phases[step->phase];
        struct quarters *of = &quarters[step->phase];
        if (step->left_out)
            continue;
        if (of->at < phase->steps / 4)
            stats_add(&of->first, step->end - step->begin);
        if (of->at >= phase->steps - phase->steps / 4)
            stats_add(&of->last, step->end - step->begin);
        ++of->at;
    }
    for (size_t i = 0; i < thread->phase_count; ++i) {
        struct comparison *const family[] = {&thread->phases[i].trend};
        compare(&quarters[i].first, &quarters[i].last, family[0]);
        compare_family(family, 1);
        stats_free(&quarters[i].first);
        stats_free(&quarters[i].last);
    }
    free(quarters);
}

static bool tells_replays(const char *mode)
{
    return strcmp(mode, "full") == 0 || strcmp(mode, "hip") == 0;
}

/* Whether a process with steps was recorded in a mode that does not tell replays. */
static rtl_status_t find_untold(rtl_trace_t *trace, struct steps *steps)
{
    const rtl_process_t *processes;
    size_t count;
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &count);
    for (size_t i = 0; i < count && status == RTL_OK; ++i)
        for (size_t k = 0; k < steps->count; ++k)
            steps->untold |= steps->threads[k].process == processes[i].process &&
                             !tells_replays(processes[i].mode);
    return status;
}

/* One pass over the work of all processes. */
static rtl_status_t measure_all(rtl_trace_t *trace, struct steps *steps)
{
    struct place *places = memory_new(steps->count, sizeof *places);
    rtl_status_t status = RTL_OK;
    steps->causes = memory_new(steps->count, sizeof *steps->causes);
    for (size_t i = 0; i < steps->count; ++i) {
        struct steps_thread *thread = &steps->threads[i];
        steps->causes[i] = (struct idle_causes){.trace = trace, .process = thread->process};
        places[i] = (struct place){.thread = thread,
                                   .causes = &steps->causes[i],
                                   .step = thread->count,
                                   .close = UINT64_MAX};
    }
    for (size_t i = 0; i < steps->count && status == RTL_OK;) {
        struct measure measure = {.families = steps->families.rules ? &steps->families : NULL,
                                  .places = &places[i]};
        while (i + measure.count < steps->count &&
               steps->threads[i + measure.count].process == steps->threads[i].process)
            ++measure.count;
        status = measure_process(trace, &measure);
        i += measure.count;
    }
    free(places);
    return status;
}

/* Forgets what a pass has measured. */
static void forget(struct steps *steps)
{
    for (size_t i = 0; i < steps->count; ++i) {
        struct steps_thread *thread = &steps->threads[i];
        for (size_t k = 0; k < thread->count; ++k) {
            struct step *step = &thread->steps[k];
            memset(step->time, 0, sizeof step->time);
            step->in_graphs = step->eager = step->copies = 0;
        }
        for (size_t k = 0; k < thread->phase_count; ++k) {
            idle_times_free(&thread->phases[k].idle);
            family_times_free(&thread->phases[k].families);
        }
        idle_times_free(&thread->left_out);
        for (size_t k = 0; k < OUTSIDES; ++k)
            idle_times_free(&thread->outside[k].idle);
        memset(thread->outside, 0, sizeof thread->outside);
        idle_causes_free(&steps->causes[i]);
    }
    free(steps->causes);
    steps->causes = NULL;
}

rtl_status_t steps_measure(rtl_trace_t *trace, struct steps *steps)
{
    rtl_status_t status = measure_all(trace, steps);
    if (status == RTL_OK && steps_split(steps)) {
        forget(steps);
        status = measure_all(trace, steps);
    }
    for (size_t i = 0; i < steps->count && status == RTL_OK; ++i) {
        status = count_calls(trace, &steps->threads[i]);
        sum_up(&steps->threads[i]);
        find_trends(&steps->threads[i]);
        for (size_t k = 0; k < steps->threads[i].phase_count; ++k) {
            struct phase *phase = &steps->threads[i].phases[k];
            steps_families_end(&steps->families, &phase->families, phase->steps);
            family_times_sort(&phase->families);
        }
    }
    if (status == RTL_OK)
        status = absent_read(trace, 0, RTL_TRACE_NONE, &steps->absent);
    return status == RTL_OK ? find_untold(trace, steps) : status;
}
