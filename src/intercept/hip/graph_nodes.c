#include "intercept/hip/graph_nodes.h"

#include "intercept/base/emit.h"
#include "intercept/hip/node_facts.h"
#include "intercept/hip/resolve.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST      64u      /* child graphs within child graphs */
#define MOST_NAME    4096u    /* bytes of a kernel's name in a record */
#define TYPES_FROM_0 50300000 /* HIP version that began to number the types of nodes from 0 */
#define MEMORY_NODES 50500000 /* HIP version that brought nodes which allocate and free */

/* A graph on one level, as HIP lists it; nodes are named by their index there. */
struct level {
    hipGraphNode_t *handles;
    hipGraphNode_t *from, *to;
    size_t count, edges;
    struct rtl_graph_handle *by_handle; /* by rising handle */
    uint32_t *first; /* where a node's dependencies begin in `sources`; one more than nodes */
    uint32_t *sources;
    uint32_t *order;  /* one that the dependencies allow */
    uint32_t *number; /* of each in rtl_graph_nodes */
};

static bool succeeded(hipError_t status)
{
    return status == hipSuccess;
}

/* Before ROCm 5.3 the values count from 1 and end with three more kinds of memcpy. Then they count
 * from 0 and have two more kinds, which the nodes for memory have pushed up. From the public
 * headers of HIP. */
enum rtl_node_type rtl_graph_type_of(int version, unsigned value)
{
    unsigned first = version < TYPES_FROM_0 ? 1 : 0;
    unsigned from = version < TYPES_FROM_0 ? 9 : version < MEMORY_NODES ? 10 : 12;
    unsigned to = version < TYPES_FROM_0 || version < MEMORY_NODES ? 11 : 13;
    if (value >= first && value - first <= RTL_NODE_EVENT_RECORD)
        return (enum rtl_node_type)(value - first);
    return value >= from && value <= to ? RTL_NODE_MEMCPY : RTL_NODE_OTHER;
}

int rtl_hip_version(void)
{
    static _Atomic int known;
    int version = atomic_load_explicit(&known, memory_order_relaxed);
    if (version != 0)
        return version;
    __typeof__(hipRuntimeGetVersion) *get =
        (__typeof__(hipRuntimeGetVersion) *)rtl_hip_symbol("hipRuntimeGetVersion");
    if (get != NULL && succeeded(get(&version)))
        atomic_store_explicit(&known, version, memory_order_relaxed);
    return version;
}

enum rtl_node_type rtl_graph_node_type(hipGraphNode_t node)
{
    hipGraphNodeType type = 0;
    int version = rtl_hip_version();
    if (version == 0 || rtl_hip_real(hipGraphNodeGetType) == NULL ||
        !succeeded(rtl_hip_real(hipGraphNodeGetType)(node, &type)))
        return RTL_NODE_OTHER;
    return rtl_graph_type_of(version, (unsigned)type);
}

static int compare_handles(const void *one, const void *other)
{
    const struct rtl_graph_handle *a = one, *b = other;
    return (a->handle > b->handle) - (a->handle < b->handle);
}

/* The index of a handle, RTL_NONE if it is not there. */
static uint32_t look_up(const struct rtl_graph_handle *by_handle, size_t count,
                        hipGraphNode_t handle)
{
    struct rtl_graph_handle key = {.handle = (uintptr_t)handle};
    const struct rtl_graph_handle *found =
        count > 0 ? bsearch(&key, by_handle, count, sizeof *by_handle, compare_handles) : NULL;
    return found != NULL ? found->index : RTL_NONE;
}

static void free_level(struct level *level)
{
    free(level->handles);
    free(level->from);
    free(level->to);
    free(level->by_handle);
    free(level->first);
    free(level->sources);
    free(level->order);
    free(level->number);
}

static bool list_nodes(hipGraph_t graph, struct level *level)
{
    if (!succeeded(rtl_hip_real(hipGraphGetNodes)(graph, NULL, &level->count)) ||
        level->count >= RTL_NONE)
        return false;
    level->handles = calloc(level->count + 1, sizeof(hipGraphNode_t));
    return level->handles != NULL &&
           (level->count == 0 ||
            succeeded(rtl_hip_real(hipGraphGetNodes)(graph, level->handles, &level->count)));
}

