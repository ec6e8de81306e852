/* The graph hooks alone, with a made-up HIP around them. */
#include "../../common/check.h"
#include "fake_hip.h"
#include "intercept/hip/graph_execs.h"
#include "intercept/hip/graph_nodes.h"
#include "intercept/hip/node_facts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXEC  UINT64_C(0x10000)
#define OTHER UINT64_C(0x20000)

static const struct fake_node *sent(unsigned number)
{
    return &fake_sent.nodes[number];
}

static bool named(unsigned number, const char *name)
{
    return strcmp(sent(number)->name, name) == 0;
}

/* Whether a node was sent with that range. */
static bool ranged(unsigned number, uint64_t range)
{
    return (sent(number)->wire.flags & RTL_NODE_RANGED) != 0 && sent(number)->wire.range == range;
}

static bool unranged(unsigned number)
{
    return (sent(number)->wire.flags & RTL_NODE_RANGED) == 0 && sent(number)->wire.range == 0;
}

const char *Graphs_NodesAsHipTellsThem(void)
{
    fake_hip_start();
    hipGraph_t graph = make_graph();
    hipGraphNode_t clear = add_plain(graph, RTL_NODE_MEMSET, 0);
    hipGraphNode_t load = add_plain(graph, RTL_NODE_MEMCPY, 0);
    hipGraphNode_t kernel = add_kernel(graph, "kernel", 3, 77);
    hipGraphNode_t join = add_plain(graph, RTL_NODE_EMPTY, 0);
    depend(kernel, load);
    depend(kernel, clear);
    depend(join, kernel);
    rtl_hip_after_hipGraphMemcpyNodeSetParams1D(hipSuccess, load, NULL, NULL, 8192, 0);
    instantiate(EXEC, graph);
    CHECK(fake_sent_count == 1);
    CHECK(fake_sent.wire.exec == EXEC && fake_sent.wire.source == (uintptr_t)graph);
    CHECK(fake_sent.wire.graph >= 1 && fake_sent.wire.generation == 1);
    CHECK(fake_sent.wire.correlation != 0 && fake_sent.wire.flags == 0);
    CHECK(fake_sent.wire.nodes == 4 && fake_sent.node_count == 4);
    CHECK(sent(0)->wire.type == RTL_NODE_MEMSET && sent(0)->wire.bytes == 200);
    CHECK(sent(1)->wire.type == RTL_NODE_MEMCPY && sent(1)->wire.bytes == 8192);
    CHECK(sent(2)->wire.type == RTL_NODE_KERNEL && named(2, "kernel") && ranged(2, 77));
    CHECK(sent(2)->wire.grid[0] == 192 && sent(2)->wire.grid[1] == 1);
    CHECK(sent(2)->wire.block[0] == 64 && sent(2)->wire.block[2] == 1);
    CHECK(sent(2)->wire.group_size == 48 && sent(2)->wire.name_length == 6);
    CHECK(sent(2)->wire.dependencies == 2);
    CHECK(sent(2)->dependencies[0] == 0 && sent(2)->dependencies[1] == 1);
    CHECK(sent(3)->wire.type == RTL_NODE_EMPTY && sent(3)->wire.dependencies == 1);
    CHECK(sent(3)->dependencies[0] == 2 && sent(3)->wire.parent == RTL_NONE);
    for (unsigned i = 0; i < 4; i++)
        CHECK(sent(i)->wire.node == i && sent(i)->wire.graph == fake_sent.wire.graph &&
              sent(i)->wire.generation == 1);
    destroy_exec(EXEC);
    destroy_graph(graph);
    return NULL;
}

/* HIP lists a graph in the order in which it was made; edges may come later, in any direction. */
const char *Graphs_OrderThatDependenciesAllow(void)
{
    fake_hip_start();
    hipGraph_t graph = make_graph();
    hipGraphNode_t last = add_kernel(graph, "last", 1, 4);
    hipGraphNode_t left = add_kernel(graph, "left", 1, 2);
    hipGraphNode_t right = add_kernel(graph, "right", 1, 3);
    hipGraphNode_t first = add_kernel(graph, "first", 1, 1);
    hipGraphNode_t alone = add_kernel(graph, "alone", 1, 5);
    (void)alone;
    depend(last, right);
    depend(last, left);
    depend(left, first);
    depend(right, first);
    instantiate(EXEC, graph);
    CHECK(fake_sent.node_count == 5);
    for (unsigned i = 0; i < fake_sent.node_count; i++)
        for (unsigned j = 0; j < sent(i)->wire.dependencies; j++)
            CHECK(sent(i)->dependencies[j] < i);
    CHECK(named(0, "first") && ranged(0, 1));
    CHECK(named(3, "last") && ranged(3, 4) && sent(3)->wire.dependencies == 2);
    CHECK(named(4, "alone") && ranged(4, 5) && sent(4)->wire.dependencies == 0);
    destroy_exec(EXEC);
    destroy_graph(graph);
    return NULL;
}

