/**
 * Reading RTL traces.
 *
 *     rtl_trace_t *trace;
 *     char error[256];
 *     if (rtlTraceOpen("trace.db", &trace, error, sizeof error) != RTL_OK)
 *         return fputs(error, stderr), 1;
 *     rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
 *     rtl_kernel_iter_t *it;
 *     rtl_kernel_t kernel;
 *     rtlTraceKernels(trace, &all, &it);
 *     while (rtlKernelNext(it, &kernel) == RTL_OK)
 *         printf("%s %" PRIu64 "\n", kernel.name, kernel.end - kernel.start);
 *     rtlKernelIterFree(it);
 *     rtlTraceClose(trace);
 *
 * Times are nanoseconds on the trace's clock (CLOCK_BOOTTIME of the host that recorded), unless a
 * field's name ends in `ticks`. A trace may be read while it is being written. A trace handle and
 * what comes from it belong to one thread at a time; two handles are independent. Strings belong to
 * the trace and live until it is closed. Structures only grow at their end within a major version.
 */
#ifndef RTL_TRACE_H
#define RTL_TRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RTL_TRACE_API __attribute__((visibility("default")))
#else
#define RTL_TRACE_API
#endif

/** Outcome of a call. */
typedef enum rtl_status {
    RTL_OK = 0,
    RTL_END = 1,         /**< iterator: nothing more */
    RTL_E_IO = 2,        /**< the file could not be opened or read */
    RTL_E_NOT_TRACE = 3, /**< the file is not an RTL trace */
    RTL_E_VERSION = 4,   /**< the trace is of a newer major format version */
    RTL_E_DAMAGED = 5,   /**< a checksum or a bound is wrong */
    RTL_E_MEMORY = 6,
    RTL_E_ARGUMENT = 7
} rtl_status_t;

typedef struct rtl_trace rtl_trace_t;
typedef struct rtl_kernel_iter rtl_kernel_iter_t;

/** "None" in 32-bit fields, where SQL has NULL. */
#define RTL_TRACE_NONE UINT32_MAX

/** Opens a trace for reading only. On failure `*trace` is NULL and `error` (may be NULL) gets one
 * sentence that names the file. */
RTL_TRACE_API rtl_status_t rtlTraceOpen(const char *path, rtl_trace_t **trace, char *error,
                                        size_t error_size);

/** Closes the trace and everything read from it; NULL is allowed. */
RTL_TRACE_API void rtlTraceClose(rtl_trace_t *trace);

/** The last error of this trace in one sentence; "" if none. */
RTL_TRACE_API const char *rtlTraceError(const rtl_trace_t *trace);

/** Facts about the whole trace. */
typedef struct rtl_trace_info {
    uint32_t format_major, format_minor;
    const char *creator; /**< program and version that wrote it */
    const char *command; /**< command line that was recorded, else that of the first process, "" if
                            unknown */
    const char *host;
    const char *mode;        /**< "full", "standard", … of the first process */
    uint64_t start, end;     /**< recording began and (so far) ended */
    int64_t realtime_offset; /**< CLOCK_REALTIME - CLOCK_BOOTTIME at the start, ns */
    int finished;    /**< 1 if the collector ended in order; 0: still recording, or it was killed */
    int exit_status; /**< of the recorded program: 0-255, 256 + signal, or -1 if unknown */
    uint64_t kernels;
    uint64_t bytes; /**< size of the file */
    uint64_t copies;
    uint64_t calls;        /**< host calls */
    uint64_t ranges;       /**< marks among them */
    uint32_t writer_pid;   /**< the recorder, 0 if unknown */
    uint64_t writer_start; /**< when it began: field 22 of its /proc/PID/stat; with the pid it tells
                              whether the recorder lives, on `host` */
    uint64_t kernel_samples; /**< kernels whose hardware counters are in the trace */
    uint64_t range_samples;  /**< ranges, and devices of them, whose hardware counters are */
    const char *failure;     /**< why the recorder could not write more, "" if it could */
    int accounted;         /**< with `failure`: 1 if the ledger is that of the end, 0 if it is that
                              of some checkpoint before */
    uint64_t bytes_behind; /**< of the file, after the end of the trace: no part of it, something
                              has appended them */
} rtl_trace_info_t;

RTL_TRACE_API rtl_status_t rtlTraceInfo(rtl_trace_t *trace, rtl_trace_info_t *info);

/** A process of the trace; `process` counts from 1. */
typedef struct rtl_process {
    uint32_t process;
    uint32_t pid, ppid;
    const char *command, *host, *rank, *mode, *way, *library; /**< "" if unknown */
    uint64_t start, end;                                      /**< end 0: unknown */
    const char *state; /**< "closed" (ended in order), "exited" (ended by _exit, _Exit or
                          quick_exit), "died" (it is gone and has not told: killed, as a rule),
                          "replaced" (by an exec: the program that came in its place is another
                          one), "running", "refused" (its librtl
                          was of another build: nothing of it is in the trace), "unrecorded" (it
                          has no ring here: a note tells why), "not_started" (its GPU runtime did
                          not come up: it had nothing to be recorded), "imported" (from a format
                          that does not tell what is missing) */
    uint64_t torn;     /**< ring slots that were reserved and never committed */
    const char *title; /**< command line as the process has rewritten it (setproctitle), "" if it
                          has not, or it is unknown */
    const char *comm;  /**< name in the kernel that it was started with, "" if unknown */
} rtl_process_t;

