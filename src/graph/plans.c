/* Plans of the graphs that HIP names. */
#include "graph/plans.h"

#include <stdlib.h>
#include <string.h>

/* A node that its record has not come for. */
#define ABSENT UINT32_MAX

/* A generation of a graph. */
struct generation {
    bool used_up; /* no generation: the place is free, and `graph` the next free one */
    bool known;   /* its GRAPH record has come */
    bool varies;  /* complete launches of it had several orders */
    uint32_t graph, generation, flags;
    uint32_t expected, received; /* nodes */
    struct rtl_order_node *nodes;
    uint32_t node_capacity;
    uint32_t *dependencies;
    uint32_t dependency_count, dependency_capacity;
    uint32_t reference; /* plan that tells the order, RTL_NONE if none */
    uint64_t used;
};

/* What complete launches with the same packets and shapes follow, and those of which the same
 * kernels were left out. */
struct plan {
    uint32_t id;               /* 0: the place is free */
    uint32_t generation;       /* place; of a free one: the next free one */
    uint32_t packets, kernels; /* of a launch */
    uint32_t count;            /* of its kernels, that are not left out */
    uint64_t key;              /* in the index */
    struct rtl_in_flight_kernel *entries;
    uint32_t *nodes; /* NULL until it is resolved */
    bool *certain;
    uint64_t used;
};

struct rtl_plans {
    struct rtl_registry *registry;
    struct generation *generations;
    uint32_t generation_count, generation_capacity;
    uint32_t free_generation, free_plan; /* the first of the free places, RTL_NONE: none */
    struct rtl_index by_generation;
    struct plan *plans;
    uint32_t plan_count, plan_capacity;
    struct rtl_index by_entries;
    uint32_t unresolved;
    uint64_t kept_nodes, kept_kernels;
    uint64_t clock; /* counts uses */
};

struct rtl_plans *rtl_plans_new(struct rtl_registry *registry)
{
    struct rtl_plans *plans = calloc(1, sizeof *plans);
    if (plans) {
        plans->registry = registry;
        plans->free_generation = plans->free_plan = RTL_NONE;
    }
    return plans;
}

static void free_plan(struct rtl_plans *plans, struct plan *plan)
{
    if (plan->id == 0)
        return;
    if (rtl_index_get(&plans->by_entries, plan->key) == (uint32_t)(plan - plans->plans))
        rtl_index_remove(&plans->by_entries, plan->key);
    plans->kept_kernels -= plan->count;
    plans->unresolved -= plan->nodes == NULL;
    free(plan->entries);
    free(plan->nodes);
    free(plan->certain);
    *plan = (struct plan){.generation = plans->free_plan};
    plans->free_plan = (uint32_t)(plan - plans->plans);
}

void rtl_plans_free(struct rtl_plans *plans)
{
    if (!plans)
        return;
    for (uint32_t i = 0; i < plans->plan_count; i++)
        free_plan(plans, &plans->plans[i]);
    for (uint32_t i = 0; i < plans->generation_count; i++) {
        free(plans->generations[i].nodes);
        free(plans->generations[i].dependencies);
    }
    free(plans->plans);
    free(plans->generations);
    rtl_index_free(&plans->by_generation);
    rtl_index_free(&plans->by_entries);
    free(plans);
}

/* Generations. */

static uint64_t generation_key(uint32_t graph, uint32_t generation)
{
    return (uint64_t)graph << 32 | generation;
}

static void forget_generation(struct rtl_plans *plans, uint32_t place)
{
    struct generation *it = &plans->generations[place];
    for (uint32_t i = 0; i < plans->plan_count; i++)
        if (plans->plans[i].id && plans->plans[i].generation == place)
            free_plan(plans, &plans->plans[i]);
    rtl_index_remove(&plans->by_generation, generation_key(it->graph, it->generation));
    plans->kept_nodes -= it->node_capacity;
    free(it->nodes);
    free(it->dependencies);
    *it = (struct generation){.used_up = true, .graph = plans->free_generation};
    plans->free_generation = place;
}

