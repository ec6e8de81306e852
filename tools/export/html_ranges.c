#include "export/html_ranges.h"

#include "analysis/ranges_read.h"
#include "analysis/ranges_sum.h"
#include "common/memory.h"
#include "common/open.h"
#include "export/html_metrics.h"
#include "export/html_time.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE     SIZE_MAX
#define NAMES_SHOWN 8u /* of kernels, of one row */
#define FURTHER     "(further names)"
#define DIFFERENCES ((unsigned)NAME)

/* The columns of a table; the first DIFFERENCES are written as differences to the row before. */
enum {
    ID,
    START,
    FIRST, /* start of its first kernel or copy; START without */
    LAST,
    PARENT, /* place in the table + 1, 0: none */
    NAME,
    PROCESS,
    THREAD,
    KIND,
    RANGES,
    OPEN,   /* of them, how many never ended */
    SHARED, /* how many were counted together with other work */
    WALL,
    KERNELS,
    KERNEL_NS,
    BUSY,
    OVERLAP,
    COPIES,
    COPY_BYTES,
    COPY_NS,
    COPYING,
    COPY_OVERLAP,
    ACTIVE,
    IDLE,
    LAUNCHES,
    COLUMNS
};

struct row {
    uint64_t cells[COLUMNS];
    struct rtl_quantities quantities;
    struct rtl_count *counts; /* NULL: nothing was counted */
    bool owned;               /* `counts` are its own, not those of a range */
};

struct table {
    struct row *rows;
    size_t count, capacity;
    struct range_name *names; /* by row, the largest total first */
    size_t name_count;
};

struct work {
    const struct export *export;
    uint64_t zero;
    struct ranges_reading reading;
    size_t *single;  /* of a range of the reading: its row in `singles`, NOWHERE: left out */
    size_t *merging; /* and in `merged`, NOWHERE: not wanted */
    struct table singles, merged;
    size_t *slots; /* of merged rows by parent, process and name: row + 1, 0: free */
    size_t wanted;
    uint32_t further;  /* text, the last of the reading */
    uint32_t *numbers; /* of texts in the page + 1, 0: not in it */
    uint32_t number_count;
    struct html_metrics metrics;
    size_t *shown; /* columns of metrics that a range has a value of */
    size_t shown_count;
};

static bool is_wanted(const struct export *export, const struct range_row *row)
{
    if (!export_wants(export, row->process) || (export->to && row->start >= export->to))
        return false;
    return row->end == 0 || row->end > export->from ||
           (row->end == export->from && row->start == row->end);
}

static uint64_t wall_of(const struct range_row *row)
{
    return row->end > row->start ? row->end - row->start : 0;
}

/* ---- rows ---- */

static struct row *new_row(struct table *table)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 256;
        table->rows = memory_grown(table->rows, table->capacity, sizeof *table->rows);
    }
    struct row *row = &table->rows[table->count++];
    *row = (struct row){0};
    return row;
}

/* Adds what a range cost to the row that has it. */
static void add_range(struct row *row, const struct range_row *range)
{
    const struct rtl_range_time *time = &range->time;
    uint64_t *cells = row->cells;
    ++cells[RANGES];
    cells[OPEN] += range->end == 0;
    cells[SHARED] += range->shared;
    cells[WALL] += wall_of(range);
    cells[KERNELS] += time->kernels;
    cells[KERNEL_NS] += time->kernel_ns;
    cells[BUSY] += time->busy;
    cells[OVERLAP] += time->overlap;
    cells[COPIES] += time->copies;
    cells[COPY_BYTES] += time->copy_bytes;
    cells[COPY_NS] += time->copy_ns;
    cells[COPYING] += time->copying;
    cells[COPY_OVERLAP] += rtl_range_time_copied_under(time);
    cells[ACTIVE] += time->active;
    cells[IDLE] += range->end ? rtl_range_time_idle(time, wall_of(range)) : 0;
    cells[LAUNCHES] += range->launches;
    ranges_sum_quantities(&row->quantities, range);
}

static struct row *begin_row(struct work *work, struct table *table, const struct range_row *range,
                             size_t parent)
{
    struct row *row = new_row(table);
    uint64_t *cells = row->cells;
    cells[ID] = range->id;
    cells[START] = html_time(range->start, work->zero);
    cells[FIRST] = cells[START];
    cells[LAST] = cells[START];
    cells[PARENT] = parent + 1;
    cells[NAME] = range->name;
    cells[PROCESS] = range->process;
    cells[THREAD] = range->thread;
    cells[KIND] = strcmp(range->kind, "start") == 0;
    return row;
}