const char *Graphs_ChildGraphs(void)
{
    fake_hip_start();
    hipGraph_t inner = make_graph(), middle = make_graph(), graph = make_graph();
    hipGraphNode_t one = add_kernel(inner, "one", 1, 31);
    depend(add_kernel(inner, "two", 2, 32), one);
    hipGraphNode_t before = add_kernel(middle, "before", 1, 21);
    depend(add_child(middle, inner, 22), before);
    hipGraphNode_t start = add_kernel(graph, "start", 1, 11);
    hipGraphNode_t holder = add_child(graph, middle, 12);
    depend(holder, start);
    depend(add_kernel(graph, "end", 1, 13), holder);
    destroy_graph(inner); /* the graphs that were added live on as copies */
    destroy_graph(middle);
    instantiate(EXEC, graph);
    CHECK(fake_sent.node_count == 7);
    CHECK(named(0, "start") && sent(0)->wire.parent == RTL_NONE && ranged(0, 11));
    CHECK(sent(1)->wire.type == RTL_NODE_GRAPH && sent(1)->dependencies[0] == 0 && ranged(1, 12));
    CHECK(named(2, "before") && sent(2)->wire.parent == 1 && ranged(2, 21));
    CHECK(sent(2)->wire.dependencies == 0);
    CHECK(sent(3)->wire.type == RTL_NODE_GRAPH && sent(3)->wire.parent == 1 && ranged(3, 22));
    CHECK(sent(3)->dependencies[0] == 2);
    CHECK(named(4, "one") && sent(4)->wire.parent == 3 && ranged(4, 31));
    CHECK(named(5, "two") && sent(5)->wire.parent == 3 && ranged(5, 32));
    CHECK(sent(5)->wire.dependencies == 1 && sent(5)->dependencies[0] == 4);
    CHECK(named(6, "end") && sent(6)->wire.parent == RTL_NONE && sent(6)->dependencies[0] == 1);
    destroy_exec(EXEC);
    destroy_graph(graph);
    return NULL;
}

const char *Graphs_RangesOfCapturedNodes(void)
{
    fake_hip_start();
    struct ihipStream_t stream = {0};
    begin_capture(&stream);
    CHECK(rtl_hip_captures == 1);
    capture(&stream, "outside", 1, 0);
    capture(&stream, "layer", 2, 5);
    capture(&stream, NULL, 0, 6); /* becomes no node: the one before keeps its range */
    capture(&stream, "inner", 3, 7);
    hipGraph_t graph = end_capture(&stream);
    CHECK(rtl_hip_captures == 0);
    instantiate(EXEC, graph);
    CHECK(fake_sent.node_count == 3);
    CHECK(ranged(0, 0) && ranged(1, 5) && ranged(2, 7));
    CHECK(sent(2)->dependencies[0] == 1);
    destroy_exec(EXEC);
    destroy_graph(graph);
    return NULL;
}

const char *Graphs_CapturesOfSeveralStreams(void)
{
    fake_hip_start();
    struct ihipStream_t stream = {0}, side = {0}, other = {0};
    begin_capture(&stream);
    begin_capture(&other);
    CHECK(rtl_hip_captures == 2);
    capture(&stream, "fork", 1, 1);
    capture(&other, "elsewhere", 1, 9);
    wait_for(&side, &stream);
    capture(&side, "side", 1, 2);
    capture(&stream, "main", 1, 3);
    wait_for(&stream, &side);
    capture(&stream, "join", 1, 4);
    hipGraph_t second = end_capture(&other);
    hipGraph_t first = end_capture(&stream);
    instantiate(EXEC, first);
    CHECK(fake_sent.node_count == 4);
    CHECK(named(0, "fork") && ranged(0, 1));
    CHECK(named(1, "side") && ranged(1, 2) && sent(1)->dependencies[0] == 0);
    CHECK(named(2, "main") && ranged(2, 3) && sent(2)->dependencies[0] == 0);
    CHECK(named(3, "join") && ranged(3, 4) && sent(3)->wire.dependencies == 2);
    instantiate(OTHER, second);
    CHECK(fake_sent.node_count == 1 && named(0, "elsewhere") && ranged(0, 9));
    destroy_exec(EXEC);
    destroy_exec(OTHER);
    destroy_graph(first);
    destroy_graph(second);
    return NULL;
}

