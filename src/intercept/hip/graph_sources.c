/*
 * What becomes of the ranges that are open while the program makes a graph: the hooks of hip.h that
 * are about captures and about graphs built by hand. graphs.c has those about executable graphs,
 * and says when HIP may be asked.
 */
#include "intercept/base/thread_context.h"
#include "intercept/hip/graph_nodes.h"
#include "intercept/hip/node_facts.h"
#include "intercept/hip/resolve.h"

#include <stdlib.h>

#define DEEPEST      64u      /* child graphs within child graphs */
#define KEEPS_ERRORS 70000000 /* HIP version from which on success leaves the last error alone */

static uint64_t id_of(const void *handle)
{
    return (uintptr_t)handle;
}

/* ---- captured ---- */

struct capture {
    hipGraph_t graph;
    const hipGraphNode_t *last; /* what the stream's next operation will depend on */
    size_t last_count;
};

/* The capture that a stream is in. Not for the NULL stream nor the one named 1 (both are the legacy
 * stream, which cannot be captured). */
static bool find_capture(hipStream_t stream, struct capture *capture)
{
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    *capture = (struct capture){0};
    return id_of(stream) > 1 && rtl_hip_real(hipStreamGetCaptureInfo_v2) != NULL &&
           rtl_hip_real(hipStreamGetCaptureInfo_v2)(stream, &status, NULL, &capture->graph,
                                                    &capture->last,
                                                    &capture->last_count) == hipSuccess &&
           status == hipStreamCaptureStatusActive;
}

/* Up to HIP 6 some operations that are captured leave the thread's last error as it was (memsets by
 * words in HIP 5.2, launches of module functions later), and whatever we ask does not: while there
 * is one, HIP must not be asked. */
static bool may_ask(void)
{
    static _Atomic(rtl_hip_function) known;
    rtl_hip_function peek = atomic_load_explicit(&known, memory_order_relaxed);
    if (peek == NULL) {
        peek = rtl_hip_symbol("hipPeekAtLastError");
        atomic_store_explicit(&known, peek, memory_order_relaxed);
    }
    return peek != NULL && (((__typeof__(hipPeekAtLastError) *)peek)() == hipSuccess ||
                            rtl_hip_version() >= KEEPS_ERRORS);
}

void rtl_hip_captured(enum rtl_node_type type, hipStream_t stream)
{
    struct capture capture;
    struct rtl_node_facts facts;
    if (!may_ask() || !find_capture(stream, &capture) || capture.last_count != 1)
        return;
    /* An operation that has become no node leaves an older one in its place. */
    hipGraphNode_t node = capture.last[0];
    if (!rtl_node_facts_find(id_of(capture.graph), id_of(node), &facts) &&
        rtl_graph_node_type(node) == type)
        rtl_node_facts_set(id_of(capture.graph), id_of(node),
                           (struct rtl_node_facts){.range = rtl_thread_context.range});
}

static void capture_begun(hipError_t result, hipStream_t stream)
{
    struct capture capture;
    if (result != hipSuccess)
        return;
    (void)rtl_hip_version(); /* asked now, known when it must not be asked */
    atomic_fetch_add_explicit(&rtl_hip_captures, 1, memory_order_relaxed);
    if (find_capture(stream, &capture))
        rtl_node_facts_forget_graph(id_of(capture.graph));
}

void rtl_hip_after_hipStreamBeginCapture(hipError_t result, hipStream_t stream,
                                         hipStreamCaptureMode mode)
{
    (void)mode;
    capture_begun(result, stream);
}

void rtl_hip_after_hipStreamBeginCapture_spt(hipError_t result, hipStream_t stream,
                                             hipStreamCaptureMode mode)
{
    (void)mode;
    capture_begun(result, stream != NULL ? stream : hipStreamPerThread);
}

/* The graph was there before; what was captured or added to it stays. */
void rtl_hip_after_hipStreamBeginCaptureToGraph(hipError_t result, hipStream_t stream,
                                                hipGraph_t graph,
                                                const hipGraphNode_t *dependencies,
                                                const hipGraphEdgeData *edges, size_t count,
                                                hipStreamCaptureMode mode)
{
    (void)stream, (void)graph, (void)dependencies, (void)edges, (void)count, (void)mode;
    if (result == hipSuccess)
        atomic_fetch_add_explicit(&rtl_hip_captures, 1, memory_order_relaxed);
}

