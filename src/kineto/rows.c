#include "kineto/rows.h"

#include <stdlib.h>

#define UNKNOWN_DEVICE    (PU1_PROCESSES_OF_A_VENDOR - 1)
#define FIRST_FAR_PROCESS (PU1_FIRST_PROCESS + (1 << 20))

_Static_assert(PU1_SESSION_VENDORS *PU1_PROCESSES_OF_A_VENDOR <= 1 << 20, "vendors have room");

struct pu1_rows {
    size_t count;
    pu1_row_t items[];
};

bool pu1_is_device_work(const pu1_item_t *item)
{
    return (PU1_KIND_BIT(item->record.kind) & PU1_DEVICE_KINDS) != 0;
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare(const void *first, const void *second)
{
    const pu1_row_t *a = first;
    const pu1_row_t *b = second;
    int result = order(a->vendor, b->vendor);
    result = result != 0 ? result : order(a->device, b->device);
    return result != 0 ? result : order(a->stream, b->stream);
}

static bool are_of_one_device(const pu1_row_t *a, const pu1_row_t *b)
{
    return a->vendor == b->vendor && a->device == b->device;
}

static pu1_row_t row_of(const pu1_item_t *item)
{
    return (pu1_row_t){
        .vendor = item->vendor, .device = item->record.device_id, .stream = item->record.stream_id};
}

/* Keeps one of each; they are sorted. */
static void remove_doubles(pu1_rows_t *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (kept == 0 || compare(&rows->items[kept - 1], &rows->items[i]) != 0)
            rows->items[kept++] = rows->items[i];
    rows->count = kept;
}

int32_t pu1_process_of(size_t vendor, uint32_t device)
{
    int32_t place = device == PU1_NO_DEVICE ? UNKNOWN_DEVICE : (int32_t)device;
    return PU1_FIRST_PROCESS + (int32_t)vendor * PU1_PROCESSES_OF_A_VENDOR + place;
}

/* `far`: how many devices without room stand before it. */
static int32_t process_of(const pu1_row_t *row, int32_t far)
{
    bool has_room = row->device == PU1_NO_DEVICE || row->device < UNKNOWN_DEVICE;
    return has_room ? pu1_process_of(row->vendor, row->device) : FIRST_FAR_PROCESS + far;
}

/* They are sorted: a device's rows stand together. */
static void number(pu1_rows_t *rows)
{
    int32_t far = 0;   /* devices without room */
    int32_t large = 0; /* large streams of the device */
    for (size_t i = 0; i < rows->count; i++) {
        pu1_row_t *row = &rows->items[i];
        bool same = i > 0 && are_of_one_device(row - 1, row);
        large = same ? large : 0;
        row->process = same ? row[-1].process : process_of(row, far);
        far += !same && row->process >= FIRST_FAR_PROCESS;
        row->thread = row->stream < PU1_FIRST_LARGE_STREAM ? (int32_t)row->stream
                                                           : PU1_FIRST_LARGE_STREAM + large++;
    }
}

pu1_rows_t *pu1_rows_new(const pu1_item_t *items, size_t count)
{
    pu1_rows_t *rows = calloc(1, sizeof *rows + count * sizeof rows->items[0]);
    if (rows == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (pu1_is_device_work(&items[i]))
            rows->items[rows->count++] = row_of(&items[i]);
    qsort(rows->items, rows->count, sizeof rows->items[0], compare);
    remove_doubles(rows);
    number(rows);
    return rows;
}

void pu1_rows_free(pu1_rows_t *rows)
{
    free(rows);
}

const pu1_row_t *pu1_rows_all(const pu1_rows_t *rows, size_t *count)
{
    *count = rows->count;
    return rows->items;
}

const pu1_row_t *pu1_row_of(const pu1_rows_t *rows, const pu1_item_t *item)
{
    pu1_row_t key = row_of(item);
    return bsearch(&key, rows->items, rows->count, sizeof rows->items[0], compare);
}