static bool list_edges(hipGraph_t graph, struct level *level)
{
    if (!succeeded(rtl_hip_real(hipGraphGetEdges)(graph, NULL, NULL, &level->edges)) ||
        level->edges >= RTL_NONE)
        return false;
    level->from = calloc(level->edges + 1, sizeof(hipGraphNode_t));
    level->to = calloc(level->edges + 1, sizeof(hipGraphNode_t));
    return level->from != NULL && level->to != NULL &&
           (level->edges == 0 || succeeded(rtl_hip_real(hipGraphGetEdges)(
                                     graph, level->from, level->to, &level->edges)));
}

/* Turns the list of edges into one of sources for each node. */
static bool sort_edges(struct level *level)
{
    level->first = calloc(level->count + 2, sizeof(uint32_t));
    level->sources = calloc(level->edges + 1, sizeof(uint32_t));
    if (level->first == NULL || level->sources == NULL)
        return false;
    uint32_t *end = level->first + 1; /* of a node; where it begins, once all are in */
    for (size_t i = 0; i < level->edges; i++) {
        uint32_t to = look_up(level->by_handle, level->count, level->to[i]);
        if (to == RTL_NONE || look_up(level->by_handle, level->count, level->from[i]) == RTL_NONE)
            return false;
        end[to + 1]++;
    }
    for (size_t i = 1; i <= level->count; i++)
        end[i] += end[i - 1];
    for (size_t i = 0; i < level->edges; i++)
        level->sources[end[look_up(level->by_handle, level->count, level->to[i])]++] =
            look_up(level->by_handle, level->count, level->from[i]);
    return true;
}

static bool sort_handles(struct level *level)
{
    level->by_handle = calloc(level->count + 1, sizeof *level->by_handle);
    if (level->by_handle == NULL)
        return false;
    for (uint32_t i = 0; i < level->count; i++)
        level->by_handle[i] = (struct rtl_graph_handle){(uintptr_t)level->handles[i], i};
    qsort(level->by_handle, level->count, sizeof *level->by_handle, compare_handles);
    return true;
}

/* Depth first, from each node in HIP's order to what it depends on. */
static bool sort_nodes(struct level *level)
{
    uint32_t *stack = calloc(level->count + 1, sizeof *stack);
    uint32_t *cursor = calloc(level->count + 1, sizeof *cursor);
    bool *entered = calloc(level->count + 1, sizeof *entered);
    level->order = calloc(level->count + 1, sizeof(uint32_t));
    bool memory = stack != NULL && cursor != NULL && entered != NULL && level->order != NULL;
    size_t placed = 0;
    for (uint32_t root = 0; memory && root < level->count; root++) {
        size_t depth = 0;
        if (!entered[root])
            stack[depth++] = root;
        entered[root] = true;
        while (depth > 0) {
            uint32_t at = stack[depth - 1];
            uint32_t next = level->first[at] + cursor[at]++;
            if (next == level->first[at + 1]) {
                level->order[placed++] = at;
                depth--;
            } else if (!entered[level->sources[next]]) {
                entered[level->sources[next]] = true;
                stack[depth++] = level->sources[next];
            }
        }
    }
    free(stack);
    free(cursor);
    free(entered);
    return memory;
}

static bool read_level(hipGraph_t graph, struct level *level)
{
    if (!list_nodes(graph, level) || !list_edges(graph, level))
        return false;
    level->number = calloc(level->count + 1, sizeof(uint32_t));
    return level->number != NULL && sort_handles(level) && sort_edges(level) && sort_nodes(level);
}

