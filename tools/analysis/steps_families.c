#include "analysis/steps_families.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

static uint32_t number_of(struct steps_families *families, const char *name)
{
    uint64_t key = (uintptr_t)name;
    uint32_t number = rtl_index_get(&families->by_name, key);
    if (number != RTL_INDEX_MISSING)
        return number;
    const char *family = family_of(families->rules, name);
    number = 0;
    while (number < families->count && families->families[number] != family)
        ++number;
    if (number == families->count) {
        families->families =
            memory_grown(families->families, families->count + 1, sizeof(const char *));
        families->families[families->count++] = family;
    }
    if (rtl_index_put(&families->by_name, key, number) != 0)
        memory_is_short();
    return number;
}

static void close_step(struct family_time *time)
{
    stats_add(&time->each, time->step_ns);
    time->step_ns = 0;
}

void steps_families_add(struct steps_families *families, struct family_times *times, uint64_t step,
                        const char *name, uint64_t ns)
{
    uint32_t number = number_of(families, name);
    if (number >= times->count) {
        times->list = memory_grown(times->list, families->count, sizeof *times->list);
        for (; times->count < families->count; ++times->count)
            times->list[times->count] =
                (struct family_time){.family = families->families[times->count]};
    }
    struct family_time *time = &times->list[number];
    if (families->each_step && time->kernels && time->step != step)
        close_step(time);
    time->step = step;
    time->step_ns += ns;
    time->ns += ns;
    ++time->kernels;
}

void steps_families_end(const struct steps_families *families, struct family_times *times,
                        uint64_t steps)
{
    for (size_t i = 0; i < times->count && families->each_step; ++i) {
        if (times->list[i].kernels)
            close_step(&times->list[i]);
        while (times->list[i].each.count < steps)
            stats_add(&times->list[i].each, 0);
    }
}

static int by_time(const void *left, const void *right)
{
    const struct family_time *a = left;
    const struct family_time *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    if ((a->kernels == 0) != (b->kernels == 0))
        return a->kernels == 0 ? 1 : -1;
    return strcmp(a->family, b->family);
}

void family_times_sort(struct family_times *times)
{
    if (times->count)
        qsort(times->list, times->count, sizeof *times->list, by_time);
}

void family_times_free(struct family_times *times)
{
    for (size_t i = 0; i < times->count; ++i)
        stats_free(&times->list[i].each);
    free(times->list);
    *times = (struct family_times){0};
}

void steps_families_free(struct steps_families *families)
{
    free(families->families);
    rtl_index_free(&families->by_name);
    families->families = NULL;
    families->count = 0;
}
