/* Names of kernels by number, for scans. */
#include "store/aggregate.h"
#include "store/scan.h"

#include <stdlib.h>

struct rtl_scan_names {
    struct rtl_aggregate_shapes shapes;
};

struct rtl_scan_names *rtl_scan_names_new(const rtl_trace_t *trace)
{
    struct rtl_scan_names *names = calloc(1, sizeof *names);
    if (names && rtl_aggregate_shapes_make(&names->shapes, trace, RTL_BY_NAME))
        return names;
    rtl_scan_names_free(names);
    return NULL;
}

void rtl_scan_names_free(struct rtl_scan_names *names)
{
    if (names)
        rtl_aggregate_shapes_free(&names->shapes);
    free(names);
}

uint32_t rtl_scan_names_count(const struct rtl_scan_names *names)
{
    return names->shapes.count;
}

const char *rtl_scan_names_text(const struct rtl_scan_names *names, uint32_t number)
{
    return rtl_aggregate_shapes_sample(&names->shapes, number)->name;
}

void rtl_scan_names_of(const struct rtl_scan_names *names, const struct rtl_scan_chunk *chunk,
                       const struct rtl_codec_block *block, uint32_t *numbers)
{
    const struct rtl_aggregate_table *table =
        rtl_aggregate_shapes_table(&names->shapes, chunk->process);
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t shape = block->shape[i];
        numbers[i] = shape < table->count
                         ? table->groups[shape]
                         : rtl_aggregate_shapes_find(&names->shapes, chunk->process, shape);
    }
}

uint32_t rtl_scan_names_shape(const struct rtl_scan_names *names, uint32_t process, uint32_t shape)
{
    return rtl_aggregate_shapes_find(&names->shapes, process, shape);
}