typedef struct rtl_agent {
    uint32_t process, agent;
    uint32_t gpu; /**< ordinal among the GPUs, RTL_TRACE_NONE for a CPU */
    const char *type, *name, *product, *uuid;
    uint32_t node, bdf, compute_units;
    uint64_t clock_hz;
} rtl_agent_t;

typedef struct rtl_queue {
    uint32_t process, queue, agent, gpu;
    uint64_t address, hsa_id;
    uint32_t size;
    const char *way;     /**< "interpose", "intercept", "pass" (not followed), "copies": no queue,
                            but the asynchronous copies of an agent */
    uint64_t start, end; /**< end 0: not destroyed */
    uint64_t kernels;    /**< in the trace */
    uint64_t copies;     /**< in the trace */
} rtl_queue_t;

typedef struct rtl_symbol {
    uint32_t process, symbol, agent;
    uint64_t kernel_object;
    const char *name; /**< demangled */
    const char *mangled;
    uint32_t kernarg_size, group_size, private_size;
} rtl_symbol_t;

/** Why something was seen and is not in the trace; the order is that of `lost` in rtl_ledger_t. */
typedef enum rtl_loss {
    RTL_LOSS_POOL,
    RTL_LOSS_PENDING,
    RTL_LOSS_RING,
    RTL_LOSS_SHUTDOWN,
    RTL_LOSS_REARMED,
    RTL_LOSS_KILLED,
    RTL_LOSS_NO_TIME,
    RTL_LOSS_NOT_FOLLOWED,
    RTL_LOSS_SPACE,
    RTL_LOSS_MEMORY,
    RTL_LOSS_MALFORMED,
    RTL_LOSS_REASONS
} rtl_loss_t;

/** Short name of a reason as in the `reason` column of `ledger` ("pool", "ring", …). */
RTL_TRACE_API const char *rtlLossName(rtl_loss_t reason);

/** Packets that RTL cannot look into, by what they are. */
typedef enum rtl_opaque_kind {
    RTL_OPAQUE_OF_PM4,      /**< a vendor's packet that leads to a list of PM4 commands */
    RTL_OPAQUE_OF_INDIRECT, /**< a vendor's packet of a format that is proposed for buffers of
                                 packets */
    RTL_OPAQUE_OF_VENDOR,   /**< a vendor's packet of another format that is not known */
    RTL_OPAQUE_OF_DIRECT,   /**< any packet that the device was told to take past librtl.so; it is
                                 among those lost as "not_followed", too */
    RTL_OPAQUES
} rtl_opaque_t;

/** Its name as in the `what` column of `ledger_opaque`: "pm4", "indirect", "vendor", "direct". */
RTL_TRACE_API const char *rtlOpaqueName(rtl_opaque_t what);

/** One queue's account; where the queue's way is "copies", of copies instead of kernels. seen =
 * recorded + skipped + the sum of lost, if the process has ended. */
typedef struct rtl_ledger {
    uint32_t process, queue;
    uint64_t packets;  /**< AQL packets of every kind */
    uint64_t seen;     /**< kernel packets */
    uint64_t recorded; /**< handed over by the process */
    uint64_t stored;   /**< in the trace file */
    uint64_t skipped;  /**< left out, for whatever reason */
    uint64_t lost[RTL_LOSS_REASONS];
    uint64_t forwarded, borrowed, helped;
    /** Of `skipped`: the mode takes them, but recording was stopped, or their thread had stopped
     * its own (roctxProfilerPause). What is left is what the mode leaves out. Both 0 before
     * format 1.5: what was left out for which reason is not known there. */
    uint64_t stopped, withheld;
    /** Packets that RTL cannot look into, and how many of them are of launches of graphs. All 0
     * before format 1.5. */
    uint64_t opaque[RTL_OPAQUES], opaque_of_graphs[RTL_OPAQUES];
} rtl_ledger_t;

/** The account of what a process records besides kernels and copies, by kind: "calls" (host calls),
 * "ranges" (their begins), "range_ends", "marks", "launches" (of graphs that HIP has told of),
 * "batches" (packets reserved at once, in which other graphs are found), "graphs" (definitions and
 * nodes), "samples" (of hardware counters), "names", "definitions" (all else), "processes" (that
 * could not be read). There is none before format 1.5; where there is, a kind without a row is one
 * of which nothing was seen, or which the mode leaves out. */
typedef struct rtl_kind_ledger {
    uint32_t process;
    const char *kind;
    uint64_t seen;     /**< recorded + waiting + stopped + withheld + the sum of lost */
    uint64_t recorded; /**< handed over by the process */
    uint64_t stored;  /**< in the trace file; of "batches", "graphs", "names", "definitions": handed
                         over and not known to be missing there */
    uint64_t waiting; /**< in the process's memory, or begun; 0 once it has ended */
    uint64_t stopped; /**< left out because recording was stopped. Not counted of "calls" and
                         "batches" */
    uint64_t withheld; /**< left out because its thread had stopped its own */
    uint64_t lost[RTL_LOSS_REASONS];
} rtl_kind_ledger_t;

typedef struct rtl_note {
    uint32_t process, queue; /**< queue RTL_TRACE_NONE: about the process */
    uint64_t time;
    const char *text;
} rtl_note_t;

/** A time in which a process recorded nothing, because it was told so; its kernels then are among
 * those that the ledger counts as skipped. */
typedef struct rtl_pause {
    uint32_t process;
    uint64_t start, end; /**< end 0: until the process ended, or the last checkpoint */
    const char *why; /**< "program" (rtlStop), "roctx" (roctxProfilerPause), "ctl" (rtl ctl stop),
                        "start-off", "delay", "duration" (the options of rtl trace) */
} rtl_pause_t;

