#include "graph/find.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

#define SLOW_TIMES    1.5
#define SLOW_OTHERS   2u
#define UNSTEADY      0.25
#define GAP_PART      100u /* of a launch */
#define GAP_TIMES     5u
#define LEAST_REPLAYS 3u /* fewer tell nothing of a node */

/* A node with what makes it like others. */
struct alike {
    const struct graph_node *node;
    uint32_t number;
    uint64_t p50;
};

struct findings {
    struct graph_finding *list;
    size_t count, capacity;
};

static void add(struct findings *findings, struct graph_finding finding)
{
    if (findings->count == findings->capacity) {
        findings->capacity = findings->capacity ? 2 * findings->capacity : 16;
        findings->list = memory_grown(findings->list, findings->capacity, sizeof *findings->list);
    }
    findings->list[findings->count++] = finding;
}

static int by_kernel(const struct alike *a, const struct alike *b)
{
    static const rtl_graph_node_t none = {0};
    const rtl_graph_node_t *x = a->node->node ? a->node->node : &none;
    const rtl_graph_node_t *y = b->node->node ? b->node->node : &none;
    int order = strcmp(a->node->name, b->node->name);
    if (order == 0)
        order = memcmp(x->grid, y->grid, sizeof x->grid);
    return order ? order : memcmp(x->block, y->block, sizeof x->block);
}

static int by_kernel_and_time(const void *left, const void *right)
{
    const struct alike *a = left;
    const struct alike *b = right;
    int order = by_kernel(a, b);
    return order ? order : (a->p50 > b->p50) - (a->p50 < b->p50);
}

/* The nodes of one kernel and grid, by p50: the median of the others is that of the list without
 * the one that is looked at. */
static void find_slow_among(struct findings *findings, const struct alike *list, size_t count)
{
    if (count < SLOW_OTHERS + 1)
        return;
    for (size_t i = 0; i < count; ++i) {
        size_t middle = (count - 2) / 2;
        uint64_t usual = list[middle < i ? middle : middle + 1].p50;
        if ((double)list[i].p50 > SLOW_TIMES * (double)usual)
            add(findings, (struct graph_finding){.kind = GRAPH_SLOW,
                                                 .node = list[i].number,
                                                 .weight = list[i].p50 - usual,
                                                 .usual = usual,
                                                 .others = (uint32_t)count - 1});
    }
}

static void find_slow(struct findings *findings, struct graph_reading *reading)
{
    struct alike *list = memory_new(reading->node_count, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < reading->node_count; ++i) {
        struct graph_node *node = &reading->nodes[i];
        if (node->time.count >= LEAST_REPLAYS)
            list[count++] = (struct alike){node, (uint32_t)i, stats_quantile(&node->time, 500)};
    }
    qsort(list, count, sizeof *list, by_kernel_and_time);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && by_kernel(&list[i], &list[next]) == 0;)
            ++next;
        find_slow_among(findings, list + i, next - i);
    }
    free(list);
}

static void find_unsteady(struct findings *findings, const struct graph_reading *reading)
{
    for (size_t i = 0; i < reading->node_count; ++i) {
        const struct stats *time = &reading->nodes[i].time;
        double variation = stats_variation(time);
        if (time->count >= LEAST_REPLAYS && variation >= UNSTEADY)
            add(findings, (struct graph_finding){.kind = GRAPH_UNSTEADY,
                                                 .node = (uint32_t)i,
                                                 .weight = (uint64_t)stats_deviation(time),
                                                 .variation = variation});
    }
}

static void find_gaps(struct findings *findings, struct graph_reading *reading)
{
    struct stats gaps = {0};
    uint64_t launch = stats_quantile(&reading->time, 500);
    for (size_t i = 0; i < reading->node_count; ++i)
        if (reading->nodes[i].gap.count)
            stats_add(&gaps, stats_quantile(&reading->nodes[i].gap, 500));
    uint64_t usual = stats_quantile(&gaps, 500);
    for (size_t i = 0; i < reading->node_count; ++i) {
        uint64_t gap = stats_quantile(&reading->nodes[i].gap, 500);
        if (gap > launch / GAP_PART && gap >= GAP_TIMES * usual)
            add(findings,
                (struct graph_finding){.kind = GRAPH_GAP, .node = (uint32_t)i, .weight = gap});
    }
    stats_free(&gaps);
}

static int by_kind_and_weight(const void *left, const void *right)
{
    const struct graph_finding *a = left;
    const struct graph_finding *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

struct graph_finding *graph_find(struct graph_reading *reading, size_t *count)
{
    struct findings findings = {0};
    find_slow(&findings, reading);
    find_unsteady(&findings, reading);
    find_gaps(&findings, reading);
    if (findings.count)
        qsort(findings.list, findings.count, sizeof *findings.list, by_kind_and_weight);
    *count = findings.count;
    return findings.list;
}

const char *graph_finding_name(enum graph_finding_kind kind)
{
    static const char *const names[] = {"slow", "unsteady", "gap"};
    return names[kind];
}