/* Room for one more node with so many dependencies. */
static bool make_room(struct rtl_graph_nodes *nodes, size_t dependencies)
{
    if (nodes->count == nodes->room) {
        uint32_t room = nodes->room == 0 ? 16 : 2 * nodes->room;
        void *wider = realloc(nodes->nodes, room * sizeof *nodes->nodes);
        if (wider == NULL)
            return false;
        nodes->nodes = wider;
        nodes->room = room;
    }
    if (nodes->dependency_count + dependencies > nodes->dependency_room) {
        size_t room = 2 * nodes->dependency_room + dependencies + 16;
        void *wider = realloc(nodes->dependencies, room * sizeof *nodes->dependencies);
        if (wider == NULL)
            return false;
        nodes->dependencies = wider;
        nodes->dependency_room = room;
    }
    return true;
}

void rtl_graph_node_set_kernel(struct rtl_hip_graph_node *node, const hipKernelNodeParams *params)
{
    const dim3 *grid = &params->gridDim, *block = &params->blockDim;
    node->function = params->func;
    node->grid[0] = grid->x * block->x;
    node->grid[1] = grid->y * block->y;
    node->grid[2] = grid->z * block->z;
    node->block[0] = (uint16_t)block->x;
    node->block[1] = (uint16_t)block->y;
    node->block[2] = (uint16_t)block->z;
    node->group_size = params->sharedMemBytes;
}

uint64_t rtl_graph_memset_bytes(const hipMemsetParams *params)
{
    return (uint64_t)params->width * params->elementSize * params->height;
}

uint64_t rtl_graph_memcpy_bytes(const hipMemcpy3DParms *params)
{
    if (params->srcArray != NULL || params->dstArray != NULL)
        return 0;
    return (uint64_t)params->extent.width * params->extent.height * params->extent.depth;
}

uint64_t rtl_graph_drv_memcpy_bytes(const HIP_MEMCPY3D *params)
{
    return (uint64_t)params->WidthInBytes * params->Height * params->Depth;
}

uint64_t rtl_graph_params_bytes(const struct rtl_graph_params *params)
{
    return params->type == RTL_NODE_MEMCPY   ? rtl_graph_memcpy_bytes(&params->memcpy.params)
           : params->type == RTL_NODE_MEMSET ? rtl_graph_memset_bytes(&params->memset)
                                             : 0;
}

/* Of a memcpy HIP is not asked: up to ROCm 5.7 it takes every copy for a three-dimensional one, and
 * reads where the parameters of others are not. */
static bool read_parameters(struct rtl_hip_graph_node *node)
{
    if (node->type == RTL_NODE_KERNEL) {
        hipKernelNodeParams params = {0};
        if (!succeeded(rtl_hip_real(hipGraphKernelNodeGetParams)(node->handle, &params)))
            return false;
        rtl_graph_node_set_kernel(node, &params);
    } else if (node->type == RTL_NODE_MEMSET) {
        hipMemsetParams params = {0};
        if (!succeeded(rtl_hip_real(hipGraphMemsetNodeGetParams)(node->handle, &params)))
            return false;
        node->bytes = rtl_graph_memset_bytes(&params);
    }
    return true;
}

/* Adds a number to the last `count` dependencies, which rise. */
static void insert_dependency(struct rtl_graph_nodes *nodes, uint32_t count, uint32_t number)
{
    uint32_t *at = &nodes->dependencies[nodes->dependency_count++];
    for (; count > 0 && at[-1] > number; at--, count--)
        *at = at[-1];
    *at = number;
}

static bool add_node(struct rtl_graph_nodes *nodes, hipGraph_t graph, struct level *level,
                     uint32_t index, uint32_t parent)
{
    uint32_t count = level->first[index + 1] - level->first[index];
    if (!make_room(nodes, count))
        return false;
    struct rtl_hip_graph_node node = {
        .handle = level->handles[index],
        .dependencies = nodes->dependency_count,
        .dependency_count = count,
        .type = rtl_graph_node_type(level->handles[index]),
        .parent = parent,
    };
    struct rtl_node_facts facts;
    if (rtl_node_facts_find((uintptr_t)graph, (uintptr_t)node.handle, &facts)) {
        node.range = facts.range;
        node.bytes = facts.bytes;
        node.flags = RTL_NODE_RANGED;
    }
    if (!read_parameters(&node))
        return false;
    for (uint32_t i = 0; i < count; i++)
        insert_dependency(nodes, i, level->number[level->sources[level->first[index] + i]]);
    level->number[index] = nodes->count;
    nodes->nodes[nodes->count++] = node;
    return true;
}

