#include "graph/layers_show.h"

#include "common/show.h"
#include "common/table.h"

#include <inttypes.h>

static struct shown mean(const struct stats *stats)
{
    return stats->count ? show_duration(stats->mean) : (struct shown){"-"};
}

static struct shown quantile(struct stats *stats, unsigned per_mille)
{
    return stats->count ? show_duration((double)stats_quantile(stats, per_mille))
                        : (struct shown){"-"};
}

static void heading(struct table *table, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        table_cell(table, cells[i]);
}

#define HEADING(table, cells) heading(table, cells, sizeof(cells) / sizeof *(cells))

static void show_outside(const char *where, size_t count, struct graph_section *section)
{
    (void)printf("  %s: %s", where, show_things(count, "node").text);
    if (count)
        (void)printf(", %s (p50)", quantile(&section->time, 500).text);
    (void)putchar('\n');
}

static void show_head(struct graph_layers *layers, const struct graph_reading *reading)
{
    size_t behind = layers->node_count - graph_layers_odd_end(layers);
    size_t held = layers->node_count - graph_layers_begin(layers) - behind;
    (void)printf("  %s of %s", show_things(layers->period.count, "layer").text,
                 show_things(layers->period.length, "node").text);
    if (layers->odd_length)
        (void)printf(", and a last one of %zu", layers->odd_length);
    (void)printf(": nodes %" PRIu32 " to %" PRIu32 ", %s of the graph's\n",
                 graph_layers_node(layers, 0, 0), layers->nodes[graph_layers_odd_end(layers) - 1],
                 show_share(held, layers->node_count).text);
    show_outside("before the first", graph_layers_begin(layers), &layers->before);
    show_outside("after the last", behind, &layers->after);
    (void)printf("  a layer takes %s (the median of the p50 of all layers)\n",
                 show_duration((double)layers->usual).text);
    if (layers->launches < reading->replay_count)
        (void)printf("  of %s that are whole, %s count: all their nodes are known\n",
                     show_things(reading->replay_count, "launch").text,
                     show_count(layers->launches).text);
}

static void show_outlying(struct graph_layers *layers)
{
    if (layers->outlying == 0)
        return;
    (void)printf("  ");
    show_styled(stdout, SHOW_BAD, "outlying");
    (void)printf(" %s of %s: p50 more than %s away from that\n", show_count(layers->outlying).text,
                 show_things(layers->period.count, "layer").text,
                 show_duration((double)graph_layers_limit(layers)).text);
}

static void show_took(struct table *table, size_t number, uint32_t first, uint32_t last,
                      struct graph_section *took)
{
    char text[64];
    table_cell(table, show_count(number).text);
    (void)snprintf(text, sizeof text, "%" PRIu32 "-%" PRIu32, first, last);
    table_cell(table, text);
    table_cell(table, mean(&took->time).text);
    table_cell(table, quantile(&took->time, 500).text);
    table_cell(table, quantile(&took->time, 900).text);
    table_cell(table, mean(&took->gap).text);
}

/* It has more to do than the others, so it is not measured by them. */
static void show_odd(struct graph_layers *layers, struct table *table)
{
    show_took(table, layers->period.count, layers->nodes[graph_layers_end(layers)],
              layers->nodes[graph_layers_odd_end(layers) - 1], &layers->odd);
    table_cell(table, "");
    table_cell(table, "more nodes");
}

static void show_layer(struct graph_layers *layers, struct table *table, size_t number)
{
    struct graph_layer *layer = &layers->layers[number];
    char text[64];
    show_took(table, number, graph_layers_node(layers, number, 0),
              graph_layers_node(layers, number, layers->period.length - 1), &layer->took);
    (void)snprintf(text, sizeof text, "%+.1f %%", 100 * graph_layers_away(layers, layer));
    table_cell(table, text);
    table_cell(table, layer->outlying ? "outlying" : "usual");
}

static void show_more(size_t count, unsigned top)
{
    if (top && count > top)
        (void)printf("  and %zu more (--top 0)\n", count - top);
}

static void show_layers(struct graph_layers *layers, unsigned top)
{
    static const char *const cells[] = {"layer", "nodes", "mean", "p50",
                                        "p90",   "gap",   "away", "verdict"};
    struct table *table = table_new("rrrrrrrl");
    (void)putchar('\n');
    HEADING(table, cells);
    for (size_t i = 0; i < layers->period.count && (!top || i < top); ++i)
        show_layer(layers, table, i);
    if (layers->odd_length && (!top || layers->period.count < top))
        show_odd(layers, table);
    table_print(table, stdout);
    show_more(layers->period.count + (layers->odd_length > 0), top);
}

static void show_places(struct graph_layers *layers, const struct graph_reading *reading, bool wide)
{
    static const char *const cells[] = {"place", "mean", "gap", "share", "kernel"};
    uint64_t total = graph_layers_total(layers);
    struct table *table = table_new("rrrrn");
    table_wide(table, wide);
    (void)putchar('\n');
    HEADING(table, cells);
    for (size_t i = 0; i < layers->period.length; ++i) {
        table_cell(table, show_count(i).text);
        table_cell(table, mean(&layers->places[i].time).text);
        table_cell(table, mean(&layers->places[i].gap).text);
        table_cell(table, show_share(layers->places[i].time.total, total).text);
        table_cell(table, reading->nodes[graph_layers_node(layers, 0, i)].name);
    }
    table_print(table, stdout);
}

static void show_node(struct table *table, const struct graph_reading *reading, uint32_t number)
{
    const struct graph_node *node = &reading->nodes[number];
    table_cell(table, show_count(number).text);
    table_cell(table, mean(&node->time).text);
    table_cell(table, mean(&node->gap).text);
    table_cell(table, node->name);
}

/* The nodes before and after the layers. */
static void show_others(const struct graph_layers *layers, const struct graph_reading *reading,
                        unsigned top, bool wide)
{
    static const char *const cells[] = {"outside", "mean", "gap", "kernel"};
    size_t begin = graph_layers_begin(layers);
    size_t end = graph_layers_odd_end(layers);
    size_t count = begin + layers->node_count - end;
    if (count == 0)
        return;
    struct table *table = table_new("rrrn");
    table_wide(table, wide);
    (void)putchar('\n');
    HEADING(table, cells);
    for (size_t i = 0; i < count && (!top || i < top); ++i)
        show_node(table, reading, layers->nodes[i < begin ? i : end + i - begin]);
    table_print(table, stdout);
    show_more(count, top);
}

void graph_layers_show(struct graph_layers *layers, struct graph_reading *reading,
                       unsigned layer_top, unsigned node_top, bool wide)
{
    if (!layers->found) {
        (void)printf("  %s\n", graph_layers_why(layers));
        return;
    }
    show_head(layers, reading);
    show_outlying(layers);
    show_layers(layers, layer_top);
    show_places(layers, reading, wide);
    show_others(layers, reading, node_top, wide);
}