/* ---- single ranges ---- */

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* One that never ended is longer than all others. */
static uint64_t weight_of(const struct range_row *row)
{
    return row->end ? wall_of(row) : UINT64_MAX;
}

/* What a range must weigh to be in the page; of those that weigh just as much, the first `*equal`
 * are. */
static uint64_t least_weight(const struct work *work, size_t *equal)
{
    const struct ranges_reading *reading = &work->reading;
    *equal = SIZE_MAX;
    if (work->wanted <= HTML_RANGES_MOST)
        return 0;
    uint64_t *weights = memory_new(work->wanted, sizeof *weights);
    size_t count = 0;
    for (size_t i = 0; i < reading->count; ++i)
        if (is_wanted(work->export, &reading->rows[i]))
            weights[count++] = weight_of(&reading->rows[i]);
    qsort(weights, count, sizeof *weights, by_number);
    size_t first = count - HTML_RANGES_MOST;
    uint64_t least = weights[first];
    for (*equal = 0; first < count && weights[first] == least; ++first)
        ++*equal;
    free(weights);
    return least;
}

/* Parents stand before their children. */
static size_t single_around(const struct work *work, size_t range)
{
    const struct range_row *rows = work->reading.rows;
    while ((range = rows[range].parent) != NOWHERE)
        if (work->single[range] != NOWHERE)
            return work->single[range];
    return NOWHERE;
}

static void take_singles(struct work *work)
{
    const struct ranges_reading *reading = &work->reading;
    size_t equal;
    uint64_t least = least_weight(work, &equal);
    for (size_t i = 0; i < reading->count; ++i) {
        const struct range_row *range = &reading->rows[i];
        uint64_t weight = weight_of(range);
        work->single[i] = NOWHERE;
        if (!is_wanted(work->export, range) || weight < least || (weight == least && equal == 0))
            continue;
        equal -= weight == least;
        struct row *row = begin_row(work, &work->singles, range, single_around(work, i));
        add_range(row, range);
        row->counts = range->counts;
        if (range->time.last) {
            row->cells[FIRST] = html_time(range->time.first, work->zero);
            row->cells[LAST] = html_time(range->time.last, work->zero);
        }
        work->single[i] = work->singles.count - 1;
    }
}

/* ---- merged ones ---- */

static size_t merged_around(const struct work *work, size_t range)
{
    const struct range_row *rows = work->reading.rows;
    while ((range = rows[range].parent) != NOWHERE)
        if (work->merging[range] != NOWHERE)
            return work->merging[range];
    return NOWHERE;
}

static size_t *slot_of(const struct work *work, size_t parent, uint32_t process, uint32_t name)
{
    const size_t mask = 4 * (size_t)HTML_RANGES_MERGED - 1;
    uint64_t hash = (parent + 1) * UINT64_C(0x9E3779B97F4A7C15) ^
                    (((uint64_t)process << 32 | name) * UINT64_C(0xC2B2AE3D27D4EB4F));
    for (size_t slot = (size_t)(hash ^ hash >> 31);; ++slot) {
        size_t place = work->slots[slot & mask];
        if (place == 0)
            return &work->slots[slot & mask];
        const uint64_t *cells = work->merged.rows[place - 1].cells;
        if (cells[PARENT] == parent + 1 && cells[PROCESS] == process && cells[NAME] == name)
            return &work->slots[slot & mask];
    }
}

/* The row that a range is merged into. When there are many, new names of a place become one row,
 * in which all that is within is, too. */
static size_t merged_row(struct work *work, size_t i)
{
    struct range_row range = work->reading.rows[i];
    size_t parent = merged_around(work, i);
    if (parent != NOWHERE && work->merged.rows[parent].cells[NAME] == work->further)
        return parent;
    size_t *slot = slot_of(work, parent, range.process, range.name);
    if (!*slot && work->merged.count >= HTML_RANGES_MERGED) {
        range.name = work->further;
        slot = slot_of(work, parent, range.process, range.name);
    }
    if (!*slot) {
        (void)begin_row(work, &work->merged, &range, parent);
        *slot = work->merged.count;
    }
    return *slot - 1;
}