/* A captured operation may leave an older error where it is, so the hook must, too. */
const char *Graphs_HipIsNotAskedWhileItHoldsAnError(void)
{
    fake_hip_start();
    struct ihipStream_t stream = {0};
    begin_capture(&stream);
    capture(&stream, "one", 1, 1);
    fake_error = hipErrorInvalidValue;
    capture(&stream, "two", 1, 2);
    CHECK(fake_error == hipErrorInvalidValue);
    fake_error = hipSuccess;
    capture(&stream, NULL, 0, 3);
    capture(&stream, "four", 1, 4);
    hipGraph_t graph = end_capture(&stream);
    instantiate(EXEC, graph);
    CHECK(fake_sent.node_count == 3 && ranged(0, 1) && ranged(2, 4));
    /* Nor after a call that has failed. */
    update(EXEC, graph, hipGraphExecUpdateErrorParametersChanged);
    CHECK(fake_error == hipErrorGraphExecUpdateFailure);
    destroy_exec(EXEC);
    destroy_graph(graph);
    return NULL;
}

const char *Graphs_RangesGoWithCopies(void)
{
    fake_hip_start();
    hipGraph_t inner = make_graph(), graph = make_graph();
    add_kernel(inner, "inner", 1, 3);
    add_kernel(graph, "outer", 1, 1);
    add_child(graph, inner, 2);
    hipGraph_t clone = clone_graph(graph);
    destroy_graph(graph);
    destroy_graph(inner);
    add_kernel(clone, "added", 1, 4);
    instantiate(EXEC, clone);
    CHECK(fake_sent.node_count == 4);
    CHECK(ranged(0, 1) && ranged(1, 2) && ranged(2, 3) && ranged(3, 4));
    destroy_exec(EXEC);
    destroy_graph(clone);
    return NULL;
}

const char *Graphs_HandlesThatAreUsedAgain(void)
{
    fake_hip_start();
    hipGraph_t graph = make_graph();
    hipGraphNode_t node = add_kernel(graph, "first", 1, 1);
    instantiate(EXEC, graph);
    uint32_t first = fake_sent.wire.graph;
    launch(EXEC, hipSuccess);
    CHECK(fake_launched_graph == first && fake_launched_generation == 1);
    CHECK(fake_open_launches == 0);
    destroy_exec(EXEC);
    instantiate(EXEC, graph);
    CHECK(fake_sent.wire.graph != first && fake_sent.wire.generation == 1);
    launch(EXEC, hipSuccess);
    CHECK(fake_launched_graph == fake_sent.wire.graph);
    /* Its end went unseen. */
    uint32_t second = fake_sent.wire.graph;
    instantiate(EXEC, graph);
    CHECK(fake_sent.wire.graph != second);
    /* A node in the place of another one. */
    rtl_hip_before_hipGraphDestroyNode(node);
    instantiate(OTHER, graph);
    CHECK(unranged(0));
    /* What was marked for another graph counts no more. */
    rtl_node_facts_set(1, (uintptr_t)node, (struct rtl_node_facts){.range = 8});
    instantiate(OTHER, graph);
    CHECK(unranged(0));
    rtl_node_facts_set((uintptr_t)graph, (uintptr_t)node, (struct rtl_node_facts){.range = 9});
    instantiate(OTHER, graph);
    CHECK(ranged(0, 9));
    /* A graph in the place of one whose end went unseen. */
    rtl_hip_after_hipGraphCreate(hipSuccess, &graph, 0);
    instantiate(OTHER, graph);
    CHECK(unranged(0));
    destroy_exec(EXEC);
    destroy_exec(OTHER);
    destroy_graph(graph);
    return NULL;
}

