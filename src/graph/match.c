#include "graph/match.h"

#include "common/index.h"

#include <stdlib.h>
#include <string.h>

#define RUNTIME "__amd_rocclr_"

uint64_t rtl_match_name(const char *name, size_t length)
{
    uint64_t hash = length;
    while (length) {
        uint64_t word = 0;
        size_t size = length < sizeof word ? length : sizeof word;
        memcpy(&word, name, size);
        hash = rtl_index_mix(hash, word);
        name += size;
        length -= size;
    }
    return hash | 1;
}

static bool holds(const char *name, size_t length, const char *part)
{
    return memmem(name, length, part, strlen(part)) != NULL;
}

enum rtl_match_kind rtl_match_kind(const char *name, size_t length)
{
    size_t prefix = strlen(RUNTIME);
    if (length < prefix || memcmp(name, RUNTIME, prefix) != 0)
        return RTL_MATCH_KERNEL;
    if (holds(name, length, "fill"))
        return RTL_MATCH_FILL;
    return holds(name, length, "copy") ? RTL_MATCH_COPY : RTL_MATCH_OTHER;
}

/* How much of a kernel has to agree. What comes later is for nodes or kernels of which less is
 * known. */
enum strictness { ALL, WITHOUT_GROUP, GEOMETRY, STRICTNESSES };

/* A node or kernel by what it runs, and its place. */
struct key {
    uint64_t name;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t group_size;
    uint32_t place;
};

struct matching {
    const struct rtl_order_graph *graph;
    const struct rtl_match_kernel *const *kernels;
    uint32_t count;
    uint32_t *nodes;
    bool *certain;
    /* Of both kinds those that have no partner yet; room for all. */
    struct key *free_nodes, *free_kernels;
    uint32_t node_count, kernel_count;
    bool *taken;       /* by node */
    uint32_t *list;    /* room for all nodes */
    uint32_t *scratch; /* for rtl_order_total */
};

static struct key key_of(uint64_t name, const uint32_t grid[3], const uint16_t block[3],
                         uint32_t group_size, enum strictness strictness)
{
    struct key key = {.name = strictness == GEOMETRY ? 0 : name,
                      .group_size = strictness == ALL ? group_size : 0};
    for (int i = 0; i < 3; i++) {
        key.grid[i] = grid[i];
        key.block[i] = block[i];
    }
    return key;
}

static int compare_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* What they run, not where. */
static int compare(const struct key *a, const struct key *b)
{
    int order = compare_number(a->name, b->name);
    for (int i = 0; i < 3 && order == 0; i++)
        order = compare_number(a->grid[i], b->grid[i]);
    for (int i = 0; i < 3 && order == 0; i++)
        order = compare_number(a->block[i], b->block[i]);
    return order ? order : compare_number(a->group_size, b->group_size);
}

static int by_key(const void *left, const void *right)
{
    const struct key *a = left;
    const struct key *b = right;
    int order = compare(a, b);
    return order ? order : compare_number(a->place, b->place);
}

static void collect(struct matching *matching, enum strictness strictness)
{
    matching->node_count = matching->kernel_count = 0;
    for (uint32_t i = 0; i < matching->graph->count; i++) {
        const struct rtl_order_node *node = &matching->graph->nodes[i];
        if (node->type != RTL_NODE_KERNEL || node->flags & RTL_NODE_DISABLED || matching->taken[i])
            continue;
        struct key key = key_of(node->name, node->grid, node->block, node->group_size, strictness);
        key.place = i;
        matching->free_nodes[matching->node_count++] = key;
    }
    for (uint32_t i = 0; i < matching->count; i++) {
        const struct rtl_match_kernel *kernel = matching->kernels[i];
        if (kernel->kind != RTL_MATCH_KERNEL || matching->nodes[i] != RTL_NONE)
            continue;
        struct key key =
            key_of(kernel->name, kernel->grid, kernel->block, kernel->group_size, strictness);
        key.place = i;
        matching->free_kernels[matching->kernel_count++] = key;
    }
    qsort(matching->free_nodes, matching->node_count, sizeof(struct key), by_key);
    qsort(matching->free_kernels, matching->kernel_count, sizeof(struct key), by_key);
}

static bool names_agree(const struct matching *matching, uint32_t node, uint32_t kernel)
{
    uint64_t a = matching->graph->nodes[node].name;
    uint64_t b = matching->kernels[kernel]->name;
    return a == 0 || b == 0 || a == b;
}

