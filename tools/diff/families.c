#include "diff/families.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Finds a family among those from `begin` on, or adds it. */
static struct diff_family *family_in(struct diff_families *families, size_t begin, const char *name,
                                     size_t runs)
{
    for (size_t i = begin; i < families->count; ++i)
        if (families->list[i].family == name)
            return &families->list[i];
    families->list = memory_grown(families->list, families->count + 1, sizeof *families->list);
    struct diff_family *added = &families->list[families->count++];
    *added = (struct diff_family){.family = name,
                                  .time = memory_new(runs, sizeof(struct stats *)),
                                  .total = memory_new(runs, sizeof(double))};
    return added;
}

static int by_time(const void *left, const void *right)
{
    const struct diff_family *a = left;
    const struct diff_family *b = right;
    double x = fmax(a->value[0], a->value[1]);
    double y = fmax(b->value[0], b->value[1]);
    if (x != y)
        return x < y ? 1 : -1;
    return strcmp(a->family, b->family);
}

static double mean_total(const struct diff_runs *runs, const double *total, unsigned side)
{
    double sum = 0;
    for (size_t run = runs->begin[side]; run < runs->begin[side + 1]; ++run)
        sum += total[run];
    return sum / (double)diff_runs_of(runs, side);
}

static void sum_up(const struct diff_runs *runs, struct diff_family *family)
{
    for (size_t run = 0; run < diff_runs_all(runs); ++run)
        family->in[run >= runs->begin[1]] |= family->total[run] > 0;
    for (unsigned side = 0; side < 2; ++side)
        family->value[side] = family->phase ? diff_runs_median(runs, family->time, side)
                                            : mean_total(runs, family->total, side);
    if (!family->in[0] || !family->in[1])
        return;
    if (family->phase)
        diff_runs_compare(runs, family->time, COMPARE_WORK, &family->comparison);
    else
        diff_runs_compare_numbers(runs, family->total, 0, &family->comparison);
}

/* Sums up the families from `begin` on. */
static void end_part(const struct diff_runs *runs, struct diff_families *families, size_t begin,
                     const struct diff_phase *phase)
{
    for (size_t i = begin; i < families->count; ++i) {
        families->list[i].phase = phase;
        sum_up(runs, &families->list[i]);
    }
    if (families->count > begin)
        qsort(families->list + begin, families->count - begin, sizeof *families->list, by_time);
}

static void add_phase(const struct diff_runs *runs, const struct diff_phase *phase,
                      struct diff_families *families)
{
    size_t begin = families->count;
    for (size_t run = 0; run < diff_runs_all(runs); ++run) {
        struct family_times *times = phase->phase[run] ? &phase->phase[run]->families : NULL;
        for (size_t i = 0; times && i < times->count; ++i) {
            struct family_time *time = &times->list[i];
            if (time->kernels == 0)
                continue;
            struct diff_family *family =
                family_in(families, begin, time->family, diff_runs_all(runs));
            family->time[run] = &time->each;
            family->total[run] = (double)time->ns;
        }
    }
    end_part(runs, families, begin, phase);
}

static void add_traces(const struct diff_runs *runs, const struct diff_kernels *kernels,
                       struct family_rules *rules, struct diff_families *families)
{
    for (size_t i = 0; i < kernels->count; ++i) {
        const struct diff_kernel *kernel = &kernels->list[i];
        const char *name = family_of(rules, kernels->names.list[kernel->name]);
        struct diff_family *family = family_in(families, 0, name, diff_runs_all(runs));
        for (size_t run = 0; run < diff_runs_all(runs); ++run)
            family->total[run] += kernel->time[run] ? (double)kernel->time[run]->total : 0;
    }
    end_part(runs, families, 0, NULL);
}

static void compare_all(struct diff_families *families)
{
    struct comparison **family = memory_new(families->count, sizeof(struct comparison *));
    size_t count = 0;
    for (size_t i = 0; i < families->count; ++i)
        if (families->list[i].in[0] && families->list[i].in[1])
            family[count++] = &families->list[i].comparison;
    compare_family(family, count);
    free(family);
}

void diff_families_make(const struct diff_runs *runs, const struct diff_kernels *kernels,
                        const struct diff_steps *steps, struct family_rules *rules,
                        struct diff_families *families)
{
    *families = (struct diff_families){0};
    for (size_t i = 0; i < steps->count; ++i)
        if (steps->list[i].in[0] && steps->list[i].in[1]) {
            families->by_steps = true;
            add_phase(runs, &steps->list[i], families);
        }
    if (!families->by_steps)
        add_traces(runs, kernels, rules, families);
    compare_all(families);
}

void diff_families_free(struct diff_families *families)
{
    for (size_t i = 0; i < families->count; ++i) {
        free(families->list[i].time);
        free(families->list[i].total);
    }
    free(families->list);
    *families = (struct diff_families){0};
}