const char *Graphs_ChangesMakeOneGeneration(void)
{
    fake_hip_start();
    hipGraph_t graph = make_graph();
    hipGraphNode_t one = add_kernel(graph, "one", 1, 1), two = add_kernel(graph, "two", 2, 2);
    instantiate(EXEC, graph);
    uint32_t id = fake_sent.wire.graph;
    launch(EXEC, hipSuccess);
    uint64_t made = fake_sent.wire.correlation;
    for (unsigned i = 0; i < 1000; i++)
        change_kernel(EXEC, one, "changed", 1 + i);
    CHECK(fake_sent_count == 1);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 2 && fake_sent.wire.graph == id && fake_sent.wire.generation == 2);
    CHECK(fake_sent.wire.correlation > made);
    CHECK(fake_launched_graph == id && fake_launched_generation == 2);
    CHECK(fake_sent.node_count == 2 && named(0, "changed") && named(1, "two"));
    CHECK(sent(0)->wire.grid[0] == 64000 && ranged(0, 1) && ranged(1, 2));
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 2 && fake_launched_generation == 2);
    set_enabled(EXEC, two, 0);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 3 && fake_launched_generation == 3);
    CHECK(sent(1)->wire.flags == (RTL_NODE_DISABLED | RTL_NODE_RANGED));
    CHECK(sent(0)->wire.flags == RTL_NODE_RANGED);
    set_enabled(EXEC, two, 1);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 4 && sent(1)->wire.flags == RTL_NODE_RANGED);
    destroy_exec(EXEC);
    destroy_graph(graph);
    return NULL;
}

/* A change that shows in no node: the generation has the nodes of the one before. */
const char *Graphs_ChangesThatDoNotShow(void)
{
    fake_hip_start();
    hipGraph_t graph = make_graph();
    hipGraphNode_t one = add_kernel(graph, "one", 1, 1);
    depend(add_kernel(graph, "two", 2, 2), one);
    instantiate(EXEC, graph);
    change_kernel(EXEC, one, "one", 1);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.generation == 2 && fake_sent.wire.flags == RTL_GRAPH_SAME);
    CHECK(fake_sent.wire.nodes == 2 && fake_sent.node_count == 0);
    update(EXEC, graph, hipGraphExecUpdateSuccess);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.generation == 3 && fake_sent.wire.flags == RTL_GRAPH_SAME);
    change_kernel(EXEC, one, "one", 2);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.generation == 4 && fake_sent.wire.flags == 0);
    CHECK(fake_sent.node_count == 2 && sent(0)->wire.grid[0] == 128);
    change_kernel(EXEC, one, "three", 2);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.generation == 5 && fake_sent.wire.flags == 0 && named(0, "three"));
    destroy_exec(EXEC);
    instantiate(EXEC, graph);
    CHECK(fake_sent.wire.generation == 1 && fake_sent.wire.flags == 0);
    CHECK(fake_sent.node_count == 2);
    /* Nor is what nobody knows the same as what nobody knew. */
    change_kernel(EXEC, (hipGraphNode_t)(uintptr_t)&graph, "who", 1);
    launch(EXEC, hipSuccess);
    change_kernel(EXEC, one, "one", 1);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.generation == 3 && fake_sent.wire.flags == RTL_GRAPH_UNKNOWN);
    destroy_exec(EXEC);
    destroy_graph(graph);
    return NULL;
}

const char *Graphs_WhatCannotBeFollowedIsUnknown(void)
{
    fake_hip_start();
    hipGraph_t graph = make_graph();
    hipGraphNode_t known = add_kernel(graph, "known", 1, 1);
    instantiate(EXEC, graph);
    change_kernel(EXEC, (hipGraphNode_t)(uintptr_t)&graph, "who", 1);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 2 && fake_sent.wire.generation == 2);
    CHECK(fake_sent.wire.flags == RTL_GRAPH_UNKNOWN && fake_sent.wire.nodes == 0);
    CHECK(fake_sent.node_count == 0 && fake_launched_generation == 2);
    change_kernel(EXEC, known, "known", 1);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.flags == RTL_GRAPH_UNKNOWN && fake_launched_generation == 3);
    /* Until all of it is replaced. */
    update(EXEC, graph, hipGraphExecUpdateSuccess);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.flags == 0 && fake_sent.node_count == 1 && named(0, "known"));
    CHECK(fake_launched_generation == 4);
    destroy_exec(EXEC);
    destroy_graph(graph);
    return NULL;
}

