#include "memory/allocations.h"

#include "common/index.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

#define OUT_OF_MEMORY 2 /* hipErrorOutOfMemory */
#define FREED         SIZE_MAX

/* An address is given out, or given back. */
struct event {
    uint32_t process;
    uint64_t time, pointer;
    size_t at; /* place in the list of the process; FREED */
};

struct reader {
    struct allocations_list *list;
    struct event *events;
    size_t count, room;
};

static struct allocations *process_of(struct allocations_list *list, uint32_t process)
{
    size_t at = list->count;
    while (at > 0 && list->processes[at - 1].process > process)
        --at;
    if (at > 0 && list->processes[at - 1].process == process)
        return &list->processes[at - 1];
    list->processes = memory_grown(list->processes, list->count + 1, sizeof *list->processes);
    memmove(&list->processes[at + 1], &list->processes[at],
            (list->count - at) * sizeof *list->processes);
    ++list->count;
    list->processes[at] = (struct allocations){.process = process};
    return &list->processes[at];
}

static void add_event(struct reader *reader, const struct event *event)
{
    if (reader->count == reader->room) {
        reader->room = reader->room ? 2 * reader->room : 64;
        reader->events = memory_grown(reader->events, reader->room, sizeof *reader->events);
    }
    reader->events[reader->count++] = *event;
}

static void allocate(struct reader *reader, const rtl_api_t *api, const struct memory_call *call)
{
    struct allocations *process = process_of(reader->list, api->process);
    process->failed += api->result == OUT_OF_MEMORY;
    if (call->pointer == 0)
        return;
    if (process->count == process->room) {
        process->room = process->room ? 2 * process->room : 64;
        process->list = memory_grown(process->list, process->room, sizeof *process->list);
    }
    size_t name = texts_number(&reader->list->names, api->name);
    if (name == TEXTS_NONE)
        memory_is_short();
    const struct event event = {api->process, api->end, call->pointer, process->count};
    add_event(reader, &event);
    process->list[process->count++] = (struct allocation){.kind = call->kind,
                                                          .bytes = call->bytes,
                                                          .from = api->end,
                                                          .to = UINT64_MAX,
                                                          .call = name,
                                                          .range = api->range};
}

static void release(struct reader *reader, const rtl_api_t *api, const struct memory_call *call)
{
    (void)process_of(reader->list, api->process);
    const struct event event = {api->process, api->start, call->pointer, FREED};
    if (call->pointer)
        add_event(reader, &event);
}

/* What is freed at a time can be given out then. */
static int by_time(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (b->at == FREED) - (a->at == FREED);
}

/* Which allocation each address is, as time goes by. */
static void follow(struct reader *reader)
{
    struct rtl_index held = {0};
    if (reader->count)
        qsort(reader->events, reader->count, sizeof *reader->events, by_time);
    for (size_t i = 0; i < reader->count; ++i) {
        const struct event *event = &reader->events[i];
        struct allocations *process = process_of(reader->list, event->process);
        uint64_t key = rtl_index_mix(event->process, event->pointer);
        uint32_t at = rtl_index_get(&held, key);
        if (at < process->count) /* RTL_INDEX_MISSING is beyond */
            process->list[at].to = event->time;
        else if (event->at == FREED)
            ++process->unknown;
        if (event->at == FREED)
            rtl_index_remove(&held, key);
        else if (event->at >= RTL_INDEX_MISSING ||
                 rtl_index_put(&held, key, (uint32_t)event->at) != 0)
            memory_is_short();
    }
    rtl_index_free(&held);
    free(reader->events);
}

/* What may be missing. */
static rtl_status_t read_gaps(rtl_trace_t *trace, struct allocations_list *list)
{
    const rtl_kind_ledger_t *kinds;
    const rtl_pause_t *pauses;
    size_t kind_count;
    size_t pause_count;
    rtl_status_t status = rtlTraceKinds(trace, &kinds, &kind_count);
    if (status == RTL_OK)
        status = rtlTracePauses(trace, &pauses, &pause_count);
    for (size_t i = 0; i < list->count && status == RTL_OK; ++i) {
        struct allocations *process = &list->processes[i];
        for (size_t k = 0; k < kind_count; ++k)
            for (unsigned why = 0; why < RTL_LOSS_REASONS; ++why)
                if (kinds[k].process == process->process && strcmp(kinds[k].kind, "calls") == 0)
                    process->lost += kinds[k].lost[why];
        for (size_t k = 0; k < pause_count; ++k)
            process->stopped |= pauses[k].process == process->process;
    }
    return status;
}

static int by_from(const void *left, const void *right)
{
    const struct allocation *a = left;
    const struct allocation *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

rtl_status_t allocations_read(rtl_trace_t *trace, struct allocations_list *list)
{
    struct reader reader = {.list = list};
    rtl_api_iter_t *calls;
    rtl_api_t api;
    struct memory_call call;
    *list = (struct allocations_list){0};
    rtl_status_t status = rtlTraceApi(trace, NULL, &calls);
    if (status != RTL_OK)
        return status;
    while ((status = rtlApiNext(calls, &api)) == RTL_OK) {
        bool known = memory_call(&api, &call);
        if (known && call.frees)
            release(&reader, &api, &call);
        else if (known)
            allocate(&reader, &api, &call);
    }
    rtlApiIterFree(calls);
    follow(&reader);
    for (size_t i = 0; i < list->count; ++i)
        if (list->processes[i].count)
            qsort(list->processes[i].list, list->processes[i].count,
                  sizeof *list->processes[i].list, by_from);
    return status == RTL_END ? read_gaps(trace, list) : status;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = ((const uint64_t *)left)[0];
    uint64_t b = ((const uint64_t *)right)[0];
    return (a > b) - (a < b);
}

struct memory_peak allocations_peak(const struct allocations *allocations, enum memory_kind kind)
{
    struct memory_peak peak = {0};
    uint64_t(*frees)[2] = memory_new(allocations->count, sizeof *frees); /* time, bytes */
    size_t count = 0;
    size_t next = 0;
    uint64_t held = 0;
    for (size_t i = 0; i < allocations->count; ++i)
        if (allocations->list[i].kind == kind && allocations->list[i].to != UINT64_MAX) {
            frees[count][0] = allocations->list[i].to;
            frees[count++][1] = allocations->list[i].bytes;
        }
    if (count)
        qsort(frees, count, sizeof *frees, by_number);
    for (size_t i = 0; i < allocations->count; ++i) {
        const struct allocation *one = &allocations->list[i];
        if (one->kind != kind)
            continue;
        for (; next < count && frees[next][0] <= one->from; ++next)
            held -= frees[next][1];
        held += one->bytes;
        if (held > peak.bytes)
            peak = (struct memory_peak){held, one->from};
    }
    free(frees);
    return peak;
}

bool allocation_is_held(const struct allocation *allocation, uint64_t time)
{
    return allocation->from <= time && allocation->to > time;
}

uint64_t allocations_at(const struct allocations *allocations, enum memory_kind kind, uint64_t time)
{
    uint64_t held = 0;
    for (size_t i = 0; i < allocations->count && allocations->list[i].from <= time; ++i)
        if (allocations->list[i].kind == kind && allocation_is_held(&allocations->list[i], time))
            held += allocations->list[i].bytes;
    return held;
}

void allocations_free(struct allocations_list *list)
{
    for (size_t i = 0; i < list->count; ++i)
        free(list->processes[i].list);
    free(list->processes);
    texts_free(&list->names);
    *list = (struct allocations_list){0};
}
