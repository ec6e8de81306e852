/**
 * The parts of rtlTraceAggregate, for its sources only.
 *
 * The calling thread reads the packed chunks of each GPU in the order of time. A pool of threads
 * unpacks them. Each of its threads adds durations up in tables of its own, and computes how long
 * the GPU was busy with the kernels of the chunk. Where the chunk overlaps with no other in time,
 * that is the result. Where it does, its intervals go back to the calling thread, which sweeps over
 * those of all chunks that overlap.
 */
#ifndef RTL_STORE_AGGREGATE_H
#define RTL_STORE_AGGREGATE_H

#include "store/chunk_stat.h"
#include "store/reader.h"
#include "store/select.h"
#include "store/stat.h"
#include "store/sweep.h"
#include "store/translate.h"

#define RTL_AGGREGATE_GRAPHS (RTL_BY_GRAPH | RTL_BY_GENERATION | RTL_BY_NODE)

/* Which group a kernel's shape belongs to (aggregate_shapes.c). */

struct rtl_aggregate_shapes {
    const rtl_trace_t *trace;
    uint32_t *groups;       /**< of each of the trace's shapes, and behind them of unknown ones */
    uint32_t *samples;      /**< of each group: place of one of its shapes, or behind the last */
    uint32_t count;         /**< groups */
    struct rtl_list tables; /**< private */
};

/** Groups of a process's shapes from 0 on; the rest goes the long way. */
struct rtl_aggregate_table {
    uint32_t process;
    uint32_t *groups;
    uint32_t count;
};

/** False when memory is short. */
bool rtl_aggregate_shapes_make(struct rtl_aggregate_shapes *shapes, const rtl_trace_t *trace,
                               unsigned by);
const struct rtl_aggregate_table *
rtl_aggregate_shapes_table(const struct rtl_aggregate_shapes *shapes, uint32_t process);
uint32_t rtl_aggregate_shapes_find(const struct rtl_aggregate_shapes *shapes, uint32_t process,
                                   uint32_t shape);
/** The shape that stands for a group. */
const struct rtl_shape *rtl_aggregate_shapes_sample(const struct rtl_aggregate_shapes *shapes,
                                                    uint32_t group);
void rtl_aggregate_shapes_free(struct rtl_aggregate_shapes *shapes);

/* Queues and GPUs with their times (aggregate_devices.c). */

struct rtl_aggregate_devices {
    rtl_device_time_t *devices;
    rtl_queue_time_t *queues; /**< in the order of the trace's queues, until they are finished */
    size_t device_count, queue_count;
    struct rtl_sweep *device_sweeps, *queue_sweeps;
    size_t sweep_count;      /**< of queues */
    struct rtl_list *copies; /**< of each device: struct rtl_interval, sorted and joined */
};

rtl_status_t rtl_aggregate_devices_make(struct rtl_aggregate_devices *devices, rtl_trace_t *trace,
                                        const rtl_aggregate_request_t *request);
/** True if the device copied between `from` and `to`. */
bool rtl_aggregate_devices_copied(const struct rtl_aggregate_devices *devices, uint32_t device,
                                  uint64_t from, uint64_t to);
/** Takes the times from the sweeps; queues that only copy are left out. */
void rtl_aggregate_devices_finish(struct rtl_aggregate_devices *devices);
void rtl_aggregate_devices_free(struct rtl_aggregate_devices *devices);

/* Chunks (aggregate_chunk.c). */

/** A kernel whose node is to be found. */
struct rtl_aggregate_kernel {
    uint64_t packet, duration;
    uint32_t launch, ordinal, shape_group;
};

