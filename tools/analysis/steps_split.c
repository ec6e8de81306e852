#include "analysis/steps_split.h"

#include "common/memory.h"

#include <stdlib.h>

/* What steps of a phase have; eager kernels alone, and with copies. */
struct usual {
    struct stats eager, all;
    uint64_t half; /* of the steps have so many eager kernels at most */
};

static struct usual *find_usual(struct steps_thread *thread)
{
    struct usual *usual = memory_new(thread->phase_count, sizeof *usual);
    for (size_t i = 0; i < thread->count; ++i) {
        const struct step *step = &thread->steps[i];
        stats_add(&usual[step->phase].eager, step->eager);
        stats_add(&usual[step->phase].all, (uint64_t)step->eager + step->copies);
    }
    for (size_t i = 0; i < thread->phase_count; ++i) {
        usual[i].half = stats_quantile(&usual[i].eager, 500);
        thread->phases[i].allowed = (uint32_t)stats_quantile(&usual[i].all, 500);
        stats_free(&usual[i].eager);
        stats_free(&usual[i].all);
    }
    return usual;
}

static bool split_thread(struct steps_thread *thread)
{
    struct usual *usual = find_usual(thread);
    bool any = false;
    for (size_t i = 0; i + 1 < thread->count; ++i) {
        struct step *step = &thread->steps[i];
        uint64_t half = usual[step->phase].half;
        if ((step->last && !step->first) || step->split || step->in_graphs == 0 ||
            step->eager < half + step->in_graphs || step->eager <= 2 * half)
            continue;
        step->last = step->split = true;
        step[1].first = true;
        step[1].split = step[1].last; /* it has no step before it that tells what it may have */
        any = true;
    }
    free(usual);
    return any;
}

bool steps_split(struct steps *steps)
{
    bool any = false;
    for (size_t i = 0; i < steps->count; ++i)
        if (steps->threads[i].by == STEPS_BY_LAUNCHES)
            any |= split_thread(&steps->threads[i]);
    return any;
}
