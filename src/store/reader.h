/**
 * The inside of a trace handle, for the sources of the reader and for SQL. Programs use
 * <rtl/rtl_trace.h>.
 */
#ifndef RTL_STORE_READER_H
#define RTL_STORE_READER_H

#include "common/index.h"
#include "ring/clock_line.h"
#include "rtl/rtl_trace.h"
#include "store/api_codec.h"
#include "store/codec.h"

#include <sqlite3.h>
#include <stdbool.h>

/** The clock of an agent: its ticks to the HSA system clock, and that to the trace's clock. */
struct rtl_agent_clock {
    struct rtl_line ticks;
    struct rtl_line *system; /**< of the process */
};

/** A chunk's row without its data, and its time range on the trace's clock. */
struct rtl_chunk_row {
    int64_t number;
    struct rtl_chunk chunk;
    uint64_t from, to;             /**< earliest start, latest start or end, ns */
    struct rtl_agent_clock *clock; /**< NULL if the agent is unknown */
    uint32_t gpu;
    /** Launches that its kernels name, RTL_TRACE_NONE both: none does. Not known unless `bounded`.
     * After rtl_trace_load_graphs. */
    uint32_t launch_min, launch_max;
    bool bounded;
};

/** A row of api_chunks without its data. */
struct rtl_api_row {
    int64_t number;
    struct rtl_api_chunk chunk;
};

/** Chunks of host calls in the order of process and least correlation. */
struct rtl_api_place {
    const struct rtl_api_row *row;
    uint64_t most; /**< greatest correlation of this chunk and those of its process before it */
};

/** What was found of host calls before (origins.c). */
struct rtl_origins;

/** Kernels that were looked up before (kernel_at.c), and samples (samples_read.c). */
struct rtl_kernel_finder;
struct rtl_sample_cache;

/** What is known of graphs, and the way from a kernel to its node (graphs.c). */
struct rtl_trace_graphs;

/** A launch geometry with its symbol resolved. */
struct rtl_shape {
    uint32_t process, shape, symbol;
    const char *name, *mangled;
    uint32_t grid[3], block[3];
    uint32_t group_size, private_size;
};

/** A block of strings. */
struct rtl_strings;

/** What iterators and sums give out (select.h). */
struct rtl_select;

struct rtl_list {
    void *items;
    size_t count, capacity;
};

/** What meta says of statistics, and what rtl_stats_usable has found. */
struct rtl_trace_stats {
    bool made;      /**< there are some */
    bool graphs;    /**< they tell kernels apart by graph, too */
    uint32_t basis; /**< what they were made of */
    bool asked, usable;
};

struct rtl_trace {
    sqlite3 *db;
    bool owned;   /**< the connection is closed with the trace */
    bool damaged; /**< a value of the row being read is out of range */
    char *path;
    char error[512];
    rtl_trace_info_t info;
    struct rtl_trace_stats stats;
    struct rtl_strings *strings;
    /* Of the public structs. */
    struct rtl_list processes, agents, queues, ledger, notes, pauses;
    struct rtl_list symbols;     /**< rtl_symbol_t: those that shapes name, maybe others */
    struct rtl_list all_symbols; /**< those and what is in blocks, once they are asked for */
    bool symbols_loaded;
    struct rtl_list kinds; /**< once they are asked for */
    bool kinds_loaded;
    struct rtl_list shapes;       /**< struct rtl_shape */
    struct rtl_list snapshots;    /**< struct rtl_snapshot_row, in lists.c */
    struct rtl_list chunks;       /**< struct rtl_chunk_row, by number */
    struct rtl_list clocks;       /**< struct rtl_agent_clock, in the order of `agents` */
    struct rtl_list system_lines; /**< struct rtl_line, in the order of `processes` */
    struct rtl_list calls, streams, threads, names; /**< of the public structs */
    struct rtl_list api_rows;                       /**< struct rtl_api_row, by number */
    struct rtl_list api_places;                     /**< struct rtl_api_place */
    struct rtl_list lost_names;  /**< const char *, of calls whose definition never came */
    struct rtl_origins *origins; /**< NULL until first needed */
    struct rtl_list counting, counters, uncounted; /**< of the public structs */
    struct rtl_list hip_queues;                    /**< the same */
    struct rtl_list counters_read; /**< const rtl_trace_counter_t *: of the pass that their process
                                        made, by process, agent and number */
    struct rtl_list sample_rows;   /**< struct rtl_sample_row, by number */
    struct rtl_kernel_finder *finder;      /**< NULL until first needed */
    struct rtl_sample_cache *sample_cache; /**< the same */
    bool ranges_counted;
    struct rtl_trace_graphs *graphs; /**< NULL until first needed */
    bool by_process; /**< launches are read of one process after the other: blocks of them need not
                          be kept for each. Counts when graphs are loaded */
    struct rtl_select *select; /**< NULL: all */
    bool select_paused;        /**< for iterators that are begun now */
    /* Places in the lists by process, or process and id. */
    struct rtl_index process_index, agent_index, queue_index, symbol_index, shape_index;
    struct rtl_index ledger_index, call_index;
    struct rtl_index lost_index;     /**< places in lost_names by call */
    struct rtl_index counting_index; /**< by process */
    struct rtl_index counters_index; /**< places in counters_read of the first one of an agent */
};

