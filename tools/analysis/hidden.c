#include "analysis/hidden.h"

#include "common/lower_bound.h"
#include "common/memory.h"
#include "store/scan.h"
#include "store/sweep.h"

#include <stdlib.h>
#include <string.h>

struct intervals {
    struct rtl_interval *items;
    size_t count, capacity;
};

/* What was found in a chunk. */
struct found {
    struct intervals others;
    size_t at; /* of the collectives, the first that ends behind the last kernel's start */
};

struct hidden_gpu {
    uint32_t process, gpu;
    struct intervals collectives; /* sorted, joined */
    struct intervals others;      /* kernels that overlap them: as they come, then the same */
};

struct reading {
    rtl_trace_t *trace;
    struct rtl_scan_names *names;
    bool *hides; /* by number of a name */
    struct hidden *hidden;
};

static void append(struct intervals *list, uint64_t start, uint64_t end)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->items = memory_grown(list->items, list->capacity, sizeof *list->items);
    }
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is room, so there are items
    list->items[list->count++] = (struct rtl_interval){start, end};
}

static void join(struct intervals *list)
{
    bool sorted = true;
    for (size_t i = 1; i < list->count && sorted; ++i)
        sorted = list->items[i - 1].start <= list->items[i].start;
    if (!sorted)
        rtl_intervals_sort(list->items, list->count);
    list->count = rtl_intervals_join(list->items, list->count);
}

/* They are by process, as collectives come. */
static size_t first_of(const struct hidden *hidden, uint32_t process)
{
    const struct hidden_gpu *gpus = hidden->gpus;
    size_t at;
    RTL_LOWER_BOUND(at, hidden->count, gpus[at].process < process);
    return at;
}

static struct hidden_gpu *gpu_of(const struct hidden *hidden, uint32_t process, uint32_t gpu)
{
    struct hidden_gpu *gpus = hidden->gpus;
    size_t at = first_of(hidden, process);
    while (at < hidden->count && gpus[at].process == process && gpus[at].gpu != gpu)
        ++at;
    return at < hidden->count && gpus[at].process == process ? &gpus[at] : NULL;
}

static void add_collective(struct hidden *hidden, const struct collective *one)
{
    struct hidden_gpu *gpu = gpu_of(hidden, one->process, one->gpu);
    if (!gpu) {
        hidden->gpus = memory_grown(hidden->gpus, hidden->count + 1, sizeof *hidden->gpus);
        gpu = &hidden->gpus[hidden->count++];
        *gpu = (struct hidden_gpu){.process = one->process, .gpu = one->gpu};
    }
    append(&gpu->collectives, one->start, one->end);
}

/* The first that ends behind a time. */
static size_t first_behind(const struct intervals *list, uint64_t time)
{
    const struct rtl_interval *items = list->items;
    size_t low;
    RTL_LOWER_BOUND(low, list->count, items[low].end <= time);
    return low;
}

static bool overlaps(const struct intervals *list, uint64_t from, uint64_t to)
{
    size_t at = first_behind(list, from);
    return at < list->count && list->items[at].start < to;
}

/* The scan. */

static unsigned choose(void *context, const struct rtl_scan_chunk *chunk)
{
    const struct reading *reading = context;
    const struct hidden_gpu *gpu = gpu_of(reading->hidden, chunk->process, chunk->gpu);
    return gpu && overlaps(&gpu->collectives, chunk->from, chunk->to) ? RTL_CODEC_TIMES : 0;
}

static bool begin(void *context, const struct rtl_scan_chunk *chunk, void *result)
{
    const struct reading *reading = context;
    struct found *found = result;
    found->others.count = 0;
    found->at = first_behind(&gpu_of(reading->hidden, chunk->process, chunk->gpu)->collectives,
                             chunk->from);
    return true;
}

/* Whether a kernel overlaps a collective. Starts hardly ever fall. */
static bool is_beside(const struct intervals *list, size_t *at, uint64_t start, uint64_t end)
{
    if (*at && list->items[*at - 1].end > start)
        *at = first_behind(list, start);
    while (*at < list->count && list->items[*at].end <= start)
        ++*at;
    return *at < list->count && list->items[*at].start < end;
}

