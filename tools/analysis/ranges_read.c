#include "analysis/ranges_work.h"

#include "common/lower_bound.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

static uint32_t number_of(struct texts *texts, const char *text)
{
    size_t number = texts_number(texts, text);
    if (number >= UINT32_MAX)
        memory_is_short();
    return (uint32_t)number;
}

/* ---- ranges ---- */

/* Whether a process made another pass than the first, and has a partner in that. */
static bool is_later(struct work *work, uint32_t process)
{
    if (work->process.process != process)
        work->process = counts_process(&work->reading->counts, process);
    return work->process.first != process;
}

static void add_place(struct work *work, const rtl_range_t *range, bool later, size_t row)
{
    if (work->place_count >= work->place_capacity) {
        work->place_capacity = work->place_capacity ? 2 * work->place_capacity : 256;
        work->places = memory_grown(work->places, work->place_capacity, sizeof *work->places);
    }
    work->places[work->place_count++] = (struct place){range->id, range->process, later, row};
}

static void add_later(struct work *work, const rtl_range_t *range)
{
    if (work->later_count >= work->later_capacity) {
        work->later_capacity = work->later_capacity ? 2 * work->later_capacity : 256;
        work->later = memory_grown(work->later, work->later_capacity, sizeof *work->later);
    }
    work->later[work->later_count] = (struct later){
        .id = range->id,
        .process = range->process,
        .name = number_of(&work->reading->texts, range->name),
        .parent = NOWHERE,
        .partner = NOWHERE,
    };
    add_place(work, range, true, work->later_count++);
}

static void add_row(struct work *work, const rtl_range_t *range)
{
    struct ranges_reading *reading = work->reading;
    if (is_later(work, range->process)) {
        add_later(work, range);
        return;
    }
    if (reading->count >= work->row_capacity) {
        work->row_capacity = work->row_capacity ? 2 * work->row_capacity : 256;
        reading->rows = memory_grown(reading->rows, work->row_capacity, sizeof *reading->rows);
    }
    add_place(work, range, false, reading->count);
    reading->rows[reading->count++] = (struct range_row){
        .id = range->id,
        .start = range->start,
        .end = range->end,
        .process = range->process,
        .thread = range->thread,
        .name = number_of(&reading->texts, range->name),
        .kind = range->kind,
        .parent = NOWHERE,
    };
}