static bool waits(const struct rtl_plans *plans, uint32_t generation)
{
    for (uint32_t i = 0; i < plans->plan_count && plans->unresolved; i++)
        if (plans->plans[i].id && plans->plans[i].generation == generation &&
            !plans->plans[i].nodes)
            return true;
    return false;
}

/* Makes room by forgetting the generations that were used before the average one. */
static void forget_generations(struct rtl_plans *plans)
{
    uint64_t sum = 0;
    uint64_t count = 0;
    for (uint32_t i = 0; i < plans->generation_count; i++) {
        sum += plans->generations[i].used;
        count += !plans->generations[i].used_up;
    }
    for (uint32_t i = 0; i < plans->generation_count; i++) {
        const struct generation *it = &plans->generations[i];
        if (!it->used_up && count && it->used < sum / count && !waits(plans, i))
            forget_generation(plans, i);
    }
}

static uint32_t take_generation(struct rtl_plans *plans)
{
    uint32_t place = plans->free_generation;
    if (place != RTL_NONE) {
        plans->free_generation = plans->generations[place].graph;
        return place;
    }
    if (!rtl_registry_grow((void **)&plans->generations, &plans->generation_capacity,
                           plans->generation_count + 1, sizeof *plans->generations))
        return RTL_NONE;
    return plans->generation_count++;
}

/* The generation, made when it is first heard of; RTL_NONE when memory is short. */
static uint32_t generation_of(struct rtl_plans *plans, uint32_t graph, uint32_t generation)
{
    uint64_t key = generation_key(graph, generation);
    uint32_t place = rtl_index_get(&plans->by_generation, key);
    if (place == RTL_INDEX_MISSING) {
        place = take_generation(plans);
        if (place == RTL_NONE || rtl_index_put(&plans->by_generation, key, place) != 0) {
            plans->registry->forgotten++;
            return RTL_NONE;
        }
        plans->generations[place] =
            (struct generation){.graph = graph, .generation = generation, .reference = RTL_NONE};
    }
    plans->generations[place].used = ++plans->clock;
    return place;
}

static bool is_defined(const struct generation *it)
{
    return it->known && !(it->flags & RTL_GRAPH_UNKNOWN) && it->received == it->expected;
}

/* Gives a generation the nodes of the one before. False: those are not known, or memory is short.
 */
static bool copy_nodes(struct rtl_plans *plans, struct generation *it)
{
    uint32_t place =
        rtl_index_get(&plans->by_generation, generation_key(it->graph, it->generation - 1));
    if (place == RTL_INDEX_MISSING || !is_defined(&plans->generations[place]))
        return false;
    const struct generation *before = &plans->generations[place];
    if (!rtl_registry_grow((void **)&it->nodes, &it->node_capacity, before->expected,
                           sizeof *it->nodes))
        return false;
    plans->kept_nodes += it->node_capacity;
    for (uint32_t i = before->expected; i < it->node_capacity; i++)
        it->nodes[i].type = ABSENT;
    if (!rtl_registry_grow((void **)&it->dependencies, &it->dependency_capacity,
                           before->dependency_count, sizeof *it->dependencies))
        return false;
    if (before->expected)
        memcpy(it->nodes, before->nodes, before->expected * sizeof *it->nodes);
    if (before->dependency_count)
        memcpy(it->dependencies, before->dependencies,
               before->dependency_count * sizeof *it->dependencies);
    it->received = before->expected;
    it->dependency_count = before->dependency_count;
    return true;
}

