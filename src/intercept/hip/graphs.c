/*
 * HIP's graph calls, made into the records GRAPH, NODE and LAUNCH: the hooks of hip.h that are
 * about executable graphs. graph_sources.c has those about the graphs that they are made of.
 *
 * HIP is asked about a graph only after a call of the program has succeeded, and only what succeeds
 * then: up to HIP 6 each call sets the thread's last error, so that a call that succeeds after one
 * that has succeeded leaves no trace; from HIP 7 on what succeeds leaves the error alone.
 *
 * Each executable graph is followed from its instantiation on: its nodes as HIP told them then,
 * changed as the program changes them. A change makes a new generation with the next launch,
 * however many calls made it. One that comes into sight at a launch has nodes that nobody knows.
 */
#include "common/stamp.h"
#include "intercept/base/emit.h"
#include "intercept/base/thread_context.h"
#include "intercept/hip/graph_execs.h"
#include "intercept/hip/graph_nodes.h"
#include "intercept/hip/hip.h"
#include "intercept/hip/node_facts.h"
#include "intercept/queue/launches.h"

#include <pthread.h>

/* Of all executable graphs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_graph = 1;

/* The launch that this thread is in is of an executable graph that nobody has seen being made. */
static _Thread_local bool discovering __attribute__((tls_model("initial-exec")));

/* Of the call that the thread is in; while recording is stopped there will be no record of it. */
static uint64_t correlation_now(void)
{
    return atomic_load_explicit(&rtl_calls_state, memory_order_relaxed) == RTL_CALLS_ON
               ? rtl_thread_context.call
               : 0;
}

/* Sends a new generation, which launches find from then on. */
static void begin_generation(struct rtl_graph_exec *exec)
{
    uint64_t hash = rtl_graph_nodes_hash(&exec->nodes);
    bool same =
        exec->generation > 0 && !exec->unknown && !exec->sent_unknown && exec->sent_hash == hash;
    exec->sent_hash = hash;
    exec->sent_unknown = exec->unknown;
    exec->generation++;
    struct rtl_wire_graph wire = {
        .time_ns = rtl_stamp(),
        .exec = exec->handle,
        .source = exec->source,
        .correlation = exec->correlation,
        .graph = exec->graph,
        .generation = exec->generation,
        .nodes = exec->nodes.count,
        .flags = exec->unknown ? RTL_GRAPH_UNKNOWN
                 : same        ? RTL_GRAPH_SAME
                               : 0,
    };
    struct rtl_piece piece = {&wire, sizeof wire};
    rtl_emit_definition(RTL_WIRE_GRAPH, &piece, 1);
    if (!same)
        rtl_graph_nodes_send(&exec->nodes, exec->graph, exec->generation);
    atomic_store_explicit(&exec->current, (uint64_t)exec->generation << 32 | exec->graph,
                          memory_order_release);
}

static struct rtl_graph_exec *enter(uint64_t handle)
{
    struct rtl_graph_exec *exec = rtl_graph_execs_enter(handle);
    if (exec != NULL) {
        exec->graph = next_graph++;
        exec->correlation = correlation_now();
    }
    return exec;
}

/* ---- made and ended ---- */

static void instantiated(hipError_t result, hipGraphExec_t *handle, hipGraph_t graph)
{
    if (result != hipSuccess || handle == NULL || *handle == NULL)
        return;
    struct rtl_graph_nodes nodes = {0};
    bool known = rtl_graph_nodes_read(graph, &nodes);
    pthread_mutex_lock(&lock);
    struct rtl_graph_exec *exec = enter((uintptr_t)*handle);
    if (exec != NULL) {
        exec->source = (uintptr_t)graph;
        exec->unknown = !known;
        exec->nodes = nodes;
        begin_generation(exec);
    } else {
        rtl_graph_nodes_free(&nodes);
    }
    pthread_mutex_unlock(&lock);
}

