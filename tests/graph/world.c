#include "world.h"

#include <stdlib.h>
#include <string.h>

static void *grown(void *items, size_t *count, size_t wanted, size_t size)
{
    if (wanted <= *count)
        return items;
    size_t more = wanted * 2;
    items = realloc(items, more * size);
    if (!items)
        abort();
    memset((char *)items + *count * size, 0, (more - *count) * size);
    *count = more;
    return items;
}

static void take_graph(void *context, const struct rtl_wire_graph *graph)
{
    struct world *world = context;
    world->inferred =
        realloc(world->inferred, (world->inferred_count + 1) * sizeof *world->inferred);
    world->inferred[world->inferred_count++] = *graph;
}

static void take_node(void *context, const struct rtl_wire_node *node, const char *name)
{
    struct world *world = context;
    world->nodes = realloc(world->nodes, (world->node_count + 1) * sizeof *world->nodes);
    struct world_node *taken = &world->nodes[world->node_count++];
    *taken = (struct world_node){.node = *node};
    memcpy(taken->name, name, node->name_length < 63 ? node->name_length : 63);
}

static void take_plan(void *context, const struct rtl_graphs_plan *plan)
{
    struct world *world = context;
    world->plans =
        grown(world->plans, &world->plan_count, (size_t)plan->plan + 1, sizeof *world->plans);
    struct world_plan *taken = &world->plans[plan->plan];
    world->contradictions += plan->plan == 0 || taken->plan.plan != 0;
    taken->plan = *plan;
    taken->steps = malloc((plan->count + 1) * sizeof *plan->steps);
    memcpy(taken->steps, plan->steps, plan->count * sizeof *plan->steps);
    for (size_t i = 1; i < plan->count; i++)
        world->contradictions += plan->steps[i].ordinal <= plan->steps[i - 1].ordinal;
    world->plans_told++;
}

static void take_launch(void *context, const struct rtl_graphs_launch *launch)
{
    struct world *world = context;
    uint32_t id = launch->body->launch;
    world->launches =
        grown(world->launches, &world->launch_count, (size_t)id + 1, sizeof *world->launches);
    struct world_launch *taken = &world->launches[id];
    if (launch->late) {
        taken->recorded += launch->recorded;
        world->contradictions += taken->launch != id;
        return;
    }
    world->contradictions += taken->launch != 0;
    *taken = (struct world_launch){
        .launch = id,
        .thread = launch->body->thread,
        .plan = launch->plan,
        .head_plan = launch->head_plan,
        .recorded = launch->recorded,
        .kernels = launch->body->kernels,
        .queue = launch->body->queue,
        .first = launch->body->first,
        .graph = launch->body->graph,
        .generation = launch->body->generation,
        .span_count = launch->span_count,
    };
    memcpy(taken->spans, launch->spans, launch->span_count * sizeof *launch->spans);
    world->launches_told++;
}

void world_open(struct world *world)
{
    *world = (struct world){0};
    const struct rtl_graphs_sink sink = {world, take_graph, take_node, take_plan, take_launch};
    world->graphs = rtl_graphs_new(&sink);
    if (!world->graphs)
        abort();
}

void world_close(struct world *world)
{
    rtl_graphs_free(world->graphs);
    for (size_t i = 0; i < world->plan_count; i++)
        free(world->plans[i].steps);
    free(world->plans);
    free(world->launches);
    free(world->nodes);
    free(world->inferred);
}

void world_named_shape(struct world *world, uint32_t id, const char *name, uint32_t width)
{
    const struct rtl_wire_symbol symbol = {.symbol = id, .name_length = (uint16_t)strlen(name)};
    const struct rtl_wire_shape shape = {
        .shape = id, .symbol = id, .grid = {width, 1, 1}, .block = {64, 1, 1}};
    rtl_graphs_symbol(world->graphs, &symbol, name);
    rtl_graphs_shape(world->graphs, &shape);
}

void world_shape(struct world *world, uint32_t id, uint32_t name, uint32_t width)
{
    char text[16];
    (void)snprintf(text, sizeof text, "k%u", name);
    world_named_shape(world, id, text, width);
}

static void send_node(struct world *world, const struct world_graph *graph, uint32_t i,
                      const uint32_t *dependencies)
{
    struct {
        uint32_t words[1024];
    } rest;
    char name[16];
    uint32_t type = graph->types ? graph->types[i] : RTL_NODE_KERNEL;
    struct rtl_wire_node node = {
        .graph = graph->graph,
        .generation = graph->generation,
        .node = i,
        .parent = graph->parents ? graph->parents[i] : RTL_NONE,
        .type = type,
        .flags = (uint16_t)(graph->flags ? graph->flags[i] : 0),
        .dependencies = (uint16_t)(graph->counts ? graph->counts[i] : 0),
    };
    if (type == RTL_NODE_KERNEL) {
        (void)snprintf(name, sizeof name, "k%u", graph->names[i]);
        node.name_length = (uint16_t)strlen(name);
        node.grid[0] = graph->widths[i];
        node.grid[1] = node.grid[2] = 1;
        node.block[0] = 64;
        node.block[1] = node.block[2] = 1;
    }
    memcpy(rest.words, dependencies, node.dependencies * sizeof *dependencies);
    memcpy(rest.words + node.dependencies, name, node.name_length);
    rtl_graphs_node(world->graphs, &node, rest.words);
}