void rtl_plans_graph(struct rtl_plans *plans, const struct rtl_wire_graph *graph)
{
    uint32_t place = generation_of(plans, graph->graph, graph->generation);
    if (place == RTL_NONE)
        return;
    struct generation *it = &plans->generations[place];
    it->known = true;
    it->expected = graph->nodes;
    it->flags = graph->flags;
    if (graph->flags & RTL_GRAPH_SAME && it->received == 0 && !copy_nodes(plans, it))
        plans->registry->forgotten++;
    if (plans->kept_nodes > RTL_GRAPHS_NODES)
        forget_generations(plans);
}

static bool room_for_node(struct rtl_plans *plans, struct generation *it,
                          const struct rtl_wire_node *node)
{
    uint32_t before = it->node_capacity;
    if (!rtl_registry_grow((void **)&it->nodes, &it->node_capacity, node->node + 1,
                           sizeof *it->nodes) ||
        !rtl_registry_grow((void **)&it->dependencies, &it->dependency_capacity,
                           it->dependency_count + node->dependencies, sizeof *it->dependencies))
        return false;
    for (uint32_t i = before; i < it->node_capacity; i++)
        it->nodes[i].type = ABSENT;
    plans->kept_nodes += it->node_capacity - before;
    return true;
}

void rtl_plans_node(struct rtl_plans *plans, const struct rtl_wire_node *node, const void *rest)
{
    uint32_t place = generation_of(plans, node->graph, node->generation);
    if (place == RTL_NONE)
        return;
    struct generation *it = &plans->generations[place];
    if (node->node >= RTL_GRAPHS_NODES || !room_for_node(plans, it, node)) {
        plans->registry->forgotten++;
        return;
    }
    const char *name = (const char *)rest + node->dependencies * sizeof(uint32_t);
    struct rtl_order_node *known = &it->nodes[node->node];
    it->received += known->type == ABSENT;
    *known = (struct rtl_order_node){
        .name = node->name_length ? rtl_match_name(name, node->name_length) : 0,
        .type = node->type,
        .flags = node->flags,
        .group_size = node->group_size,
        .parent = node->parent,
        .dependency = it->dependency_count,
        .dependencies = node->dependencies,
    };
    memcpy(known->grid, node->grid, sizeof known->grid);
    memcpy(known->block, node->block, sizeof known->block);
    if (node->dependencies)
        memcpy(it->dependencies + it->dependency_count, rest,
               node->dependencies * sizeof(uint32_t));
    it->dependency_count += node->dependencies;
    if (plans->kept_nodes > RTL_GRAPHS_NODES)
        forget_generations(plans);
}

static struct rtl_order_graph view_of(const struct generation *it)
{
    return (struct rtl_order_graph){it->nodes, it->expected, it->dependencies,
                                    it->dependency_count};
}

/* Kernels as matching wants them. */

struct kernels {
    struct rtl_match_kernel *items;
    const struct rtl_match_kernel **list; /* to the items */
    bool known;                           /* all of them */
};

static bool describe(const struct rtl_registry *registry,
                     const struct rtl_in_flight_kernel *entries, uint32_t count,
                     struct kernels *kernels)
{
    kernels->items = malloc((count + (size_t)1) * sizeof *kernels->items);
    kernels->list = malloc((count + (size_t)1) * sizeof(struct rtl_match_kernel *));
    kernels->known = true;
    if (!kernels->items || !kernels->list)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        bool known = rtl_registry_kernel(registry, entries[i].shape, &kernels->items[i]);
        kernels->known = kernels->known && known;
        kernels->list[i] = &kernels->items[i];
    }
    return true;
}

static void free_kernels(struct kernels *kernels)
{
    free(kernels->items);
    free(kernels->list);
}

/* Reporting. */