static bool add_graph(struct rtl_graph_nodes *nodes, hipGraph_t graph, uint32_t parent,
                      unsigned depth)
{
    struct level level = {0};
    bool ok = depth < DEEPEST && read_level(graph, &level);
    for (size_t i = 0; ok && i < level.count; i++) {
        uint32_t number = nodes->count;
        ok = add_node(nodes, graph, &level, level.order[i], parent);
        if (ok && nodes->nodes[number].type == RTL_NODE_GRAPH) {
            hipGraph_t child = NULL;
            ok = succeeded(rtl_hip_real(hipGraphChildGraphNodeGetGraph)(nodes->nodes[number].handle,
                                                                        &child)) &&
                 add_graph(nodes, child, number, depth + 1);
        }
    }
    free_level(&level);
    return ok;
}

static bool index_handles(struct rtl_graph_nodes *nodes)
{
    nodes->by_handle = calloc(nodes->count + 1, sizeof *nodes->by_handle);
    if (nodes->by_handle == NULL)
        return false;
    for (uint32_t i = 0; i < nodes->count; i++)
        nodes->by_handle[i] = (struct rtl_graph_handle){(uintptr_t)nodes->nodes[i].handle, i};
    qsort(nodes->by_handle, nodes->count, sizeof *nodes->by_handle, compare_handles);
    return true;
}

bool rtl_graph_nodes_read(hipGraph_t graph, struct rtl_graph_nodes *nodes)
{
    bool can = rtl_hip_real(hipGraphGetNodes) != NULL && rtl_hip_real(hipGraphGetEdges) != NULL &&
               rtl_hip_real(hipGraphKernelNodeGetParams) != NULL &&
               rtl_hip_real(hipGraphMemsetNodeGetParams) != NULL &&
               rtl_hip_real(hipGraphChildGraphNodeGetGraph) != NULL;
    if (can && add_graph(nodes, graph, RTL_NONE, 0) && index_handles(nodes))
        return true;
    rtl_graph_nodes_free(nodes);
    return false;
}

void rtl_graph_nodes_free(struct rtl_graph_nodes *nodes)
{
    free(nodes->nodes);
    free(nodes->dependencies);
    free(nodes->by_handle);
    *nodes = (struct rtl_graph_nodes){0};
}

struct rtl_hip_graph_node *rtl_graph_nodes_find(const struct rtl_graph_nodes *nodes,
                                                hipGraphNode_t handle)
{
    uint32_t number = look_up(nodes->by_handle, nodes->count, handle);
    return number != RTL_NONE ? &nodes->nodes[number] : NULL;
}

/* Whether all of `next` looks like the nodes from `first` on: types, and what depends on what. */
static bool same_shape(const struct rtl_graph_nodes *nodes, uint32_t first,
                       const struct rtl_graph_nodes *next)
{
    for (uint32_t i = 0; i < next->count; i++) {
        const struct rtl_hip_graph_node *one = &nodes->nodes[first + i], *other = &next->nodes[i];
        if (one->type != other->type || one->dependency_count != other->dependency_count)
            return false;
        for (uint32_t j = 0; j < one->dependency_count; j++)
            if (nodes->dependencies[one->dependencies + j] !=
                next->dependencies[other->dependencies + j] + first)
                return false;
    }
    return true;
}

static void take_over(struct rtl_graph_nodes *nodes, uint32_t first,
                      const struct rtl_graph_nodes *next)
{
    for (uint32_t i = 0; i < next->count; i++) {
        struct rtl_hip_graph_node *node = &nodes->nodes[first + i];
        const struct rtl_hip_graph_node kept = *node;
        *node = next->nodes[i];
        node->handle = kept.handle;
        node->dependencies = kept.dependencies;
        node->parent = kept.parent;
        node->flags |= kept.flags & RTL_NODE_DISABLED;
    }
}

