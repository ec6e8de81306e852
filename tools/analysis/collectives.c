#include "analysis/collectives.h"

#include "analysis/family.h"
#include "common/memory.h"
#include "store/scan.h"

#include <stdlib.h>
#include <string.h>

/* Those of the trace, and of a chunk. */
struct list {
    struct collective *items;
    size_t count, capacity;
};

struct reading {
    rtl_trace_t *trace;
    struct rtl_scan_names *names;
    bool *wanted; /* by number of a name */
    bool any;
    struct list all;
};

static void append(struct list *list, const struct collective *one)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 256;
        list->items = memory_grown(list->items, list->capacity, sizeof *list->items);
    }
    list->items[list->count++] = *one;
}

static unsigned choose(void *context, const struct rtl_scan_chunk *chunk)
{
    const struct reading *reading = context;
    (void)chunk;
    return reading->any ? RTL_CODEC_TIMES : 0;
}

static bool begin(void *context, const struct rtl_scan_chunk *chunk, void *result)
{
    struct list *found = result;
    (void)context;
    (void)chunk;
    found->count = 0;
    return true;
}

static bool take(void *context, const struct rtl_scan_chunk *chunk, struct rtl_codec_block *block,
                 void *result)
{
    const struct reading *reading = context;
    uint32_t names[RTL_CODEC_BLOCK];
    rtl_scan_names_of(reading->names, chunk, block, names);
    for (uint32_t i = 0; i < block->count; ++i)
        if (reading->wanted[names[i]])
            append(result,
                   &(struct collective){block->start[i], block->end[i], chunk->process, chunk->gpu,
                                        rtl_scan_names_text(reading->names, names[i])});
    return true;
}

static rtl_status_t done(void *context, const struct rtl_scan_chunk *chunk, rtl_status_t status,
                         bool intact, void *result)
{
    struct reading *reading = context;
    const struct list *found = result;
    (void)intact;
    if (status == RTL_E_DAMAGED)
        return rtl_scan_damaged(reading->trace, chunk);
    for (size_t i = 0; i < found->count && status == RTL_OK; ++i)
        append(&reading->all, &found->items[i]);
    return status;
}

static void release(void *result)
{
    free(((struct list *)result)->items);
}

static void ask(struct reading *reading, const struct collectives_wanted *wanted)
{
    uint32_t count = rtl_scan_names_count(reading->names);
    reading->wanted = memory_new(count, sizeof *reading->wanted);
    for (uint32_t i = 0; i < count; ++i) {
        reading->wanted[i] = wanted->is(wanted->context, rtl_scan_names_text(reading->names, i));
        reading->any |= reading->wanted[i];
    }
}

static int by_process(const void *left, const void *right)
{
    const struct collective *a = left;
    const struct collective *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return strcmp(a->name, b->name);
}

rtl_status_t collectives_read(rtl_trace_t *trace, const struct collectives_wanted *wanted,
                              struct collective **list, size_t *count)
{
    struct reading reading = {.trace = trace, .names = rtl_scan_names_new(trace)};
    const struct rtl_kernel_scan scan = {.filter = RTL_KERNEL_FILTER_ALL,
                                         .context = &reading,
                                         .result_size = sizeof(struct list),
                                         .result_free = release,
                                         .choose = choose,
                                         .begin = begin,
                                         .take = take,
                                         .done = done};
    if (!reading.names)
        memory_is_short();
    ask(&reading, wanted);
    rtl_status_t status = rtl_scan_kernels(trace, &scan);
    if (status == RTL_OK && reading.all.count)
        qsort(reading.all.items, reading.all.count, sizeof *reading.all.items, by_process);
    rtl_scan_names_free(reading.names);
    free(reading.wanted);
    if (status != RTL_OK)
        free(reading.all.items);
    *list = status == RTL_OK ? reading.all.items : NULL;
    *count = status == RTL_OK ? reading.all.count : 0;
    return status;
}

/* Those in which no rank waits for all others: what sends may end before the others have come. */
static bool is_one_sided(const char *name)
{
    static const char *const words[] = {"broadcast", "sendrecv", "send_recv", "_reduce_"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (strcasestr(name, words[i]) && !strcasestr(name, "all_reduce_"))
            return true;
    return false;
}

bool collectives_wait(void *rules, const char *name)
{
    return strcmp(family_of(rules, name), "collective") == 0 && !is_one_sided(name);
}