const char *Graphs_Updates(void)
{
    fake_hip_start();
    hipGraph_t graph = make_graph(), next = make_graph(), another = make_graph();
    hipGraphNode_t one = add_kernel(graph, "one", 1, 1), two = add_kernel(graph, "two", 1, 2);
    depend(two, one);
    hipGraphNode_t three = add_kernel(next, "three", 3, 3), four = add_kernel(next, "four", 4, 4);
    depend(four, three);
    add_kernel(another, "five", 5, 5);
    add_kernel(another, "six", 6, 6);
    instantiate(EXEC, graph);
    set_enabled(EXEC, two, 0);
    update(EXEC, next, hipGraphExecUpdateSuccess);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 2 && fake_sent.wire.generation == 2);
    CHECK(fake_sent.wire.source == (uintptr_t)graph);
    CHECK(named(0, "three") && ranged(0, 3) && sent(0)->wire.grid[0] == 192);
    CHECK(named(1, "four") && sent(1)->dependencies[0] == 0);
    CHECK(sent(1)->wire.flags == (RTL_NODE_RANGED | RTL_NODE_DISABLED));
    /* Calls still name the nodes that it was made of. */
    change_kernel(EXEC, one, "seven", 7);
    launch(EXEC, hipSuccess);
    CHECK(fake_launched_generation == 3 && named(0, "seven") && named(1, "four"));
    update(EXEC, next, hipGraphExecUpdateErrorTopologyChanged);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 3 && fake_launched_generation == 3);
    /* Of another shape, which HIP should have refused. */
    update(EXEC, another, hipGraphExecUpdateSuccess);
    launch(EXEC, hipSuccess);
    CHECK(fake_launched_generation == 4 && fake_sent.wire.flags == RTL_GRAPH_UNKNOWN);
    /* Refused half way. */
    update(EXEC, next, hipGraphExecUpdateSuccess);
    launch(EXEC, hipSuccess);
    CHECK(fake_launched_generation == 5 && fake_sent.wire.flags == 0);
    update(EXEC, another, hipGraphExecUpdateErrorNodeTypeChanged);
    launch(EXEC, hipSuccess);
    CHECK(fake_launched_generation == 6 && fake_sent.wire.flags == RTL_GRAPH_UNKNOWN);
    destroy_exec(EXEC);
    destroy_graph(graph);
    destroy_graph(next);
    destroy_graph(another);
    return NULL;
}

const char *Graphs_UpdatesOfChildGraphs(void)
{
    fake_hip_start();
    hipGraph_t child = make_graph(), graph = make_graph(), next = make_graph();
    hipGraphNode_t one = add_kernel(child, "one", 1, 1);
    depend(add_kernel(child, "two", 1, 2), one);
    hipGraphNode_t holder = add_child(graph, child, 0);
    depend(add_kernel(graph, "after", 1, 3), holder);
    hipGraphNode_t three = add_kernel(next, "three", 3, 4);
    depend(add_kernel(next, "four", 4, 5), three);
    instantiate(EXEC, graph);
    update_child(EXEC, holder, next);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.generation == 2 && fake_sent.node_count == 4);
    CHECK(sent(0)->wire.type == RTL_NODE_GRAPH);
    CHECK(named(1, "three") && sent(1)->wire.parent == 0 && ranged(1, 4));
    CHECK(named(2, "four") && sent(2)->wire.parent == 0 && sent(2)->dependencies[0] == 1);
    CHECK(named(3, "after") && sent(3)->dependencies[0] == 0);
    add_kernel(next, "five", 5, 6);
    update_child(EXEC, holder, next);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent.wire.generation == 3 && fake_sent.wire.flags == RTL_GRAPH_UNKNOWN);
    destroy_exec(EXEC);
    destroy_graph(child);
    destroy_graph(graph);
    destroy_graph(next);
    return NULL;
}

const char *Graphs_LaunchOfAGraphNobodySawMade(void)
{
    fake_hip_start();
    launch(EXEC, hipErrorInvalidValue);
    CHECK(fake_sent_count == 0);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 1 && fake_sent.wire.flags == RTL_GRAPH_UNKNOWN);
    CHECK(fake_sent.wire.exec == EXEC && fake_sent.wire.generation == 1);
    CHECK(fake_launched_graph == fake_sent.wire.graph && fake_launched_generation == 1);
    launch(EXEC, hipErrorInvalidValue);
    launch(EXEC, hipSuccess);
    CHECK(fake_sent_count == 1 && fake_launched_graph == fake_sent.wire.graph);
    launch(0, hipErrorInvalidValue);
    CHECK(fake_sent_count == 1);
    destroy_exec(EXEC);
    return NULL;
}