static bool take(void *context, const struct rtl_scan_chunk *chunk, struct rtl_codec_block *block,
                 void *result)
{
    const struct reading *reading = context;
    const struct hidden_gpu *gpu = gpu_of(reading->hidden, chunk->process, chunk->gpu);
    struct found *found = result;
    struct intervals *others = &found->others;
    uint32_t names[RTL_CODEC_BLOCK];
    rtl_scan_names_of(reading->names, chunk, block, names);
    for (uint32_t i = 0; i < block->count; ++i) {
        uint64_t start = block->start[i];
        uint64_t end = block->end[i];
        struct rtl_interval *last = others->count ? &others->items[others->count - 1] : NULL;
        if (!reading->hides[names[i]] || !is_beside(&gpu->collectives, &found->at, start, end))
            continue;
        if (last && start >= last->start && start <= last->end)
            last->end = end > last->end ? end : last->end;
        else
            append(others, start, end);
    }
    return true;
}

static rtl_status_t done(void *context, const struct rtl_scan_chunk *chunk, rtl_status_t status,
                         bool intact, void *result)
{
    const struct reading *reading = context;
    const struct intervals *found = &((const struct found *)result)->others;
    (void)intact;
    if (status == RTL_E_DAMAGED)
        return rtl_scan_damaged(reading->trace, chunk);
    struct hidden_gpu *gpu = gpu_of(reading->hidden, chunk->process, chunk->gpu);
    for (size_t i = 0; i < found->count && status == RTL_OK; ++i)
        append(&gpu->others, found->items[i].start, found->items[i].end);
    return status;
}

static void release(void *result)
{
    free(((struct found *)result)->others.items);
}

static bool *ask(struct rtl_scan_names *names, const struct collectives_wanted *hides)
{
    uint32_t count = rtl_scan_names_count(names);
    bool *answers = memory_new(count, sizeof *answers);
    for (uint32_t i = 0; i < count; ++i)
        answers[i] = hides->is(hides->context, rtl_scan_names_text(names, i));
    return answers;
}

rtl_status_t hidden_read(rtl_trace_t *trace, const struct collective *list, size_t count,
                         const struct collectives_wanted *hides, struct hidden *hidden)
{
    *hidden = (struct hidden){0};
    for (size_t i = 0; i < count; ++i)
        add_collective(hidden, &list[i]);
    for (size_t i = 0; i < hidden->count; ++i)
        join(&hidden->gpus[i].collectives);
    if (hidden->count == 0)
        return RTL_OK;
    struct reading reading = {.trace = trace, .names = rtl_scan_names_new(trace), .hidden = hidden};
    const struct rtl_kernel_scan scan = {.filter = RTL_KERNEL_FILTER_ALL,
                                         .context = &reading,
                                         .result_size = sizeof(struct found),
                                         .result_free = release,
                                         .choose = choose,
                                         .begin = begin,
                                         .take = take,
                                         .done = done};
    if (!reading.names)
        memory_is_short();
    reading.hides = ask(reading.names, hides);
    rtl_status_t status = rtl_scan_kernels(trace, &scan);
    for (size_t i = 0; i < hidden->count; ++i) {
        struct hidden_gpu *gpu = &hidden->gpus[i];
        join(&gpu->others);
        free(gpu->collectives.items);
        gpu->collectives = (struct intervals){0};
    }
    rtl_scan_names_free(reading.names);
    free(reading.hides);
    return status;
}

bool hidden_next(const struct hidden *hidden, uint32_t process, uint32_t gpu, uint64_t from,
                 uint64_t to, struct exposed *exposed)
{
    const struct hidden_gpu *of = gpu_of(hidden, process, gpu);
    const struct intervals *others = of ? &of->others : NULL;
    size_t at = others ? first_behind(others, from) : 0;
    for (; others && at < others->count && others->items[at].start <= from; ++at)
        from = others->items[at].end;
    if (from >= to)
        return false;
    bool more = others && at < others->count && others->items[at].start < to;
    *exposed = (struct exposed){from, more ? others->items[at].start : to};
    return true;
}

size_t hidden_gpus(const struct hidden *hidden, uint32_t process)
{
    size_t first = first_of(hidden, process);
    size_t end = first;
    while (end < hidden->count && hidden->gpus[end].process == process)
        ++end;
    return end - first;
}

void hidden_free(struct hidden *hidden)
{
    for (size_t i = 0; i < hidden->count; ++i) {
        free(hidden->gpus[i].collectives.items);
        free(hidden->gpus[i].others.items);
    }
    free(hidden->gpus);
    *hidden = (struct hidden){0};
}
