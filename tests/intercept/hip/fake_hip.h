/**
 * HIP's graphs, made up: what graph hooks ask of HIP, and the hooks around the calls of a program.
 *
 * It numbers the types of nodes as HIP 5.2 does, and as HIP up to 6 every call sets the thread's
 * last error, but for an operation that is captured. The program's calls are the functions without
 * a prefix; each goes through the hooks.
 */
#ifndef RTL_TESTS_FAKE_HIP_H
#define RTL_TESTS_FAKE_HIP_H

#include "intercept/hip/hip.h"

#define FAKE_MOST 64

struct hipGraphNode {
    enum rtl_node_type type;
    unsigned dependency_count;
    struct hipGraphNode *dependencies[FAKE_MOST];
    hipKernelNodeParams kernel;
    hipMemsetParams memset;
    struct ihipGraph *child;
};

struct ihipGraph {
    size_t count;
    struct hipGraphNode *nodes[FAKE_MOST];
};

/* A stream that can be captured. */
struct ihipStream_t {
    struct ihipGraph *capture;
    unsigned last_count;
    struct hipGraphNode *last[FAKE_MOST];
};

extern _Thread_local hipError_t fake_error; /* hipGetLastError */

/* What was sent: graphs and nodes in order. */
struct fake_node {
    struct rtl_wire_node wire;
    uint32_t dependencies[FAKE_MOST];
    char name[64];
};

struct fake_graph {
    struct rtl_wire_graph wire;
    unsigned node_count;
    struct fake_node nodes[FAKE_MOST];
};

/* The generation that was sent last, and how many were. */
extern struct fake_graph fake_sent;
extern unsigned fake_sent_count;

/* The launch that was begun last. */
extern uint32_t fake_launched_graph, fake_launched_generation;
extern unsigned fake_open_launches;

/* Back to the beginning: nothing sent, no error. */
void fake_hip_start(void);

hipGraph_t make_graph(void);
void destroy_graph(hipGraph_t graph);
hipGraph_t clone_graph(hipGraph_t graph);

/* A kernel whose grid is `blocks` blocks of 64, in the range. */
hipGraphNode_t add_kernel(hipGraph_t graph, const char *name, unsigned blocks, uint64_t range);
hipGraphNode_t add_plain(hipGraph_t graph, enum rtl_node_type type, uint64_t range);
hipGraphNode_t add_child(hipGraph_t graph, hipGraph_t child, uint64_t range);
void depend(hipGraphNode_t node, hipGraphNode_t on);
void destroy_node(hipGraph_t graph, hipGraphNode_t node);

void begin_capture(hipStream_t stream);
hipGraph_t end_capture(hipStream_t stream);
/* A kernel that a stream captures, NULL as `name`: an operation that becomes no node. */
void capture(hipStream_t stream, const char *name, unsigned blocks, uint64_t range);
void wait_for(hipStream_t stream, hipStream_t other);

/* Executable graphs are handles and nothing else. */
void instantiate(uintptr_t exec, hipGraph_t graph);
void destroy_exec(uintptr_t exec);
void launch(uintptr_t exec, hipError_t result);
void change_kernel(uintptr_t exec, hipGraphNode_t node, const char *name, unsigned blocks);
void set_enabled(uintptr_t exec, hipGraphNode_t node, unsigned enabled);
void update(uintptr_t exec, hipGraph_t graph, hipGraphExecUpdateResult result);
void update_child(uintptr_t exec, hipGraphNode_t node, hipGraph_t child);

#endif
