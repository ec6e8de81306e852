#include "analysis/steps.h"
#include "common/memory.h"

#include "analysis/steps_kernels.h"
#include "analysis/steps_launches.h"

#include <stdlib.h>
#include <string.h>

struct steps_thread *steps_thread(struct steps *steps, uint32_t process, uint32_t thread)
{
    for (size_t i = steps->count; i-- > 0;)
        if (steps->threads[i].process == process && steps->threads[i].thread == thread)
            return &steps->threads[i];
    steps->threads = memory_grown(steps->threads, steps->count + 1, sizeof *steps->threads);
    struct steps_thread *added = &steps->threads[steps->count++];
    *added = (struct steps_thread){.process = process, .thread = thread, .by = steps->by};
    return added;
}

uint32_t steps_phase(struct steps_thread *thread, const char *name)
{
    size_t size = strlen(name) + 1;
    thread->phases = memory_grown(thread->phases, thread->phase_count + 1, sizeof *thread->phases);
    struct phase *phase = &thread->phases[thread->phase_count];
    *phase = (struct phase){.name = memory_new(size, 1)};
    memcpy(phase->name, name, size);
    return (uint32_t)thread->phase_count++;
}

void steps_add(struct steps_thread *thread, const struct step *step)
{
    if (thread->count == thread->room) {
        thread->room = thread->room ? 2 * thread->room : 64;
        thread->steps = memory_grown(thread->steps, thread->room, sizeof *thread->steps);
    }
    struct step *added = &thread->steps[thread->count++];
    *added = *step;
    if (thread->count > 1 && added->begin < added[-1].begin)
        added->begin = added[-1].begin;
    if (added->own_end < added->begin)
        added->own_end = added->begin;
}

double steps_rate(const struct phase *phase)
{
    return phase->last > phase->first
               ? (double)phase->steps * 1e9 / (double)(phase->last - phase->first)
               : 0;
}

static void free_thread(struct steps_thread *thread)
{
    for (size_t i = 0; i < thread->phase_count; ++i) {
        struct phase *phase = &thread->phases[i];
        free(phase->name);
        stats_free(&phase->duration);
        for (unsigned kind = 0; kind < ACTIVITIES; ++kind)
            stats_free(&phase->time[kind]);
        idle_times_free(&phase->idle);
        family_times_free(&phase->families);
    }
    for (unsigned where = 0; where < OUTSIDES; ++where)
        idle_times_free(&thread->outside[where].idle);
    idle_times_free(&thread->left_out);
    free(thread->phases);
    free(thread->steps);
}

/* Brings the threads in order, those of a process as they stand. */
static void order_threads(struct steps *steps)
{
    for (size_t i = 1; i < steps->count; ++i) {
        struct steps_thread thread = steps->threads[i];
        size_t at = i;
        for (; at > 0 && steps->threads[at - 1].process > thread.process; --at)
            steps->threads[at] = steps->threads[at - 1];
        steps->threads[at] = thread;
    }
}

rtl_status_t steps_find(rtl_trace_t *trace, struct steps *steps)
{
    rtl_status_t status = steps_by_launches(trace, steps);
    size_t launching = steps->count;
    if (status == RTL_OK)
        status = steps_by_kernels(trace, steps);
    if (launching)
        steps->by = steps->count > launching ? STEPS_BY_AUTO : STEPS_BY_LAUNCHES;
    order_threads(steps);
    return status;
}

void steps_drop_empty(struct steps *steps)
{
    size_t kept = 0;
    for (size_t i = 0; i < steps->count; ++i) {
        if (steps->threads[i].count)
            steps->threads[kept++] = steps->threads[i];
        else
            free_thread(&steps->threads[i]);
    }
    steps->count = kept;
}

void steps_free(struct steps *steps)
{
    for (size_t i = 0; i < steps->count; ++i) {
        free_thread(&steps->threads[i]);
        if (steps->causes)
            idle_causes_free(&steps->causes[i]);
    }
    steps_families_free(&steps->families);
    free(steps->threads);
    free(steps->causes);
    *steps = (struct steps){0};
}
