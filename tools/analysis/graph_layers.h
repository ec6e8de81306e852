/**
 * The layers of a graph: a block of nodes that repeats (analysis/period.h), and what each
 * repetition and each place in it took over all launches.
 *
 * Nodes stand in the order of their numbers, those alone that have kernels. Two are the same item
 * if name, grid and workgroup of their kernels are. Launches count that are whole, and in which
 * each kernel's node is known.
 */
#ifndef RTL_TOOLS_GRAPH_LAYERS_H
#define RTL_TOOLS_GRAPH_LAYERS_H

#include "analysis/graph_read.h"
#include "analysis/period.h"

/** Nodes that belong together, ns over launches. */
struct graph_section {
    struct stats time; /**< from the start of its first kernel to the end of its last one */
    struct stats gap;  /**< before it: the time in which no kernel of the launch ran. None where it
                            has the launch's first kernel */
};

struct graph_layer {
    struct graph_section took;
    struct stats work; /**< of its kernels in a launch, added up, ns */
    bool outlying;     /**< its p50 is further from the usual one than graph_layers_limit */
};

/** The nodes that have the same place in each layer. */
struct graph_place {
    struct stats time, gap; /**< of each of their kernels, as graph_node has them */
};

struct graph_layers {
    uint64_t launches; /**< that count; if none does, nothing is known of layers */
    uint32_t *nodes;   /**< those with kernels */
    size_t node_count;
    bool found;           /**< a block repeats; else all below is empty */
    struct period period; /**< places among `nodes` */
    struct graph_layer *layers;
    struct graph_place *places;
    size_t odd_length;        /**< nodes of one more layer behind them, with other nodes among them
                                 (period_odd_block); 0: none */
    struct graph_section odd; /**< it */
    struct graph_section before, after; /**< what is outside; empty where no node is */
    uint64_t usual;                     /**< the median of the layers' p50, ns */
    uint64_t distance;                  /**< the median of the distances from it, ns */
    uint32_t outlying;                  /**< layers */
};

/** Reads the launches of a generation as graph_read does, and its layers from the same pass. On
 * success the caller frees both; on failure rtlTraceError tells. */
rtl_status_t graph_layers_read(rtl_trace_t *trace, const rtl_graph_t *graph,
                               struct graph_reading *reading, struct graph_layers *layers);

/** What is usual among values: their median, and that of their distances from it. */
struct graph_usual {
    uint64_t value, distance;
};

/** Sorts the values, one at least. */
struct graph_usual graph_usual_of(uint64_t *values, size_t count);

/** Whether a value is further from the usual one than 4 times the distance, and 5 % of it. */
bool graph_usual_is_not(const struct graph_usual *usual, uint64_t value);

/** Finds the usual p50 and the outlying layers of times that are there; graph_layers_read does. */
void graph_layers_judge(struct graph_layers *layers);

/** Gives up all durations but those of `work` and of places' kernels, where no others are wanted:
 * there may be thousands of layers and launches. */
void graph_layers_keep_work(struct graph_layers *layers);

void graph_layers_free(struct graph_layers *layers);

/** The node at a place of a layer, both from 0. */
uint32_t graph_layers_node(const struct graph_layers *layers, size_t layer, size_t place);

/** Nodes before the first layer, and those up to the end of the last. */
size_t graph_layers_begin(const struct graph_layers *layers);
size_t graph_layers_end(const struct graph_layers *layers);

/** Nodes up to the end of the odd layer, if there is one. */
size_t graph_layers_odd_end(const struct graph_layers *layers);

/** Further from the usual p50 than this a layer is outlying, ns: 4 times the median distance of the
 * layers from it, and 5 % of it at least. */
uint64_t graph_layers_limit(const struct graph_layers *layers);

/** How far a layer's p50 is from the usual one, as a part of it. */
double graph_layers_away(const struct graph_layers *layers, struct graph_layer *layer);

/** The time of all kernels in layers, ns. */
uint64_t graph_layers_total(const struct graph_layers *layers);

/** Why there are no layers, as a sentence without its full stop. */
const char *graph_layers_why(const struct graph_layers *layers);

#endif
