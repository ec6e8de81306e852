/**
 * What repeats in the packets of a process: for its own sources, infer.c and chains.c.
 *
 * - batch: packets that a thread reserved at once, a launch record
 * - class: batches with one fingerprint
 * - sequence: batches of a thread that the runtime cut one graph, or segment of it, into (infer.c)
 * - segment: sequences with one joined fingerprint, a graph or a segment of one
 * - row: segments that always follow each other (rows.c)
 * - chain: those of a row that share memory, the segments of a graph (chains.c)
 *
 * A segment that was seen once is eager work, one that was seen twice is a graph: kernargs of eager
 * work are made afresh. Launches of what was seen once wait in their class to be reported; of such
 * classes and segments the oldest are forgotten (RTL_GRAPHS_ONCE). Classes and segments are named
 * by their places in their arrays; a place may hold another one later.
 */
#ifndef RTL_GRAPH_REPEATS_H
#define RTL_GRAPH_REPEATS_H

#include "graph/registry.h"

/** In how many segments a class is remembered to have been. */
#define RTL_HOMES 4

/** Where in a segment a class begins. The place may hold another segment by now: the fingerprint
 * tells. */
struct rtl_home {
    uint32_t segment, offset;
    uint64_t fingerprint;
};

/** A class; its plan tells whether the place still holds it. */
struct rtl_member {
    uint32_t class, plan;
};

/** A launch that was not reported yet. */
struct rtl_kept_launch {
    struct rtl_graphs_launch launch;
    struct rtl_wire_launch body;
    struct rtl_graphs_span spans[RTL_GRAPHS_SPANS];
};

struct rtl_batch_class {
    uint32_t plan;      /**< its id, 0: the place is free */
    uint32_t next_free; /**< place */
    uint32_t packets, kernels;
    uint64_t fingerprint, seen;
    uint32_t first, last;                 /**< launches */
    bool wanted;                          /**< of something seen twice */
    struct rtl_in_flight_kernel *entries; /**< by ordinal, of all its launches */
    uint32_t entry_count;
    struct rtl_kept_launch *kept;
    struct rtl_home homes[RTL_HOMES];
    uint32_t home_count;
};

/** Of a segment's `before` and `after`: it varies. */
#define RTL_SEGMENT_MANY (RTL_NONE - 1)

#define RTL_SEGMENT_ARGUMENTS 512u /**< addresses at most */

struct rtl_segment {
    uint64_t fingerprint, seen;
    uint32_t kernels;    /**< 0: the place is free */
    uint32_t next_free;  /**< place */
    bool barriers;       /**< packets that are no kernels were among them */
    bool open;           /**< its last batch was as large as it could be: more may follow */
    bool ramp;           /**< it began with a batch of one and went on: nothing came before */
    uint64_t begin;      /**< address of its first kernel's arguments, 0: not known */
    uint64_t *arguments; /**< addresses of some: first and last ones of batches, by which segments
                            of one memory are known (rows.h) */
    uint32_t argument_count, argument_capacity;
    uint32_t before, after; /**< the segment that always is, RTL_NONE: none yet */
    uint32_t first, last;   /**< launches */
    struct rtl_member *members;
    uint32_t member_count, member_capacity;
    /* When the graphs are reported (chains.c). */
    uint32_t *shapes; /**< by kernel, RTL_NONE: not known */
    bool used, placed;
    uint32_t memory; /**< of segments in a row, those that share memory have one number */
    uint32_t graph, generation, offset;
};

/** What was seen once: a queue, whose oldest goes when it is full. */
struct rtl_once {
    uint32_t *places;
    uint64_t *keys; /**< of what the place held: tells whether it still does */
    uint32_t first, count;
};

struct rtl_repeats {
    struct rtl_registry *registry;
    struct rtl_batch_class *classes;
    uint32_t class_count, class_capacity;
    struct rtl_index by_fingerprint; /**< classes */
    struct rtl_segment *segments;
    uint32_t segment_count, segment_capacity;
    struct rtl_index by_join; /**< segments */
    struct rtl_once once_classes, once_segments;
    uint32_t free_class, free_segment; /**< the first of the free places */
};

void rtl_repeats_begin(struct rtl_repeats *repeats, struct rtl_registry *registry);
void rtl_repeats_free(struct rtl_repeats *repeats);

/** The key of a class in its index; that of a segment has `packets` 0. */
uint64_t rtl_repeats_key(uint64_t fingerprint, uint32_t packets, uint32_t kernels);

/** The class, made when it is first seen; RTL_NONE when memory is short. */
uint32_t rtl_repeats_class(struct rtl_repeats *repeats, uint64_t fingerprint, uint32_t packets,
                           uint32_t kernels);

/** Whether the place still holds the class of the plan. */
bool rtl_repeats_is_class(const struct rtl_repeats *repeats, uint32_t place, uint32_t plan);

/** The class is part of something seen twice: reports the launch that waited for that. */
void rtl_repeats_want(struct rtl_repeats *repeats, struct rtl_batch_class *class);

/** The same for all classes of a segment. */
void rtl_repeats_want_all(struct rtl_repeats *repeats, const struct rtl_segment *segment);

/** Keeps a launch until its class is wanted. */
void rtl_repeats_keep(struct rtl_repeats *repeats, struct rtl_batch_class *class,
                      const struct rtl_in_flight *in_flight);

/** What ran, of all launches of the class: lost kernels of one are there in another. */
void rtl_repeats_merge(struct rtl_repeats *repeats, struct rtl_batch_class *class,
                       const struct rtl_in_flight_kernel *entries, uint32_t count);

/** The segment, made when it is first seen, by `launch`; RTL_NONE when memory is short. */
uint32_t rtl_repeats_segment(struct rtl_repeats *repeats, uint64_t fingerprint, uint32_t kernels,
                             uint32_t launch);

/** The class is in the segment, its first kernel at `offset`. */
void rtl_repeats_join(struct rtl_repeats *repeats, uint32_t segment, uint32_t class,
                      uint32_t offset);

/** The segment has a kernel with arguments at the address; 0: not known. Those beyond
 * RTL_SEGMENT_ARGUMENTS are not noted: a graph of thousands of kernels whose batches are cut
 * elsewhere each time would have as many. */
void rtl_repeats_add_arguments(struct rtl_repeats *repeats, uint32_t segment, uint64_t arguments);

/** How often the segment of a home was seen. */
uint64_t rtl_repeats_seen(const struct rtl_repeats *repeats, const struct rtl_home *home);

#endif