static void report(struct rtl_plans *plans, uint32_t id, const struct generation *it,
                   uint32_t kernels, const struct rtl_in_flight_kernel *entries,
                   const uint32_t *nodes, const bool *certain, uint32_t count)
{
    struct rtl_graphs_step *steps = malloc((count + (size_t)1) * sizeof *steps);
    if (!steps) {
        plans->registry->forgotten++;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        steps[i] = (struct rtl_graphs_step){entries[i].ordinal, nodes[i], certain[i]};
    const struct rtl_graphs_plan plan = {.plan = id,
                                         .graph = it->graph,
                                         .generation = it->generation,
                                         .begins = true,
                                         .kernels = kernels,
                                         .steps = steps,
                                         .count = count};
    plans->registry->sink.plan(plans->registry->sink.context, &plan);
    free(steps);
}

/* The nodes of a graph that HIP could never be asked about are the kernels of its first launch. */
static void discover(struct rtl_plans *plans, const struct generation *it, const struct plan *plan,
                     const struct kernels *kernels)
{
    const struct rtl_registry *registry = plans->registry;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct rtl_known_symbol *symbol = NULL;
        uint32_t shape = plan->entries[i].shape;
        uint32_t number = shape < registry->shape_count ? registry->shapes[shape].symbol : RTL_NONE;
        if (number < registry->symbol_count)
            symbol = &registry->symbols[number];
        struct rtl_wire_node node = {.graph = it->graph,
                                     .generation = it->generation,
                                     .node = i,
                                     .parent = RTL_NONE,
                                     .type = RTL_NODE_KERNEL,
                                     .name_length = symbol ? symbol->length : 0};
        if (kernels->items[i].group_size != RTL_NONE)
            node.group_size = kernels->items[i].group_size;
        memcpy(node.grid, kernels->items[i].grid, sizeof node.grid);
        memcpy(node.block, kernels->items[i].block, sizeof node.block);
        registry->sink.node(registry->sink.context, &node, symbol ? symbol->text : "");
    }
}

/* Resolving: from entries to nodes. */

static bool same_kernels(const struct rtl_plans *plans, const struct plan *a, const struct plan *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; i < a->count && same; i++) {
        struct rtl_match_kernel left;
        struct rtl_match_kernel right;
        same = rtl_registry_kernel(plans->registry, a->entries[i].shape, &left) &&
               rtl_registry_kernel(plans->registry, b->entries[i].shape, &right) &&
               rtl_match_same(&left, &right);
    }
    return same;
}

/* Of a graph whose nodes are not known: by the first launch. A later generation is another thing:
 * its nodes had numbers before, and which of them changed is not known. */
static void resolve_unknown(struct rtl_plans *plans, struct plan *plan,
                            const struct kernels *kernels)
{
    struct generation *it = &plans->generations[plan->generation];
    if (it->generation > 1)
        return;
    bool first = it->reference == RTL_NONE;
    bool same = first || same_kernels(plans, plan, &plans->plans[it->reference]);
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->nodes[i] = same ? i : RTL_NONE;
        plan->certain[i] = same;
    }
    if (first)
        discover(plans, it, plan, kernels);
}

static void note_order(struct rtl_plans *plans, struct plan *plan)
{
    struct generation *it = &plans->generations[plan->generation];
    if (it->reference == RTL_NONE) {
        it->reference = (uint32_t)(plan - plans->plans);
        return;
    }
    const struct plan *reference = &plans->plans[it->reference];
    if (reference->count != plan->count ||
        memcmp(reference->nodes, plan->nodes, plan->count * sizeof *plan->nodes) != 0)
        it->varies = true;
}

/* Kernels of a launch of which others are not there: they were lost, or left out. */

struct rest {
    struct rtl_plans *plans;
    const struct generation *it;
    uint32_t packets, kernels; /* of the launch */
    const struct rtl_in_flight_kernel *entries;
    uint32_t count; /* that are there */
    struct kernels here;
    uint32_t *ordinals, *nodes;
    bool *certain;
};