bool rtl_graph_nodes_update(struct rtl_graph_nodes *nodes, const struct rtl_graph_nodes *next)
{
    if (nodes->count != next->count || !same_shape(nodes, 0, next))
        return false;
    take_over(nodes, 0, next);
    return true;
}

/* The number of nodes in the child graph of a node, and in theirs: those that follow it and whose
 * parent is not further up. */
static uint32_t held_by(const struct rtl_graph_nodes *nodes, uint32_t holder)
{
    uint32_t end = holder + 1;
    while (end < nodes->count && nodes->nodes[end].parent != RTL_NONE &&
           nodes->nodes[end].parent >= holder)
        end++;
    return end - holder - 1;
}

bool rtl_graph_nodes_update_child(struct rtl_graph_nodes *nodes,
                                  const struct rtl_hip_graph_node *holder,
                                  const struct rtl_graph_nodes *next)
{
    uint32_t number = (uint32_t)(holder - nodes->nodes);
    if (held_by(nodes, number) != next->count || !same_shape(nodes, number + 1, next))
        return false;
    take_over(nodes, number + 1, next);
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

uint64_t rtl_graph_nodes_hash(const struct rtl_graph_nodes *nodes)
{
    uint64_t hash = nodes->count;
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct rtl_hip_graph_node *node = &nodes->nodes[i];
        hash = mix(hash, node->range);
        hash = mix(hash, node->bytes);
        /* A text of its own, also where a module's function is in the place of another one. */
        hash = mix(hash, (uintptr_t)rtl_hip_kernel_name(node->function));
        hash = mix(hash, node->type | (uint64_t)node->parent << 32);
        hash = mix(hash, node->grid[0] | (uint64_t)node->grid[1] << 32);
        hash = mix(hash, node->grid[2] | (uint64_t)node->group_size << 32);
        hash = mix(hash, node->block[0] | (uint64_t)node->block[1] << 16 |
                             (uint64_t)node->block[2] << 32 | (uint64_t)node->flags << 48);
        hash = mix(hash, node->dependency_count);
        for (uint32_t j = 0; j < node->dependency_count; j++)
            hash = mix(hash, nodes->dependencies[node->dependencies + j]);
    }
    return hash;
}

static void send(const struct rtl_graph_nodes *nodes, uint32_t number, uint32_t graph,
                 uint32_t generation)
{
    const struct rtl_hip_graph_node *node = &nodes->nodes[number];
    uint32_t dependencies =
        node->dependency_count < UINT16_MAX ? node->dependency_count : UINT16_MAX;
    const char *name = node->type == RTL_NODE_KERNEL ? rtl_hip_kernel_name(node->function) : NULL;
    size_t length = name != NULL ? strnlen(name, MOST_NAME) : 0;
    struct rtl_wire_node wire = {
        .range = node->range,
        .bytes = node->bytes,
        .graph = graph,
        .generation = generation,
        .node = number,
        .parent = node->parent,
        .type = node->type,
        .grid = {node->grid[0], node->grid[1], node->grid[2]},
        .block = {node->block[0], node->block[1], node->block[2]},
        .flags = node->flags,
        .group_size = node->group_size,
        .dependencies = (uint16_t)dependencies,
        .name_length = (uint16_t)length,
    };
    struct rtl_piece pieces[] = {{&wire, sizeof wire}, {NULL, 0}, {name, length}};
    if (dependencies > 0)
        pieces[1] = (struct rtl_piece){&nodes->dependencies[node->dependencies],
                                       dependencies * sizeof(uint32_t)};
    rtl_emit_definition(RTL_WIRE_NODE, pieces, 3);
}

void rtl_graph_nodes_send(const struct rtl_graph_nodes *nodes, uint32_t graph, uint32_t generation)
{
    for (uint32_t i = 0; i < nodes->count; i++)
        send(nodes, i, graph, generation);
}
