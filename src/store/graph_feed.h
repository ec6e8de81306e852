/**
 * The graph registries (graph/graphs.h) of a trace's processes, and what they find out on its way
 * into the file. Used by the writer only.
 */
#ifndef RTL_STORE_GRAPH_FEED_H
#define RTL_STORE_GRAPH_FEED_H

#include "graph/graphs.h"
#include "store/deferred.h"

#include <sqlite3.h>

/** What is stored beside the records of the wire: types of pending items. */
enum rtl_graph_item {
    RTL_GRAPH_TOLD = 0x100,     /**< rtl_wire_graph: a graph that HIP told */
    RTL_GRAPH_INFERRED = 0x101, /**< rtl_wire_graph: one inferred from its packets */
    RTL_GRAPH_NODE = 0x102,     /**< rtl_graph_node_row + dependencies */
    RTL_GRAPH_NAME = 0x103,     /**< rtl_graph_name + text */
    RTL_GRAPH_PLAN = 0x104,     /**< rtl_graph_plan + packed steps */
    RTL_GRAPH_LAUNCH = 0x105    /**< rtl_graph_launch_item + spans */
};

struct rtl_graph_node_row {
    struct rtl_wire_node body;
    uint32_t name; /**< number, 0: none */
};

struct rtl_graph_name {
    uint32_t name; /**< number in its process, from 1 */
    uint32_t length;
};

struct rtl_graph_plan {
    uint32_t plan, graph, generation, kernels;
    uint32_t begins;
    uint32_t size; /**< of the packed steps, bytes */
};

struct rtl_graph_launch_item {
    struct rtl_wire_launch body;
    uint32_t plan, head_plan; /**< 0: none */
    uint32_t recorded;
    uint32_t late; /**< adds to a launch that is there */
    uint32_t span_count;
};

/** Gives an item to the writer, which stores it with the next checkpoint. */
typedef void (*rtl_graph_give)(void *context, enum rtl_graph_item type, uint32_t process,
                               const void *body, size_t body_size, const void *rest,
                               size_t rest_size);

struct rtl_graph_process;

/** Zeroed memory but for `give` and `context` has no registries. */
struct rtl_graph_feed {
    rtl_graph_give give;
    void *context;
    struct rtl_graph_process **processes; /**< by process - 1, NULL: none yet */
    uint32_t count;
    uint64_t forgotten; /**< how often memory was short here, since the last process ended */
    sqlite3 *db;
    sqlite3_stmt *statements[8]; /**< made when first needed */
};

/** The registry of a process, made when first asked for; NULL when memory is short. */
struct rtl_graphs *rtl_graph_feed_registry(struct rtl_graph_feed *feed, uint32_t process);

/** A graph and its nodes, as HIP told them: given, and told to the registry. */
void rtl_graph_feed_graph(struct rtl_graph_feed *feed, uint32_t process,
                          const struct rtl_wire_graph *graph);
void rtl_graph_feed_node(struct rtl_graph_feed *feed, uint32_t process,
                         const struct rtl_wire_node *node, const void *rest);

/** Gives what had to wait for late definitions. */
void rtl_graph_feed_flush(struct rtl_graph_feed *feed);

/** A process has ended, or (0) all have: gives the rest and forgets it. Returns how often something
 * that may have been needed was not there: rtl_graphs_forgotten, and memory here. */
uint64_t rtl_graph_feed_end(struct rtl_graph_feed *feed, uint32_t process);

/** Frees all. */
void rtl_graph_feed_close(struct rtl_graph_feed *feed);

/** Stores an item. An SQLite result code. */
int rtl_graph_feed_store(struct rtl_graph_feed *feed, const struct rtl_deferred_item *item);

#endif