/* By the order that complete launches had. */
static bool match_by_reference(struct rest *rest)
{
    const struct plan *reference =
        rest->it->reference == RTL_NONE ? NULL : &rest->plans->plans[rest->it->reference];
    if (!reference || rest->it->varies || reference->count < rest->kernels)
        return false;
    struct kernels kernels = {0};
    bool ready = describe(rest->plans->registry, reference->entries, reference->count, &kernels);
    if (ready) {
        const struct rtl_match_sequence sequence = {kernels.list, reference->nodes,
                                                    reference->certain, reference->count};
        rtl_match_rest(&sequence, rest->packets, rest->here.list, rest->ordinals, rest->count,
                       rest->nodes, rest->certain);
    }
    free_kernels(&kernels);
    return ready;
}

/* By the order of the nodes, where there is but one. */
static bool match_by_nodes(struct rest *rest)
{
    struct rtl_order_graph view = view_of(rest->it);
    size_t room = (size_t)view.count + 1;
    struct rtl_match_kernel *kernels = calloc(room, sizeof *kernels);
    const struct rtl_match_kernel **list = malloc(room * sizeof(struct rtl_match_kernel *));
    uint32_t *numbers = malloc(3 * room * sizeof *numbers);
    bool *certain = malloc(room * sizeof *certain);
    uint32_t count = RTL_NONE;
    if (kernels && list && numbers && certain)
        count = rtl_match_nodes(&view, kernels, numbers, numbers + room);
    bool ready = count != RTL_NONE && count >= rest->kernels;
    for (uint32_t i = 0; i < view.count && ready; i++) {
        list[i] = &kernels[i];
        certain[i] = true;
    }
    if (ready) {
        const struct rtl_match_sequence sequence = {list, numbers, certain, count};
        rtl_match_rest(&sequence, rest->packets, rest->here.list, rest->ordinals, rest->count,
                       rest->nodes, rest->certain);
    }
    free(kernels);
    free(list);
    free(numbers);
    free(certain);
    return ready;
}

/* What runs as often as there are nodes for it is complete, whatever else is missing. */
static bool match_by_counts(struct rest *rest)
{
    struct rtl_order_graph view = view_of(rest->it);
    if (rtl_match_whole(&view, rest->here.list, rest->count, rest->nodes, rest->certain) != 0)
        return false;
    for (uint32_t i = 0; i < rest->count; i++)
        if (rest->here.items[i].kind != RTL_MATCH_KERNEL)
            rest->certain[i] = false;
    return true;
}

static void match_rest(struct rest *rest)
{
    for (uint32_t i = 0; i < rest->count; i++) {
        rest->ordinals[i] = rest->entries[i].ordinal;
        rest->nodes[i] = RTL_NONE;
        rest->certain[i] = false;
    }
    bool known = is_defined(rest->it);
    if (match_by_reference(rest) || !known || match_by_nodes(rest))
        return;
    (void)match_by_counts(rest);
}

/* Finds the nodes of a plan whose launches have them all. False when memory is short. */
static bool match_all(struct rtl_plans *plans, struct plan *plan, const struct kernels *kernels)
{
    const struct generation *it = &plans->generations[plan->generation];
    if (is_defined(it)) {
        struct rtl_order_graph view = view_of(it);
        return rtl_match_whole(&view, kernels->list, plan->count, plan->nodes, plan->certain) == 0;
    }
    if (it->known && it->flags & RTL_GRAPH_UNKNOWN)
        resolve_unknown(plans, plan, kernels);
    else
        plans->registry->forgotten++;
    return true;
}

/* The same where some of the kernels are left out. */
static bool match_some(struct rtl_plans *plans, struct plan *plan, const struct kernels *kernels)
{
    struct rest rest = {.plans = plans,
                        .it = &plans->generations[plan->generation],
                        .packets = plan->packets,
                        .kernels = plan->kernels,
                        .entries = plan->entries,
                        .count = plan->count,
                        .here = *kernels,
                        .ordinals = malloc(plan->count * sizeof(uint32_t)),
                        .nodes = plan->nodes,
                        .certain = plan->certain};
    bool ready = rest.ordinals != NULL;
    if (ready)
        match_rest(&rest);
    free(rest.ordinals);
    return ready;
}

