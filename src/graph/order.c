#include "graph/order.h"

/* How far along the list something is: the place, from 1, of the last node of the list that it
 * comes after. */
struct progress {
    uint32_t *entered; /* by node: when it begins, itself included */
    uint32_t *left;    /* by node: when it and all in it are done */
};

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t before(const struct rtl_order_graph *graph, uint32_t node,
                       const struct progress *progress)
{
    const struct rtl_order_node *it = &graph->nodes[node];
    uint32_t reached = it->parent < node ? progress->entered[it->parent] : 0;
    for (uint32_t i = 0; i < it->dependencies; i++) {
        size_t place = (size_t)it->dependency + i;
        uint32_t on = place < graph->dependency_count ? graph->dependencies[place] : node;
        if (on < node)
            reached = later(reached, progress->left[on]);
    }
    return reached;
}

static void leave(const struct rtl_order_graph *graph, uint32_t node, uint32_t reached,
                  const struct progress *progress)
{
    progress->entered[node] = progress->left[node] = reached;
    for (uint32_t inner = node, outer = graph->nodes[node].parent; outer < inner;
         inner = outer, outer = graph->nodes[inner].parent)
        progress->left[outer] = later(progress->left[outer], reached);
}

bool rtl_order_total(const struct rtl_order_graph *graph, const uint32_t *list, uint32_t count,
                     uint32_t *scratch)
{
    const struct progress progress = {scratch, scratch + graph->count};
    uint32_t next = 0;
    for (uint32_t node = 0; node < graph->count && next < count; node++) {
        uint32_t reached = before(graph, node, &progress);
        if (node == list[next]) {
            if (reached < next)
                return false;
            reached = ++next;
        }
        leave(graph, node, reached, &progress);
    }
    return next == count;
}