/* The numbers are those of the public headers of HIP 5.2, 5.4 and 6.2. */
const char *Graphs_TypesOfReleases(void)
{
    CHECK(rtl_graph_type_of(50221153, 1) == RTL_NODE_KERNEL);
    CHECK(rtl_graph_type_of(50221153, 8) == RTL_NODE_EVENT_RECORD);
    CHECK(rtl_graph_type_of(50221153, 9) == RTL_NODE_MEMCPY);
    CHECK(rtl_graph_type_of(50221153, 11) == RTL_NODE_MEMCPY);
    CHECK(rtl_graph_type_of(50221153, 0) == RTL_NODE_OTHER);
    CHECK(rtl_graph_type_of(50422801, 0) == RTL_NODE_KERNEL);
    CHECK(rtl_graph_type_of(50422801, 10) == RTL_NODE_MEMCPY);
    CHECK(rtl_graph_type_of(50422801, 9) == RTL_NODE_OTHER);
    CHECK(rtl_graph_type_of(60241133, 4) == RTL_NODE_GRAPH);
    CHECK(rtl_graph_type_of(60241133, 7) == RTL_NODE_EVENT_RECORD);
    CHECK(rtl_graph_type_of(60241133, 10) == RTL_NODE_OTHER);
    CHECK(rtl_graph_type_of(60241133, 12) == RTL_NODE_MEMCPY);
    CHECK(rtl_graph_type_of(60241133, 13) == RTL_NODE_MEMCPY);
    CHECK(rtl_graph_type_of(60241133, 14) == RTL_NODE_OTHER);
    return NULL;
}

enum { MANY = 5000 };

static uint64_t handle_of(unsigned i)
{
    return UINT64_C(0x7f0000000000) + (uint64_t)i * 336;
}

/* Launches graphs that are there all the time, while others come and go. */
static void *launch_many(void *failed)
{
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < MANY; i += 7) {
            const struct rtl_graph_exec *exec = rtl_graph_execs_find(handle_of(i));
            if (exec == NULL || exec->handle != handle_of(i) ||
                atomic_load(&exec->current) >> 32 != 1)
                *(bool *)failed = true;
        }
    }
    return NULL;
}

const char *Graphs_ManyExecutableGraphs(void)
{
    fake_hip_start();
    hipGraph_t graph = make_graph();
    add_kernel(graph, "kernel", 1, 0);
    for (unsigned i = 0; i < MANY; i += 7)
        instantiate(handle_of(i), graph);
    pthread_t thread;
    bool failed = false;
    CHECK(pthread_create(&thread, NULL, launch_many, &failed) == 0);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < MANY; i++)
            if (i % 7 != 0)
                instantiate(handle_of(i), graph);
        for (unsigned i = 0; i < MANY; i++)
            if (i % 7 != 0)
                destroy_exec(handle_of(i));
    }
    CHECK(pthread_join(thread, NULL) == 0 && !failed);
    for (unsigned i = 0; i < MANY; i++)
        CHECK((rtl_graph_execs_find(handle_of(i)) != NULL) == (i % 7 == 0));
    for (unsigned i = 0; i < MANY; i += 7)
        destroy_exec(handle_of(i));
    destroy_graph(graph);
    return NULL;
}

const char *Graphs_ManyMarks(void)
{
    struct rtl_node_facts facts;
    for (unsigned i = 0; i < MANY; i++)
        rtl_node_facts_set(16 + i % 10, handle_of(i), (struct rtl_node_facts){.range = i});
    rtl_node_facts_attach(16, 17);
    rtl_node_facts_attach(17, 18);
    for (unsigned i = 0; i < MANY; i++) {
        CHECK(rtl_node_facts_find(16 + i % 10, handle_of(i), &facts) && facts.range == i);
        CHECK(!rtl_node_facts_find(17 + i % 10, handle_of(i), &facts));
    }
    rtl_node_facts_forget(handle_of(3));
    CHECK(!rtl_node_facts_find(19, handle_of(3), &facts));
    rtl_node_facts_forget_graph(16); /* and with it 17 and 18 */
    for (unsigned i = 4; i < MANY; i++)
        CHECK(rtl_node_facts_find(16 + i % 10, handle_of(i), &facts) == (i % 10 > 2));
    for (unsigned i = 16; i < 26; i++)
        rtl_node_facts_forget_graph(i);
    for (unsigned i = 0; i < MANY; i++)
        CHECK(!rtl_node_facts_find(16 + i % 10, handle_of(i), &facts));
    return NULL;
}