/* Gives the plan room for its nodes, and finds them. False when memory is short. */
static bool match_plan(struct rtl_plans *plans, struct plan *plan, const struct kernels *kernels)
{
    plan->nodes = malloc(plan->count * sizeof *plan->nodes);
    plan->certain = calloc(plan->count, sizeof *plan->certain);
    bool ready = plan->nodes && plan->certain;
    if (ready)
        memset(plan->nodes, 0xff, plan->count * sizeof *plan->nodes);
    if (ready)
        ready = plan->count < plan->kernels ? match_some(plans, plan, kernels)
                                            : match_all(plans, plan, kernels);
    if (ready)
        return true;
    free(plan->nodes);
    free(plan->certain);
    plan->nodes = NULL;
    plan->certain = NULL;
    return false;
}

/* Finds a plan's nodes and reports it. Waits for definitions unless `all`. */
static void resolve(struct rtl_plans *plans, struct plan *plan, bool all)
{
    const struct generation *it = &plans->generations[plan->generation];
    bool unknown = it->known && it->flags & RTL_GRAPH_UNKNOWN;
    struct kernels kernels = {0};
    if (!unknown && !is_defined(it) && !all)
        return;
    bool ready = describe(plans->registry, plan->entries, plan->count, &kernels);
    if (ready && (kernels.known || all)) {
        ready = match_plan(plans, plan, &kernels);
        if (ready) {
            plans->unresolved--;
            if (plan->count == plan->kernels)
                note_order(plans, plan);
            report(plans, plan->id, it, plan->kernels, plan->entries, plan->nodes, plan->certain,
                   plan->count);
        }
    }
    plans->registry->forgotten += !ready;
    free_kernels(&kernels);
}

void rtl_plans_flush(struct rtl_plans *plans, bool all)
{
    for (uint32_t i = 0; i < plans->plan_count && plans->unresolved; i++)
        if (plans->plans[i].id && !plans->plans[i].nodes)
            resolve(plans, &plans->plans[i], all);
}

/* Plans of launches of which nothing was lost. */

/* One multiplication per kernel: entries are compared where keys are equal. */
static uint64_t key_of(uint32_t generation, const struct rtl_in_flight *in_flight)
{
    uint64_t key = rtl_index_mix(generation, in_flight->body.packets);
    key = in_flight->body.left_out ? rtl_index_mix(key, in_flight->body.kernels) : key;
    for (uint32_t i = 0; i < in_flight->count; i++)
        key = key * UINT64_C(0xD1342543DE82EF95) +
              ((uint64_t)in_flight->entries[i].ordinal << 32 | in_flight->entries[i].shape);
    return rtl_index_mix(key, in_flight->count);
}

static bool follows(const struct plan *plan, uint32_t generation,
                    const struct rtl_in_flight *in_flight)
{
    return plan->generation == generation && plan->packets == in_flight->body.packets &&
           plan->kernels == in_flight->body.kernels && plan->count == in_flight->count &&
           memcmp(plan->entries, in_flight->entries,
                  in_flight->count * sizeof *in_flight->entries) == 0;
}

/* Makes room by forgetting the plans that were used before the average one. */
static void forget_plans(struct rtl_plans *plans)
{
    uint64_t sum = 0;
    uint64_t count = 0;
    for (uint32_t i = 0; i < plans->plan_count; i++) {
        sum += plans->plans[i].used;
        count += plans->plans[i].id != 0;
    }
    for (uint32_t i = 0; i < plans->plan_count; i++) {
        struct plan *plan = &plans->plans[i];
        if (plan->id && plan->nodes && count && plan->used <= sum / count &&
            plans->generations[plan->generation].reference != i)
            free_plan(plans, plan);
    }
}