void rtl_hip_after_hipGraphInstantiate(hipError_t result, hipGraphExec_t *exec, hipGraph_t graph,
                                       hipGraphNode_t *error_node, char *text, size_t text_size)
{
    (void)error_node, (void)text, (void)text_size;
    instantiated(result, exec, graph);
}

void rtl_hip_after_hipGraphInstantiateWithFlags(hipError_t result, hipGraphExec_t *exec,
                                                hipGraph_t graph, unsigned long long flags)
{
    (void)flags;
    instantiated(result, exec, graph);
}

void rtl_hip_after_hipGraphInstantiateWithParams(hipError_t result, hipGraphExec_t *exec,
                                                 hipGraph_t graph,
                                                 hipGraphInstantiateParams *params)
{
    (void)params;
    instantiated(result, exec, graph);
}

/* Before the call: afterwards another thread may have been given the same handle. */
void rtl_hip_before_hipGraphExecDestroy(hipGraphExec_t exec)
{
    pthread_mutex_lock(&lock);
    rtl_graph_execs_forget((uintptr_t)exec);
    pthread_mutex_unlock(&lock);
}

/* ---- launched ---- */

/* The graph and generation of a launch whose executable graph has no current one. */
static uint64_t look_closer(uint64_t handle)
{
    uint64_t current = 0;
    pthread_mutex_lock(&lock);
    struct rtl_graph_exec *exec = rtl_graph_execs_find(handle);
    if (exec == NULL && (exec = enter(handle)) != NULL) {
        exec->unknown = true;
        discovering = true;
    } else if (exec != NULL && exec->generation > 0) {
        begin_generation(exec);
    }
    if (exec != NULL)
        current = (uint64_t)(exec->generation > 0 ? exec->generation : 1) << 32 | exec->graph;
    pthread_mutex_unlock(&lock);
    return current;
}

void rtl_hip_before_hipGraphLaunch(hipGraphExec_t handle, hipStream_t stream)
{
    (void)stream;
    if (handle == NULL)
        return;
    const struct rtl_graph_exec *exec = rtl_graph_execs_find((uintptr_t)handle);
    uint64_t current =
        exec != NULL ? atomic_load_explicit(&exec->current, memory_order_acquire) : 0;
    if (current == 0)
        current = look_closer((uintptr_t)handle);
    if (current != 0)
        (void)rtl_launch_begin((uint32_t)current, (uint32_t)(current >> 32));
}