/* A capture that cannot end here (on the wrong stream, in the wrong thread) is still open. */
static void capture_ended(hipError_t result)
{
    uint32_t open = atomic_load_explicit(&rtl_hip_captures, memory_order_relaxed);
    if (result != hipSuccess && result != hipErrorStreamCaptureInvalidated)
        return;
    while (open > 0 &&
           !atomic_compare_exchange_weak_explicit(&rtl_hip_captures, &open, open - 1,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void rtl_hip_after_hipStreamEndCapture(hipError_t result, hipStream_t stream, hipGraph_t *graph)
{
    (void)stream, (void)graph;
    capture_ended(result);
}

void rtl_hip_after_hipStreamEndCapture_spt(hipError_t result, hipStream_t stream, hipGraph_t *graph)
{
    (void)stream, (void)graph;
    capture_ended(result);
}

/* ---- made and ended ---- */

/* The nodes of a graph in HIP's order, to be freed; NULL if HIP does not tell. */
static hipGraphNode_t *list_nodes(hipGraph_t graph, size_t *count)
{
    *count = 0;
    if (rtl_hip_real(hipGraphGetNodes)(graph, NULL, count) != hipSuccess)
        return NULL;
    hipGraphNode_t *nodes = calloc(*count + 1, sizeof(hipGraphNode_t));
    if (nodes != NULL && *count > 0 &&
        rtl_hip_real(hipGraphGetNodes)(graph, nodes, count) != hipSuccess) {
        free(nodes);
        return NULL;
    }
    return nodes;
}

static void copy_node_facts(hipGraph_t from, hipGraph_t to, unsigned depth);

/* `holder` holds a copy of `child`, as a part of `graph`. */
static void copy_child(hipGraph_t child, hipGraphNode_t holder, hipGraph_t graph, unsigned depth)
{
    hipGraph_t copy = NULL;
    if (rtl_hip_real(hipGraphChildGraphNodeGetGraph)(holder, &copy) != hipSuccess || copy == child)
        return;
    rtl_node_facts_forget_graph(id_of(copy));
    rtl_node_facts_attach(id_of(graph), id_of(copy));
    copy_node_facts(child, copy, depth);
}

static void copy_mark(hipGraph_t from, hipGraphNode_t node, hipGraph_t to, hipGraphNode_t copy,
                      unsigned depth)
{
    struct rtl_node_facts facts;
    hipGraph_t child = NULL;
    enum rtl_node_type type = rtl_graph_node_type(node);
    if (type != rtl_graph_node_type(copy))
        return;
    if (rtl_node_facts_find(id_of(from), id_of(node), &facts))
        rtl_node_facts_set(id_of(to), id_of(copy), facts);
    if (type == RTL_NODE_GRAPH && depth < DEEPEST &&
        rtl_hip_real(hipGraphChildGraphNodeGetGraph)(node, &child) == hipSuccess)
        copy_child(child, copy, to, depth + 1);
}

/* HIP lists the nodes of a copy in the order of the original. */
static void copy_node_facts(hipGraph_t from, hipGraph_t to, unsigned depth)
{
    size_t count = 0, copies = 0;
    hipGraphNode_t *nodes = list_nodes(from, &count), *copied = list_nodes(to, &copies);
    if (nodes != NULL && copied != NULL && count == copies)
        for (size_t i = 0; i < count; i++)
            copy_mark(from, nodes[i], to, copied[i], depth);
    free(nodes);
    free(copied);
}

static bool can_copy(void)
{
    return rtl_hip_real(hipGraphGetNodes) != NULL &&
           rtl_hip_real(hipGraphChildGraphNodeGetGraph) != NULL;
}

void rtl_hip_after_hipGraphCreate(hipError_t result, hipGraph_t *graph, unsigned int flags)
{
    (void)flags;
    if (result == hipSuccess)
        rtl_node_facts_forget_graph(id_of(*graph));
}

void rtl_hip_after_hipGraphClone(hipError_t result, hipGraph_t *clone, hipGraph_t original)
{
    if (result != hipSuccess)
        return;
    rtl_node_facts_forget_graph(id_of(*clone));
    if (can_copy())
        copy_node_facts(original, *clone, 0);
}

/* Before the calls: afterwards another thread may have been given the same handle. */
void rtl_hip_before_hipGraphDestroy(hipGraph_t graph)
{
    rtl_node_facts_forget_graph(id_of(graph));
}

void rtl_hip_before_hipGraphDestroyNode(hipGraphNode_t node)
{
    rtl_node_facts_forget(id_of(node));
}

/* ---- added by hand ---- */

static void added(hipError_t result, hipGraphNode_t *node, hipGraph_t graph, uint64_t bytes)
{
    if (result == hipSuccess)
        rtl_node_facts_set(
            id_of(graph), id_of(*node),
            (struct rtl_node_facts){.range = rtl_thread_context.range, .bytes = bytes});
}

void rtl_hip_after_hipGraphAddChildGraphNode(hipError_t result, hipGraphNode_t *node,
                                             hipGraph_t graph, const hipGraphNode_t *dependencies,
                                             size_t count, hipGraph_t child)
{
    (void)dependencies, (void)count;
    added(result, node, graph, 0);
    if (result == hipSuccess && can_copy())
        copy_child(child, *node, graph, 0);
}

void rtl_hip_after_hipGraphAddKernelNode(hipError_t result, hipGraphNode_t *node, hipGraph_t graph,
                                         const hipGraphNode_t *dependencies, size_t count,
                                         const hipKernelNodeParams *params)
{
    (void)dependencies, (void)count, (void)params;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddMemcpyNode(hipError_t result, hipGraphNode_t *node, hipGraph_t graph,
                                         const hipGraphNode_t *dependencies, size_t count,
                                         const hipMemcpy3DParms *params)
{
    (void)dependencies, (void)count;
    added(result, node, graph, result == hipSuccess ? rtl_graph_memcpy_bytes(params) : 0);
}

void rtl_hip_after_hipGraphAddMemcpyNode1D(hipError_t result, hipGraphNode_t *node,
                                           hipGraph_t graph, const hipGraphNode_t *dependencies,
                                           size_t count, void *target, const void *source,
                                           size_t bytes, hipMemcpyKind kind)
{
    (void)dependencies, (void)count, (void)target, (void)source, (void)kind;
    added(result, node, graph, bytes);
}

void rtl_hip_after_hipGraphAddMemcpyNodeFromSymbol(hipError_t result, hipGraphNode_t *node,
                                                   hipGraph_t graph,
                                                   const hipGraphNode_t *dependencies, size_t count,
                                                   void *target, const void *symbol, size_t bytes,
                                                   size_t offset, hipMemcpyKind kind)
{
    (void)dependencies, (void)count, (void)target, (void)symbol, (void)offset, (void)kind;
    added(result, node, graph, bytes);
}

void rtl_hip_after_hipGraphAddMemcpyNodeToSymbol(hipError_t result, hipGraphNode_t *node,
                                                 hipGraph_t graph,
                                                 const hipGraphNode_t *dependencies, size_t count,
                                                 const void *symbol, const void *source,
                                                 size_t bytes, size_t offset, hipMemcpyKind kind)
{
    (void)dependencies, (void)count, (void)symbol, (void)source, (void)offset, (void)kind;
    added(result, node, graph, bytes);
}

void rtl_hip_after_hipDrvGraphAddMemcpyNode(hipError_t result, hipGraphNode_t *node,
                                            hipGraph_t graph, const hipGraphNode_t *dependencies,
                                            size_t count, const HIP_MEMCPY3D *params,
                                            hipCtx_t context)
{
    (void)dependencies, (void)count, (void)context;
    added(result, node, graph, result == hipSuccess ? rtl_graph_drv_memcpy_bytes(params) : 0);
}

void rtl_hip_after_hipGraphAddMemsetNode(hipError_t result, hipGraphNode_t *node, hipGraph_t graph,
                                         const hipGraphNode_t *dependencies, size_t count,
                                         const hipMemsetParams *params)
{
    (void)dependencies, (void)count, (void)params;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipDrvGraphAddMemsetNode(hipError_t result, hipGraphNode_t *node,
                                            hipGraph_t graph, const hipGraphNode_t *dependencies,
                                            size_t count, const rtl_driver_memset *params,
                                            hipCtx_t context)
{
    (void)dependencies, (void)count, (void)params, (void)context;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddHostNode(hipError_t result, hipGraphNode_t *node, hipGraph_t graph,
                                       const hipGraphNode_t *dependencies, size_t count,
                                       const hipHostNodeParams *params)
{
    (void)dependencies, (void)count, (void)params;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddEmptyNode(hipError_t result, hipGraphNode_t *node, hipGraph_t graph,
                                        const hipGraphNode_t *dependencies, size_t count)
{
    (void)dependencies, (void)count;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddEventRecordNode(hipError_t result, hipGraphNode_t *node,
                                              hipGraph_t graph, const hipGraphNode_t *dependencies,
                                              size_t count, hipEvent_t event)
{
    (void)dependencies, (void)count, (void)event;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddEventWaitNode(hipError_t result, hipGraphNode_t *node,
                                            hipGraph_t graph, const hipGraphNode_t *dependencies,
                                            size_t count, hipEvent_t event)
{
    (void)dependencies, (void)count, (void)event;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddExternalSemaphoresSignalNode(
    hipError_t result, hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies,
    size_t count, const hipExternalSemaphoreSignalNodeParams *params)
{
    (void)dependencies, (void)count, (void)params;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddExternalSemaphoresWaitNode(
    hipError_t result, hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies,
    size_t count, const hipExternalSemaphoreWaitNodeParams *params)
{
    (void)dependencies, (void)count, (void)params;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddBatchMemOpNode(hipError_t result, hipGraphNode_t *node,
                                             hipGraph_t graph, const hipGraphNode_t *dependencies,
                                             size_t count, const hipBatchMemOpNodeParams *params)
{
    (void)dependencies, (void)count, (void)params;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddMemAllocNode(hipError_t result, hipGraphNode_t *node,
                                           hipGraph_t graph, const hipGraphNode_t *dependencies,
                                           size_t count, hipMemAllocNodeParams *params)
{
    (void)dependencies, (void)count, (void)params;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddMemFreeNode(hipError_t result, hipGraphNode_t *node, hipGraph_t graph,
                                          const hipGraphNode_t *dependencies, size_t count,
                                          void *memory)
{
    (void)dependencies, (void)count, (void)memory;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipDrvGraphAddMemFreeNode(hipError_t result, hipGraphNode_t *node,
                                             hipGraph_t graph, const hipGraphNode_t *dependencies,
                                             size_t count, hipDeviceptr_t memory)
{
    (void)dependencies, (void)count, (void)memory;
    added(result, node, graph, 0);
}

void rtl_hip_after_hipGraphAddNode(hipError_t result, hipGraphNode_t *node, hipGraph_t graph,
                                   const hipGraphNode_t *dependencies, size_t count,
                                   hipGraphNodeParams *params)
{
    const struct rtl_graph_params *seen = (const void *)params;
    (void)dependencies, (void)count;
    if (result != hipSuccess)
        return;
    added(result, node, graph, rtl_graph_params_bytes(seen));
    if (seen->type == RTL_NODE_GRAPH && can_copy())
        copy_child(seen->child, *node, graph, 0);
}

/* ---- changed, for what is instantiated later ---- */

static void resized(hipError_t result, hipGraphNode_t node, uint64_t bytes)
{
    if (result == hipSuccess)
        rtl_node_facts_set_bytes(id_of(node), bytes);
}

void rtl_hip_after_hipGraphMemcpyNodeSetParams(hipError_t result, hipGraphNode_t node,
                                               const hipMemcpy3DParms *params)
{
    resized(result, node, result == hipSuccess ? rtl_graph_memcpy_bytes(params) : 0);
}

void rtl_hip_after_hipDrvGraphMemcpyNodeSetParams(hipError_t result, hipGraphNode_t node,
                                                  const HIP_MEMCPY3D *params)
{
    resized(result, node, result == hipSuccess ? rtl_graph_drv_memcpy_bytes(params) : 0);
}

void rtl_hip_after_hipGraphMemcpyNodeSetParams1D(hipError_t result, hipGraphNode_t node,
                                                 void *target, const void *source, size_t bytes,
                                                 hipMemcpyKind kind)
{
    (void)target, (void)source, (void)kind;
    resized(result, node, bytes);
}

void rtl_hip_after_hipGraphMemcpyNodeSetParamsFromSymbol(hipError_t result, hipGraphNode_t node,
                                                         void *target, const void *symbol,
                                                         size_t bytes, size_t offset,
                                                         hipMemcpyKind kind)
{
    (void)target, (void)symbol, (void)offset, (void)kind;
    resized(result, node, bytes);
}

void rtl_hip_after_hipGraphMemcpyNodeSetParamsToSymbol(hipError_t result, hipGraphNode_t node,
                                                       const void *symbol, const void *source,
                                                       size_t bytes, size_t offset,
                                                       hipMemcpyKind kind)
{
    (void)symbol, (void)source, (void)offset, (void)kind;
    resized(result, node, bytes);
}

void rtl_hip_after_hipGraphNodeSetParams(hipError_t result, hipGraphNode_t node,
                                         hipGraphNodeParams *params)
{
    resized(result, node, result == hipSuccess ? rtl_graph_params_bytes((const void *)params) : 0);
}