static void take_merged(struct work *work)
{
    const struct ranges_reading *reading = &work->reading;
    uint64_t *longest = memory_new(2 * (size_t)HTML_RANGES_MERGED, sizeof *longest);
    work->slots = memory_new(4 * (size_t)HTML_RANGES_MERGED, sizeof *work->slots);
    for (size_t i = 0; i < reading->count; ++i) {
        const struct range_row *range = &reading->rows[i];
        work->merging[i] = NOWHERE;
        if (!is_wanted(work->export, range))
            continue;
        size_t place = merged_row(work, i);
        struct row *row = &work->merged.rows[place];
        work->merging[i] = place;
        add_range(row, range);
        ranges_sum_counts(&row->counts, range, reading->counts.count);
        row->owned = row->counts != NULL;
        /* It leads to the longest of them. */
        if (wall_of(range) > longest[place]) {
            longest[place] = wall_of(range);
            row->cells[ID] = range->id;
            row->cells[START] = html_time(range->start, work->zero);
            row->cells[LAST] = html_time(range->end, work->zero);
        }
    }
    free(longest);
}

/* ---- kernels by name ---- */

static int by_name(const void *left, const void *right)
{
    const struct range_name *a = left;
    const struct range_name *b = right;
    if (a->range != b->range)
        return a->range < b->range ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static int by_total(const void *left, const void *right)
{
    const struct range_name *a = left;
    const struct range_name *b = right;
    if (a->range != b->range)
        return a->range < b->range ? -1 : 1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return (a->name > b->name) - (a->name < b->name);
}

/* Those of the rows that ranges have become. */
static void take_names(struct work *work, struct table *table, const size_t *rows)
{
    const struct ranges_reading *reading = &work->reading;
    struct range_name *names = memory_new(reading->name_count, sizeof *names);
    size_t count = 0;
    size_t merged = 0;
    for (size_t i = 0; i < reading->name_count; ++i)
        if (rows[reading->names[i].range] != NOWHERE) {
            names[count] = reading->names[i];
            names[count++].range = rows[reading->names[i].range];
        }
    if (count)
        qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; ++i)
        if (merged && by_name(&names[i], &names[merged - 1]) == 0) {
            names[merged - 1].kernels += names[i].kernels;
            names[merged - 1].total += names[i].total;
        } else
            names[merged++] = names[i];
    if (merged)
        qsort(names, merged, sizeof *names, by_total);
    table->names = names;
    table->name_count = merged;
}

/* ---- what is written ---- */

/* The number of a text in the page. */
static uint32_t number_of(struct work *work, uint32_t text)
{
    if (!work->numbers[text])
        work->numbers[text] = ++work->number_count;
    return work->numbers[text] - 1;
}

static void write_column(const struct table *table, unsigned column, struct bytes *bytes)
{
    const struct row *rows = table->rows;
    uint64_t before = 0;
    bool constant = column >= DIFFERENCES;
    for (size_t i = 1; i < table->count && constant; ++i)
        constant = rows[i].cells[column] == rows[0].cells[column];
    bytes_varint(bytes, !constant);
    for (size_t i = 0; i < (constant ? 1 : table->count); ++i) {
        uint64_t value = rows[i].cells[column];
        if (column < DIFFERENCES)
            bytes_signed(bytes, (int64_t)(value - before));
        else
            bytes_varint(bytes, value);
        before = value;
    }
}

static void write_names(struct work *work, const struct table *table, struct bytes *bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < table->count; ++i) {
        size_t first = at;
        while (at < table->name_count && table->names[at].range == i)
            ++at;
        size_t shown = at - first < NAMES_SHOWN ? at - first : NAMES_SHOWN;
        bytes_varint(bytes, shown);
        bytes_varint(bytes, at - first - shown);
        for (size_t j = first; j < first + shown; ++j) {
            bytes_varint(bytes, number_of(work, table->names[j].name));
            bytes_varint(bytes, table->names[j].kernels);
            bytes_varint(bytes, table->names[j].total);
        }
    }
}

static bool is_known(const struct work *work, size_t column)
{
    const struct table *table = &work->merged;
    struct rtl_value value;
    for (size_t i = 0; i < table->count; ++i)
        if (html_metrics_value(&work->metrics, column, &table->rows[i].quantities,
                               table->rows[i].counts, &value))
            return true;
    return false;
}

/* Columns that a range has a value of; merged, all of them count. */
static void choose_metrics(struct work *work)
{
    html_metrics_begin(&work->metrics, &work->reading.counts, false);
    work->shown = memory_new(work->metrics.count, sizeof *work->shown);
    for (size_t i = 0; i < work->metrics.count; ++i)
        if (is_known(work, i))
            work->shown[work->shown_count++] = i;
}

