#include "analysis/ranges_work.h"
#include "common/lower_bound.h"
#include "common/memory.h"

#include <stdlib.h>

/* ---- the same ranges of other passes ---- */

/* A range among those of its process, parent and name; they stand by start. */
struct sibling {
    uint32_t process, name;
    size_t parent, row;
};

static int by_family(const void *left, const void *right)
{
    const struct sibling *a = left;
    const struct sibling *b = right;
    const int orders[] = {compare(a->process, b->process), compare(a->parent, b->parent),
                          compare(a->name, b->name), compare(a->row, b->row)};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
        if (orders[i])
            return orders[i];
    return 0;
}

static bool same_family(const struct sibling *a, const struct sibling *b)
{
    return a->process == b->process && a->parent == b->parent && a->name == b->name;
}

static void count_ordinals(struct work *work)
{
    struct sibling *siblings = memory_new(work->later_count, sizeof *siblings);
    for (size_t i = 0; i < work->later_count; ++i)
        siblings[i] =
            (struct sibling){work->later[i].process, work->later[i].name, work->later[i].parent, i};
    qsort(siblings, work->later_count, sizeof *siblings, by_family);
    for (size_t i = 1; i < work->later_count; ++i)
        if (same_family(&siblings[i - 1], &siblings[i]))
            work->later[siblings[i].row].ordinal = work->later[siblings[i - 1].row].ordinal + 1;
    free(siblings);
}

/* The `ordinal`-th of a family in the first pass. */
static size_t member(const struct sibling *siblings, size_t count, const struct sibling *key,
                     size_t ordinal)
{
    size_t low;
    RTL_LOWER_BOUND(low, count, by_family(&siblings[low], key) < 0);
    if (count - low <= ordinal || !same_family(&siblings[low + ordinal], key))
        return NOWHERE;
    return siblings[low + ordinal].row;
}

/* Outer ranges stand before those in them, and so have partners first. */
static void find_partners(struct work *work)
{
    struct ranges_reading *reading = work->reading;
    struct sibling *siblings = memory_new(reading->count, sizeof *siblings);
    count_ordinals(work);
    for (size_t i = 0; i < reading->count; ++i)
        siblings[i] = (struct sibling){reading->rows[i].process, reading->rows[i].name,
                                       reading->rows[i].parent, i};
    if (reading->count)
        qsort(siblings, reading->count, sizeof *siblings, by_family);
    for (size_t i = 0; i < work->later_count; ++i) {
        struct later *later = &work->later[i];
        struct sibling key = {counts_process(&reading->counts, later->process).first, later->name,
                              NOWHERE, 0};
        if (later->parent != NOWHERE)
            key.parent = work->later[later->parent].partner;
        if (later->parent == NOWHERE || key.parent != NOWHERE)
            later->partner = member(siblings, reading->count, &key, later->ordinal);
        if (later->partner != NOWHERE)
            reading->changed_ranges += later->kernels != reading->rows[later->partner].time.kernels;
    }
    free(siblings);
}

/* ---- counters ---- */

static rtl_status_t read_range_samples(struct work *work)
{
    struct ranges_reading *reading = work->reading;
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t sample;
    rtl_status_t status = rtlTraceRangeSamples(work->trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlSampleNext(iter, &sample)) == RTL_OK) {
        const struct place *place = ranges_place(work, sample.process, sample.owner);
        size_t row = !place ? NOWHERE : place->later ? work->later[place->row].partner : place->row;
        if (row == NOWHERE) {
            ++reading->strange_ranges;
            continue;
        }
        counts_add(&reading->counts, &sample, &reading->rows[row].counts);
        reading->rows[row].shared = reading->rows[row].shared || sample.shared;
    }
    rtlSampleIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static int by_packet(const void *left, const void *right)
{
    const struct listed *a = left;
    const struct listed *b = right;
    const int orders[] = {compare(a->process, b->process), compare(a->queue, b->queue),
                          compare(a->packet, b->packet)};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
        if (orders[i])
            return orders[i];
    return 0;
}

