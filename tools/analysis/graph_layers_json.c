#include "analysis/graph_layers_json.h"

#include "analysis/stats_json.h"
#include "common/open.h"

static json_t *json_layers(struct graph_layers *layers)
{
    json_t *list = json_array();
    for (size_t i = 0; i < layers->period.count; ++i) {
        struct graph_layer *layer = &layers->layers[i];
        (void)json_array_append_new(
            list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:f, s:b}", "layer", (json_int_t)i,
                            "first_node", open_id(graph_layers_node(layers, i, 0)), "last_node",
                            open_id(graph_layers_node(layers, i, layers->period.length - 1)),
                            "time", graph_stats_json(&layer->took.time), "gap",
                            graph_stats_json(&layer->took.gap), "away",
                            graph_layers_away(layers, layer), "outlying", (int)layer->outlying));
    }
    if (layers->odd_length)
        (void)json_array_append_new(
            list,
            json_pack("{s:I, s:o, s:o, s:o, s:o, s:n, s:b, s:b}", "layer",
                      (json_int_t)layers->period.count, "first_node",
                      open_id(layers->nodes[graph_layers_end(layers)]), "last_node",
                      open_id(layers->nodes[graph_layers_odd_end(layers) - 1]), "time",
                      graph_stats_json(&layers->odd.time), "gap",
                      graph_stats_json(&layers->odd.gap), "away", "outlying", 0, "more_nodes", 1));
    return list;
}

static json_t *json_places(struct graph_layers *layers, const struct graph_reading *reading)
{
    uint64_t total = graph_layers_total(layers);
    json_t *list = json_array();
    for (size_t i = 0; i < layers->period.length; ++i) {
        struct graph_place *place = &layers->places[i];
        const struct graph_node *node = &reading->nodes[graph_layers_node(layers, 0, i)];
        (void)json_array_append_new(
            list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:f}", "place", (json_int_t)i, "name",
                            open_text(node->name), "grid", graph_sizes_json(node->grid), "block",
                            graph_sizes_json(node->block), "time", graph_stats_json(&place->time),
                            "gap", graph_stats_json(&place->gap), "share",
                            total ? (double)place->time.total / (double)total : 0.0));
    }
    return list;
}

static json_t *json_section(const struct graph_layers *layers, size_t from, size_t to,
                            struct graph_section *section)
{
    json_t *nodes = json_array();
    for (size_t i = from; i < to; ++i)
        (void)json_array_append_new(nodes, open_id(layers->nodes[i]));
    return json_pack("{s:o, s:o, s:o}", "nodes", nodes, "time", graph_stats_json(&section->time),
                     "gap", graph_stats_json(&section->gap));
}

json_t *graph_layers_json(struct graph_layers *layers, struct graph_reading *reading)
{
    if (!layers->found)
        return json_pack("{s:i, s:s}", "count", 0, "why", graph_layers_why(layers));
    json_t *object = json_pack(
        "{s:I, s:n, s:I, s:o, s:I, s:I, s:o, s:o, s:I}", "count", (json_int_t)layers->period.count,
        "why", "length", (json_int_t)layers->period.length, "launches",
        open_number(layers->launches), "nodes",
        (json_int_t)(graph_layers_end(layers) - graph_layers_begin(layers)), "all_nodes",
        (json_int_t)layers->node_count, "p50_ns", open_number(layers->usual), "distance_ns",
        open_number(layers->distance), "outlying", (json_int_t)layers->outlying);
    (void)json_object_set_new(object, "layers", json_layers(layers));
    (void)json_object_set_new(object, "places", json_places(layers, reading));
    (void)json_object_set_new(object, "before",
                              json_section(layers, 0, graph_layers_begin(layers), &layers->before));
    (void)json_object_set_new(
        object, "after",
        json_section(layers, graph_layers_odd_end(layers), layers->node_count, &layers->after));
    return object;
}
