#include "fake_hip.h"

#include "intercept/base/emit.h"
#include "intercept/base/thread_context.h"
#include "intercept/hip/resolve.h"
#include "intercept/queue/launches.h"

#include <stdlib.h>
#include <string.h>

_Thread_local hipError_t fake_error;
struct fake_graph fake_sent;
unsigned fake_sent_count;
uint32_t fake_launched_graph, fake_launched_generation;
unsigned fake_open_launches;
_Atomic uint32_t rtl_hip_captures;

void fake_hip_start(void)
{
    memset(&fake_sent, 0, sizeof fake_sent);
    fake_sent_count = fake_open_launches = 0;
    fake_error = hipSuccess;
    rtl_thread_context.call = rtl_thread_context.range = 0;
    atomic_store(&rtl_calls_state, RTL_CALLS_ON);
}

/* ---- the rest of librtl ---- */

/* A kernel's function is its name. */
const char *rtl_hip_kernel_name(const void *function)
{
    return function;
}

void rtl_emit_definition(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    if (type == RTL_WIRE_GRAPH) {
        memset(&fake_sent, 0, sizeof fake_sent);
        memcpy(&fake_sent.wire, pieces[0].data, sizeof fake_sent.wire);
        fake_sent_count++;
    } else if (type == RTL_WIRE_NODE && count == 3 && fake_sent.node_count < FAKE_MOST) {
        struct fake_node *node = &fake_sent.nodes[fake_sent.node_count++];
        memcpy(&node->wire, pieces[0].data, sizeof node->wire);
        if (pieces[1].size > 0)
            memcpy(node->dependencies, pieces[1].data, pieces[1].size);
        if (pieces[2].size > 0 && pieces[2].size < sizeof node->name)
            memcpy(node->name, pieces[2].data, pieces[2].size);
    }
}

uint32_t rtl_launch_begin(uint32_t graph, uint32_t generation)
{
    fake_launched_graph = graph;
    fake_launched_generation = generation;
    fake_open_launches++;
    return 1;
}

void rtl_launch_end(void)
{
    fake_open_launches = 0;
}

/* ---- HIP ---- */

static hipError_t ends(hipError_t error)
{
    return fake_error = error;
}

static hipError_t get_version(int *version)
{
    *version = 50221153;
    return ends(hipSuccess);
}

static hipError_t peek(void)
{
    return fake_error;
}

static hipError_t get_nodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
    if (nodes == NULL)
        *count = graph->count;
    for (size_t i = 0; nodes != NULL && i < *count; i++)
        nodes[i] = graph->nodes[i];
    return ends(hipSuccess);
}

static hipError_t get_edges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to,
                            size_t *count)
{
    size_t edges = 0;
    for (size_t i = 0; i < graph->count; i++) {
        for (unsigned j = 0; j < graph->nodes[i]->dependency_count; j++, edges++) {
            if (from != NULL && edges < *count) {
                from[edges] = graph->nodes[i]->dependencies[j];
                to[edges] = graph->nodes[i];
            }
        }
    }
    if (from == NULL)
        *count = edges;
    return ends(hipSuccess);
}

static hipError_t get_type(hipGraphNode_t node, hipGraphNodeType *type)
{
    *type = (hipGraphNodeType)(node->type + 1);
    return ends(hipSuccess);
}

static hipError_t get_kernel(hipGraphNode_t node, hipKernelNodeParams *params)
{
    *params = node->kernel;
    return ends(hipSuccess);
}

static hipError_t get_memset(hipGraphNode_t node, hipMemsetParams *params)
{
    *params = node->memset;
    return ends(hipSuccess);
}

static hipError_t get_child(hipGraphNode_t node, hipGraph_t *graph)
{
    *graph = node->child;
    return ends(hipSuccess);
}

static hipError_t get_capture(hipStream_t stream, hipStreamCaptureStatus *status,
                              unsigned long long *id, hipGraph_t *graph,
                              const hipGraphNode_t **last, size_t *last_count)
{
    (void)id;
    *status = stream->capture != NULL ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
    *graph = stream->capture;
    *last = stream->last;
    *last_count = stream->last_count;
    return ends(hipSuccess);
}

rtl_hip_function rtl_hip_find(enum rtl_hip_entry entry)
{
    switch (entry) {
    case RTL_HIP_hipGraphGetNodes:
        return (rtl_hip_function)get_nodes;
    case RTL_HIP_hipGraphGetEdges:
        return (rtl_hip_function)get_edges;
    case RTL_HIP_hipGraphNodeGetType:
        return (rtl_hip_function)get_type;
    case RTL_HIP_hipGraphKernelNodeGetParams:
        return (rtl_hip_function)get_kernel;
    case RTL_HIP_hipGraphMemsetNodeGetParams:
        return (rtl_hip_function)get_memset;
    case RTL_HIP_hipGraphChildGraphNodeGetGraph:
        return (rtl_hip_function)get_child;
    case RTL_HIP_hipStreamGetCaptureInfo_v2:
        return (rtl_hip_function)get_capture;
    default:
        return NULL;
    }
}

