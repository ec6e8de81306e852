#include "diff/steps.h"

#include "analysis/steps_measure.h"
#include "common/memory.h"

#include <stdlib.h>

/* The phases of a trace, of all its threads. */
struct phases {
    struct phase **list;
    const struct steps_thread **threads;
    size_t count;
    bool *matched;
};

static struct phases phases_of(struct steps *steps)
{
    struct phases phases = {0};
    for (size_t i = 0; i < steps->count; ++i)
        phases.count += steps->threads[i].phase_count;
    phases.list = memory_new(phases.count, sizeof(struct phase *));
    phases.threads = memory_new(phases.count, sizeof(struct steps_thread *));
    phases.matched = memory_new(phases.count, sizeof *phases.matched);
    phases.count = 0;
    for (size_t i = 0; i < steps->count; ++i)
        for (size_t k = 0; k < steps->threads[i].phase_count; ++k) {
            phases.threads[phases.count] = &steps->threads[i];
            phases.list[phases.count++] = &steps->threads[i].phases[k];
        }
    return phases;
}

/* The largest of the other trace's that is left and may be the same. */
static size_t partner(const struct phases *others, const struct phase *phase, bool same)
{
    size_t best = others->count;
    for (size_t i = 0; i < others->count; ++i) {
        const struct phase *other = others->list[i];
        bool fits = same ? other->key == phase->key
                         : other->launches * phase->steps == phase->launches * other->steps;
        if (fits && !others->matched[i] &&
            (best == others->count ||
             (!same && other->duration.total > others->list[best]->duration.total)))
            best = i;
    }
    return best;
}

/* The largest that is left, `count` if none is. */
static size_t largest(const struct phases *phases, const bool *tried)
{
    size_t best = phases->count;
    for (size_t i = 0; i < phases->count; ++i)
        if (!phases->matched[i] && !tried[i] &&
            (best == phases->count ||
             phases->list[i]->duration.total > phases->list[best]->duration.total))
            best = i;
    return best;
}

static void match(struct phases phases[2], struct diff_phase *rows)
{
    bool *tried = memory_new(phases[0].count, sizeof *tried);
    for (size_t i = 0; i < phases[0].count; ++i) {
        rows[i].phase[0] = phases[0].list[i];
        rows[i].thread[0] = phases[0].threads[i];
        size_t other = partner(&phases[1], phases[0].list[i], true);
        if (other == phases[1].count)
            continue;
        rows[i].phase[1] = phases[1].list[other];
        rows[i].thread[1] = phases[1].threads[other];
        phases[0].matched[i] = phases[1].matched[other] = true;
    }
    for (size_t i; (i = largest(&phases[0], tried)) < phases[0].count;) {
        tried[i] = true;
        size_t other = partner(&phases[1], phases[0].list[i], false);
        if (other == phases[1].count)
            continue;
        rows[i].phase[1] = phases[1].list[other];
        rows[i].thread[1] = phases[1].threads[other];
        rows[i].other_kernels = true;
        phases[0].matched[i] = phases[1].matched[other] = true;
    }
    free(tried);
}

/* One family: what is said of all phases and their parts is said together. */
static void compare_all(struct diff_steps *steps)
{
    struct comparison **family =
        memory_new(steps->count * (ACTIVITIES + 1), sizeof(struct comparison *));
    size_t count = 0;
    for (size_t i = 0; i < steps->count; ++i) {
        struct diff_phase *row = &steps->list[i];
        if (!row->phase[0] || !row->phase[1])
            continue;
        compare(&row->phase[0]->duration, &row->phase[1]->duration, &row->step);
        family[count++] = &row->step;
        for (unsigned kind = 0; kind < ACTIVITIES; ++kind) {
            compare(&row->phase[0]->time[kind], &row->phase[1]->time[kind], &row->parts[kind]);
            family[count++] = &row->parts[kind];
        }
    }
    compare_family(family, count);
    free(family);
}

rtl_status_t diff_steps_read(rtl_trace_t *const traces[2], struct diff_steps *steps)
{
    *steps = (struct diff_steps){0};
    for (unsigned side = 0; side < 2; ++side) {
        rtl_status_t status = steps_find(traces[side], &steps->steps[side]);
        if (status == RTL_OK)
            status = steps_measure(traces[side], &steps->steps[side]);
        if (status != RTL_OK)
            return status;
    }
    struct phases phases[2] = {phases_of(&steps->steps[0]), phases_of(&steps->steps[1])};
    steps->list = memory_new(phases[0].count + phases[1].count, sizeof *steps->list);
    steps->count = phases[0].count;
    match(phases, steps->list);
    for (size_t i = 0; i < phases[1].count; ++i)
        if (!phases[1].matched[i]) {
            steps->list[steps->count].thread[1] = phases[1].threads[i];
            steps->list[steps->count++].phase[1] = phases[1].list[i];
        }
    for (unsigned side = 0; side < 2; ++side) {
        free(phases[side].list);
        free(phases[side].threads);
        free(phases[side].matched);
    }
    compare_all(steps);
    return RTL_OK;
}

void diff_steps_free(struct diff_steps *steps)
{
    steps_free(&steps->steps[0]);
    steps_free(&steps->steps[1]);
    free(steps->list);
    *steps = (struct diff_steps){0};
}