static void index_kernels(struct work *work)
{
    const struct ranges_reading *reading = work->reading;
    work->listed = memory_new(reading->kernel_count, sizeof *work->listed);
    for (size_t i = 0; i < reading->kernel_count; ++i)
        work->listed[i] = (struct listed){reading->kernels[i].process, reading->kernels[i].queue,
                                          reading->kernels[i].packet, i};
    if (reading->kernel_count)
        qsort(work->listed, reading->kernel_count, sizeof *work->listed, by_packet);
}

static void take_sample(void *context, const rtl_kernel_t *kernel, const rtl_trace_sample_t *sample)
{
    struct work *work = context;
    struct ranges_reading *reading = work->reading;
    const struct listed key = {kernel->process, kernel->queue, kernel->packet, 0};
    rtl_trace_origin_t origin;
    rtl_status_t status =
        rtlTraceOrigin(work->trace, kernel->process, kernel->correlation, &origin);
    size_t row = status == RTL_OK ? ranges_find(work, kernel->process, origin.range) : NOWHERE;
    if (work->status == RTL_OK)
        work->status = status;
    if (row == NOWHERE)
        return;
    counts_add(&reading->counts, sample, &reading->rows[row].counts);
    const struct listed *listed =
        reading->kernel_count && work->listed
            ? bsearch(&key, work->listed, reading->kernel_count, sizeof key, by_packet)
            : NULL;
    if (listed)
        counts_add(&reading->counts, sample, &reading->kernels[listed->kernel].counts);
}

/* What kernels counted is also that of the ranges around theirs; a range that was counted as a
 * whole has its own. */
static void finish_counts(struct ranges_reading *reading)
{
    for (size_t i = reading->count; i-- > 0;) {
        struct range_row *row = &reading->rows[i];
        if (!row->counts || row->parent == NOWHERE ||
            !counts_process(&reading->counts, row->process).kernels)
            continue;
        struct range_row *parent = &reading->rows[row->parent];
        if (!parent->counts)
            parent->counts = memory_new(reading->counts.count, sizeof *parent->counts);
        for (size_t k = 0; k < reading->counts.count; ++k)
            rtl_count_merge(&parent->counts[k], &row->counts[k]);
    }
}

rtl_status_t ranges_add_counts(struct work *work)
{
    struct ranges_reading *reading = work->reading;
    rtl_status_t status = RTL_OK;
    if (reading->counts.passes == 0)
        return RTL_OK;
    if (work->later_count)
        find_partners(work);
    if (work->list)
        index_kernels(work);
    if (reading->counts.of_ranges)
        status = read_range_samples(work);
    if (status == RTL_OK)
        status = counts_kernels(work->trace, &reading->counts, take_sample, work,
                                &reading->strange_kernels);
    finish_counts(reading);
    return status == RTL_OK ? work->status : status;
}

/* ---- values ---- */

bool ranges_value(const struct range_row *row, const struct rtl_measure *measure,
                  struct rtl_value *value)
{
    return (row->counts || !rtl_metric_is_counted(measure->metric)) &&
           rtl_measure_value(measure, &row->quantities, row->counts, value);
}

bool ranges_kernel_value(const struct range_kernel *kernel, const struct rtl_measure *measure,
                         struct rtl_value *value)
{
    uint64_t duration = kernel->end > kernel->start ? kernel->end - kernel->start : 0;
    const struct rtl_quantities quantities = {.values[RTL_QUANTITY_BUSY_NS] = duration};
    return kernel->counts && rtl_metric_is_counted(measure->metric) &&
           rtl_measure_value(measure, &quantities, kernel->counts, value);
}

uint64_t ranges_counted(const struct ranges_reading *reading, const struct range_row *row)
{
    uint64_t least = UINT64_MAX;
    if (!row->counts || !counts_process(&reading->counts, row->process).kernels)
        return 0;
    for (size_t i = 0; i < reading->counts.count; ++i)
        if (row->counts[i].samples && row->counts[i].samples < least)
            least = row->counts[i].samples;
    return least == UINT64_MAX ? 0 : least;
}
