/**
 * The executable graphs of the program, by handle.
 *
 * A launch looks its graph up without a lock; all else happens under the caller's lock. Memory is
 * never given back but used again, so that a program that launches what it has just destroyed
 * still finds memory of ours.
 */
#ifndef RTL_INTERCEPT_HIP_GRAPH_EXECS_H
#define RTL_INTERCEPT_HIP_GRAPH_EXECS_H

#include "intercept/hip/graph_nodes.h"

#include <stdatomic.h>

struct rtl_graph_exec {
    _Atomic uint64_t current; /**< generation << 32 | graph as a launch finds them; 0: there is no
                                 generation yet, or it has changed since */
    uint64_t handle;          /**< hipGraphExec_t */
    uint64_t source;          /**< hipGraph_t that it was made of, 0 if not known */
    uint64_t correlation;     /**< of the call that made or last changed it */
    uint32_t graph;           /**< id */
    uint32_t generation;      /**< the last one that was sent, 0 if none */
    bool unknown;             /**< its nodes could not be found out */
    bool sent_unknown;        /**< `unknown` of the last generation */
    uint64_t sent_hash;       /**< of its nodes */
    struct rtl_graph_nodes nodes;
    struct rtl_graph_exec *next_free;
};

/** The executable graph of a handle, NULL if it is not known. Any thread, lock-free. */
struct rtl_graph_exec *rtl_graph_execs_find(uint64_t handle);

/** Enters a handle, which is not 0; what was known under it is forgotten. All but its handle is 0.
 * NULL without memory. Under a lock. */
struct rtl_graph_exec *rtl_graph_execs_enter(uint64_t handle);

/** Forgets a handle, if it is known. Under a lock. */
void rtl_graph_execs_forget(uint64_t handle);

#endif