static void write_metric(const struct work *work, const struct table *table, size_t column,
                         struct bytes *bytes)
{
    for (size_t i = 0; i < table->count; ++i)
        html_metrics_write(&work->metrics, column, &table->rows[i].quantities,
                           table->rows[i].counts, bytes);
}

static void write_table(struct work *work, struct table *table, struct bytes *bytes)
{
    for (size_t i = 0; i < table->count; ++i)
        table->rows[i].cells[NAME] = number_of(work, (uint32_t)table->rows[i].cells[NAME]);
    bytes_varint(bytes, table->count);
    for (unsigned column = 0; column < COLUMNS; ++column)
        write_column(table, column, bytes);
    for (size_t i = 0; i < work->shown_count; ++i)
        write_metric(work, table, work->shown[i], bytes);
    write_names(work, table, bytes);
}

static json_t *metrics_json(const struct work *work)
{
    struct metrics recorded = {0};
    json_t *list = json_array();
    (void)counts_metrics(work->export->trace, &recorded);
    for (size_t i = 0; i < work->shown_count; ++i)
        (void)json_array_append_new(list,
                                    html_metrics_json(&work->metrics, work->shown[i], &recorded));
    return list;
}

static json_t *texts_json(const struct work *work)
{
    const struct texts *texts = &work->reading.texts;
    uint32_t *order = memory_new(work->number_count, sizeof *order);
    json_t *list = json_array();
    for (uint32_t i = 0; i < texts->count; ++i)
        if (work->numbers[i])
            order[work->numbers[i] - 1] = i;
    for (uint32_t i = 0; i < work->number_count; ++i) {
        json_t *text = open_text(texts->list[order[i]]);
        (void)json_array_append_new(list, json_is_null(text) ? json_string("") : text);
    }
    free(order);
    return list;
}

static void write_head(const struct work *work, struct bytes *bytes)
{
    json_t *head = json_pack("{s:o,s:o,s:I,s:I}", "metrics", metrics_json(work), "texts",
                             texts_json(work), "outside", (json_int_t)work->reading.outside,
                             "left_out", (json_int_t)(work->wanted - work->singles.count));
    char *text = head ? json_dumps(head, JSON_COMPACT) : NULL;
    json_decref(head);
    if (!text)
        memory_is_short();
    size_t size = strlen(text);
    bytes_varint(bytes, size);
    bytes_add(bytes, text, size);
    free(text);
}

static void write_all(struct work *work, struct bytes *bytes)
{
    struct bytes tables = {0};
    write_table(work, &work->singles, &tables);
    write_table(work, &work->merged, &tables);
    write_head(work, bytes);
    bytes_add(bytes, tables.data, tables.used);
    if (tables.failed)
        memory_is_short();
    bytes_free(&tables);
}

static void free_table(struct table *table)
{
    for (size_t i = 0; i < table->count; ++i)
        if (table->rows[i].owned)
            free(table->rows[i].counts);
    free(table->rows);
    free(table->names);
}

static void make(struct work *work, struct bytes *bytes)
{
    struct ranges_reading *reading = &work->reading;
    size_t further = texts_number(&reading->texts, FURTHER);
    if (further == TEXTS_NONE)
        memory_is_short();
    work->further = (uint32_t)further;
    work->single = memory_new(reading->count, sizeof *work->single);
    work->merging = memory_new(reading->count, sizeof *work->merging);
    work->numbers = memory_new(reading->texts.count, sizeof *work->numbers);
    take_singles(work);
    take_merged(work);
    take_names(work, &work->singles, work->single);
    take_names(work, &work->merged, work->merging);
    choose_metrics(work);
    write_all(work, bytes);
    free(work->shown);
    free(work->single);
    free(work->merging);
    free(work->numbers);
    free(work->slots);
    free_table(&work->singles);
    free_table(&work->merged);
}

rtl_status_t html_ranges(const struct export *export, uint64_t zero, struct bytes *bytes)
{
    struct work work = {.export = export, .zero = zero};
    if (export->info.ranges == 0)
        return RTL_OK;
    rtl_status_t status = ranges_read(export->trace, false, &work.reading);
    if (status != RTL_OK)
        return status;
    for (size_t i = 0; i < work.reading.count; ++i)
        work.wanted += is_wanted(export, &work.reading.rows[i]);
    if (work.wanted > 0)
        make(&work, bytes);
    ranges_free(&work.reading);
    return RTL_OK;
}
