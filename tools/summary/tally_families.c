#include "summary/tally_families.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

/* A family has one text. There are as many families as names at most. */
static struct tally_family *find(struct tally_families *tally, const char *family)
{
    for (size_t i = 0; i < tally->count; ++i)
        if (tally->list[i].family == family)
            return &tally->list[i];
    tally->list[tally->count].family = family;
    return &tally->list[tally->count++];
}

static void add_kernels(struct tally_families *tally, const rtl_group_t *group,
                        struct family_rules *rules)
{
    struct tally_family *family = find(tally, family_of(rules, group->name));
    ++family->functions;
    family->calls += group->count;
    family->timed += group->count;
    family->total += group->total;
    tally->total += group->total;
}

static void add_copies(struct tally_families *tally, const struct tally_copies *copies)
{
    struct tally_family *family = &tally->list[tally->count];
    if (copies->copies == 0)
        return;
    *family = (struct tally_family){.family = "asynchronous copy",
                                    .copies = true,
                                    .calls = copies->copies,
                                    .timed = copies->timed,
                                    .total = copies->total};
    tally->total += copies->total;
    ++tally->count;
}

static int by_total(const void *left, const void *right)
{
    const struct tally_family *a = left;
    const struct tally_family *b = right;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return strcmp(a->family, b->family);
}

void tally_families_make(const struct tally *kernels, const struct tally_copies *copies,
                         struct family_rules *rules, struct tally_families *tally)
{
    *tally =
        (struct tally_families){.list = memory_new(kernels->name_count + 1, sizeof *tally->list)};
    for (size_t i = 0; i < kernels->name_count; ++i)
        add_kernels(tally, &kernels->names[i], rules);
    add_copies(tally, copies);
    qsort(tally->list, tally->count, sizeof *tally->list, by_total);
}

double tally_family_mean(const struct tally_family *family)
{
    return family->timed ? (double)family->total / (double)family->timed : 0;
}

void tally_families_free(struct tally_families *tally)
{
    free(tally->list);
    *tally = (struct tally_families){0};
}