/** A chunk that is unpacked by one thread. */
struct rtl_aggregate_job {
    const struct rtl_chunk_row *row;
    const rtl_kernel_filter_t *filter;
    const struct rtl_select *select; /**< NULL: all */
    const struct rtl_aggregate_shapes *shapes;
    unsigned char *data; /**< packed */
    size_t size, capacity;
    uint32_t context; /**< what kernels are told apart by besides their shapes */
    bool cut;         /**< the filter may leave out some of its kernels, or cut their times */
    bool keep;        /**< intervals are wanted */
    bool by_graph;    /**< kernels of launches are wanted, their durations are not added up */
    bool any_graph;   /**< those that name no launch may be of one, too */
    bool share;       /**< shares are wanted */
    /* What is found. */
    rtl_status_t status;
    struct rtl_depth depth;
    struct rtl_interval *intervals;       /**< sorted; freed by who takes them */
    struct rtl_aggregate_kernel *kernels; /**< with by_graph; room for the chunk's */
    uint32_t kept;                        /**< of these */
    uint32_t count;                       /**< kernels that pass the filter */
    struct rtl_chunk_share *shares;       /**< with share; `shape` is a group of shapes */
    uint32_t share_count, share_capacity;
};

/** What a thread has added up. */
struct rtl_aggregate_worker {
    struct rtl_codec *codec;
    struct rtl_codec_block block;
    struct rtl_translator translator;
    struct rtl_stat ***stats; /**< by context and group of the shape; NULL: none */
    uint32_t contexts, groups;
    /** What the chunk at hand has of each group of shapes, and the groups of which it has some;
     * NULL: not wanted yet. */
    struct rtl_chunk_share *shares;
    uint32_t *shared, shared_count;
};

/** Unpacks a chunk; a rtl_thread_pool_work. */
void rtl_aggregate_chunk(void *worker, void *job);

/** The statistics of a context and group of shapes; NULL when memory is short. */
struct rtl_stat *rtl_aggregate_stat(struct rtl_aggregate_worker *worker, uint32_t context,
                                    uint32_t group);
struct rtl_aggregate_worker *rtl_aggregate_worker_new(uint32_t contexts, uint32_t groups);
void rtl_aggregate_worker_free(struct rtl_aggregate_worker *worker);

/* Groups (aggregate_groups.c). */

/** What kernels are told apart by, besides name, symbol and shape. */
struct rtl_aggregate_key {
    uint32_t process, device, queue, graph, generation, node;
};

/** A group that is being made. */
struct rtl_aggregate_group {
    struct rtl_aggregate_key key;
    uint32_t shape_group;
    struct rtl_stat stat;
};

struct rtl_aggregate_groups {
    struct rtl_list list;   /**< struct rtl_aggregate_group */
    struct rtl_index steps; /**< the way from a key to its group */
    uint32_t step_count;
    uint32_t most;   /**< no more groups are made; 0: as many as there are */
    uint32_t *among; /**< counts those of several together, which `most` is about; NULL: these */
    bool many;       /**< one more would have been needed */
    rtl_group_t *given;
};

/** What kernels of a queue, on a device (a place), are told apart by. */
struct rtl_aggregate_key rtl_aggregate_key_of(unsigned by, uint32_t process, uint32_t device,
                                              uint32_t queue);

/** The group of a key and a group of shapes, made if it is new; NULL when memory is short. It lives
 * until the next call. */
struct rtl_aggregate_group *rtl_aggregate_group_of(struct rtl_aggregate_groups *groups,
                                                   const struct rtl_aggregate_key *key,
                                                   uint32_t shape_group);

/** Sorts the groups and fills what is given out. False when memory is short. */
bool rtl_aggregate_groups_finish(struct rtl_aggregate_groups *groups,
                                 const struct rtl_aggregate_shapes *shapes, unsigned by);
void rtl_aggregate_groups_free(struct rtl_aggregate_groups *groups);

/* Groups process by process (aggregate_parts.c). */

/** Those of a process, until all of its chunks have been taken. */
struct rtl_aggregate_part {
    uint32_t process;
    size_t chunks; /**< that are to come */
    struct rtl_aggregate_groups groups;
};

struct rtl_aggregate_parts {
    struct rtl_list list; /**< struct rtl_aggregate_part */
    struct rtl_index places;
    uint32_t groups; /**< of all, so far */
};

/** One more chunk of a process is to come. False when memory is short. */
bool rtl_aggregate_parts_expect(struct rtl_aggregate_parts *parts, uint32_t process, uint32_t most);

