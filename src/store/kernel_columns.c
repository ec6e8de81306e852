#include <rtl/rtl_trace.h>

#include <stddef.h>
#include <stdint.h>

static void put32(uint32_t *column, size_t place, uint32_t value)
{
    if (column)
        column[place] = value;
}

static void put64(uint64_t *column, size_t place, uint64_t value)
{
    if (column)
        column[place] = value;
}

static void put(const rtl_kernel_columns_t *columns, size_t place, const rtl_kernel_t *kernel)
{
    put64(columns->id, place, kernel->id);
    put64(columns->packet, place, kernel->packet);
    put64(columns->start, place, kernel->start);
    put64(columns->end, place, kernel->end);
    put64(columns->start_ticks, place, kernel->start_ticks);
    put64(columns->end_ticks, place, kernel->end_ticks);
    put64(columns->correlation, place, kernel->correlation);
    put64(columns->node_range, place, kernel->node_range);
    put32(columns->process, place, kernel->process);
    put32(columns->gpu, place, kernel->gpu);
    put32(columns->queue, place, kernel->queue);
    put32(columns->symbol, place, kernel->symbol);
    put32(columns->graph, place, kernel->graph);
    put32(columns->generation, place, kernel->generation);
    put32(columns->node, place, kernel->node);
    put32(columns->launch, place, kernel->launch);
    put32(columns->group_size, place, kernel->group_size);
    put32(columns->private_size, place, kernel->private_size);
    for (unsigned axis = 0; axis < 3; axis++) {
        put32(columns->grid[axis], place, kernel->grid[axis]);
        put32(columns->block[axis], place, kernel->block[axis]);
    }
    if (columns->certain)
        columns->certain[place] = kernel->certain != 0;
    if (columns->name)
        columns->name[place] = kernel->name;
}

rtl_status_t rtlKernelColumns(rtl_kernel_iter_t *iter, const rtl_kernel_columns_t *columns,
                              size_t capacity, size_t *count)
{
    rtl_kernel_t kernel;
    rtl_status_t status = RTL_OK;
    if (count)
        *count = 0;
    if (!iter || !columns || !count || capacity == 0 || columns->size < sizeof *columns)
        return RTL_E_ARGUMENT;
    while (*count < capacity && (status = rtlKernelNext(iter, &kernel)) == RTL_OK)
        put(columns, (*count)++, &kernel);
    return status == RTL_END && *count > 0 ? RTL_OK : status;
}
