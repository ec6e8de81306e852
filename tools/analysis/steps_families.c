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

void steps_families_add(struct steps_families *families, struct family_times *times,
                        const char *name, uint64_t ns)
{
    uint32_t number = number_of(families, name);
    if (number >= times->count) {
        times->list = memory_grown(times->list, families->count, sizeof *times->list);
        for (; times->count < families->count; ++times->count)
            times->list[times->count] =
                (struct family_time){.family = families->families[times->count]};
    }
    times->list[number].ns += ns;
    ++times->list[number].kernels;
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