/** The part of a process of which chunks were expected. It stays where it is. */
struct rtl_aggregate_part *rtl_aggregate_parts_of(const struct rtl_aggregate_parts *parts,
                                                  uint32_t process);

/** Adds what the threads have of the contexts of a part's process, and takes it from them: they
 * have no chunk of it any more. False when memory is short. */
bool rtl_aggregate_parts_join(struct rtl_aggregate_part *part, const struct rtl_list *contexts,
                              void *const *workers, unsigned threads);
void rtl_aggregate_parts_free(struct rtl_aggregate_parts *parts);

/** Adds a context's statistics of one thread to groups, and frees them. False when memory is short.
 */
bool rtl_aggregate_join(struct rtl_aggregate_groups *groups, const struct rtl_aggregate_key *key,
                        struct rtl_aggregate_worker *worker, uint32_t context);

/* Statistics that the trace has (aggregate_stats.c). */

/** True if they answer a request, whose devices were made. */
bool rtl_aggregate_has_stats(rtl_trace_t *trace, const rtl_aggregate_request_t *request,
                             const struct rtl_aggregate_devices *devices);

/** Takes groups and times from them. */
rtl_status_t rtl_aggregate_take_stats(rtl_trace_t *trace, const rtl_aggregate_request_t *request,
                                      const struct rtl_aggregate_shapes *shapes,
                                      const struct rtl_aggregate_devices *devices,
                                      struct rtl_aggregate_groups *groups);

/* Shares of a chunk (aggregate_shares.c). */

/** Adds a kernel to the chunk at hand. There is room, by rtl_aggregate_shares_begin. */
static inline void rtl_aggregate_share(struct rtl_aggregate_worker *worker, uint32_t group,
                                       uint64_t duration)
{
    struct rtl_chunk_share *share = &worker->shares[group];
    if (share->kernels++ == 0)
        worker->shared[worker->shared_count++] = group;
    share->total += duration;
}

/** Begins a chunk. False when memory is short. */
bool rtl_aggregate_shares_begin(struct rtl_aggregate_worker *worker);

/** Moves what was added into the job. False when memory is short. */
bool rtl_aggregate_shares_end(struct rtl_aggregate_worker *worker, struct rtl_aggregate_job *job);

/** The shares of a job, by shape: of each group one of its shapes stands for it. */
void rtl_aggregate_shares_name(const struct rtl_aggregate_shapes *shapes,
                               struct rtl_aggregate_job *job);

/* All of it (aggregate.c), for who makes statistics. */

/** Is given what each chunk adds up to, in no order. What it returns ends the adding unless it is
 * RTL_OK. */
struct rtl_aggregate_watch {
    void *context;
    /** Is given the groups of a process when all of its kernels are in, and then they go: only
     * those of processes whose kernels lie beside each other take memory at once. Kernels are told
     * apart by process. NULL: the groups stay, for rtl_aggregate_all. */
    rtl_status_t (*groups)(void *context, const rtl_aggregate_t *aggregate,
                           const struct rtl_aggregate_group *groups, size_t count);
    rtl_status_t (*chunk)(void *context, int64_t number, uint32_t kernels,
                          const struct rtl_chunk_stat *stat);
};

/** As rtlTraceAggregate, by unpacking all kernels. `most` groups are made at most, unless it is 0:
 * `*many` tells that this was not enough. The request tells kernels apart by shape where there is a
 * `watch`, which may be NULL. */
rtl_status_t rtl_aggregate_kernels(rtl_trace_t *trace, const rtl_aggregate_request_t *request,
                                   uint32_t most, const struct rtl_aggregate_watch *watch,
                                   bool *many, rtl_aggregate_t **aggregate);

/** The groups as they were added up, the largest total first; and a shape that stands for a group
 * of shapes. Both belong to the aggregate, or its trace. */
const struct rtl_aggregate_group *rtl_aggregate_all(const rtl_aggregate_t *aggregate,
                                                    size_t *count);
const struct rtl_shape *rtl_aggregate_shape(const rtl_aggregate_t *aggregate, uint32_t group);

#endif