rtl_hip_function rtl_hip_symbol(const char *name)
{
    return strcmp(name, "hipRuntimeGetVersion") == 0 ? (rtl_hip_function)get_version
           : strcmp(name, "hipPeekAtLastError") == 0 ? (rtl_hip_function)peek
                                                     : NULL;
}

/* ---- the program ---- */

static void begin_call(uint64_t range)
{
    rtl_thread_context.call = rtl_thread_context_new_id();
    rtl_thread_context.range = range;
}

static void end_call(void)
{
    rtl_thread_context.call = rtl_thread_context.range = 0;
}

static hipGraphNode_t new_node(hipGraph_t graph, enum rtl_node_type type)
{
    hipGraphNode_t node = calloc(1, sizeof *node);
    if (node == NULL || graph->count == FAKE_MOST)
        abort();
    node->type = type;
    graph->nodes[graph->count++] = node;
    return node;
}

static void set_params(hipKernelNodeParams *params, const char *name, unsigned blocks)
{
    *params = (hipKernelNodeParams){.func = (void *)(uintptr_t)name,
                                    .gridDim = {blocks, 1, 1},
                                    .blockDim = {64, 1, 1},
                                    .sharedMemBytes = blocks * 16};
}

hipGraph_t make_graph(void)
{
    hipGraph_t graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        abort();
    begin_call(0);
    rtl_hip_after_hipGraphCreate(ends(hipSuccess), &graph, 0);
    end_call();
    return graph;
}

static void free_graph(hipGraph_t graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i]->child != NULL)
            free_graph(graph->nodes[i]->child);
        free(graph->nodes[i]);
    }
    free(graph);
}

void destroy_graph(hipGraph_t graph)
{
    begin_call(0);
    rtl_hip_before_hipGraphDestroy(graph);
    free_graph(graph);
    ends(hipSuccess);
    end_call();
}

static hipGraph_t copy_of(hipGraph_t graph)
{
    hipGraph_t copy = calloc(1, sizeof *copy);
    if (copy == NULL)
        abort();
    for (size_t i = 0; i < graph->count; i++) {
        hipGraphNode_t node = new_node(copy, graph->nodes[i]->type);
        *node = *graph->nodes[i];
        if (node->child != NULL)
            node->child = copy_of(node->child);
    }
    for (size_t i = 0; i < graph->count; i++)
        for (unsigned j = 0; j < copy->nodes[i]->dependency_count; j++)
            for (size_t k = 0; k < graph->count; k++)
                if (graph->nodes[i]->dependencies[j] == graph->nodes[k])
                    copy->nodes[i]->dependencies[j] = copy->nodes[k];
    return copy;
}

hipGraph_t clone_graph(hipGraph_t graph)
{
    hipGraph_t clone = copy_of(graph);
    begin_call(0);
    rtl_hip_after_hipGraphClone(ends(hipSuccess), &clone, graph);
    end_call();
    return clone;
}

hipGraphNode_t add_kernel(hipGraph_t graph, const char *name, unsigned blocks, uint64_t range)
{
    hipGraphNode_t node = new_node(graph, RTL_NODE_KERNEL);
    set_params(&node->kernel, name, blocks);
    begin_call(range);
    rtl_hip_after_hipGraphAddKernelNode(ends(hipSuccess), &node, graph, NULL, 0, &node->kernel);
    end_call();
    return node;
}

hipGraphNode_t add_plain(hipGraph_t graph, enum rtl_node_type type, uint64_t range)
{
    hipGraphNode_t node = new_node(graph, type);
    begin_call(range);
    ends(hipSuccess);
    if (type == RTL_NODE_MEMSET) {
        node->memset = (hipMemsetParams){.elementSize = 4, .width = 25, .height = 2};
        rtl_hip_after_hipGraphAddMemsetNode(hipSuccess, &node, graph, NULL, 0, &node->memset);
    } else if (type == RTL_NODE_MEMCPY) {
        rtl_hip_after_hipGraphAddMemcpyNode1D(hipSuccess, &node, graph, NULL, 0, NULL, NULL, 4096,
                                              hipMemcpyDeviceToDevice);
    } else {
        rtl_hip_after_hipGraphAddEmptyNode(hipSuccess, &node, graph, NULL, 0);
    }
    end_call();
    return node;
}

