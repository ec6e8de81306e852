#include "summary/tally_ranges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A range as kernels find it. */
struct place {
    uint64_t id, parent;
    uint32_t process;
    uint32_t name; /* number */
    bool counts;   /* it is one of those that are added up */
};

struct reading {
    struct tally_ranges *tally;
    rtl_range_filter_t filter; /* which ranges are counted */
    struct place *places;      /* by process and id */
    size_t count, capacity;
    bool nested;       /* there are ranges, not marks alone */
    uint64_t *counted; /* by name: the last kernel that was added, from 1 */
    uint64_t kernels;
};

/* Ranges. */

static struct tally_range *name_of(struct tally_ranges *tally, const char *name, uint32_t *number)
{
    size_t found = texts_number(&tally->texts, name);
    if (found >= UINT32_MAX)
        return NULL;
    *number = (uint32_t)found;
    if (found < tally->count)
        return &tally->names[found];
    if (tally->count == tally->capacity) {
        size_t capacity = tally->capacity ? 2 * tally->capacity : 64;
        struct tally_range *names = realloc(tally->names, capacity * sizeof *names);
        if (!names)
            return NULL;
        tally->names = names;
        tally->capacity = capacity;
    }
    tally->names[tally->count] = (struct tally_range){.name = tally->texts.list[found]};
    return &tally->names[tally->count++];
}

/* As rtlTraceRanges filters. A kernel may be in a range that is not counted. */
static bool counts(const struct reading *reading, const rtl_range_t *range)
{
    const rtl_range_filter_t *filter = &reading->filter;
    return (filter->to == 0 || range->start < filter->to) &&
           (range->end == 0 || range->end > filter->from || range->start >= filter->from);
}

static bool add_place(struct reading *reading, const rtl_range_t *range, uint32_t name)
{
    if (reading->count == reading->capacity) {
        size_t capacity = reading->capacity ? 2 * reading->capacity : 1024;
        struct place *places = realloc(reading->places, capacity * sizeof *places);
        if (!places)
            return false;
        reading->places = places;
        reading->capacity = capacity;
    }
    reading->places[reading->count++] =
        (struct place){range->id, range->parent, range->process, name, counts(reading, range)};
    return true;
}

static rtl_status_t add_range(struct reading *reading, const rtl_range_t *range)
{
    struct tally_ranges *tally = reading->tally;
    uint32_t number = 0;
    struct tally_range *name = name_of(tally, range->name, &number);
    if (!name || !add_place(reading, range, number))
        return RTL_E_MEMORY;
    bool mark = strcmp(range->kind, "mark") == 0;
    reading->nested = reading->nested || !mark;
    if (!counts(reading, range))
        return RTL_OK;
    uint64_t duration = range->end > range->start ? range->end - range->start : 0;
    name->marks += mark;
    name->ranges += !mark;
    name->open += range->end == 0;
    name->total += duration;
    if (duration > name->max)
        name->max = duration;
    tally->marks += mark;
    tally->ranges += !mark;
    return RTL_OK;
}

static int by_id(const void *a, const void *b)
{
    const struct place *left = a;
    const struct place *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static rtl_status_t read_ranges(rtl_trace_t *trace, struct reading *reading)
{
    rtl_range_iter_t *iter = NULL;
    rtl_range_t range;
    rtl_status_t status = rtlTraceRanges(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlRangeNext(iter, &range)) == RTL_OK)
        status = add_range(reading, &range);
    rtlRangeIterFree(iter);
    if (reading->count)
        qsort(reading->places, reading->count, sizeof *reading->places, by_id);
    return status == RTL_END ? RTL_OK : status;
}

/* Kernels. */

static const struct place *find(const struct reading *reading, uint32_t process, uint64_t id)
{
    const struct place key = {.id = id, .process = process};
    if (id == 0 || reading->count == 0)
        return NULL;
    return bsearch(&key, reading->places, reading->count, sizeof key, by_id);
}

/* Of a kernel. Each counter belongs to one pass, so that sums over all passes have it once. */
static void add_sample(struct reading *reading, struct tally_range *name,
                       const rtl_trace_sample_t *sample, uint64_t duration)
{
    counts_add(&reading->tally->counts, sample, &name->counts);
    if (counts_process(&reading->tally->counts, sample->process).first != sample->process)
        return;
    ++name->counted;
    name->counted_ns += duration;
}

/* Counts a kernel once for each name around it: ranges of one name may lie in each other. Parents
 * began before, so their ids are less; another parent is damage, and not followed. */