/* A place for a plan; RTL_NONE when memory is short. */
static uint32_t take_place(struct rtl_plans *plans)
{
    uint32_t place = plans->free_plan;
    if (place != RTL_NONE) {
        plans->free_plan = plans->plans[place].generation;
        return place;
    }
    if (!rtl_registry_grow((void **)&plans->plans, &plans->plan_capacity, plans->plan_count + 1,
                           sizeof *plans->plans))
        return RTL_NONE;
    return plans->plan_count++;
}

/* Makes a plan that is not resolved; its place, or RTL_NONE when memory is short. */
static uint32_t make_plan(struct rtl_plans *plans, uint32_t generation, uint64_t key,
                          const struct rtl_in_flight *in_flight)
{
    if (plans->kept_kernels + in_flight->count > RTL_GRAPHS_PLANNED)
        forget_plans(plans);
    struct rtl_in_flight_kernel *entries = malloc(in_flight->count * sizeof *entries);
    uint32_t place = entries ? take_place(plans) : RTL_NONE;
    if (place == RTL_NONE) {
        free(entries);
        plans->registry->forgotten++;
        return RTL_NONE;
    }
    /* Where this fails the plan is made again for the next launch: a cost, no error. */
    (void)rtl_index_put(&plans->by_entries, key, place);
    memcpy(entries, in_flight->entries, in_flight->count * sizeof *entries);
    plans->plans[place] = (struct plan){.id = ++plans->registry->last_plan,
                                        .generation = generation,
                                        .packets = in_flight->body.packets,
                                        .kernels = in_flight->body.kernels,
                                        .count = in_flight->count,
                                        .key = key,
                                        .entries = entries};
    plans->kept_kernels += in_flight->count;
    plans->unresolved++;
    return place;
}

static uint32_t complete_plan(struct rtl_plans *plans, uint32_t generation,
                              const struct rtl_in_flight *in_flight)
{
    uint64_t key = key_of(generation, in_flight);
    uint32_t place = rtl_index_get(&plans->by_entries, key);
    if (place == RTL_INDEX_MISSING || !follows(&plans->plans[place], generation, in_flight)) {
        place = make_plan(plans, generation, key, in_flight);
        if (place == RTL_NONE)
            return 0;
        resolve(plans, &plans->plans[place], false);
    }
    plans->plans[place].used = ++plans->clock;
    return plans->plans[place].id;
}

/* Of a launch of which kernels were lost: not kept. */
static uint32_t rest_plan(struct rtl_plans *plans, uint32_t generation,
                          const struct rtl_in_flight *in_flight)
{
    size_t room = (size_t)in_flight->count + 1;
    struct rest rest = {.plans = plans,
                        .it = &plans->generations[generation],
                        .packets = in_flight->body.packets,
                        .kernels = in_flight->body.kernels,
                        .entries = in_flight->entries,
                        .count = in_flight->count,
                        .ordinals = malloc(room * sizeof(uint32_t)),
                        .nodes = malloc(room * sizeof(uint32_t)),
                        .certain = malloc(room * sizeof(bool))};
    uint32_t id = 0;
    if (rest.ordinals && rest.nodes && rest.certain &&
        describe(plans->registry, in_flight->entries, in_flight->count, &rest.here)) {
        match_rest(&rest);
        id = ++plans->registry->last_plan;
        report(plans, id, rest.it, in_flight->body.kernels, in_flight->entries, rest.nodes,
               rest.certain, in_flight->count);
    } else {
        plans->registry->forgotten++;
    }
    free(rest.ordinals);
    free(rest.nodes);
    free(rest.certain);
    free_kernels(&rest.here);
    return id;
}

uint32_t rtl_plans_of(struct rtl_plans *plans, const struct rtl_in_flight *in_flight, bool complete)
{
    if (in_flight->count == 0)
        return 0;
    uint32_t generation = generation_of(plans, in_flight->body.graph, in_flight->body.generation);
    if (generation == RTL_NONE)
        return 0;
    return complete ? complete_plan(plans, generation, in_flight)
                    : rest_plan(plans, generation, in_flight);
}
