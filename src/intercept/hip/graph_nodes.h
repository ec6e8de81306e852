/**
 * The nodes of a graph, as HIP tells them.
 *
 * They stand in an order that their dependencies allow: HIP's own where that is one (a captured
 * graph's always is). The nodes of a child graph follow the node that holds it, and depend on
 * nodes of the same child graph only.
 */
#ifndef RTL_INTERCEPT_HIP_GRAPH_NODES_H
#define RTL_INTERCEPT_HIP_GRAPH_NODES_H

#include "intercept/hip/hip.h"
#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>

struct rtl_hip_graph_node {
    hipGraphNode_t handle; /**< by which calls on the executable graph name it */
    uint64_t range;        /**< certain if `flags` says RTL_NODE_RANGED */
    uint64_t bytes;        /**< of a memcpy or memset, 0 if not known */
    const void *function;  /**< of a kernel, as rtl_hip_kernel_name takes it */
    size_t dependencies;   /**< where its dependencies begin in rtl_graph_nodes */
    uint32_t dependency_count;
    uint32_t type;   /**< enum rtl_node_type */
    uint32_t parent; /**< node that holds the child graph it is in, RTL_NONE if none */
    uint32_t grid[3];
    uint32_t group_size;
    uint16_t block[3];
    uint16_t flags; /**< enum rtl_node_flags */
};

/** A handle and what it stands for. */
struct rtl_graph_handle {
    uint64_t handle;
    uint32_t index;
};

struct rtl_graph_nodes {
    struct rtl_hip_graph_node *nodes;
    uint32_t *dependencies;             /**< node numbers; those of a node rise */
    struct rtl_graph_handle *by_handle; /**< of all nodes, by rising handle */
    uint32_t count, room;
    size_t dependency_count, dependency_room;
};

/** Asks HIP for the nodes of a valid graph, child graphs included, into `nodes`, which is zero.
 * Only while the thread's last call of HIP has succeeded. False, and `nodes` is zero again: HIP
 * did not answer, or there was no memory. */
bool rtl_graph_nodes_read(hipGraph_t graph, struct rtl_graph_nodes *nodes);

/** Gives the memory back; `nodes` is zero afterwards. */
void rtl_graph_nodes_free(struct rtl_graph_nodes *nodes);

/** The node of a handle, NULL if there is none. */
struct rtl_hip_graph_node *rtl_graph_nodes_find(const struct rtl_graph_nodes *nodes,
                                                hipGraphNode_t handle);

/** Puts the content of `next` into `nodes`: what an update of an executable graph does. Handles
 * stay, as calls on the executable graph still name the nodes that it was made of, and so does
 * what is disabled. False if the two do not have the same shape, node by node: `nodes` is then as
 * it was. */
bool rtl_graph_nodes_update(struct rtl_graph_nodes *nodes, const struct rtl_graph_nodes *next);

/** As rtl_graph_nodes_update, for the nodes of the child graph that the node `holder` holds. */
bool rtl_graph_nodes_update_child(struct rtl_graph_nodes *nodes,
                                  const struct rtl_hip_graph_node *holder,
                                  const struct rtl_graph_nodes *next);

/** Sets what a kernel node shows of its parameters. */
void rtl_graph_node_set_kernel(struct rtl_hip_graph_node *node, const hipKernelNodeParams *params);

/** What a memset of these parameters writes. */
uint64_t rtl_graph_memset_bytes(const hipMemsetParams *params);

/** What a copy of these parameters moves, 0 if that depends on what an array holds. */
uint64_t rtl_graph_memcpy_bytes(const hipMemcpy3DParms *params);

/** As rtl_graph_memcpy_bytes. */
uint64_t rtl_graph_drv_memcpy_bytes(const HIP_MEMCPY3D *params);

/** hipGraphNodeParams of HIP 6.2, as far as RTL looks into it. */
struct rtl_graph_params {
    int type; /**< hipGraphNodeType, counted from 0 */
    int reserved[3];
    union {
        hipKernelNodeParams kernel;
        hipMemsetParams memset;
        struct {
            int flags[4];
            hipMemcpy3DParms params;
        } memcpy;
        hipGraph_t child;
    };
};

/** What a memcpy or memset of these parameters moves or writes, 0 for other nodes. */
uint64_t rtl_graph_params_bytes(const struct rtl_graph_params *params);

/** What a release of HIP (as rtl_hip_version tells it) means by a hipGraphNodeType;
 * RTL_NODE_OTHER for what only newer ones have. */
enum rtl_node_type rtl_graph_type_of(int version, unsigned value);

/** The type of a node of a valid graph. As rtl_graph_nodes_read. */
enum rtl_node_type rtl_graph_node_type(hipGraphNode_t node);

/** HIP's version as hipRuntimeGetVersion tells it, 0 if not known. As rtl_graph_nodes_read, but for
 * what has been asked before: that is known at any time. */
int rtl_hip_version(void);

/** A number that tells nodes apart by all that their records show. */
uint64_t rtl_graph_nodes_hash(const struct rtl_graph_nodes *nodes);

/** Sends the records NODE of a generation of a graph that the program can launch, or is making. */
void rtl_graph_nodes_send(const struct rtl_graph_nodes *nodes, uint32_t graph, uint32_t generation);

#endif