/** The lists. `*items` is an array of `*count` elements that belongs to the trace and lives until
 * it is closed. */
RTL_TRACE_API rtl_status_t rtlTraceProcesses(rtl_trace_t *, const rtl_process_t **items,
                                             size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceAgents(rtl_trace_t *, const rtl_agent_t **items, size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceQueues(rtl_trace_t *, const rtl_queue_t **items, size_t *count);
/** By process and symbol; all that code objects defined, dispatched or not. The names of those that
 * were not are read when this is called for the first time. */
RTL_TRACE_API rtl_status_t rtlTraceSymbols(rtl_trace_t *, const rtl_symbol_t **items,
                                           size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceLedger(rtl_trace_t *, const rtl_ledger_t **items, size_t *count);
/** By process, and by kind in the order of rtl_kind_ledger_t. */
RTL_TRACE_API rtl_status_t rtlTraceKinds(rtl_trace_t *, const rtl_kind_ledger_t **items,
                                         size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceNotes(rtl_trace_t *, const rtl_note_t **items, size_t *count);
/** By process, then start; none in traces of a format before 1.3. */
RTL_TRACE_API rtl_status_t rtlTracePauses(rtl_trace_t *, const rtl_pause_t **items, size_t *count);

/** How a process read hardware counters. Counters that do not fit into the hardware at once are
 * spread over passes, of which a process makes one; others, which ran the same program, the rest.
 */
typedef struct rtl_trace_counting {
    uint32_t process;
    uint32_t pass, passes; /**< the one that it made, from 0, of how many; passes 0: it could not
                              count, and a note tells why */
    const char *mode;      /**< "kernel": each kernel alone on its device; "range": at the begin and
                              the end of ranges, while kernels run as they like */
    const char *metrics;   /**< as asked for: names of metrics and counters, with commas */
} rtl_trace_counting_t;

/** A counter of a device that some pass reads. */
typedef struct rtl_trace_counter {
    uint32_t process, counter; /**< counter: number in the process */
    uint32_t agent;
    uint32_t block, event; /**< hsa_ven_amd_aqlprofile_block_name_t and the id of the event in it */
    uint32_t instances;    /**< of the block; values are sums over them */
    uint32_t pass;         /**< that reads it, from 0 */
    const char *name;      /**< "SQ_WAVES", say */
} rtl_trace_counter_t;

/** Kernels or ranges that should have been counted and were not. */
typedef struct rtl_trace_uncounted {
    uint32_t process, agent; /**< agent RTL_TRACE_NONE: not known */
    const char *why; /**< "graph" (kernel mode: in a replay of a graph), "queue" (no packets can be
                        put into its queue), "memory", "shutdown" (not finished when the program or
                        queue ended), "device" (it, or its library, cannot), "ring" (it was full),
                        "stopped" (recording was stopped, or the mode leaves it out) */
    uint64_t count;
} rtl_trace_uncounted_t;

/** By process; counters by process and number, what was not counted by process, agent and reason.
 * None in traces of a format before 1.4. */
RTL_TRACE_API rtl_status_t rtlTraceCounting(rtl_trace_t *, const rtl_trace_counting_t **items,
                                            size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceCounters(rtl_trace_t *, const rtl_trace_counter_t **items,
                                            size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceUncounted(rtl_trace_t *, const rtl_trace_uncounted_t **items,
                                             size_t *count);

/** A queue that a HIP made, and what became of the host calls of that HIP. */
typedef struct rtl_trace_hip_queue {
    uint32_t process, queue;
    const char *library; /**< path of the object with that HIP, "" for the program itself */
    const char *calls;   /**< "followed", "indirect" (followed; HIP submits in threads of its own),
                            "left_out" (the mode has none); or they are not in the trace: "off"
                            (RTL_PRELOAD=off), "not_preloaded", "namespace" (dlmopen), "passed_by"
                            (none came through librtl.so: RTLD_DEEPBIND and the like), "other_copy"
                            (those of another HIP are followed), "static" */
} rtl_trace_hip_queue_t;

/** By process and queue. None in traces of a format before 1.5. */
RTL_TRACE_API rtl_status_t rtlTraceHipQueues(rtl_trace_t *, const rtl_trace_hip_queue_t **items,
                                             size_t *count);

/** One kernel. */
typedef struct rtl_kernel {
    uint64_t id; /**< unique in the trace, stable */
    uint32_t process, gpu, queue;
    uint64_t packet;     /**< packet index in the queue */
    const char *name;    /**< demangled; "kernel object 0x…" when no symbol is known, "unknown
                             kernel" when nothing is */
    const char *mangled; /**< "" when no symbol is known */
    uint32_t symbol;     /**< RTL_TRACE_NONE when no symbol is known */
    uint64_t start, end;
    uint64_t start_ticks, end_ticks; /**< as the device wrote them */
    uint32_t grid[3];                /**< work-items */
    uint32_t block[3];
    uint32_t group_size, private_size; /**< bytes */
    uint64_t correlation; /**< id of the host call, or of the innermost range where it came from no
                             host call, 0 if neither; rtlTraceOrigin tells */
    uint32_t launch;      /**< of its graph, from 1; RTL_TRACE_NONE if not replayed from a graph */
    uint32_t node;        /**< RTL_TRACE_NONE if not replayed from a graph, or it is not known */
    uint32_t graph;       /**< RTL_TRACE_NONE if not replayed from a graph */
    uint32_t generation;  /**< of the graph, from 1 */
    int certain;          /**< 1: the node is sure, 0: another one that runs the same is possible */
    uint64_t node_range; /**< innermost range that was open when its node was captured, 0 if none */
    /** As recorded: its launch, and the ordinal of its packet among those reserved for that. What
     * was made of it stands in launch and node. RTL_TRACE_NONE if none. */
    uint32_t launch_record, ordinal;
} rtl_kernel_t;

/** Which kernels. Zero/NONE fields do not restrict. */
typedef struct rtl_kernel_filter {
    uint64_t from, to; /**< kernels that overlap [from, to); to 0: no end */
    uint32_t process;  /**< 0: all */
    uint32_t queue;    /**< RTL_TRACE_NONE: all */
    int by_queue; /**< 1: process, queue, packet order (cheapest); 0: by start time over all queues
                   */
} rtl_kernel_filter_t;

#define RTL_KERNEL_FILTER_ALL                                                                      \
    {                                                                                              \
        0, 0, 0, RTL_TRACE_NONE, 0                                                                 \
    }

/** Starts an iteration; free it with rtlKernelIterFree before the trace is closed. Memory is
 * bounded by a chunk per queue. */
RTL_TRACE_API rtl_status_t rtlTraceKernels(rtl_trace_t *, const rtl_kernel_filter_t *filter,
                                           rtl_kernel_iter_t **iter);

/** RTL_OK and a kernel, RTL_END, or an error (then rtlTraceError tells). */
RTL_TRACE_API rtl_status_t rtlKernelNext(rtl_kernel_iter_t *iter, rtl_kernel_t *kernel);

RTL_TRACE_API void rtlKernelIterFree(rtl_kernel_iter_t *iter);

/** Where fields of kernels go: a column of each, as in rtl_kernel_t; NULL: not wanted. */
typedef struct rtl_kernel_columns {
    size_t size; /**< sizeof(rtl_kernel_columns_t): later versions have more columns */
    uint64_t *id, *packet, *start, *end, *start_ticks, *end_ticks, *correlation, *node_range;
    uint32_t *process, *gpu, *queue, *symbol, *graph, *generation, *node, *launch;
    uint32_t *grid[3], *block[3], *group_size, *private_size;
    uint8_t *certain;
    const char **name; /**< kernels of one symbol have the same pointer */
} rtl_kernel_columns_t;

/** The next kernels of an iteration, at most `capacity`, which each column has room for; `*count`
 * tells how many there were. RTL_OK and at least one, RTL_END and none, or an error after `*count`
 * kernels (then rtlTraceError tells). */
RTL_TRACE_API rtl_status_t rtlKernelColumns(rtl_kernel_iter_t *iter,
                                            const rtl_kernel_columns_t *columns, size_t capacity,
                                            size_t *count);

/** Finds the kernel of a packet. RTL_END if the trace has none. Fast where packets of a queue come
 * mostly in order: the four chunks of kernels that were used last are kept (some 2 MB each). */
RTL_TRACE_API rtl_status_t rtlTraceKernelAt(rtl_trace_t *, uint32_t process, uint32_t queue,
                                            uint64_t packet, rtl_kernel_t *kernel);

/** One asynchronous copy. */
typedef struct rtl_copy {
    uint64_t id; /**< unique among the copies of the trace, stable */
    uint32_t process;
    uint32_t gpu;        /**< that copied, RTL_TRACE_NONE if the host did */
    uint32_t queue;      /**< one whose way is "copies" */
    uint64_t ordinal;    /**< in its queue */
    const char *kind;    /**< "host-to-device", "device-to-host", "device-to-device", "peer",
                            "host-to-host" */
    const char *engine;  /**< "sdma", "kernel" (a kernel of the runtime), "host", "unknown" */
    uint32_t src, dst;   /**< agents, RTL_TRACE_NONE if not known */
    uint64_t start, end; /**< both 0: nobody took the time */
    uint64_t start_ticks, end_ticks; /**< as the device wrote them, or 0 */
    uint64_t bytes;
    uint64_t correlation; /**< as a kernel's */
} rtl_copy_t;

typedef struct rtl_copy_iter rtl_copy_iter_t;

/** Which copies. Zero fields do not restrict. */
typedef struct rtl_copy_filter {
    uint64_t from, to; /**< copies that overlap [from, to); to 0: no end */
    uint32_t process;  /**< 0: all */
} rtl_copy_filter_t;

/** Starts an iteration by start time, those without times first; `filter` NULL: all. Free it with
 * rtlCopyIterFree before the trace is closed. Memory is bounded by the number of queues. */
RTL_TRACE_API rtl_status_t rtlTraceCopies(rtl_trace_t *, const rtl_copy_filter_t *filter,
                                          rtl_copy_iter_t **iter);

/** RTL_OK and a copy, RTL_END, or an error (then rtlTraceError tells). */
RTL_TRACE_API rtl_status_t rtlCopyNext(rtl_copy_iter_t *iter, rtl_copy_t *copy);

RTL_TRACE_API void rtlCopyIterFree(rtl_copy_iter_t *iter);

/** An argument of a host call. */
typedef struct rtl_parameter {
    const char *name;
    /** 'p' pointer, 'P' pointer that the call has filled, as the value it points to, 's' stream,
     * 'e' event, 'g' graph, 'x' executable graph, 'n' graph node, 'f' function, 'u' unsigned, 'i'
     * signed, 'z' bytes, 'b' enumeration, 'd' double, '3' dim3. A letter that a reader does not
     * know is one word. */
    char type;
    const char *enumeration; /**< its name where type is 'b', else "" */
} rtl_parameter_t;

/** A host call that the program may make. */
typedef struct rtl_call_definition {
    uint32_t process, call;
    const char *name;
    const rtl_parameter_t *parameters;
    size_t parameter_count;
} rtl_call_definition_t;

/** A stream that a host call named; `stream` is its number in the process: 0 is the NULL stream,
 * the others follow in the order in which they appeared. A handle that the runtime gave out again
 * is another stream: the next generation of the handle (in traces before format 1.5 the same one,
 * with the last name). */
typedef struct rtl_stream {
    uint32_t process, stream;
    uint64_t handle;
    const char *name;            /**< that the program gave it, "" if none */
    uint32_t generation;         /**< of its handle, from 1 */
    uint64_t created, destroyed; /**< 0: not known, not destroyed */
} rtl_stream_t;

/** A thread that made a host call, set a range or got a name. */
typedef struct rtl_thread {
    uint32_t process, thread; /**< thread: its tid; made unlike earlier ones' where the kernel gave
                                 the tid out again */
    const char *name;    /**< that the program gave it, by roctx or else to the kernel; "" if it
                            gave none */
    uint32_t tid;        /**< of the kernel (gettid) */
    uint32_t generation; /**< of its tid in the process, from 1 */
    const char *comm;    /**< its last name in the kernel, "" if unknown */
} rtl_thread_t;

/** A name that the program gave. */
typedef struct rtl_name {
    uint32_t process;
    const char *kind; /**< "thread", "stream", "device", "agent" */
    uint64_t handle;  /**< gettid, HIP stream, ordinal of a HIP device, HSA agent */
    const char *name;
} rtl_name_t;

RTL_TRACE_API rtl_status_t rtlTraceCallDefinitions(rtl_trace_t *,
                                                   const rtl_call_definition_t **items,
                                                   size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceStreams(rtl_trace_t *, const rtl_stream_t **items,
                                           size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceThreads(rtl_trace_t *, const rtl_thread_t **items,
                                           size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceNames(rtl_trace_t *, const rtl_name_t **items, size_t *count);

/** One host call. */
typedef struct rtl_api {
    uint64_t id; /**< unique among the host calls of the trace, stable */
    uint32_t process, thread;
    const char *name; /**< "call N" where its definition was lost */
    uint64_t start, end;
    uint64_t correlation; /**< unique among host calls and ranges of the process */
    uint64_t range;       /**< innermost range that was open in the thread, 0 if none */
    uint32_t stream;      /**< number, RTL_TRACE_NONE if it is about none */
    int32_t result;       /**< what it returned */
    const rtl_call_definition_t *definition; /**< NULL if it was lost */
    const uint64_t *words; /**< its arguments; they live until the iterator moves on */
    uint32_t word_count;
} rtl_api_t;

typedef struct rtl_api_iter rtl_api_iter_t;

/** Which host calls. Zero fields do not restrict. */
typedef struct rtl_api_filter {
    uint64_t from, to; /**< calls that overlap [from, to); to 0: no end */
    uint32_t process;
    uint32_t thread;
    uint64_t correlation;
} rtl_api_filter_t;

/** Starts an iteration by start time; `filter` NULL: all. Free it with rtlApiIterFree before the
 * trace is closed. Memory is bounded by the chunks that overlap in time. */
RTL_TRACE_API rtl_status_t rtlTraceApi(rtl_trace_t *, const rtl_api_filter_t *filter,
                                       rtl_api_iter_t **iter);

/** RTL_OK and a host call, RTL_END, or an error (then rtlTraceError tells). */
RTL_TRACE_API rtl_status_t rtlApiNext(rtl_api_iter_t *iter, rtl_api_t *api);

RTL_TRACE_API void rtlApiIterFree(rtl_api_iter_t *iter);

/** An argument with its value. */
typedef struct rtl_argument {
    rtl_parameter_t parameter; /**< name "" and type 'p' where the definition was lost */
    uint64_t words[2];         /**< a dim3: x | y << 32, z; else the second is 0 */
} rtl_argument_t;

/** Argument `index` of a host call, from 0. RTL_OK, or RTL_END if it has no more. */
RTL_TRACE_API rtl_status_t rtlApiArgument(const rtl_api_t *api, size_t index,
                                          rtl_argument_t *argument);

/** The arguments as text, "dst=0x7f0000001000, bytes=4096, kind=hipMemcpyHostToDevice", cut off to
 * fit `size` bytes with the terminator. Returns the length that the whole text has. What a call was
 * to fill has a '*' before its name, and is "?" if the call failed. */
RTL_TRACE_API size_t rtlApiArguments(const rtl_api_t *api, char *text, size_t size);

/** Name of what a HIP call returned, such as "hipErrorInvalidValue"; NULL for a number that has
 * none. */
RTL_TRACE_API const char *rtlApiResultName(int32_t result);

/** Where a kernel or copy came from. */
typedef struct rtl_trace_origin {
    uint64_t call;   /**< correlation of the host call, 0 if none is recorded */
    uint64_t range;  /**< innermost range, 0 if none */
    uint32_t stream; /**< number of the call's stream, RTL_TRACE_NONE if none */
    uint32_t thread; /**< that made the call, 0 if no call is recorded */
    uint64_t start;  /**< of the call, 0 if none is recorded */
} rtl_trace_origin_t;

/** Finds the host call or range that a correlation names. A correlation that names neither leaves
 * `*origin` empty. Fast where correlations come mostly in order: the chunk of host calls that holds
 * one is kept, for two chunks per process and eight at least (some 0.6 MB each), and 8 bytes for
 * each range of the trace. */
RTL_TRACE_API rtl_status_t rtlTraceOrigin(rtl_trace_t *, uint32_t process, uint64_t correlation,
                                          rtl_trace_origin_t *origin);

/** The innermost range that was open when a kernel was launched, 0 if none: that of its host call
 * (of a replayed kernel, of the launch of its graph), or the range that its correlation names. As
 * rtlTraceOrigin. What its node was captured in is node_range. */
RTL_TRACE_API rtl_status_t rtlTraceKernelRange(rtl_trace_t *, const rtl_kernel_t *kernel,
                                               uint64_t *range);

/** One range or mark that the program set. */
typedef struct rtl_range {
    uint64_t id; /**< a correlation, unique in the process */
    uint32_t process, thread;
    const char *name;
    const char *kind; /**< "push" (nested in its thread), "start" (stopped by any thread), "mark" */
    uint64_t start;
    uint64_t end;    /**< 0: still open when the process ended; that of a mark is its start */
    uint64_t parent; /**< range that was open in the thread when it began, 0 if none */
} rtl_range_t;

typedef struct rtl_range_iter rtl_range_iter_t;

/** Which ranges. Zero fields do not restrict. */
typedef struct rtl_range_filter {
    uint64_t from, to; /**< ranges that overlap [from, to); to 0: no end */
    uint32_t process;
    uint32_t thread;
} rtl_range_filter_t;

/** Starts an iteration by start time, an outer range before its inner ones; `filter` NULL: all.
 * Free it with rtlRangeIterFree before the trace is closed. Names live until the iterator moves on.
 */
RTL_TRACE_API rtl_status_t rtlTraceRanges(rtl_trace_t *, const rtl_range_filter_t *filter,
                                          rtl_range_iter_t **iter);

/** RTL_OK and a range, RTL_END, or an error (then rtlTraceError tells). */
RTL_TRACE_API rtl_status_t rtlRangeNext(rtl_range_iter_t *iter, rtl_range_t *range);

RTL_TRACE_API void rtlRangeIterFree(rtl_range_iter_t *iter);

/** Finds one range by its id. Its name is put into `name`, cut off to fit `size` bytes with the
 * terminator. RTL_END if there is none. */
RTL_TRACE_API rtl_status_t rtlTraceRange(rtl_trace_t *, uint32_t process, uint64_t id,
                                         rtl_range_t *range, char *name, size_t size);

/** What hardware counters counted during a kernel or a range. */
typedef struct rtl_trace_sample {
    uint32_t process, agent;
    uint32_t queue; /**< of the kernel, RTL_TRACE_NONE: of a range */
    uint32_t count; /**< of counters; 0 where it is not known which they were (their definitions
                       were lost) */
    uint64_t owner; /**< packet of the kernel in its queue, or id of the range. The trace may lack
                       the kernel or range itself */
    int shared; /**< of a range, 1: something else was on the device meanwhile, or may have been */
    const rtl_trace_counter_t *const *counters; /**< `count` of them, by number; they belong to the
                                                   trace */
    const uint64_t *values;                     /**< theirs, in the same order */
} rtl_trace_sample_t;

typedef struct rtl_sample_iter rtl_sample_iter_t;

/** Which samples. Zero/NONE fields do not restrict. */
typedef struct rtl_sample_filter {
    uint32_t process;     /**< 0: all */
    uint32_t queue;       /**< of kernels; RTL_TRACE_NONE: all */
    uint64_t first, last; /**< packets or ids of ranges, both included; last 0: no end */
} rtl_sample_filter_t;

#define RTL_SAMPLE_FILTER_ALL                                                                      \
    {                                                                                              \
        0, RTL_TRACE_NONE, 0, 0                                                                    \
    }

/** Starts an iteration over the samples of kernels, by process, queue and packet, or over those of
 * ranges, by process and range (one for each device that a range had work on); `filter` NULL: all.
 * Free it with rtlSampleIterFree before the trace is closed. Memory is bounded by ten chunks,
 * mostly some 2 MB each; two more for each further iteration that runs. */
RTL_TRACE_API rtl_status_t rtlTraceKernelSamples(rtl_trace_t *, const rtl_sample_filter_t *filter,
                                                 rtl_sample_iter_t **iter);
RTL_TRACE_API rtl_status_t rtlTraceRangeSamples(rtl_trace_t *, const rtl_sample_filter_t *filter,
                                                rtl_sample_iter_t **iter);

/** RTL_OK and a sample, whose values live until the iterator moves on; RTL_END, or an error (then
 * rtlTraceError tells). */
RTL_TRACE_API rtl_status_t rtlSampleNext(rtl_sample_iter_t *iter, rtl_trace_sample_t *sample);

RTL_TRACE_API void rtlSampleIterFree(rtl_sample_iter_t *iter);

/** Finds the sample of one kernel. RTL_END if there is none. Its values live until the next call.
 * Fast where packets of a queue come mostly in order: the chunks of samples that were used last are
 * kept, and so are those that an iteration holds. */
RTL_TRACE_API rtl_status_t rtlTraceKernelSample(rtl_trace_t *, uint32_t process, uint32_t queue,
                                                uint64_t packet, rtl_trace_sample_t *sample);

/** A generation of a graph: what it is after it was made, and after each time it was changed. */
typedef struct rtl_graph {
    uint32_t process, graph;
    uint32_t generation;        /**< from 1 */
    const char *source;         /**< "hip": HIP named it; "packets": inferred from its packets */
    uint32_t nodes;             /**< RTL_TRACE_NONE: not known */
    uint64_t exec;              /**< hipGraphExec_t, 0 if not known */
    uint64_t hip_graph;         /**< hipGraph_t that it was made of, 0 if not known */
    uint64_t correlation;       /**< of the call that made or changed it, 0 if none */
    uint64_t time;              /**< when, 0 if not known */
    uint64_t launches, kernels; /**< of this generation; kernels: in the trace */
    uint64_t expected;          /**< kernels that were submitted */
} rtl_graph_t;

/** A node of a generation of a graph. */
typedef struct rtl_graph_node {
    uint32_t process, graph;
    uint32_t generation; /**< the first one of which it is a node just so: later ones share it */
    uint32_t node;       /**< from 0, in an order that the dependencies allow */
    const char *type;    /**< "kernel", "memcpy", "memset", "host", "graph" (holds others), "empty",
                            "wait-event", "event-record", "other" */
    const char *name;    /**< of a kernel, demangled; "" if not known */
    const char *mangled; /**< "" if not known */
    uint32_t grid[3];    /**< work-items; 0 if it is no kernel */
    uint32_t block[3];
    uint32_t group_size; /**< dynamic, bytes */
    uint64_t bytes;      /**< of a memcpy or memset */
    uint32_t parent;     /**< node that holds it, RTL_TRACE_NONE if none */
    int enabled;         /**< 0: its generation leaves it out */
    uint64_t range;      /**< innermost range that was open when it was captured, 0 if none */
    const uint32_t *dependencies; /**< nodes that it waits for */
    uint32_t dependency_count;
} rtl_graph_node_t;

/** A launch of a graph. */
typedef struct rtl_graph_launch {
    uint32_t process, graph, generation;
    uint32_t launch;     /**< of all launches of the graph, from 1, in the order of their begin */
    uint32_t thread;     /**< that launched it (gettid) */
    uint64_t time;       /**< when the thread began */
    uint64_t start, end; /**< of its kernels, both 0: none is in the trace */
    uint64_t kernels;    /**< in the trace */
    uint64_t expected;   /**< kernels that were submitted */
    uint64_t unseen; /**< packets that RTL could not see, or look into: kernels may be in them */
    uint64_t correlation; /**< as a kernel's */
    uint64_t range;       /**< innermost range that was open in the thread, 0 if none */
    int certain;          /**< 1: the nodes of all its kernels are sure */
} rtl_graph_launch_t;

/** Graphs by process, graph and generation; launches by process, graph and launch. Arrays that
 * belong to the trace; they are read when first asked for, graphs also with the first kernels. All
 * launches may be many: rtlTraceLaunches needs no memory for them. */
RTL_TRACE_API rtl_status_t rtlTraceGraphs(rtl_trace_t *, const rtl_graph_t **items, size_t *count);
RTL_TRACE_API rtl_status_t rtlTraceGraphLaunches(rtl_trace_t *, const rtl_graph_launch_t **items,
                                                 size_t *count);

typedef struct rtl_launch_iter rtl_launch_iter_t;

/** Which launches. Zero and NONE fields do not restrict. */
typedef struct rtl_launch_filter {
    uint64_t from, to; /**< launches whose kernels, or if it has none whose begin, overlap
                          [from, to); to 0: no end */
    uint64_t correlation;
    uint32_t process;
    uint32_t graph; /**< RTL_TRACE_NONE: all */
    uint32_t generation;
    uint32_t first, last; /**< numbers of launches of their graph, both included; last 0: no end */
} rtl_launch_filter_t;

#define RTL_LAUNCH_FILTER_ALL                                                                      \
    {                                                                                              \
        0, 0, 0, 0, RTL_TRACE_NONE, 0, 0, 0                                                        \
    }

/** Starts an iteration by process and, within that, in the order in which launches were begun;
 * `filter` NULL: all. Free it with rtlLaunchIterFree before the trace is closed. Only what may hold
 * such launches is read; memory does not grow with the trace. */
RTL_TRACE_API rtl_status_t rtlTraceLaunches(rtl_trace_t *, const rtl_launch_filter_t *filter,
                                            rtl_launch_iter_t **iter);

/** RTL_OK and a launch, RTL_END, or an error (then rtlTraceError tells). */
RTL_TRACE_API rtl_status_t rtlLaunchNext(rtl_launch_iter_t *iter, rtl_graph_launch_t *launch);

RTL_TRACE_API void rtlLaunchIterFree(rtl_launch_iter_t *iter);

/** Finds one launch of a graph by its number. RTL_END if there is none. */
RTL_TRACE_API rtl_status_t rtlTraceLaunch(rtl_trace_t *, uint32_t process, uint32_t graph,
                                          uint32_t number, rtl_graph_launch_t *launch);

/** Starts an iteration over the kernels of one launch, or over those that are a node of a graph in
 * all its launches (`generation` 0: as a node of any generation), by start. Only what may hold such
 * kernels is read. As rtlTraceKernels. */
RTL_TRACE_API rtl_status_t rtlTraceLaunchKernels(rtl_trace_t *, uint32_t process, uint32_t graph,
                                                 uint32_t number, rtl_kernel_iter_t **iter);
RTL_TRACE_API rtl_status_t rtlTraceNodeKernels(rtl_trace_t *, uint32_t process, uint32_t graph,
                                               uint32_t generation, uint32_t node,
                                               rtl_kernel_iter_t **iter);

/** The nodes of one generation, or (`graph` NULL) of all, in the order of rtlTraceGraphs and each
 * once. */
RTL_TRACE_API rtl_status_t rtlTraceGraphNodes(rtl_trace_t *, const rtl_graph_t *graph,
                                              const rtl_graph_node_t **items, size_t *count);

/** What kernels are told apart by when they are added up; bits. 0: all are one group. */
typedef enum rtl_by {
    RTL_BY_NAME = 1,         /**< demangled name, in whichever process */
    RTL_BY_SYMBOL = 2,       /**< process and symbol */
    RTL_BY_SHAPE = 4,        /**< symbol, grid, block and memory */
    RTL_BY_PROCESS = 8,      /**< process */
    RTL_BY_DEVICE = 16,      /**< GPU; the same one in several processes is one */
    RTL_BY_QUEUE = 32,       /**< process and queue */
    RTL_BY_GRAPH = 64,       /**< process and graph that they were replayed from */
    RTL_BY_GENERATION = 128, /**< the same, and generation */
    RTL_BY_NODE = 256        /**< the same as RTL_BY_GRAPH, and node */
} rtl_by_t;

/** Which kernels are added up, and how. Zero/NONE fields do not restrict. */
typedef struct rtl_aggregate_request {
    uint64_t from, to; /**< kernels that overlap [from, to); to 0: no end */
    uint32_t process;  /**< 0: all */
    uint32_t queue;    /**< RTL_TRACE_NONE: all */
    unsigned by;       /**< rtl_by_t */
    unsigned threads;  /**< at most as many; 0: as there are processors, 16 at most */
} rtl_aggregate_request_t;

#define RTL_AGGREGATE_BY(what)                                                                     \
    {                                                                                              \
        0, 0, 0, RTL_TRACE_NONE, what, 0                                                           \
    }

/** Kernels that are alike. Fields that they are not told apart by are as in a kernel of which
 * nothing is known: RTL_TRACE_NONE, 0 or "". Durations in ns; a kernel that ends before it starts
 * has 0. */
typedef struct rtl_group {
    const char *name;
    const char *mangled; /**< with RTL_BY_SYMBOL and RTL_BY_SHAPE */
    uint32_t process;    /**< 0: several may be meant */
    uint32_t symbol;
    uint32_t grid[3], block[3];        /**< with RTL_BY_SHAPE */
    uint32_t group_size, private_size; /**< the same */
    uint32_t device;                   /**< place in rtlAggregateDevices */
    uint32_t queue;
    uint32_t graph, generation, node;
    uint64_t count;
    uint64_t total, min, max;
    double mean, deviation; /**< standard deviation of all (not of a sample) */
    uint64_t p50, p90, p99; /**< as rtlAggregatePercentile */
} rtl_group_t;

/** How long kernels ran on a queue or device. */
typedef struct rtl_span {
    uint64_t kernels;
    uint64_t first, last; /**< first start and last end, within [from, to); 0 without kernels */
    uint64_t busy;        /**< time in which one ran or more, within [from, to) */
    uint64_t overlap;     /**< time in which two ran or more */
} rtl_span_t;

typedef struct rtl_queue_time {
    const rtl_queue_t *queue;
    uint32_t device; /**< place in rtlAggregateDevices, RTL_TRACE_NONE if it is on none */
    rtl_span_t span;
} rtl_queue_time_t;

/** A GPU. The same one used by several processes is one. */
typedef struct rtl_device_time {
    const rtl_agent_t *agent; /**< as the first process saw it */
    const char *host;
    uint32_t queues;
    rtl_span_t span;
    uint64_t copies;       /**< that it made and whose times are known */
    uint64_t copying;      /**< time in which it made one or more */
    uint64_t copied_under; /**< time in which it did, and a kernel ran */
} rtl_device_time_t;

typedef struct rtl_aggregate rtl_aggregate_t;

/** Adds kernels up, in several threads, without going through them one by one: tens of millions per
 * second. All but percentiles is exact. Memory is bounded by groups, and by a chunk per thread and
 * queue. Where the trace has statistics of all its kernels (docs/format.md, "Statistics") and the
 * request is for all of them, or for a process that shares no GPU, it takes the sums from there:
 * they are the same, no kernel is unpacked, and a chunk that is damaged is not noticed. Free it
 * with rtlAggregateFree before the trace is closed. On failure `*aggregate` is NULL and
 * rtlTraceError tells. */
RTL_TRACE_API rtl_status_t rtlTraceAggregate(rtl_trace_t *, const rtl_aggregate_request_t *request,
                                             rtl_aggregate_t **aggregate);

/** The groups, the largest total first. `*items` belongs to the aggregate. */
RTL_TRACE_API rtl_status_t rtlAggregateGroups(const rtl_aggregate_t *, const rtl_group_t **items,
                                              size_t *count);

/** The duration that a fraction (0 to 1) of a group's kernels do not exceed, by nearest rank, ns:
 * within 1/128 of that duration, exact below 128 ns; 0 if there is no such group. */
RTL_TRACE_API uint64_t rtlAggregatePercentile(const rtl_aggregate_t *, size_t group,
                                              double fraction);

/** Times of queues, by process and queue, and of GPUs, those without kernels included. */
RTL_TRACE_API rtl_status_t rtlAggregateQueues(const rtl_aggregate_t *,
                                              const rtl_queue_time_t **items, size_t *count);
RTL_TRACE_API rtl_status_t rtlAggregateDevices(const rtl_aggregate_t *,
                                               const rtl_device_time_t **items, size_t *count);

/** NULL is allowed. */
RTL_TRACE_API void rtlAggregateFree(rtl_aggregate_t *);

/** Turns a tick count of an agent into ns on the trace's clock, by the clock points of the trace.
 */
RTL_TRACE_API rtl_status_t rtlTraceTicksToNs(rtl_trace_t *, uint32_t process, uint32_t agent,
                                             uint64_t ticks, uint64_t *ns);

#ifdef __cplusplus
}
#endif

#endif