void world_graph(struct world *world, const struct world_graph *graph)
{
    static const uint32_t none[1];
    const uint32_t *dependencies = graph->dependencies ? graph->dependencies : none;
    const struct rtl_wire_graph wire = {
        .graph = graph->graph, .generation = graph->generation, .nodes = graph->nodes};
    rtl_graphs_graph(world->graphs, &wire);
    for (uint32_t i = 0; i < graph->nodes; i++) {
        send_node(world, graph, i, dependencies);
        dependencies += graph->counts ? graph->counts[i] : 0;
    }
}

void world_launch(struct world *world, uint32_t launch, uint32_t graph, uint32_t generation,
                  uint32_t packets, uint32_t kernels)
{
    const struct rtl_wire_launch wire = {.launch = launch,
                                         .graph = graph,
                                         .generation = generation,
                                         .packets = packets,
                                         .kernels = kernels,
                                         .thread = 1};
    rtl_graphs_launch(world->graphs, &wire);
}

void world_launch_in_part(struct world *world, uint32_t launch, uint32_t packets, uint32_t kernels,
                          uint32_t left_out)
{
    const struct rtl_wire_launch wire = {.launch = launch,
                                         .graph = 1,
                                         .generation = 1,
                                         .packets = packets,
                                         .kernels = kernels,
                                         .left_out = left_out,
                                         .thread = 1};
    rtl_graphs_launch(world->graphs, &wire);
}

void world_kernel(struct world *world, uint32_t launch, uint32_t ordinal, uint32_t shape)
{
    const struct rtl_wire_kernel kernel = {.start = 100 + ordinal,
                                           .end = 200 + ordinal,
                                           .shape = shape,
                                           .launch = launch,
                                           .ordinal = ordinal};
    rtl_graphs_kernel(world->graphs, &kernel);
}

static bool told(const struct world *world, uint32_t plan)
{
    return plan < world->plan_count && world->plans[plan].plan.plan;
}

/* The kernel before a launch is its head if what was found so belongs to the same graph. */
static bool has_head(const struct world *world, const struct world_launch *launch)
{
    return told(world, launch->plan) && told(world, launch->head_plan) &&
           world->plans[launch->plan].plan.graph == world->plans[launch->head_plan].plan.graph;
}

/* Launches that follow a plan that does not begin go on with the launch before of their graph and
 * thread. */
static void number(struct world *world, struct world_launch *launch)
{
    const struct world_plan *plan = told(world, launch->plan) ? &world->plans[launch->plan] : NULL;
    bool begins = !plan || plan->plan.begins ||
                  (has_head(world, launch) && world->plans[launch->head_plan].plan.begins);
    if (launch->graph == RTL_NONE && plan) {
        launch->graph = plan->plan.graph;
        launch->generation = plan->plan.generation;
    }
    if (launch->graph == RTL_NONE)
        return;
    uint32_t last = 0;
    for (const struct world_launch *it = launch - 1; it > world->launches; it--)
        if (it->number && it->graph == launch->graph) {
            last = last > it->number ? last : it->number;
            if (!begins && it->thread == launch->thread) {
                launch->number = it->number;
                return;
            }
            if (begins)
                break;
        }
    launch->number = last + 1;
}

void world_finish(struct world *world)
{
    rtl_graphs_finish(world->graphs);
    for (size_t i = 1; i < world->launch_count; i++)
        if (world->launches[i].launch)
            number(world, &world->launches[i]);
}

static struct world_answer answer(const struct world *world, const struct world_launch *launch,
                                  uint32_t plan_id, uint32_t ordinal)
{
    struct world_answer result = {.graph = RTL_NONE, .launch = RTL_NONE, .node = RTL_NONE};
    if (!launch->launch || launch->graph == RTL_NONE)
        return result;
    result.graph = launch->graph;
    result.generation = launch->generation;
    result.launch = launch->number;
    if (!told(world, plan_id))
        return result;
    const struct world_plan *plan = &world->plans[plan_id];
    for (size_t i = 0; i < plan->plan.count; i++)
        if (plan->steps[i].ordinal == ordinal) {
            result.node = plan->steps[i].node;
            result.certain = plan->steps[i].certain;
        }
    return result;
}

struct world_answer world_ask(const struct world *world, uint32_t launch, uint32_t ordinal)
{
    static const struct world_launch none;
    const struct world_launch *it = launch < world->launch_count ? &world->launches[launch] : &none;
    return answer(world, it, it->plan, ordinal);
}

struct world_answer world_ask_head(const struct world *world, uint32_t queue, uint64_t packet)
{
    static const struct world_launch none;
    for (size_t i = 1; i < world->launch_count; i++) {
        const struct world_launch *it = &world->launches[i];
        if (it->launch && has_head(world, it) && it->queue == queue && it->first == packet + 1)
            return answer(world, it, it->head_plan, 0);
    }
    return answer(world, &none, 0, 0);
}

uint64_t world_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}