static int by_id(const void *a, const void *b)
{
    const struct place *left = a;
    const struct place *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

const struct place *ranges_place(const struct work *work, uint32_t process, uint64_t id)
{
    const struct place key = {.id = id, .process = process};
    if (id == 0 || !work->places)
        return NULL;
    return bsearch(&key, work->places, work->place_count, sizeof key, by_id);
}

size_t ranges_find(const struct work *work, uint32_t process, uint64_t id)
{
    const struct place *place = ranges_place(work, process, id);
    return place && !place->later ? place->row : NOWHERE;
}

/* The same in work->later. */
static size_t find_later(const struct work *work, uint32_t process, uint64_t id)
{
    const struct place *place = ranges_place(work, process, id);
    return place && place->later && work->later ? place->row : NOWHERE;
}

/* Parents have begun before, so they stand before; another parent is damage, and not followed. */
static void adopt(struct work *work, const rtl_range_t *range)
{
    struct range_row *rows = work->reading->rows;
    size_t later = find_later(work, range->process, range->id);
    size_t row = ranges_find(work, range->process, range->id);
    size_t parent = ranges_find(work, range->process, range->parent);
    if (later != NOWHERE && find_later(work, range->process, range->parent) < later)
        work->later[later].parent = find_later(work, range->process, range->parent);
    if (row == NOWHERE || parent == NOWHERE || parent >= row)
        return;
    rows[row].parent = parent;
    rows[row].depth = rows[parent].depth + 1;
}

/* Twice: the parents of ranges can be found when all ranges are there. */
static rtl_status_t each_range(struct work *work, void (*take)(struct work *, const rtl_range_t *))
{
    rtl_range_iter_t *iter = NULL;
    rtl_range_t range;
    rtl_status_t status = rtlTraceRanges(work->trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlRangeNext(iter, &range)) == RTL_OK)
        if (strcmp(range.kind, "mark") != 0)
            take(work, &range);
    rtlRangeIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_ranges(struct work *work)
{
    rtl_status_t status = each_range(work, add_row);
    if (status == RTL_OK && work->places) {
        qsort(work->places, work->place_count, sizeof *work->places, by_id);
        status = each_range(work, adopt);
    }
    return status;
}

/* ---- names ---- */

static size_t slot_of(const struct work *work, size_t range, uint32_t name)
{
    size_t mask = work->table_size - 1;
    size_t slot =
        (size_t)((range * UINT64_C(0x9E3779B97F4A7C15)) ^ (name * UINT64_C(0xC2B2AE3D27D4EB4F)));
    for (slot ^= slot >> 29;; ++slot) {
        size_t place = work->table[slot & mask];
        if (!place || (work->reading->names[place - 1].range == range &&
                       work->reading->names[place - 1].name == name))
            return slot & mask;
    }
}

static void grow_names(struct work *work)
{
    struct ranges_reading *reading = work->reading;
    work->name_capacity = work->name_capacity ? 2 * work->name_capacity : 256;
    reading->names = memory_grown(reading->names, work->name_capacity, sizeof *reading->names);
    free(work->table);
    work->table_size = 2 * work->name_capacity;
    work->table = memory_new(work->table_size, sizeof *work->table);
    for (size_t i = 0; i < reading->name_count; ++i)
        work->table[slot_of(work, reading->names[i].range, reading->names[i].name)] = i + 1;
}

static void add_name(struct work *work, size_t range, uint32_t name, uint64_t kernels,
                     uint64_t total)
{
    struct ranges_reading *reading = work->reading;
    if (reading->name_count >= work->name_capacity)
        grow_names(work);
    size_t slot = slot_of(work, range, name);
    if (!work->table[slot]) {
        reading->names[reading->name_count] = (struct range_name){range, name, 0, 0};
        work->table[slot] = ++reading->name_count;
    }
    struct range_name *entry = &reading->names[work->table[slot] - 1];
    entry->kernels += kernels;
    entry->total += total;
}

static int by_range(const void *left, const void *right)
{
    const struct range_name *a = left;
    const struct range_name *b = right;
    if (a->range != b->range)
        return a->range < b->range ? -1 : 1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return (a->name > b->name) - (a->name < b->name);
}

/* What was added to innermost ranges goes to those around them, and each range gets its names. */
static void finish_names(struct work *work)
{
    struct ranges_reading *reading = work->reading;
    size_t own_count = reading->name_count;
    struct range_name *own = memory_new(own_count, sizeof *own);
    if (own_count)
        memcpy(own, reading->names, own_count * sizeof *own);
    for (size_t i = 0; i < own_count; ++i)
        for (size_t row = reading->rows[own[i].range].parent; row != NOWHERE;
             row = reading->rows[row].parent)
            add_name(work, row, own[i].name, own[i].kernels, own[i].total);
    free(own);
    if (reading->name_count)
        qsort(reading->names, reading->name_count, sizeof *reading->names, by_range);
    for (size_t i = 0; i < reading->name_count; ++i) {
        struct range_row *row = &reading->rows[reading->names[i].range];
        if (row->name_count++ == 0)
            row->names = &reading->names[i];
    }
}

/* Inner ranges stand behind those around them. */
static void finish_quantities(struct ranges_reading *reading)
{
    for (size_t i = reading->count; i-- > 0;) {
        struct range_row *row = &reading->rows[i];
        uint64_t *values = row->quantities.values;
        values[RTL_QUANTITY_KERNELS] = row->time.kernels;
        values[RTL_QUANTITY_KERNEL_NS] = row->time.kernel_ns;
        values[RTL_QUANTITY_BUSY_NS] = row->time.busy;
        values[RTL_QUANTITY_OVERLAP_NS] = row->time.overlap;
        values[RTL_QUANTITY_COPY_BYTES] = row->time.copy_bytes;
        values[RTL_QUANTITY_COPYING_NS] = row->time.copying;
        values[RTL_QUANTITY_COPY_OVERLAP_NS] = rtl_range_time_copied_under(&row->time);
        values[RTL_QUANTITY_WITHIN_NS] = row->time.within;
        values[RTL_QUANTITY_WALL_NS] = row->end > row->start ? row->end - row->start : 0;
        if (row->parent != NOWHERE)
            rtl_quantities_add(&reading->rows[row->parent].quantities, &row->quantities);
    }
}

/* ---- kernels, copies, launches ---- */

static void add_work(struct work *work, size_t row, const struct rtl_range_work *done)
{
    struct range_row *rows = work->reading->rows;
    for (; row != NOWHERE; row = rows[row].parent)
        rtl_range_time_add(&rows[row].time, rows[row].start, rows[row].end, done);
}

static void list_kernel(struct work *work, const rtl_kernel_t *kernel, size_t row, uint32_t name,
                        uint64_t call)
{
    struct ranges_reading *reading = work->reading;
    if (reading->kernel_count >= work->kernel_capacity) {
        work->kernel_capacity = work->kernel_capacity ? 2 * work->kernel_capacity : 1024;
        reading->kernels =
            memory_grown(reading->kernels, work->kernel_capacity, sizeof *reading->kernels);
    }
    reading->kernels[reading->kernel_count++] = (struct range_kernel){
        .range = row,
        .id = kernel->id,
        .call = call,
        .correlation = kernel->correlation,
        .packet = kernel->packet,
        .start = kernel->start,
        .end = kernel->end,
        .launch = kernel->launch_record,
        .ordinal = kernel->ordinal,
        .process = kernel->process,
        .queue = kernel->queue,
        .name = name,
    };
}

static void add_later_kernel(struct work *work, uint32_t process, uint64_t range)
{
    for (size_t i = find_later(work, process, range); i < work->later_count;
         i = work->later[i].parent)
        ++work->later[i].kernels;
}

/* Of a node of a graph that is the range it was launched in, not the one it was captured in. */
static rtl_status_t add_kernel(struct work *work, const rtl_kernel_t *kernel)
{
    rtl_trace_origin_t origin;
    rtl_status_t status =
        rtlTraceOrigin(work->trace, kernel->process, kernel->correlation, &origin);
    if (status != RTL_OK)
        return status;
    if (is_later(work, kernel->process)) {
        add_later_kernel(work, kernel->process, origin.range);
        return RTL_OK;
    }
    size_t row = ranges_find(work, kernel->process, origin.range);
    if (row == NOWHERE) {
        ++work->reading->outside;
        return RTL_OK;
    }
    const struct rtl_range_work done = {.start = kernel->start, .end = kernel->end};
    uint32_t name = number_of(&work->reading->texts, kernel->name);
    uint64_t duration = done.end > done.start ? done.end - done.start : 0;
    add_work(work, row, &done);
    add_name(work, row, name, 1, duration);
    rtl_quantities_kernel(&work->reading->rows[row].quantities, kernel->grid, kernel->block,
                          duration, kernel->group_size, kernel->private_size);
    if (work->list)
        list_kernel(work, kernel, row, name, origin.start);
    return RTL_OK;
}

static rtl_status_t add_copy(struct work *work, const rtl_copy_t *copy)
{
    rtl_trace_origin_t origin;
    rtl_status_t status = rtlTraceOrigin(work->trace, copy->process, copy->correlation, &origin);
    const struct rtl_range_work done = {copy->start, copy->end, copy->bytes, true};
    if (status == RTL_OK)
        add_work(work, ranges_find(work, copy->process, origin.range), &done);
    return status;
}

/* Both in the order of their starts. */
static rtl_status_t read_both(struct work *work, rtl_kernel_iter_t *kernels,
                              rtl_copy_iter_t *copies)
{
    rtl_kernel_t kernel;
    rtl_copy_t copy;
    rtl_status_t more = rtlKernelNext(kernels, &kernel);
    rtl_status_t more_copies = rtlCopyNext(copies, &copy);
    while ((more == RTL_OK || more == RTL_END) &&
           (more_copies == RTL_OK || more_copies == RTL_END) &&
           !(more == RTL_END && more_copies == RTL_END)) {
        bool take_copy = more == RTL_END || (more_copies == RTL_OK && copy.start <= kernel.start);
        rtl_status_t status = take_copy ? add_copy(work, &copy) : add_kernel(work, &kernel);
        if (status != RTL_OK)
            return status;
        if (take_copy)
            more_copies = rtlCopyNext(copies, &copy);
        else
            more = rtlKernelNext(kernels, &kernel);
    }
    return more != RTL_END ? more : more_copies == RTL_END ? RTL_OK : more_copies;
}

static rtl_status_t read_work(struct work *work)
{
    const rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *kernels = NULL;
    rtl_copy_iter_t *copies = NULL;
    rtl_status_t status = rtlTraceKernels(work->trace, &filter, &kernels);
    if (status == RTL_OK)
        status = rtlTraceCopies(work->trace, NULL, &copies);
    if (status == RTL_OK)
        status = read_both(work, kernels, copies);
    rtlKernelIterFree(kernels);
    rtlCopyIterFree(copies);
    return status;
}

static rtl_status_t read_launches(struct work *work)
{
    rtl_launch_iter_t *iter = NULL;
    rtl_graph_launch_t launch;
    struct range_row *rows = work->reading->rows;
    rtl_status_t status = rtlTraceLaunches(work->trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlLaunchNext(iter, &launch)) == RTL_OK)
        for (size_t row = ranges_find(work, launch.process, launch.range); row != NOWHERE;
             row = rows[row].parent)
            ++rows[row].launches;
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

/* Packets of one call have their place in its launch, if it is one of a graph; outside of calls
 * what is a launch is a guess, and queues have an order of their own. */
static int by_launch(const void *left, const void *right)
{
    const struct range_kernel *a = left;
    const struct range_kernel *b = right;
    bool called = a->call && b->call;
    const int orders[] = {
        compare(a->range, b->range),
        compare(a->call, b->call),
        compare(a->correlation, b->correlation),
        called ? compare(a->launch, b->launch) : 0,
        called ? compare(a->ordinal, b->ordinal) : 0,
        compare(a->queue, b->queue),
        compare(a->packet, b->packet),
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
        if (orders[i])
            return orders[i];
    return 0;
}

rtl_status_t ranges_read(rtl_trace_t *trace, bool list, struct ranges_reading *reading)
{
    struct work work = {.reading = reading, .trace = trace, .list = list};
    memset(reading, 0, sizeof *reading);
    rtl_status_t status = counts_read(trace, &reading->counts);
    if (status == RTL_OK)
        status = read_ranges(&work);
    if (status == RTL_OK)
        status = read_work(&work);
    if (status == RTL_OK)
        status = read_launches(&work);
    if (status == RTL_OK)
        status = ranges_add_counts(&work);
    finish_names(&work);
    finish_quantities(reading);
    if (reading->kernel_count)
        qsort(reading->kernels, reading->kernel_count, sizeof *reading->kernels, by_launch);
    free(work.places);
    free(work.later);
    free(work.listed);
    free(work.table);
    if (status != RTL_OK)
        ranges_free(reading);
    return status;
}

const struct range_kernel *ranges_kernels(const struct ranges_reading *reading, size_t range,
                                          size_t *count)
{
    size_t low;
    RTL_LOWER_BOUND(low, reading->kernel_count, reading->kernels[low].range < range);
    size_t end = low;
    while (end < reading->kernel_count && reading->kernels[end].range == range)
        ++end;
    *count = end - low;
    return reading->kernels + low;
}

void ranges_free(struct ranges_reading *reading)
{
    for (size_t i = 0; i < reading->count; ++i)
        free(reading->rows[i].counts);
    for (size_t i = 0; i < reading->kernel_count; ++i)
        free(reading->kernels[i].counts);
    counts_free(&reading->counts);
    free(reading->rows);
    free(reading->names);
    free(reading->kernels);
    texts_free(&reading->texts);
    memset(reading, 0, sizeof *reading);
}