/** A trace over an open connection, which stays the caller's. On failure NULL, the status in
 * `*status` and a sentence in `error`. */
rtl_trace_t *rtl_trace_over(sqlite3 *db, const char *path, rtl_status_t *status, char *error,
                            size_t error_size);

/** Opens `path` for reading only, or says in one sentence why not. */
rtl_status_t rtl_trace_connect(const char *path, sqlite3 **db, char *error, size_t error_size);

/** Begins the transaction for reading on a connection by rtl_trace_connect, and refuses a file of
 * which something is cut off. `behind` gets the bytes after its end that are no part of it. RTL_OK,
 * or a status with a sentence in `error`. */
rtl_status_t rtl_trace_begin(sqlite3 *db, const char *path, uint64_t *behind, char *error,
                             size_t error_size);

/** Sets the trace's error and returns `status`. */
rtl_status_t rtl_trace_fail(rtl_trace_t *trace, rtl_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The same for an SQLite result. */
rtl_status_t rtl_trace_fail_sqlite(rtl_trace_t *trace, int result);

/** Keeps a copy of `text` (NULL is taken as "") until the trace is closed; NULL when memory is
 * short. */
const char *rtl_trace_string(rtl_trace_t *trace, const char *text);

/** Reads everything but the kernels. */
rtl_status_t rtl_trace_load(rtl_trace_t *trace);

/** Frees what rtl_trace_load made. */
void rtl_trace_unload(rtl_trace_t *trace);

/** Ticks of an agent on the trace's clock; without a clock they are taken as ns. */
uint64_t rtl_trace_ns(struct rtl_agent_clock *clock, uint64_t ticks);

/** The clock of an agent, NULL if the agent is not known. */
struct rtl_agent_clock *rtl_trace_clock(const rtl_trace_t *trace, uint32_t process, uint32_t agent);

/** The clock of the agent of a queue, NULL if one is not known. */
struct rtl_agent_clock *rtl_trace_queue_clock(const rtl_trace_t *trace, uint32_t process,
                                              uint32_t queue);

/** True if the file has the table `copies` (format 1.1). */
bool rtl_trace_has_copies(const rtl_trace_t *trace);

/** True if the file has the tables of host calls and ranges (format 1.2). */
bool rtl_trace_has_calls(const rtl_trace_t *trace);

/** True if streams and threads have generations (since format 1.5), and processes titles. */
bool rtl_trace_has_generations(const rtl_trace_t *trace);

/** True if the file has the table `pauses` (format 1.3). */
bool rtl_trace_has_pauses(const rtl_trace_t *trace);

/** True if the file has the accounts of kinds (format 1.5). */
bool rtl_trace_has_kinds(const rtl_trace_t *trace);

/** True if the file has the tables of hardware counters (format 1.4). */
bool rtl_trace_has_counters(const rtl_trace_t *trace);

/** True if the file has symbols in blocks (format 1.6). */
bool rtl_trace_has_symbol_blocks(const rtl_trace_t *trace);

/** Reads and frees the lists about hardware counters. */
rtl_status_t rtl_trace_load_counters(rtl_trace_t *trace);
void rtl_trace_unload_counters(rtl_trace_t *trace);

/** The table of HIP's queues, hip_queues.c. */
rtl_status_t rtl_trace_load_hip_queues(rtl_trace_t *trace);

/** As rtlTraceRangeSamples or rtlTraceKernelSamples, but `filter` is given, and its `last` is what
 * it says, also if it is 0. */
rtl_status_t rtl_trace_samples(rtl_trace_t *trace, bool ranges, const rtl_sample_filter_t *filter,
                               rtl_sample_iter_t **iter);

/** Forgets what was kept of samples and kernels that were looked up. */
void rtl_trace_forget_samples(rtl_trace_t *trace);
void rtl_trace_forget_kernels(rtl_trace_t *trace);

/** Finds a kernel by its id. RTL_END if there is none. As rtlTraceKernelAt. */
rtl_status_t rtl_trace_kernel_by_id(rtl_trace_t *trace, uint64_t id, rtl_kernel_t *kernel);

/** Tells a kernel of a chunk: the one at `place` in it. After rtl_trace_load_graphs. */
rtl_status_t rtl_trace_describe_kernel(rtl_trace_t *trace, const struct rtl_chunk_row *row,
                                       uint32_t place, const struct rtl_wire_kernel *wire,
                                       rtl_kernel_t *kernel);

/** Reads and frees the lists about host calls. */
rtl_status_t rtl_trace_load_calls(rtl_trace_t *trace);
void rtl_trace_unload_calls(rtl_trace_t *trace);

/** Unpacks a chunk of host calls: `*calls` and `*words`, which the caller frees. */
rtl_status_t rtl_trace_unpack_calls(rtl_trace_t *trace, struct rtl_api_codec *codec,
                                    const struct rtl_api_row *row, struct rtl_call **calls,
                                    uint64_t **words);

/** A host call in its chunk; it lives until the next look-up. */
struct rtl_found_call {
    const struct rtl_api_row *row;
    uint32_t place;
    const struct rtl_call *call;
    const uint64_t *words; /**< its own */
};

/** Finds a host call of a process by its correlation. RTL_END if there is none. */
rtl_status_t rtl_trace_find_call(rtl_trace_t *trace, uint32_t process, uint64_t correlation,
                                 struct rtl_found_call *found);

/** Forgets what rtlTraceOrigin keeps. */
void rtl_trace_forget_origins(rtl_trace_t *trace);

/** Reads all about graphs, if it has not been read yet. */
rtl_status_t rtl_trace_load_graphs(rtl_trace_t *trace);
void rtl_trace_unload_graphs(rtl_trace_t *trace);

/** Forgets the array of all launches, which rtlTraceGraphLaunches has given. */
void rtl_trace_forget_launches(rtl_trace_t *trace);

/** Sets graph, generation, launch, node, certain and node_range of a kernel, by the launch and
 * ordinal that its record names. After rtl_trace_load_graphs. */
rtl_status_t rtl_trace_resolve_node(rtl_trace_t *trace, uint32_t launch, uint32_t ordinal,
                                    rtl_kernel_t *kernel);

/** As rtlTraceLaunches; [time_from, time_to) restricts when their threads began them, time_to 0: no
 * end. */
rtl_status_t rtl_trace_launches(rtl_trace_t *trace, const rtl_launch_filter_t *filter,
                                uint64_t time_from, uint64_t time_to, rtl_launch_iter_t **iter);

/** As rtlTraceApi, restricted to one chunk unless `chunk` is 0. */
rtl_status_t rtl_trace_api(rtl_trace_t *trace, const rtl_api_filter_t *filter, int64_t chunk,
                           rtl_api_iter_t **iter);

/** True if a chunk may hold kernels of a filter. */
bool rtl_trace_chunk_passes(const rtl_kernel_filter_t *filter, const struct rtl_chunk_row *row);

/** True if a kernel overlaps the time of a filter. */
static inline bool rtl_trace_time_passes(const rtl_kernel_filter_t *filter, uint64_t start,
                                         uint64_t end)
{
    return (filter->to == 0 || start < filter->to) && (end > filter->from || start >= filter->from);
}

/** Prepares the statement for rtl_trace_chunk_data. */
rtl_status_t rtl_trace_prepare_data(rtl_trace_t *trace, sqlite3_stmt **statement);

/** The packed data of a chunk, which live until the statement is reset. */
rtl_status_t rtl_trace_chunk_data(rtl_trace_t *trace, sqlite3_stmt *statement,
                                  const struct rtl_chunk_row *row, const unsigned char **data,
                                  size_t *size);

/** Says that a chunk of kernels is damaged; returns RTL_E_DAMAGED. */
rtl_status_t rtl_trace_fail_chunk(rtl_trace_t *trace, const struct rtl_chunk_row *row);

/** Kernels of graphs. Zero and NONE fields do not restrict. */
struct rtl_graph_choice {
    uint32_t process;
    uint32_t graph;      /**< RTL_TRACE_NONE: all */
    uint32_t generation; /**< 0: all */
    uint32_t launch;     /**< 0: all */
    uint32_t node;       /**< RTL_TRACE_NONE: all */
};

#define RTL_GRAPH_CHOICE_ALL                                                                       \
    {                                                                                              \
        0, RTL_TRACE_NONE, 0, 0, RTL_TRACE_NONE                                                    \
    }

/** As rtlTraceKernels, restricted to one chunk unless `chunk` is 0, and to kernels of graphs unless
 * `choice` is NULL. */
rtl_status_t rtl_trace_kernels(rtl_trace_t *trace, const rtl_kernel_filter_t *filter, int64_t chunk,
                               const struct rtl_graph_choice *choice, rtl_kernel_iter_t **iter);

/** Where the kernels of a choice may be (launch_iter.c). */
struct rtl_chosen;

/** Finds out where they may be. */
rtl_status_t rtl_chosen_new(rtl_trace_t *trace, const struct rtl_graph_choice *choice,
                            struct rtl_chosen **chosen);

/** NULL is allowed. */
void rtl_chosen_free(struct rtl_chosen *chosen);

/** False if a chunk has no such kernel; if a kernel of a chunk is none, whatever its node; if it is
 * none. */
bool rtl_chosen_chunk(const struct rtl_chosen *chosen, const struct rtl_chunk_row *row);
bool rtl_chosen_wire(const struct rtl_chosen *chosen, const struct rtl_chunk_row *row,
                     const struct rtl_wire_kernel *kernel);
bool rtl_chosen_kernel(const struct rtl_chosen *chosen, const rtl_kernel_t *kernel);

#endif
