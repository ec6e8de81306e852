#include "analysis/graph_alike.h"

#include "common/index.h"

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text; ++text)
        hash = rtl_index_mix(hash, (unsigned char)*text);
    return hash;
}

rtl_status_t graph_alike(rtl_trace_t *trace, const rtl_graph_t *graph, uint64_t *number)
{
    const rtl_graph_node_t *nodes;
    size_t count;
    rtl_status_t status = rtlTraceGraphNodes(trace, graph, &nodes, &count);
    if (status != RTL_OK)
        return status;
    uint64_t hash = count ? count : rtl_index_mix(graph->generation, graph->graph);
    for (size_t i = 0; i < count; ++i) {
        const rtl_graph_node_t *node = &nodes[i];
        hash = mix_text(mix_text(hash, node->type), node->mangled);
        for (unsigned axis = 0; axis < 3; ++axis) {
            hash = rtl_index_mix(hash, node->grid[axis]);
            hash = rtl_index_mix(hash, node->block[axis]);
        }
        hash = rtl_index_mix(hash, node->enabled != 0);
    }
    *number = hash;
    return RTL_OK;
}
