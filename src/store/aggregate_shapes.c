#include "store/aggregate.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

/* Only a process that died while it defined a shape leaves kernels without one. */
static const struct rtl_shape unknown_shape = {
    .symbol = RTL_TRACE_NONE, .name = "unknown kernel", .mangled = ""};

/* A shape on its way into order. */
struct place {
    const struct rtl_shape *shape;
    uint32_t number;
    unsigned by;
};

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_symbols(const struct rtl_shape *a, const struct rtl_shape *b)
{
    int order = compare_u32(a->process, b->process);
    return order ? order : compare_u32(a->symbol, b->symbol);
}

static int compare_geometry(const struct rtl_shape *a, const struct rtl_shape *b)
{
    int order = 0;
    for (int i = 0; i < 3 && order == 0; i++) {
        order = compare_u32(a->grid[i], b->grid[i]);
        order = order ? order : compare_u32(a->block[i], b->block[i]);
    }
    order = order ? order : compare_u32(a->group_size, b->group_size);
    return order ? order : compare_u32(a->private_size, b->private_size);
}

static int compare(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    int order = 0;
    if (a->by & (RTL_BY_SYMBOL | RTL_BY_SHAPE))
        order = compare_symbols(a->shape, b->shape);
    if (order == 0 && a->by & (RTL_BY_NAME | RTL_BY_SYMBOL | RTL_BY_SHAPE))
        order = strcmp(a->shape->name, b->shape->name);
    if (order == 0 && a->by & RTL_BY_SHAPE)
        order = compare_geometry(a->shape, b->shape);
    return order;
}

static void number_groups(struct rtl_aggregate_shapes *shapes, const struct place *places,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || compare(&places[i - 1], &places[i]) != 0)
            shapes->samples[shapes->count++] = places[i].number;
        else if (places[i].number < shapes->samples[shapes->count - 1]) /* the same each time */
            shapes->samples[shapes->count - 1] = places[i].number;
        shapes->groups[places[i].number] = shapes->count - 1;
    }
}

/* Shapes of a process count from 0; numbers far beyond their count are not worth room. */
static bool make_table(struct rtl_aggregate_shapes *shapes, const struct rtl_shape *first,
                       uint32_t count)
{
    struct rtl_aggregate_table *table = rtl_list_append(&shapes->tables, sizeof *table);
    uint32_t room = 2 * count + 64;
    if (!table || !(table->groups = malloc(room * sizeof *table->groups)))
        return false;
    table->process = first->process;
    table->count = room;
    uint32_t last = (uint32_t)shapes->trace->shapes.count;
    for (uint32_t i = 0; i < room; i++)
        table->groups[i] = shapes->groups[last];
    uint32_t place = (uint32_t)(first - (const struct rtl_shape *)shapes->trace->shapes.items);
    for (uint32_t i = 0; i < count; i++)
        if (first[i].shape < room)
            table->groups[first[i].shape] = shapes->groups[place + i];
    return true;
}

static bool make_tables(struct rtl_aggregate_shapes *shapes)
{
    const struct rtl_shape *items = shapes->trace->shapes.items;
    size_t count = shapes->trace->shapes.count;
    for (size_t first = 0, next = 0; first < count; first = next) {
        while (next < count && items[next].process == items[first].process)
            next++;
        if (!make_table(shapes, &items[first], (uint32_t)(next - first)))
            return false;
    }
    return true;
}

bool rtl_aggregate_shapes_make(struct rtl_aggregate_shapes *shapes, const rtl_trace_t *trace,
                               unsigned by)
{
    const struct rtl_shape *items = trace->shapes.items;
    uint32_t count = (uint32_t)trace->shapes.count;
    struct place *places = malloc((count + 1) * sizeof *places);
    *shapes = (struct rtl_aggregate_shapes){.trace = trace,
                                            .groups = calloc(count + 1, sizeof(uint32_t)),
                                            .samples = calloc(count + 1, sizeof(uint32_t))};
    bool made = places && shapes->groups && shapes->samples;
    for (uint32_t i = 0; made && i <= count; i++)
        places[i] = (struct place){i < count ? &items[i] : &unknown_shape, i, by};
    if (made) {
        qsort(places, count + 1, sizeof *places, compare);
        number_groups(shapes, places, count + 1);
        made = make_tables(shapes);
    }
    free(places);
    return made;
}

const struct rtl_aggregate_table *
rtl_aggregate_shapes_table(const struct rtl_aggregate_shapes *shapes, uint32_t process)
{
    static const struct rtl_aggregate_table none = {0};
    const struct rtl_aggregate_table *tables = shapes->tables.items;
    for (size_t i = 0; i < shapes->tables.count; i++)
        if (tables[i].process == process)
            return &tables[i];
    return &none;
}

uint32_t rtl_aggregate_shapes_find(const struct rtl_aggregate_shapes *shapes, uint32_t process,
                                   uint32_t shape)
{
    uint32_t place = rtl_index_get(&shapes->trace->shape_index, rtl_index_key(process, shape));
    return shapes->groups[place == RTL_INDEX_MISSING ? shapes->trace->shapes.count : place];
}

const struct rtl_shape *rtl_aggregate_shapes_sample(const struct rtl_aggregate_shapes *shapes,
                                                    uint32_t group)
{
    uint32_t place = shapes->samples[group];
    return place == shapes->trace->shapes.count
               ? &unknown_shape
               : (const struct rtl_shape *)shapes->trace->shapes.items + place;
}

void rtl_aggregate_shapes_free(struct rtl_aggregate_shapes *shapes)
{
    const struct rtl_aggregate_table *tables = shapes->tables.items;
    for (size_t i = 0; i < shapes->tables.count; i++)
        free(tables[i].groups);
    rtl_list_free(&shapes->tables);
    free(shapes->groups);
    free(shapes->samples);
}
