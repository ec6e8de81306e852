/*
 * The graph registry under records of a process whose memory is overwritten: any ids, any numbers,
 * in any order. It must stay inside its memory (AddressSanitizer), tell each launch and plan once,
 * and never say that a node is certain which its graph does not have.
 *
 * Input: for each record its type and some bytes, from which its fields are made small, so that
 * they meet.
 */
#include "graph/graphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 256u
#define PLANS    4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    bool launches[LAUNCHES];
    bool plans[PLANS];
    uint32_t found; /* graphs inferred from their packets */
};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "fuzz: not so: %s\n", what);
    abort();
}

static void take_graph(void *context, const struct rtl_wire_graph *graph)
{
    ((struct seen *)context)->found++;
    must(graph->graph != 0 && graph->generation != 0 && graph->nodes != 0, "a graph has nodes");
}

static void take_node(void *context, const struct rtl_wire_node *node, const char *name)
{
    (void)context;
    must(node->name_length == 0 || name != NULL, "a name has bytes");
}

static void take_plan(void *context, const struct rtl_graphs_plan *plan)
{
    struct seen *seen = context;
    must(plan->plan != 0, "plans count from 1");
    if (plan->plan < PLANS) {
        must(!seen->plans[plan->plan], "a plan is told once");
        seen->plans[plan->plan] = true;
    }
    for (size_t i = 0; i < plan->count; i++) {
        must(i == 0 || plan->steps[i].ordinal >= plan->steps[i - 1].ordinal, "steps are in order");
        must(!plan->steps[i].certain || plan->steps[i].node != RTL_NONE,
             "what is certain is a node");
    }
}

static void take_launch(void *context, const struct rtl_graphs_launch *launch)
{
    struct seen *seen = context;
    uint32_t id = launch->body->launch;
    must(id < LAUNCHES, "a launch is one that was given");
    must(launch->late || !seen->launches[id], "a launch is told once");
    must(launch->span_count <= RTL_GRAPHS_SPANS, "spans fit");
    seen->launches[id] = seen->launches[id] || !launch->late;
}

/* Numbers from the input; 0 when it is used up. */
struct input {
    const uint8_t *data;
    size_t size;
};

static uint32_t take(struct input *input, uint32_t below)
{
    uint32_t value = input->size ? *input->data : 0;
    if (input->size) {
        input->data++;
        input->size--;
    }
    return value % below;
}

static void give_node(struct rtl_graphs *graphs, struct input *input)
{
    uint32_t rest[8];
    struct rtl_wire_node node = {.graph = 1 + take(input, 4),
                                 .generation = 1 + take(input, 2),
                                 .node = take(input, 16),
                                 .type = take(input, 9),
                                 .grid = {take(input, 3), 1, 1},
                                 .flags = (uint16_t)take(input, 4),
                                 .dependencies = (uint16_t)take(input, 5),
                                 .name_length = (uint16_t)take(input, 4)};
    node.parent = take(input, 18);
    for (int i = 0; i < 8; i++)
        rest[i] = take(input, 20);
    rtl_graphs_node(graphs, &node, rest);
}

/* Each launch once, as the ring gives it. */
static void give_launch(struct rtl_graphs *graphs, struct input *input, bool *given)
{
    uint32_t graph = take(input, 6);
    uint32_t id = take(input, LAUNCHES);
    const struct rtl_wire_launch launch = {
        .launch = id,
        .graph = graph == 5 ? RTL_NONE : graph,
        .generation = 1 + take(input, 2),
        .first = take(input, 64),
        .fingerprint = take(input, 4),
        .head = take(input, 4),
        .queue = take(input, 3),
        .thread = take(input, 3),
        .packets = take(input, 20),
        .kernels = take(input, 12),
        .flags = take(input, 2),
        .arguments = {UINT64_C(1024) * take(input, 16), UINT64_C(1024) * take(input, 16)}};
    if (!given[id])
        rtl_graphs_launch(graphs, &launch);
    given[id] = true;
}

static void give_kernel(struct rtl_graphs *graphs, struct input *input)
{
    const struct rtl_wire_kernel kernel = {.launch =
                                               take(input, 8) ? take(input, LAUNCHES) : RTL_NONE,
                                           .ordinal = take(input, 20),
                                           .shape = take(input, 10),
                                           .queue = take(input, 6),
                                           .packet = take(input, 64),
                                           .start = take(input, 100),
                                           .end = take(input, 100)};
    rtl_graphs_kernel(graphs, &kernel);
}

static void give_definition(struct rtl_graphs *graphs, struct input *input)
{
    static const char *const names[] = {"a", "b", "__amd_rocclr_fillBufferAligned",
                                        "__amd_rocclr_copyBuffer"};
    uint32_t name = take(input, 4);
    const struct rtl_wire_symbol symbol = {.symbol = take(input, 6),
                                           .name_length = (uint16_t)strlen(names[name])};
    const struct rtl_wire_shape shape = {
        .shape = take(input, 10), .symbol = take(input, 7), .grid = {take(input, 3), 1, 1}};
    const struct rtl_wire_queue queue = {.queue = take(input, 6), .agent = take(input, 3)};
    const struct rtl_wire_graph graph = {.graph = 1 + take(input, 4),
                                         .generation = 1 + take(input, 2),
                                         .nodes = take(input, 16),
                                         .flags = take(input, 8) == 0};
    rtl_graphs_symbol(graphs, &symbol, names[name]);
    rtl_graphs_shape(graphs, &shape);
    rtl_graphs_queue(graphs, &queue);
    rtl_graphs_graph(graphs, &graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen seen = {0};
    bool given[LAUNCHES] = {false};
    struct input input = {data, size};
    const struct rtl_graphs_sink sink = {&seen, take_graph, take_node, take_plan, take_launch};
    struct rtl_graphs *graphs = rtl_graphs_new(&sink);
    must(graphs != NULL, "there is memory");
    while (input.size) {
        switch (take(&input, 8)) {
        case 0:
            give_definition(graphs, &input);
            break;
        case 1:
            give_node(graphs, &input);
            break;
        case 2:
        case 3:
            give_launch(graphs, &input, given);
            break;
        case 4:
            rtl_graphs_flush(graphs);
            break;
        default:
            give_kernel(graphs, &input);
            break;
        }
    }
    rtl_graphs_finish(graphs);
    rtl_graphs_free(graphs);
    return 0;
}
