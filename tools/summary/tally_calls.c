#include "summary/tally_calls.h"

#include <stdlib.h>
#include <string.h>

/* hip_runtime_api.h: hipErrorNotReady, what a query of unfinished work returns. */
#define NOT_READY 600

static struct tally_call *name_of(struct tally_calls *tally, const char *name)
{
    size_t number = texts_number(&tally->texts, name);
    if (number == TEXTS_NONE)
        return NULL;
    if (number < tally->count)
        return &tally->names[number];
    if (tally->count == tally->capacity) {
        size_t capacity = tally->capacity ? 2 * tally->capacity : 64;
        struct tally_call *names = realloc(tally->names, capacity * sizeof *names);
        if (!names)
            return NULL;
        tally->names = names;
        tally->capacity = capacity;
    }
    tally->names[tally->count] = (struct tally_call){.name = tally->texts.list[number]};
    return &tally->names[tally->count++];
}

static rtl_status_t add(struct tally_calls *tally, const rtl_api_t *api)
{
    struct tally_call *name = name_of(tally, api->name);
    uint64_t duration = api->end > api->start ? api->end - api->start : 0;
    if (!name || !rtl_stat_add(&name->stat, duration))
        return RTL_E_MEMORY;
    name->failed += api->result != 0 && api->result != NOT_READY;
    ++tally->calls;
    tally->total += duration;
    return RTL_OK;
}

static int by_total(const void *a, const void *b)
{
    const struct tally_call *left = a;
    const struct tally_call *right = b;
    if (left->stat.total != right->stat.total)
        return left->stat.total < right->stat.total ? 1 : -1;
    return strcmp(left->name, right->name);
}

rtl_status_t tally_calls_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                              struct tally_calls *tally)
{
    const rtl_api_filter_t filter = {.from = from, .to = to};
    rtl_api_iter_t *iter = NULL;
    rtl_api_t api;
    memset(tally, 0, sizeof *tally);
    rtl_status_t status = rtlTraceApi(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlApiNext(iter, &api)) == RTL_OK)
        status = add(tally, &api);
    rtlApiIterFree(iter);
    if (tally->count)
        qsort(tally->names, tally->count, sizeof *tally->names, by_total);
    if (status == RTL_END)
        return RTL_OK;
    tally_calls_free(tally);
    return status;
}

void tally_calls_free(struct tally_calls *tally)
{
    for (size_t i = 0; i < tally->count; ++i)
        rtl_stat_free(&tally->names[i].stat);
    free(tally->names);
    texts_free(&tally->texts);
    memset(tally, 0, sizeof *tally);
}
