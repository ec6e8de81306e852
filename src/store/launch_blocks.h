/**
 * The launches of a trace, a part at a time: private to the reader.
 *
 * Launches of a process lie in *blocks*, by number: a block is a chunk with the rows that came too
 * late for it, or all rows of a file that has no chunks. Of each block it is known how many
 * launches of each graph it begins, by its summary; so the launches of a graph are numbered, and
 * one is found, without reading those before it. Few blocks are kept.
 *
 * The file has *records*: launches as the program made them. A launch of a graph is one of them,
 * or, where the graph was inferred from its packets, several of a thread in a row (a *lane*): those
 * that follow plans which do not begin.
 */
#ifndef RTL_STORE_LAUNCH_BLOCKS_H
#define RTL_STORE_LAUNCH_BLOCKS_H

#include "store/launch_codec.h"
#include "store/reader.h"

/** A row of graph_plans. */
struct rtl_plan {
    uint32_t process, plan, graph, generation;
    uint32_t kernels;
    bool begins, certain;
    struct rtl_graphs_step *steps; /**< by ordinal */
    size_t count;
};

/** What is made of a record. */
struct rtl_launch_record {
    const struct rtl_plan *plan; /**< NULL: none */
    const struct rtl_plan
        *head;           /**< of the packet before its first; NULL: none, or not its graph's */
    uint32_t counter;    /**< of its graph; RTL_NONE: of no graph */
    uint32_t number;     /**< of its launch, from 1; 0: it began in an earlier block */
    uint32_t generation; /**< of its launch */
    uint32_t next;       /**< record of the same launch in this block, RTL_NONE: none */
    bool begins;         /**< its launch */
    bool last;           /**< it begins the last launch of its lane in this block */
};

/** A block that is in memory. */
struct rtl_launch_loaded {
    size_t block;
    uint64_t used; /**< when, for throwing out the one that was not used for longest */
    struct rtl_launch_row *rows;       /**< by number */
    struct rtl_launch_record *records; /**< of the rows */
    uint32_t *order;                   /**< places of rows in the order in which they count */
    uint32_t count;
    struct rtl_graphs_span *spans; /**< of the rows */
    struct rtl_list more;          /**< struct rtl_launch_more, by launch */
    bool numbered;
};

struct rtl_launch_block {
    uint32_t process;
    uint32_t from, to; /**< launches, both included */
    bool loose;        /**< rows belong to it */
    struct rtl_launch_chunk chunk;
    int64_t number;      /**< of the chunk; 0: rows alone */
    uint64_t start, end; /**< launches began and their kernels ran between, ns */
    struct rtl_launch_loaded *loaded;
};

/** The launches of a graph. */
struct rtl_launch_counter {
    uint32_t process, graph;
    uint32_t launches;
    struct rtl_list places; /**< struct rtl_launch_place: blocks that have records of it */
    uint32_t current;       /**< scratch of the block at hand */
    size_t block;
};

struct rtl_launch_place {
    size_t block;
    uint32_t before; /**< launches that begin in earlier blocks */
};

/** A kernel that names no launch, right before a record that it is the head of. */
struct rtl_launch_head {
    uint32_t process, queue;
    uint64_t packet;
    uint32_t launch; /**< of its record */
    bool there;      /**< the kernel is in the trace, with these times */
    uint64_t start, end;
};

/** Launches of a graph that was inferred from its packets, in a thread. */
struct rtl_launch_lane {
    struct rtl_list stretches; /**< struct rtl_launch_stretch: blocks that have records of it */
    size_t block;              /**< scratch of the block at hand: its place plus one */
    uint32_t begun, first_begun, first_other, latest, tail;
    rtl_graph_t *other;
};

/** What a block has of a lane. */
struct rtl_launch_stretch {
    size_t block;
    bool leads;  /**< its first records go on with a launch of an earlier block */
    bool begins; /**< a launch */
};

/** More spans of a record, from graph_launch_spans. */
struct rtl_launch_more {
    uint32_t launch;
    struct rtl_graphs_span span;
};

struct rtl_launch_blocks {
    struct rtl_list blocks;     /**< struct rtl_launch_block, by process and number */
    struct rtl_list counters;   /**< struct rtl_launch_counter */
    struct rtl_index by_graph;  /**< place in `counters` by process and graph */
    struct rtl_list lanes;      /**< struct rtl_launch_lane */
    struct rtl_index by_thread; /**< place in `lanes` by counter and thread */
    struct rtl_list heads;      /**< struct rtl_launch_head, by process, queue and packet */
    struct rtl_list kept;       /**< struct rtl_launch_loaded * */
    size_t keep;                /**< how many are kept at most */
    bool chunked;               /**< the file has chunks (format 1.3) */
    uint64_t clock;
    struct rtl_launch_codec *codec;
    const struct rtl_launch_loaded *found; /**< in which a record was found last; NULL: none */
    uint32_t place;                        /**< of that record */
    struct rtl_list spans;                 /**< of the rows that are being read */
};