hipGraphNode_t add_child(hipGraph_t graph, hipGraph_t child, uint64_t range)
{
    hipGraphNode_t node = new_node(graph, RTL_NODE_GRAPH);
    node->child = copy_of(child);
    begin_call(range);
    rtl_hip_after_hipGraphAddChildGraphNode(ends(hipSuccess), &node, graph, NULL, 0, child);
    end_call();
    return node;
}

void depend(hipGraphNode_t node, hipGraphNode_t on)
{
    node->dependencies[node->dependency_count++] = on;
}

void destroy_node(hipGraph_t graph, hipGraphNode_t node)
{
    begin_call(0);
    rtl_hip_before_hipGraphDestroyNode(node);
    end_call();
    size_t at = 0;
    while (graph->nodes[at] != node)
        at++;
    memmove(&graph->nodes[at], &graph->nodes[at + 1],
            (--graph->count - at) * sizeof(hipGraphNode_t));
    free(node);
    ends(hipSuccess);
}

void begin_capture(hipStream_t stream)
{
    *stream = (struct ihipStream_t){.capture = calloc(1, sizeof *stream->capture)};
    if (stream->capture == NULL)
        abort();
    begin_call(0);
    rtl_hip_after_hipStreamBeginCapture(ends(hipSuccess), stream, hipStreamCaptureModeGlobal);
    end_call();
}

hipGraph_t end_capture(hipStream_t stream)
{
    hipGraph_t graph = stream->capture;
    *stream = (struct ihipStream_t){0};
    begin_call(0);
    rtl_hip_after_hipStreamEndCapture(ends(hipSuccess), stream, &graph);
    end_call();
    return graph;
}

void capture(hipStream_t stream, const char *name, unsigned blocks, uint64_t range)
{
    if (name != NULL) {
        hipGraphNode_t node = new_node(stream->capture, RTL_NODE_KERNEL);
        set_params(&node->kernel, name, blocks);
        for (unsigned i = 0; i < stream->last_count; i++)
            depend(node, stream->last[i]);
        stream->last[0] = node;
        stream->last_count = 1;
    }
    begin_call(range);
    if (rtl_hip_captures != 0)
        rtl_hip_captured(RTL_NODE_KERNEL, stream);
    end_call();
}

void wait_for(hipStream_t stream, hipStream_t other)
{
    stream->capture = other->capture;
    for (unsigned i = 0; i < other->last_count; i++)
        stream->last[stream->last_count++] = other->last[i];
    begin_call(0);
    rtl_hip_captured(RTL_NODE_WAIT_EVENT, stream);
    end_call();
}

static hipGraphExec_t exec_of(uintptr_t handle)
{
    return (hipGraphExec_t)handle;
}

void instantiate(uintptr_t handle, hipGraph_t graph)
{
    hipGraphExec_t exec = exec_of(handle);
    begin_call(0);
    rtl_hip_after_hipGraphInstantiate(ends(hipSuccess), &exec, graph, NULL, NULL, 0);
    end_call();
}

void destroy_exec(uintptr_t handle)
{
    begin_call(0);
    rtl_hip_before_hipGraphExecDestroy(exec_of(handle));
    ends(hipSuccess);
    end_call();
}

void launch(uintptr_t handle, hipError_t result)
{
    begin_call(0);
    rtl_hip_before_hipGraphLaunch(exec_of(handle), NULL);
    rtl_hip_after_hipGraphLaunch(ends(result), exec_of(handle), NULL);
    end_call();
}

void change_kernel(uintptr_t handle, hipGraphNode_t node, const char *name, unsigned blocks)
{
    hipKernelNodeParams params;
    set_params(&params, name, blocks);
    begin_call(0);
    rtl_hip_after_hipGraphExecKernelNodeSetParams(ends(hipSuccess), exec_of(handle), node, &params);
    end_call();
}

void set_enabled(uintptr_t handle, hipGraphNode_t node, unsigned enabled)
{
    begin_call(0);
    rtl_hip_after_hipGraphNodeSetEnabled(ends(hipSuccess), exec_of(handle), node, enabled);
    end_call();
}

void update(uintptr_t handle, hipGraph_t graph, hipGraphExecUpdateResult result)
{
    begin_call(0);
    ends(result == hipGraphExecUpdateSuccess ? hipSuccess : hipErrorGraphExecUpdateFailure);
    rtl_hip_after_hipGraphExecUpdate(fake_error, exec_of(handle), graph, NULL, &result);
    end_call();
}

void update_child(uintptr_t handle, hipGraphNode_t node, hipGraph_t child)
{
    begin_call(0);
    rtl_hip_after_hipGraphExecChildGraphNodeSetParams(ends(hipSuccess), exec_of(handle), node,
                                                      child);
    end_call();
}
