#include "summary/tally_copies.h"

#include <stdlib.h>
#include <string.h>

/* Kinds beyond the last are taken together with it; there are five. */
static struct tally_kind *kind_of(struct tally_copies *tally, const char *name)
{
    for (unsigned i = 0; i < tally->count; ++i)
        if (strcmp(tally->kinds[i].kind, name) == 0)
            return &tally->kinds[i];
    if (tally->count < TALLY_KINDS)
        tally->kinds[tally->count++].kind = name;
    return &tally->kinds[tally->count - 1];
}

static void add(struct tally_copies *tally, const rtl_copy_t *copy)
{
    struct tally_kind *kind = kind_of(tally, copy->kind);
    ++kind->copies;
    kind->bytes += copy->bytes;
    ++tally->copies;
    tally->bytes += copy->bytes;
    if (copy->start == 0)
        return;
    ++tally->timed;
    kind->total += copy->end - copy->start;
    kind->timed_bytes += copy->bytes;
    tally->total += copy->end - copy->start;
}

static int by_total(const void *a, const void *b)
{
    const struct tally_kind *left = a;
    const struct tally_kind *right = b;
    if (left->total != right->total)
        return left->total < right->total ? 1 : -1;
    return strcmp(left->kind, right->kind);
}

rtl_status_t tally_copies_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                               struct tally_copies *tally)
{
    const rtl_copy_filter_t filter = {.from = from, .to = to};
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t copy;
    memset(tally, 0, sizeof *tally);
    rtl_status_t status = rtlTraceCopies(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK)
        add(tally, &copy);
    rtlCopyIterFree(iter);
    qsort(tally->kinds, tally->count, sizeof tally->kinds[0], by_total);
    return status == RTL_END ? RTL_OK : status;
}

double tally_copies_rate(const struct tally_kind *kind)
{
    return kind->total ? (double)kind->timed_bytes / (double)kind->total : 0;
}