/* `size` nodes and as many kernels that run the same, both in order. */
static void pair(struct matching *matching, const struct key *nodes, const struct key *kernels,
                 uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        if (!names_agree(matching, nodes[i].place, kernels[i].place))
            return;
        matching->list[i] = nodes[i].place;
    }
    bool certain =
        size == 1 || rtl_order_total(matching->graph, matching->list, size, matching->scratch);
    for (uint32_t i = 0; i < size; i++) {
        matching->nodes[kernels[i].place] = nodes[i].place;
        matching->certain[kernels[i].place] = certain;
        matching->taken[nodes[i].place] = true;
    }
}

static uint32_t same_as_first(const struct key *keys, uint32_t count)
{
    uint32_t size = 1;
    while (size < count && compare(&keys[0], &keys[size]) == 0)
        size++;
    return size;
}

static void match_kernels(struct matching *matching, enum strictness strictness)
{
    collect(matching, strictness);
    uint32_t node = 0;
    uint32_t kernel = 0;
    while (node < matching->node_count && kernel < matching->kernel_count) {
        const struct key *nodes = &matching->free_nodes[node];
        const struct key *kernels = &matching->free_kernels[kernel];
        int order = compare(nodes, kernels);
        uint32_t node_size = order <= 0 ? same_as_first(nodes, matching->node_count - node) : 0;
        uint32_t kernel_size =
            order >= 0 ? same_as_first(kernels, matching->kernel_count - kernel) : 0;
        if (order == 0 && node_size == kernel_size)
            pair(matching, nodes, kernels, node_size);
        node += node_size;
        kernel += kernel_size;
    }
}

/* The runtime's own kernels. */

static uint32_t nodes_of(const struct matching *matching, uint32_t type, uint32_t from, uint32_t to,
                         uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++)
        if (matching->graph->nodes[i].type == type &&
            !(matching->graph->nodes[i].flags & RTL_NODE_DISABLED))
            list[count++] = i;
    return count;
}

/* Gives the kernels of the kind among [from, to) to the candidates in `list`. A memset makes one
 * kernel or more, a memcpy maybe none (a copy engine does it): so equal numbers are proof for the
 * one and not for the other. */
static void give(struct matching *matching, enum rtl_match_kind kind, uint32_t from, uint32_t to,
                 uint32_t candidates, bool ordered)
{
    uint32_t kernels = 0;
    for (uint32_t i = from; i < to; i++)
        kernels += matching->kernels[i]->kind == kind;
    bool certain = candidates == 1 || (kind == RTL_MATCH_FILL && kernels == candidates && ordered);
    uint32_t next = 0;
    for (uint32_t i = from; i < to && candidates; i++) {
        if (matching->kernels[i]->kind != kind)
            continue;
        matching->nodes[i] = matching->list[next < candidates ? next : candidates - 1];
        matching->certain[i] = certain;
        next++;
    }
}

/* In a graph with one order only, what lies between two kernels lies between their nodes. */
static void match_between(struct matching *matching, enum rtl_match_kind kind, uint32_t type)
{
    uint32_t from = 0;
    uint32_t after = 0;
    for (uint32_t i = 0; i <= matching->count; i++) {
        bool last = i == matching->count;
        if (!last && (matching->kernels[i]->kind != RTL_MATCH_KERNEL ||
                      matching->nodes[i] == RTL_NONE || matching->nodes[i] < after))
            continue;
        uint32_t to = last ? matching->graph->count : matching->nodes[i];
        give(matching, kind, from, i, nodes_of(matching, type, after, to, matching->list), true);
        from = i;
        after = to;
    }
}

static void match_runtime(struct matching *matching, enum rtl_match_kind kind, uint32_t type,
                          bool one_order)
{
    uint32_t all = nodes_of(matching, type, 0, matching->graph->count, matching->list);
    if (all > 1 && one_order) {
        match_between(matching, kind, type);
        return;
    }
    bool ordered =
        all > 1 && rtl_order_total(matching->graph, matching->list, all, matching->scratch);
    give(matching, kind, 0, matching->count, all, ordered);
}

static bool has_one_order(const struct matching *matching)
{
    for (uint32_t i = 0; i < matching->graph->count; i++)
        matching->list[i] = i;
    return rtl_order_total(matching->graph, matching->list, matching->graph->count,
                           matching->scratch);
}

static bool prepare(struct matching *matching)
{
    size_t nodes = (size_t)matching->graph->count + 1;
    size_t kernels = (size_t)matching->count + 1;
    matching->free_nodes = malloc(nodes * sizeof(struct key));
    matching->free_kernels = malloc(kernels * sizeof(struct key));
    matching->taken = calloc(nodes, sizeof(bool));
    matching->list = malloc(nodes * sizeof(uint32_t));
    matching->scratch = malloc(2 * nodes * sizeof(uint32_t));
    return matching->free_nodes && matching->free_kernels && matching->taken && matching->list &&
           matching->scratch;
}