static inline struct rtl_launch_block *rtl_blocks_at(const struct rtl_launch_blocks *blocks,
                                                     size_t block)
{
    return (struct rtl_launch_block *)blocks->blocks.items + block;
}

/** For orders: below, 0 or above. */
static inline int rtl_blocks_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/** Reads what is known of all blocks. */
rtl_status_t rtl_blocks_load(rtl_trace_t *trace);

/** The block that a launch is in, or would be; as many as there are: none. */
size_t rtl_blocks_of(const struct rtl_launch_blocks *blocks, uint32_t process, uint32_t launch);

/** Reads a block, but for numbers (launch_block_read.c). */
rtl_status_t rtl_blocks_read(rtl_trace_t *trace, const struct rtl_launch_block *block,
                             struct rtl_launch_loaded *loaded);

/** The place of a launch in a block, or of the first behind it. */
uint32_t rtl_blocks_place(const struct rtl_launch_loaded *loaded, uint32_t launch);

/** NULL is allowed. */
void rtl_blocks_free(struct rtl_launch_blocks *blocks);

/** Puts a block into memory, where it stays until some others were asked for. Its launches are
 * numbered, but for rtl_blocks_fetch_raw, which does what is possible before all are counted. */
rtl_status_t rtl_blocks_fetch(rtl_trace_t *trace, size_t block,
                              const struct rtl_launch_loaded **loaded);
rtl_status_t rtl_blocks_fetch_raw(rtl_trace_t *trace, size_t block,
                                  const struct rtl_launch_loaded **loaded);

/** Finds a record: its block and its place there. RTL_END if there is none. */
rtl_status_t rtl_blocks_find(rtl_trace_t *trace, uint32_t process, uint32_t launch,
                             const struct rtl_launch_loaded **loaded, uint32_t *place);

/** Finds the record that begins a launch of a graph. RTL_END if there is none. */
rtl_status_t rtl_blocks_begin(rtl_trace_t *trace, const struct rtl_launch_counter *counter,
                              uint32_t number, size_t *block, uint32_t *place);

/** Makes sure that number and generation of a record's launch are set. */
rtl_status_t rtl_blocks_number(rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                               uint32_t place);

/** The whole launch that a record begins; `*least` and `*most` are the least and the greatest of
 * its records (NULL: not asked for). */
rtl_status_t rtl_blocks_launch(rtl_trace_t *trace, size_t block, uint32_t place,
                               rtl_graph_launch_t *launch, uint32_t *least, uint32_t *most);

/** The head that a kernel without a launch is; NULL if it is none. */
const struct rtl_launch_head *rtl_blocks_head(const struct rtl_launch_blocks *blocks,
                                              uint32_t process, uint32_t queue, uint64_t packet);

/** Counts the launches of all blocks, and adds launches and kernels to the trace's graphs
 * (launch_tally.c). */
rtl_status_t rtl_blocks_tally(rtl_trace_t *trace);

/** How many launches of a graph begin before a block. */
uint32_t rtl_blocks_before(const struct rtl_launch_counter *counter, size_t block);

/** The counter of a graph and the lane of a thread; NULL if there is none. */
struct rtl_launch_counter *rtl_blocks_counter(const struct rtl_launch_blocks *blocks,
                                              uint32_t process, uint32_t graph);
struct rtl_launch_lane *rtl_blocks_lane(const struct rtl_launch_blocks *blocks, uint32_t counter,
                                        uint32_t thread);

/** True if a record begins a launch, as far as it tells by itself. */
bool rtl_blocks_begins(const struct rtl_launch_row *row, const struct rtl_launch_record *record);

/** Says that a block's data do not match its row. */
rtl_status_t rtl_blocks_damaged(rtl_trace_t *trace, const struct rtl_launch_block *block);

/* Of graphs.c. */

/** Looks for a table. RTL_END: the file is of a version without it. */
rtl_status_t rtl_trace_look_for(rtl_trace_t *trace, const char *table);

/** A plan; NULL if there is none. */
const struct rtl_plan *rtl_trace_plan(const rtl_trace_t *trace, uint32_t process, uint32_t plan);

/** A generation of a graph; NULL if there is none. */
rtl_graph_t *rtl_trace_graph(const rtl_trace_t *trace, uint32_t process, uint32_t graph,
                             uint32_t generation);

/** The blocks of a trace whose graphs are being or have been loaded. */
struct rtl_launch_blocks *rtl_trace_blocks(const rtl_trace_t *trace);

#endif