static void add_kernel(struct reading *reading, const rtl_kernel_t *kernel, uint64_t range,
                       const rtl_trace_sample_t *sample)
{
    const struct place *place = find(reading, kernel->process, range);
    uint64_t number = ++reading->kernels;
    uint64_t duration = kernel->end > kernel->start ? kernel->end - kernel->start : 0;
    while (place) {
        struct tally_range *name = &reading->tally->names[place->name];
        if (reading->counted[place->name] != number) {
            reading->counted[place->name] = number;
            ++name->kernels;
            name->kernel_ns += duration;
            if (sample)
                add_sample(reading, name, sample, duration);
        }
        uint64_t parent = place->parent < place->id ? place->parent : 0;
        place = find(reading, kernel->process, parent);
    }
}

static rtl_status_t take_kernel(rtl_trace_t *trace, struct reading *reading,
                                const rtl_kernel_t *kernel, uint64_t range)
{
    rtl_trace_sample_t sample;
    rtl_status_t status = RTL_END;
    if (reading->tally->counts.of_kernels)
        status =
            rtlTraceKernelSample(trace, kernel->process, kernel->queue, kernel->packet, &sample);
    if (status == RTL_OK || status == RTL_END)
        add_kernel(reading, kernel, range, status == RTL_OK ? &sample : NULL);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_kernels(rtl_trace_t *trace, struct reading *reading)
{
    const rtl_kernel_filter_t filter = {.from = reading->filter.from,
                                        .to = reading->filter.to,
                                        .queue = RTL_TRACE_NONE,
                                        .by_queue = 1};
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    uint64_t range = 0;
    reading->counted = calloc(reading->tally->count + 1, sizeof *reading->counted);
    if (!reading->counted)
        return RTL_E_MEMORY;
    rtl_status_t status = rtlTraceKernels(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        status = rtlTraceKernelRange(trace, &kernel, &range);
        if (status == RTL_OK && range)
            status = take_kernel(trace, reading, &kernel, range);
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

/* Whether a range lies in another one of its name, which has been counted with it. */
static bool lies_in_alike(const struct reading *reading, const struct place *place)
{
    const struct place *outer = place;
    while (outer && outer->parent < outer->id) {
        outer = find(reading, place->process, outer->parent);
        if (outer && outer->counts && outer->name == place->name)
            return true;
    }
    return false;
}

static rtl_status_t read_samples(rtl_trace_t *trace, struct reading *reading)
{
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t sample;
    rtl_status_t status = rtlTraceRangeSamples(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlSampleNext(iter, &sample)) == RTL_OK) {
        const struct place *place = find(reading, sample.process, sample.owner);
        if (!place || !place->counts || lies_in_alike(reading, place))
            continue;
        struct tally_range *name = &reading->tally->names[place->name];
        counts_add(&reading->tally->counts, &sample, &name->counts);
        name->shared += sample.shared != 0;
    }
    rtlSampleIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

/* Names of which nothing was counted are left out, or no kernel. */
static void drop(struct tally_ranges *tally, bool without_kernels)
{
    size_t kept = 0;
    for (size_t i = 0; i < tally->count; ++i)
        if (tally->names[i].kernels ||
            (!without_kernels && (tally->names[i].ranges || tally->names[i].marks)))
            tally->names[kept++] = tally->names[i];
        else
            free(tally->names[i].counts);
    tally->count = kept;
}

static int by_total(const void *a, const void *b)
{
    const struct tally_range *left = a;
    const struct tally_range *right = b;
    if (left->total != right->total)
        return left->total < right->total ? 1 : -1;
    return strcmp(left->name, right->name);
}

rtl_status_t tally_ranges_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                               struct tally_ranges *tally)
{
    struct reading reading = {.tally = tally, .filter = {.from = from, .to = to}};
    memset(tally, 0, sizeof *tally);
    rtl_status_t status = counts_read(trace, &tally->counts);
    if (status == RTL_OK)
        status = read_ranges(trace, &reading);
    if (status == RTL_OK && reading.nested)
        status = read_kernels(trace, &reading);
    if (status == RTL_OK && tally->counts.of_ranges)
        status = read_samples(trace, &reading);
    free(reading.places);
    free(reading.counted);
    drop(tally, false);
    if (tally->count)
        qsort(tally->names, tally->count, sizeof *tally->names, by_total);
    if (status != RTL_OK)
        tally_ranges_free(tally);
    return status;
}

void tally_ranges_with_kernels(struct tally_ranges *tally)
{
    drop(tally, true);
}

void tally_ranges_free(struct tally_ranges *tally)
{
    for (size_t i = 0; i < tally->count; ++i)
        free(tally->names[i].counts);
    free(tally->names);
    counts_free(&tally->counts);
    texts_free(&tally->texts);
    memset(tally, 0, sizeof *tally);
}
