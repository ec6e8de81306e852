#include "graph/registry.h"

#include <stdlib.h>
#include <string.h>

/* Ids of symbols, shapes and queues are places in arrays; one beyond this is nonsense. */
#define IDS_MAX (1u << 20)

/* Most items of any array here. */
#define ITEMS_MAX (1u << 24)

bool rtl_registry_grow(void **items, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count <= *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 16;
    while (wanted < count && wanted <= ITEMS_MAX)
        wanted *= 2;
    char *more = wanted <= ITEMS_MAX ? realloc(*items, wanted * size) : NULL;
    if (!more)
        return false;
    memset(more + *capacity * size, 0, (wanted - *capacity) * size);
    *items = more;
    *capacity = wanted;
    return true;
}

void rtl_registry_free(struct rtl_registry *registry)
{
    for (uint32_t i = 0; i < registry->symbol_count; i++)
        free(registry->symbols[i].text);
    free(registry->symbols);
    free(registry->shapes);
    free(registry->agents);
}

void rtl_registry_queue(struct rtl_registry *registry, const struct rtl_wire_queue *queue)
{
    uint32_t before = registry->queue_count;
    if (queue->queue >= IDS_MAX ||
        !rtl_registry_grow((void **)&registry->agents, &registry->queue_count, queue->queue + 1,
                           sizeof *registry->agents)) {
        registry->forgotten++;
        return;
    }
    for (uint32_t i = before; i < registry->queue_count; i++)
        registry->agents[i] = RTL_NONE;
    registry->agents[queue->queue] = queue->agent;
}

void rtl_registry_symbol(struct rtl_registry *registry, const struct rtl_wire_symbol *symbol,
                         const char *name)
{
    if (symbol->symbol >= IDS_MAX ||
        !rtl_registry_grow((void **)&registry->symbols, &registry->symbol_count, symbol->symbol + 1,
                           sizeof *registry->symbols)) {
        registry->forgotten++;
        return;
    }
    struct rtl_known_symbol *known = &registry->symbols[symbol->symbol];
    free(known->text);
    *known = (struct rtl_known_symbol){
        .known = true,
        .kind = (uint16_t)rtl_match_kind(name, symbol->name_length),
        .length = symbol->name_length,
        .group_size = symbol->group_size,
        .name = rtl_match_name(name, symbol->name_length),
        .text = malloc(symbol->name_length + (size_t)1),
    };
    if (known->text) {
        memcpy(known->text, name, symbol->name_length);
    } else {
        known->length = 0;
        registry->forgotten++;
    }
}

void rtl_registry_shape(struct rtl_registry *registry, const struct rtl_wire_shape *shape)
{
    if (shape->shape >= IDS_MAX ||
        !rtl_registry_grow((void **)&registry->shapes, &registry->shape_count, shape->shape + 1,
                           sizeof *registry->shapes)) {
        registry->forgotten++;
        return;
    }
    struct rtl_known_shape *known = &registry->shapes[shape->shape];
    *known = (struct rtl_known_shape){
        .known = true, .symbol = shape->symbol, .group_size = shape->group_size};
    memcpy(known->kernel.grid, shape->grid, sizeof known->kernel.grid);
    memcpy(known->kernel.block, shape->block, sizeof known->kernel.block);
}

bool rtl_registry_kernel(const struct rtl_registry *registry, uint32_t shape,
                         struct rtl_match_kernel *kernel)
{
    *kernel = (struct rtl_match_kernel){.group_size = RTL_NONE};
    if (shape >= registry->shape_count || !registry->shapes[shape].known)
        return false;
    const struct rtl_known_shape *known = &registry->shapes[shape];
    *kernel = known->kernel;
    kernel->group_size = RTL_NONE;
    if (known->symbol == RTL_NONE)
        return true;
    if (known->symbol >= registry->symbol_count || !registry->symbols[known->symbol].known)
        return false;
    const struct rtl_known_symbol *symbol = &registry->symbols[known->symbol];
    kernel->name = symbol->name;
    kernel->kind = symbol->kind;
    if (known->group_size >= symbol->group_size)
        kernel->group_size = known->group_size - symbol->group_size;
    return true;
}

void rtl_registry_report(struct rtl_registry *registry, const struct rtl_in_flight *in_flight,
                         uint32_t plan, uint32_t head_plan)
{
    const struct rtl_graphs_launch launch = {.body = &in_flight->body,
                                             .plan = plan,
                                             .head_plan = head_plan,
                                             .recorded = in_flight->count,
                                             .spans = in_flight->spans,
                                             .span_count = in_flight->span_count};
    registry->sink.launch(registry->sink.context, &launch);
}