void rtl_hip_after_hipGraphLaunch(hipError_t result, hipGraphExec_t handle, hipStream_t stream)
{
    (void)stream;
    rtl_launch_end();
    if (!discovering)
        return;
    discovering = false;
    pthread_mutex_lock(&lock);
    struct rtl_graph_exec *exec = rtl_graph_execs_find((uintptr_t)handle);
    if (exec != NULL && exec->generation == 0) {
        if (result == hipSuccess)
            begin_generation(exec);
        else
            rtl_graph_execs_forget((uintptr_t)handle);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- changed ---- */

/* The executable graph that a call has changed, with the lock held; NULL, and no lock, if the call
 * has failed or the graph is not known. */
static struct rtl_graph_exec *begin_change(hipError_t result, hipGraphExec_t handle)
{
    if (result != hipSuccess)
        return NULL;
    pthread_mutex_lock(&lock);
    struct rtl_graph_exec *exec = rtl_graph_execs_find((uintptr_t)handle);
    if (exec == NULL)
        pthread_mutex_unlock(&lock);
    return exec;
}

/* The next launch is of a new generation. */
static void end_change(struct rtl_graph_exec *exec)
{
    exec->correlation = correlation_now();
    atomic_store_explicit(&exec->current, 0, memory_order_release);
    pthread_mutex_unlock(&lock);
}

/* What cannot be followed makes the nodes unknown rather than wrong. */
static void lose_nodes(struct rtl_graph_exec *exec)
{
    rtl_graph_nodes_free(&exec->nodes);
    exec->unknown = true;
}

/* A change that nothing is known of but that there was one, and how many bytes a node copies or
 * sets now. */
static void changed(hipError_t result, hipGraphExec_t handle, hipGraphNode_t node, uint64_t bytes)
{
    struct rtl_graph_exec *exec = begin_change(result, handle);
    if (exec == NULL)
        return;
    struct rtl_hip_graph_node *found = rtl_graph_nodes_find(&exec->nodes, node);
    if (found != NULL)
        found->bytes = bytes;
    end_change(exec);
}

static void updated(hipGraphExec_t handle, hipGraph_t graph)
{
    struct rtl_graph_nodes next = {0};
    bool known = rtl_graph_nodes_read(graph, &next);
    struct rtl_graph_exec *exec = begin_change(hipSuccess, handle);
    if (exec != NULL) {
        if (known && exec->unknown) {
            exec->nodes = next;
            exec->unknown = false;
            next = (struct rtl_graph_nodes){0};
        } else if (!known || !rtl_graph_nodes_update(&exec->nodes, &next)) {
            lose_nodes(exec);
        }
        end_change(exec);
    }
    rtl_graph_nodes_free(&next);
}

/* HIP looks at node by node and changes those that it can before it refuses an update. */
static void half_updated(hipGraphExec_t handle)
{
    struct rtl_graph_exec *exec = begin_change(hipSuccess, handle);
    if (exec == NULL)
        return;
    lose_nodes(exec);
    end_change(exec);
}

void rtl_hip_after_hipGraphExecUpdate(hipError_t result, hipGraphExec_t exec, hipGraph_t graph,
                                      hipGraphNode_t *error_node,
                                      hipGraphExecUpdateResult *update_result)
{
    (void)error_node;
    if (result == hipSuccess)
        updated(exec, graph);
    else if (result == hipErrorGraphExecUpdateFailure && update_result != NULL &&
             *update_result != hipGraphExecUpdateErrorTopologyChanged)
        half_updated(exec);
}

static void set_kernel(hipError_t result, hipGraphExec_t handle, hipGraphNode_t node,
                       const hipKernelNodeParams *params)
{
    struct rtl_graph_exec *exec = begin_change(result, handle);
    if (exec == NULL)
        return;
    struct rtl_hip_graph_node *found = rtl_graph_nodes_find(&exec->nodes, node);
    if (found != NULL)
        rtl_graph_node_set_kernel(found, params);
    else
        lose_nodes(exec);
    end_change(exec);
}

void rtl_hip_after_hipGraphExecKernelNodeSetParams(hipError_t result, hipGraphExec_t exec,
                                                   hipGraphNode_t node,
                                                   const hipKernelNodeParams *params)
{
    set_kernel(result, exec, node, params);
}

void rtl_hip_after_hipGraphExecMemsetNodeSetParams(hipError_t result, hipGraphExec_t exec,
                                                   hipGraphNode_t node,
                                                   const hipMemsetParams *params)
{
    changed(result, exec, node, result == hipSuccess ? rtl_graph_memset_bytes(params) : 0);
}

void rtl_hip_after_hipDrvGraphExecMemsetNodeSetParams(hipError_t result, hipGraphExec_t exec,
                                                      hipGraphNode_t node,
                                                      const rtl_driver_memset *params,
                                                      hipCtx_t context)
{
    (void)params, (void)context; /* of two layouts, by release */
    changed(result, exec, node, 0);
}

void rtl_hip_after_hipGraphExecMemcpyNodeSetParams(hipError_t result, hipGraphExec_t exec,
                                                   hipGraphNode_t node, hipMemcpy3DParms *params)
{
    changed(result, exec, node, result == hipSuccess ? rtl_graph_memcpy_bytes(params) : 0);
}

void rtl_hip_after_hipDrvGraphExecMemcpyNodeSetParams(hipError_t result, hipGraphExec_t exec,
                                                      hipGraphNode_t node,
                                                      const HIP_MEMCPY3D *params, hipCtx_t context)
{
    (void)context;
    changed(result, exec, node, result == hipSuccess ? rtl_graph_drv_memcpy_bytes(params) : 0);
}

void rtl_hip_after_hipGraphExecMemcpyNodeSetParams1D(hipError_t result, hipGraphExec_t exec,
                                                     hipGraphNode_t node, void *target,
                                                     const void *source, size_t count,
                                                     hipMemcpyKind kind)
{
    (void)target, (void)source, (void)kind;
    changed(result, exec, node, count);
}

void rtl_hip_after_hipGraphExecMemcpyNodeSetParamsFromSymbol(hipError_t result, hipGraphExec_t exec,
                                                             hipGraphNode_t node, void *target,
                                                             const void *symbol, size_t count,
                                                             size_t offset, hipMemcpyKind kind)
{
    (void)target, (void)symbol, (void)offset, (void)kind;
    changed(result, exec, node, count);
}

void rtl_hip_after_hipGraphExecMemcpyNodeSetParamsToSymbol(hipError_t result, hipGraphExec_t exec,
                                                           hipGraphNode_t node, const void *symbol,
                                                           const void *source, size_t count,
                                                           size_t offset, hipMemcpyKind kind)
{
    (void)symbol, (void)source, (void)offset, (void)kind;
    changed(result, exec, node, count);
}

void rtl_hip_after_hipGraphExecHostNodeSetParams(hipError_t result, hipGraphExec_t exec,
                                                 hipGraphNode_t node,
                                                 const hipHostNodeParams *params)
{
    (void)params;
    changed(result, exec, node, 0);
}

void rtl_hip_after_hipGraphExecEventRecordNodeSetEvent(hipError_t result, hipGraphExec_t exec,
                                                       hipGraphNode_t node, hipEvent_t event)
{
    (void)event;
    changed(result, exec, node, 0);
}

void rtl_hip_after_hipGraphExecEventWaitNodeSetEvent(hipError_t result, hipGraphExec_t exec,
                                                     hipGraphNode_t node, hipEvent_t event)
{
    (void)event;
    changed(result, exec, node, 0);
}

void rtl_hip_after_hipGraphExecNodeSetParams(hipError_t result, hipGraphExec_t exec,
                                             hipGraphNode_t node, hipGraphNodeParams *params)
{
    const struct rtl_graph_params *seen = (const void *)params;
    if (result != hipSuccess)
        return;
    if (seen->type == RTL_NODE_KERNEL)
        set_kernel(result, exec, node, &seen->kernel);
    else
        changed(result, exec, node, rtl_graph_params_bytes(seen));
}

void rtl_hip_after_hipGraphExecChildGraphNodeSetParams(hipError_t result, hipGraphExec_t handle,
                                                       hipGraphNode_t node, hipGraph_t child)
{
    struct rtl_graph_nodes next = {0};
    bool known = result == hipSuccess && rtl_graph_nodes_read(child, &next);
    struct rtl_graph_exec *exec = begin_change(result, handle);
    if (exec != NULL) {
        const struct rtl_hip_graph_node *holder = rtl_graph_nodes_find(&exec->nodes, node);
        if (!known || holder == NULL || !rtl_graph_nodes_update_child(&exec->nodes, holder, &next))
            lose_nodes(exec);
        end_change(exec);
    }
    rtl_graph_nodes_free(&next);
}

void rtl_hip_after_hipGraphNodeSetEnabled(hipError_t result, hipGraphExec_t handle,
                                          hipGraphNode_t node, unsigned int enabled)
{
    struct rtl_graph_exec *exec = begin_change(result, handle);
    if (exec == NULL)
        return;
    struct rtl_hip_graph_node *found = rtl_graph_nodes_find(&exec->nodes, node);
    if (found == NULL)
        lose_nodes(exec);
    else if (enabled != 0)
        found->flags &= (uint16_t)~RTL_NODE_DISABLED;
    else
        found->flags |= RTL_NODE_DISABLED;
    end_change(exec);
}