static void release(struct matching *matching)
{
    free(matching->free_nodes);
    free(matching->free_kernels);
    free(matching->taken);
    free(matching->list);
    free(matching->scratch);
}

int rtl_match_whole(const struct rtl_order_graph *graph,
                    const struct rtl_match_kernel *const *kernels, uint32_t count, uint32_t *nodes,
                    bool *certain)
{
    struct matching matching = {
        .graph = graph, .kernels = kernels, .count = count, .nodes = nodes, .certain = certain};
    bool ready = prepare(&matching);
    if (ready) {
        for (uint32_t i = 0; i < count; i++) {
            nodes[i] = RTL_NONE;
            certain[i] = false;
        }
        for (int strictness = ALL; strictness < STRICTNESSES; strictness++)
            match_kernels(&matching, (enum strictness)strictness);
        bool one_order = has_one_order(&matching);
        match_runtime(&matching, RTL_MATCH_FILL, RTL_NODE_MEMSET, one_order);
        match_runtime(&matching, RTL_MATCH_COPY, RTL_NODE_MEMCPY, one_order);
    }
    release(&matching);
    return ready ? 0 : -1;
}

/* What is left of a launch. */

bool rtl_match_same(const struct rtl_match_kernel *a, const struct rtl_match_kernel *b)
{
    return a->kind == b->kind && (a->name == b->name || a->name == 0 || b->name == 0) &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           (a->group_size == b->group_size || a->group_size == RTL_NONE ||
            b->group_size == RTL_NONE);
}

/* The places in the sequence that kernel `i` of `count` may have, by counting alone: each kernel
 * lost before it left a packet before it, and so behind it. */
struct places {
    uint32_t least, most;
};

static struct places places_of(uint32_t i, uint32_t count, uint32_t ordinal, uint32_t packets,
                               uint32_t all)
{
    uint32_t lost = all - count;
    uint32_t gaps_before = ordinal - i;
    uint32_t gaps_behind = packets - 1 - ordinal - (count - 1 - i);
    uint32_t lost_before = lost < gaps_before ? lost : gaps_before;
    uint32_t lost_behind = lost < gaps_behind ? lost : gaps_behind;
    return (struct places){i + lost - lost_behind, i + lost_before};
}

void rtl_match_rest(const struct rtl_match_sequence *sequence, uint32_t packets,
                    const struct rtl_match_kernel *const *kernels, const uint32_t *ordinals,
                    uint32_t count, uint32_t *nodes, bool *certain)
{
    bool fits = count <= sequence->count && sequence->count <= packets;
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = RTL_NONE;
        certain[i] = false;
        fits = fits && ordinals[i] >= i && ordinals[i] < packets &&
               packets - 1 - ordinals[i] >= count - 1 - i;
    }
    /* As early as can be, from the front: `nodes` holds the places for now. */
    uint32_t place = 0;
    for (uint32_t i = 0; i < count && fits; i++) {
        struct places places = places_of(i, count, ordinals[i], packets, sequence->count);
        place = place > places.least ? place : places.least;
        while (place <= places.most && !rtl_match_same(sequence->kernels[place], kernels[i]))
            place++;
        fits = place <= places.most;
        nodes[i] = place++;
    }
    /* As late as can be, from the back. */
    uint32_t end = sequence->count;
    for (uint32_t i = count; i-- > 0 && fits;) {
        struct places places = places_of(i, count, ordinals[i], packets, sequence->count);
        place = end && end - 1 < places.most ? end - 1 : places.most;
        while (place > nodes[i] && !rtl_match_same(sequence->kernels[place], kernels[i]))
            place--;
        certain[i] = place == nodes[i] && sequence->certain[place];
        end = place;
    }
    for (uint32_t i = 0; i < count; i++) {
        certain[i] = fits && certain[i];
        nodes[i] = fits ? sequence->nodes[nodes[i]] : RTL_NONE;
    }
}

uint32_t rtl_match_nodes(const struct rtl_order_graph *graph, struct rtl_match_kernel *kernels,
                         uint32_t *nodes, uint32_t *scratch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct rtl_order_node *node = &graph->nodes[i];
        if (node->flags & RTL_NODE_DISABLED)
            continue;
        if (node->type == RTL_NODE_MEMCPY || node->type == RTL_NODE_MEMSET ||
            node->type == RTL_NODE_OTHER)
            return RTL_NONE;
        if (node->type != RTL_NODE_KERNEL)
            continue;
        kernels[count] =
            (struct rtl_match_kernel){.name = node->name, .group_size = node->group_size};
        memcpy(kernels[count].grid, node->grid, sizeof node->grid);
        memcpy(kernels[count].block, node->block, sizeof node->block);
        nodes[count++] = i;
    }
    return rtl_order_total(graph, nodes, count, scratch) ? count : RTL_NONE;
}
