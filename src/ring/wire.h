/**
 * What travels from a profiled process to the collector.
 *
 * One ring of 64-byte slots per process, in shared memory. A record takes one or more consecutive
 * slots: a header of 8 bytes, then a body of a type below, then (for the types that say so) text.
 * Both ends are of the same build: RTL_WIRE_VERSION moves with any change here, and each end
 * refuses the other where its version differs.
 *
 * Ids (queue, agent, symbol, shape, call) are local to the process and count from 0; those of
 * graphs, launches, host calls and ranges count from 1. Host calls and ranges share one row of ids,
 * called correlation. A definition normally comes before the records that refer to it; when the
 * ring is full it may come later, so ids are resolved when the trace is read.
 */
#ifndef RTL_RING_WIRE_H
#define RTL_RING_WIRE_H

#include "common/lines.h"

#include <stdint.h>

#ifndef RTL_WIRE_VERSION
#define RTL_WIRE_VERSION 13u
#endif

#define RTL_SLOT_SIZE 64u

/** "No such thing" for 32-bit ids. */
#define RTL_NONE UINT32_MAX

enum rtl_wire_type {
    RTL_WIRE_PROCESS = 1,        /**< rtl_wire_process + text */
    RTL_WIRE_AGENT = 2,          /**< rtl_wire_agent + text */
    RTL_WIRE_QUEUE = 3,          /**< rtl_wire_queue */
    RTL_WIRE_QUEUE_END = 4,      /**< rtl_wire_queue_end */
    RTL_WIRE_SYMBOL = 5,         /**< rtl_wire_symbol + text */
    RTL_WIRE_SHAPE = 6,          /**< rtl_wire_shape */
    RTL_WIRE_KERNEL = 7,         /**< rtl_wire_kernel */
    RTL_WIRE_CLOCK = 8,          /**< rtl_wire_clock */
    RTL_WIRE_CLOCK_SNAPSHOT = 9, /**< rtl_wire_clock_snapshot */
    RTL_WIRE_NOTE = 10,          /**< rtl_wire_note + text */
    RTL_WIRE_COPY = 11,          /**< rtl_wire_copy */
    RTL_WIRE_CALL = 12,          /**< rtl_wire_call + text */
    RTL_WIRE_API = 13,           /**< rtl_wire_api + arguments */
    RTL_WIRE_RANGE = 14,         /**< rtl_wire_range + text */
    RTL_WIRE_RANGE_END = 15,     /**< rtl_wire_range_end */
    RTL_WIRE_NAME = 16,          /**< rtl_wire_name + text */
    RTL_WIRE_GRAPH = 17,         /**< rtl_wire_graph */
    RTL_WIRE_NODE = 18,          /**< rtl_wire_node + dependencies + text */
    RTL_WIRE_LAUNCH = 19,        /**< rtl_wire_launch */
    RTL_WIRE_PAUSE = 20,         /**< rtl_wire_pause */
    RTL_WIRE_COUNTING = 21,      /**< rtl_wire_counting + text */
    RTL_WIRE_COUNTER = 22,       /**< rtl_wire_counter + text */
    RTL_WIRE_SAMPLE = 23,        /**< rtl_wire_sample + values */
    RTL_WIRE_UNCOUNTED = 24,     /**< rtl_wire_uncounted */
    RTL_WIRE_KERNELS = 25,       /**< rtl_wire_kernels + rtl_wire_packed each + origins */
    RTL_WIRE_VOID = 26,          /**< nothing: a draft that was given up; readers see none */
    /* Not in the ring: what a reader is handed of a dead process's drafts (ring.h). */
    RTL_WIRE_DRAFT_KERNEL = 27, /**< rtl_wire_kernel */
    RTL_WIRE_DRAFT_COPY = 28,   /**< rtl_wire_copy */
    RTL_WIRE_STREAM = 29,       /**< rtl_wire_stream */
    RTL_WIRE_HIP_QUEUE = 30,    /**< rtl_wire_hip_queue + text */
    RTL_WIRE_DRAFT_LAUNCH = 31  /**< rtl_wire_launch; a dead process's, as the two above */
};

/** First word of every record. `commit` is written last, with release; see ring.c. */
struct rtl_wire_header {
    uint32_t commit;
    uint16_t type;
    uint16_t slots; /**< length of the record in slots, this one included */
};

/** Texts follow a body as bytes without a terminator; their lengths stand in the body, in this
 * order. */
struct rtl_wire_process {
    uint64_t time_ns; /**< CLOCK_BOOTTIME when librtl was loaded */
    uint32_t pid, ppid;
    uint32_t mode;                  /**< enum rtl_mode */
    uint32_t interception;          /**< enum rtl_interception */
    uint32_t core_table, ext_table; /**< sizes of the HSA API tables, bytes */
    uint16_t hsa_major, hsa_minor;
    uint16_t command_length, host_length, library_length;
    uint16_t rank_length; /**< rank as the launcher told it (common/rank.h), or 0 */
};

struct rtl_wire_agent {
    uint64_t handle;
    uint64_t clock_hz; /**< frequency of the ticks in kernel records */
    uint32_t agent;
    uint32_t device_type; /**< hsa_device_type_t */
    uint32_t gpu;         /**< ordinal among the GPU agents, RTL_NONE for others */
    uint32_t node;        /**< driver node id */
    uint32_t bdf;         /**< PCI bus, device, function as HSA_AMD_AGENT_INFO_BDFID */
    uint32_t compute_units;
    uint16_t name_length, product_length, uuid_length;
};

struct rtl_wire_queue {
    uint64_t time_ns;
    uint64_t address; /**< of the program's hsa_queue_t */
    uint64_t hsa_id;  /**< hsa_queue_t.id */
    uint32_t queue;
    uint32_t agent;
    uint32_t size;         /**< packets */
    uint32_t hsa_type;     /**< hsa_queue_type32_t */
    uint32_t interception; /**< enum rtl_interception; RTL_UNTRACKED: its kernels are not in the
                                trace */
};

/** What has become of the host calls of a HIP. Values are the wire's own; traces have names. */
enum rtl_hip_calls {
    RTL_HIP_CALLS_LEFT_OUT = 0,      /**< the mode has none */
    RTL_HIP_CALLS_FOLLOWED = 1,      /**< they come through librtl.so */
    RTL_HIP_CALLS_INDIRECT = 2,      /**< the same, but HIP submits in threads of its own */
    RTL_HIP_CALLS_OFF = 3,           /**< RTL_PRELOAD=off */
    RTL_HIP_CALLS_NOT_PRELOADED = 4, /**< librtl.so does not stand before HIP */
    RTL_HIP_CALLS_NAMESPACE = 5,     /**< HIP is in a namespace of its own (dlmopen) */
    RTL_HIP_CALLS_PASSED_BY = 6,     /**< none has come: RTLD_DEEPBIND and the like */
    RTL_HIP_CALLS_OTHER_COPY = 7,    /**< the calls of another copy of HIP are followed */
    RTL_HIP_CALLS_STATIC = 8         /**< HIP is linked statically */
};

/** A queue was made by a HIP. The text is the path of the object with that HIP, "" for the program.
 * The last one of a queue holds. */
struct rtl_wire_hip_queue {
    uint32_t queue;
    uint32_t calls; /**< enum rtl_hip_calls */
    uint16_t library_length;
};

struct rtl_wire_queue_end {
    uint64_t time_ns;
    uint32_t queue;
};

struct rtl_wire_symbol {
    uint64_t kernel_object;
    uint32_t symbol;
    uint32_t agent;
    uint32_t kernarg_size, group_size, private_size; /**< bytes, static */
    uint16_t name_length;                            /**< mangled, `.kd` stripped */
};

/** A symbol with its launch geometry: what most kernels of a program repeat. Two ids may have equal
 * content (threads that raced to define it). */
struct rtl_wire_shape {
    uint32_t shape;
    uint32_t symbol;  /**< RTL_NONE: kernel object that no code object known to us defines */
    uint32_t grid[3]; /**< work-items */
    uint16_t block[3];
    uint16_t reserved;
    uint32_t group_size;   /**< bytes, as dispatched */
    uint32_t private_size; /**< bytes, of the symbol; 0 if it is not known */
    uint64_t kernel_object;
};

/** One kernel; exactly a slot with its header. Times are raw ticks of the agent. */
struct rtl_wire_kernel {
    uint64_t packet; /**< index in its queue */
    uint64_t start, end;
    uint64_t correlation; /**< id of the host call; of the innermost range if it came from no host
                             call that is recorded; 0 if neither */
    uint32_t queue;
    uint32_t shape;
    uint32_t launch;  /**< rtl_wire_launch, RTL_NONE if none */
    uint32_t ordinal; /**< of its packet among all that the launch reserved, from 0; RTL_NONE if
                         none. Which node that is, the launch's graph tells */
};

/** What kernels come from. */
struct rtl_wire_origin {
    uint64_t correlation;
    uint32_t launch; /**< RTL_NONE: there is no ordinal either */
    uint32_t shift;  /**< ordinal minus packet, in 32 bits */
};

/** Kernels of one queue, packed: what they share stands once, and each takes a quarter of a slot.
 * As many rtl_wire_packed as `kernels` says follow, and then the rtl_wire_origin that they name
 * besides the first kernel's. Only ring/ knows of them: who reads the ring is given one
 * rtl_wire_kernel after the other. */
struct rtl_wire_kernels {
    uint64_t packet, start; /**< of the first kernel */
    struct rtl_wire_origin origin;
    uint32_t queue;
    uint16_t kernels; /**< 1 to RTL_PACKED_MOST */
    uint16_t origins; /**< that follow, less than `kernels` */
};

/** One of them, told by how far it is from the one before; the first is so from itself. */
struct rtl_wire_packed {
    int32_t start;     /**< ticks from start to start */
    uint32_t duration; /**< ticks from its start to its end */
    uint32_t shape;
    int16_t packet;
    int16_t correlation; /**< launch and shift are the same. Or RTL_PACKED_ORIGIN: it has the next
                            of the origins that follow */
};

#define RTL_PACKED_MOST   64u
#define RTL_PACKED_ORIGIN INT16_MIN

/** Between what a copy goes. Values are in trace files: add, do not renumber. */
enum rtl_copy_kind {
    RTL_COPY_HOST_TO_HOST = 0,
    RTL_COPY_HOST_TO_DEVICE = 1,
    RTL_COPY_DEVICE_TO_HOST = 2,
    RTL_COPY_DEVICE_TO_DEVICE = 3, /**< within one GPU, or (rectangles) unknown which */
    RTL_COPY_PEER = 4              /**< from a GPU to another */
};

/** What did a copy. Values are in trace files: add, do not renumber. */
enum rtl_copy_engine {
    RTL_ENGINE_HOST = 0,
    RTL_ENGINE_SDMA = 1,
    RTL_ENGINE_KERNEL = 2,
    RTL_ENGINE_UNKNOWN = 3
};

/** One asynchronous copy; exactly a slot with its header. Times are raw ticks of the agent of its
 * queue, for a CPU ns of the HSA system clock; both 0 if nobody took them. */
struct rtl_wire_copy {
    uint64_t ordinal; /**< in its queue */
    uint64_t start, end;
    uint64_t bytes;
    uint64_t correlation; /**< id of the host call, 0 if none */
    uint32_t queue;       /**< one with RTL_COPIES_ONLY */
    uint32_t src, dst;    /**< agents, RTL_NONE if not known */
    uint16_t kind;        /**< enum rtl_copy_kind */
    uint16_t engine;      /**< enum rtl_copy_engine */
};

/** A host call that can be recorded. The text is its name, and its arguments as "name:type" with
 * commas between them. A type is one of
 *     p pointer   P pointer that the call has filled, as the value it points to   s stream
 *     e event     g graph   x executable graph   n graph node   f function
 *     u unsigned  i signed  z bytes   b enumeration, whose name follows in brackets   d double
 *     3 dim3, in two words: x | y << 32, then z
 * and takes one word of the record unless it says otherwise. */
struct rtl_wire_call {
    uint32_t call;
    uint16_t name_length, arguments_length;
};

enum rtl_api_flags {
    RTL_API_STREAM = 1 /**< `stream` holds one; NULL is a stream, too */
};

/** One host call of a thread; without arguments exactly a slot with its header. `words` words of
 * arguments follow. Written when the call returns. */
struct rtl_wire_api {
    uint64_t start_ns, end_ns; /**< the trace's clock */
    uint64_t correlation;
    uint64_t range; /**< innermost range that was open in the thread, 0 if none */
    uint64_t stream;
    uint32_t call;
    uint32_t thread; /**< as rtl_thread_id has it */
    int32_t result;  /**< what it returned */
    uint16_t words;
    uint16_t flags; /**< enum rtl_api_flags */
};

/** A HIP stream was made or destroyed. HIP gives the handle of a destroyed stream to a later one;
 * which of them a host call is about, its start tells (store/streams.h).
 *
 * The record is sent after HIP has made the stream and before the program is given its handle, so
 * it comes before all records of calls that are about it; `time_ns` is taken then, too, so that all
 * calls about an earlier stream with the handle have ended before. In a full ring the record may be
 * late, as any definition. That a stream was destroyed is sent when HIP has done so, and the handle
 * may have been given out again: `time_ns` is from before. */
struct rtl_wire_stream {
    uint64_t time_ns; /**< the trace's clock: it was made, or HIP was asked to destroy it */
    uint64_t done_ns; /**< it was destroyed; 0 of one that was made */
    uint64_t handle;
};

enum rtl_range_kind {
    RTL_RANGE_PUSH = 0,  /**< nested in its thread */
    RTL_RANGE_START = 1, /**< may be stopped anywhere, by any thread */
    RTL_RANGE_MARK = 2   /**< a moment: it has no end */
};

enum rtl_range_flags {
    RTL_RANGE_ASIDE = 1 /**< RTL_RANGES leaves it out: it is recorded, but nobody measures it */
};

/** A range begins, or a mark is set. */
struct rtl_wire_range {
    uint64_t id; /**< a correlation */
    uint64_t start_ns;
    uint64_t parent; /**< innermost range of the thread then, 0 if none */
    uint32_t thread;
    uint8_t kind;  /**< enum rtl_range_kind */
    uint8_t flags; /**< enum rtl_range_flags */
    uint16_t text_length;
};

struct rtl_wire_range_end {
    uint64_t id;
    uint64_t end_ns;
};

/** A thread: its tid (gettid), which is at most 22 bits long (PID_MAX_LIMIT of Linux), and in the
 * bits above how often the process had a thread of that tid before. Ids with more there are from
 * elsewhere (imported traces), and tids as they are. */
#define RTL_TID_BITS   22u
#define RTL_TID_MOST   ((1u << RTL_TID_BITS) - 1)
#define RTL_TID_BEFORE 255u /**< the most; what comes beyond is counted as the last */

/** The id of thread number `before` (from 0) of those with that tid. */
static inline uint32_t rtl_thread_id(uint32_t tid, uint32_t before)
{
    return tid | before << RTL_TID_BITS;
}

static inline uint32_t rtl_thread_tid(uint32_t thread)
{
    return thread >> RTL_TID_BITS <= RTL_TID_BEFORE ? thread & RTL_TID_MOST : thread;
}

/** From 1. */
static inline uint32_t rtl_thread_generation(uint32_t thread)
{
    uint32_t before = thread >> RTL_TID_BITS;
    return before <= RTL_TID_BEFORE ? before + 1 : 1;
}

enum rtl_named {
    RTL_NAMED_THREAD = 0,
    RTL_NAMED_STREAM = 1,
    RTL_NAMED_DEVICE = 2,
    RTL_NAMED_AGENT = 3,
    RTL_NAMED_COMM = 4,  /**< a thread, as Linux knows it (prctl's PR_SET_NAME) */
    RTL_NAMED_START = 5, /**< the process, as Linux knew it when it was started; the handle is
                            that of its image: where Linux has put what AT_RANDOM points to */
    RTL_NAMED_TITLE = 6  /**< the process, by its command line as it is now */
};

/** Something has a name: a thread (by its id), a HIP stream or HSA agent (by handle), a HIP device
 * (by ordinal), the process. The last one counts. */
struct rtl_wire_name {
    uint64_t handle;
    uint32_t kind; /**< enum rtl_named */
    uint16_t text_length;
};

/** A graph can be launched, or has changed: a generation of it. Its nodes come after it, unless
 * what has changed does not show in them. */
struct rtl_wire_graph {
    uint64_t time_ns;
    uint64_t exec;        /**< hipGraphExec_t */
    uint64_t source;      /**< hipGraph_t that it was made of */
    uint64_t correlation; /**< of the call that made or changed it */
    uint32_t graph;
    uint32_t generation; /**< from 1 */
    uint32_t nodes;
    uint32_t flags; /**< enum rtl_graph_flags */
};

enum rtl_graph_flags {
    RTL_GRAPH_UNKNOWN = 1, /**< its nodes could not be found out: none follow */
    RTL_GRAPH_SAME = 2     /**< its nodes are those of the generation before: none follow */
};

/** What a node does. Values are those of hipGraphNodeType since HIP 5.3, and in trace files; 5.2's
 * count from 1 and are translated. */
enum rtl_node_type {
    RTL_NODE_KERNEL = 0,
    RTL_NODE_MEMCPY = 1,
    RTL_NODE_MEMSET = 2,
    RTL_NODE_HOST = 3,
    RTL_NODE_GRAPH = 4,
    RTL_NODE_EMPTY = 5,
    RTL_NODE_WAIT_EVENT = 6,
    RTL_NODE_EVENT_RECORD = 7,
    RTL_NODE_OTHER = 255
};

enum rtl_node_flags {
    RTL_NODE_DISABLED = 1, /**< its generation leaves it out */
    RTL_NODE_RANGED = 2    /**< `range` is certain (0: it was captured in none) */
};

/** A node, in an order that its dependencies allow. Nodes of child graphs follow the node that
 * holds them. `dependencies` words of 32 bits come next (node numbers), then the text: the kernel's
 * mangled name, if it is known. */
struct rtl_wire_node {
    uint64_t range; /**< innermost range that was open when it was captured, 0 if none */
    uint64_t bytes; /**< of a memcpy or memset */
    uint32_t graph, generation;
    uint32_t node;    /**< from 0 */
    uint32_t parent;  /**< node that holds the child graph it is in, RTL_NONE if none */
    uint32_t type;    /**< enum rtl_node_type */
    uint32_t grid[3]; /**< work-items */
    uint16_t block[3];
    uint16_t flags;      /**< enum rtl_node_flags */
    uint32_t group_size; /**< dynamic, bytes */
    uint16_t dependencies;
    uint16_t name_length;
};

enum rtl_launch_flags {
    /** Inferred from its packets: the kernel right before `first`, which was reserved alone and
     * names no launch, looks like the begin of the same replay. `head` is its fingerprint. Set as
     * long as the head is not known; once it is, it is a launch of its own. */
    RTL_LAUNCH_HEADED = 1,
    /** Inferred from its packets: recording was stopped or started between them. What was recorded
     * is no replay to know again. */
    RTL_LAUNCH_CUT = 2
};

/** A launch is submitted: all its packets have passed. Its kernels name it.
 *
 * Of a graph that HIP launches (`graph` is its id) there is one for each hipGraphLaunch. Inferred
 * from its packets (`graph` RTL_NONE), it is the packets that were reserved at once outside of a
 * host call, two or more, or one that has been seen before as a head; what makes a graph of them,
 * readers find out by the fingerprints (graph/). The fingerprint is a hash over kernel object,
 * kernarg address, grid and workgroup of each kernel packet, in order. Launch ids rise in the order
 * in which a thread reserves. */
struct rtl_wire_launch {
    uint64_t time_ns;     /**< when it began */
    uint64_t correlation; /**< as a kernel's */
    uint64_t range;       /**< innermost range that was open in the thread, 0 if none */
    uint64_t first;       /**< inferred from its packets: index of the first, in `queue` */
    uint64_t fingerprint; /**< inferred from its packets: of its kernels, else 0 */
    uint64_t head;
    uint64_t arguments[2]; /**< inferred from its packets: addresses of those of its first kernel
                                and its last, else 0 */
    uint32_t launch;
    uint32_t graph, generation; /**< graph RTL_NONE: inferred from its packets */
    uint32_t queue;             /**< of its first packet, RTL_NONE if it had none */
    uint32_t thread;
    uint32_t packets; /**< reserved for it */
    uint32_t kernels; /**< kernel packets among them */
    uint32_t unseen;  /**< packets among them of queues that are not followed, never written, or
                           that RTL cannot look into (enum rtl_opaque) */
    uint32_t flags;   /**< enum rtl_launch_flags */
    uint32_t
        left_out; /**< of its kernels: never recorded, because of the mode or because recording
                     was stopped. 0 where it was inferred: its kernels are those to be recorded */
};

/** A point on the line from an agent's ticks to the trace's clock. The points of an agent rise in
 * both. */
struct rtl_wire_clock {
    uint64_t ticks;
    uint64_t system_ns; /**< HSA system clock, ns */
    uint32_t agent;
};

/** The clocks of the host read together; the tightest of several tries. */
struct rtl_wire_clock_snapshot {
    uint64_t system_ns; /**< HSA system clock */
    uint64_t monotonic_ns, boottime_ns, realtime_ns;
    uint64_t width_ns; /**< all were read within this time */
};

/** Something a reader of the trace should know, in one sentence. */
struct rtl_wire_note {
    uint64_t time_ns;
    uint32_t queue; /**< RTL_NONE if about the process */
    uint16_t text_length;
};

/** Who stopped recording. Values are the wire's own; traces have names. */
enum rtl_pause_why {
    RTL_PAUSE_PROGRAM = 0,   /**< rtlStop */
    RTL_PAUSE_ROCTX = 1,     /**< roctxProfilerPause */
    RTL_PAUSE_CTL = 2,       /**< rtl ctl stop */
    RTL_PAUSE_START_OFF = 3, /**< RTL_START=off */
    RTL_PAUSE_DELAY = 4,     /**< RTL_DELAY is not over yet */
    RTL_PAUSE_DURATION = 5   /**< RTL_DURATION is over */
};

/** Recording was stopped, or goes on. What was left out for it was submitted between the two
 * times. */
struct rtl_wire_pause {
    uint64_t time_ns; /**< the trace's clock */
    uint32_t stopped; /**< 1: stopped, 0: goes on */
    uint32_t why;     /**< enum rtl_pause_why, of a stop */
};

/** How hardware counters are read. Values are in trace files: add, do not renumber. */
enum rtl_counting_mode {
    RTL_COUNTING_KERNEL = 1, /**< each kernel is between two packets, and alone on its device */
    RTL_COUNTING_RANGE =
        2 /**< at the begin and the end of ranges, while kernels run as they like */
};

/** This process reads hardware counters, or wanted to (a note tells why not: `passes` 0). Once,
 * before the first of its samples. The text is what was asked for: names of metrics and counters
 * with commas between them. */
struct rtl_wire_counting {
    uint32_t mode;         /**< enum rtl_counting_mode */
    uint16_t pass, passes; /**< the one that this process makes, from 0, of how many */
    uint16_t text_length;
};

/** A counter of a device that some pass reads; those of other passes are told as well. The text is
 * its name, SQ_WAVES say. */
struct rtl_wire_counter {
    uint32_t counter; /**< id, in the process, from 0 */
    uint32_t agent;
    uint32_t block;     /**< hsa_ven_amd_aqlprofile_block_name_t */
    uint32_t event;     /**< counter_id of hsa_ven_amd_aqlprofile_event_t */
    uint16_t instances; /**< of the block; values are sums over them */
    uint16_t pass;      /**< that reads it, from 0 */
    uint16_t name_length;
};

enum rtl_sample_flags {
    /** Of a range: something else was on the device between its begin and its end, or may have been
     * (other threads' work, or work that its thread had submitted before). */
    RTL_SAMPLE_SHARED = 1
};

/** What counters of a device counted during a kernel or a range. `values` words of 64 bits follow:
 * one for each counter of the agent in this process's pass, by their ids. A range that had work on
 * several agents has one for each. */
struct rtl_wire_sample {
    uint64_t
        owner; /**< RTL_COUNTING_KERNEL: packet in `queue`; RTL_COUNTING_RANGE: id of the range */
    uint32_t queue; /**< RTL_NONE for a range */
    uint32_t agent;
    uint16_t values;
    uint16_t flags; /**< enum rtl_sample_flags */
};

/** Why a kernel or a range that should have been counted was not. Values are in trace files: add,
 * do not renumber. */
enum rtl_uncounted_why {
    RTL_UNCOUNTED_GRAPH = 0,    /**< kernel mode: it ran in a replay of a graph */
    RTL_UNCOUNTED_QUEUE = 1,    /**< no packets can be put into its queue */
    RTL_UNCOUNTED_MEMORY = 2,   /**< no buffer was free */
    RTL_UNCOUNTED_SHUTDOWN = 3, /**< not finished when the program or the queue ended */
    RTL_UNCOUNTED_DEVICE = 4,   /**< the device, or its library, cannot */
    RTL_UNCOUNTED_RING = 5,     /**< the ring was full */
    RTL_UNCOUNTED_STOPPED = 6,  /**< recording was stopped, or the mode leaves it out */
    RTL_UNCOUNTED_NAME = 7,     /**< kernel mode: its name was not asked for */
    RTL_UNCOUNTED_REASONS = 8
};

/** How many kernels (or ranges) of an agent were not counted so far, for one reason: the last
 * record holds. */
struct rtl_wire_uncounted {
    uint64_t count;
    uint32_t agent; /**< RTL_NONE if not known */
    uint32_t why;   /**< enum rtl_uncounted_why */
};

enum rtl_mode { RTL_MODE_LITE = 0, RTL_MODE_STANDARD = 1, RTL_MODE_HIP = 2, RTL_MODE_FULL = 3 };

/** How a queue is followed. */
enum rtl_interception {
    RTL_UNTRACKED = 0,
    RTL_INTERPOSED = 1,
    RTL_INTERCEPTED = 2,
    RTL_COPIES_ONLY = 3 /**< no queue: the asynchronous copies of an agent */
};

/** Why something is in the ledger and not in the trace. Values are the wire's own; traces have
 * names. */
enum rtl_lost {
    RTL_LOST_POOL = 0,         /**< no signal was free */
    RTL_LOST_PENDING = 1,      /**< too many records of the queue were waiting for their kernel */
    RTL_LOST_RING = 2,         /**< the ring was full */
    RTL_LOST_SHUTDOWN = 3,     /**< not finished when the program or the queue ended */
    RTL_LOST_REARMED = 4,      /**< the program wrote the signal while its kernel ran */
    RTL_LOST_KILLED = 5,       /**< seen but not handed over when the process died, or an exec put
                                  another program in its place */
    RTL_LOST_NO_TIME = 6,      /**< the device left no timestamps */
    RTL_LOST_NOT_FOLLOWED = 7, /**< on a queue (or agent) that RTL only passes through */
    RTL_LOST_SPACE =
        8, /**< the ring was full, and the session's folder had no memory for more of it */
    RTL_LOST_MEMORY = 9,     /**< memory was short */
    RTL_LOST_MALFORMED = 10, /**< its record contradicted itself */
    RTL_LOST_REASONS = 11
};

/** Packets that RTL cannot look into. Values are the wire's own; traces have names. */
enum rtl_opaque {
    RTL_OPAQUE_PM4 = 0,      /**< a vendor's packet that leads to a list of PM4 commands */
    RTL_OPAQUE_INDIRECT = 1, /**< one of a format that is proposed for buffers of packets */
    RTL_OPAQUE_VENDOR = 2,   /**< a vendor's packet of another format that is not known */
    RTL_OPAQUE_DIRECT = 3,   /**< of whatever kind: the device was told past RTL to take it. Counted
                                  as a kernel as well, and lost as not followed */
    RTL_OPAQUE_KINDS = 4
};

/** A queue's account (of an agent's copies: copies take the place of kernels), kept in shared
 * memory so that it outlives the process. seen = recorded + skipped + sum of lost + still pending.
 */
struct rtl_wire_ledger {
    /* What the submitter writes. */
    _Atomic uint64_t packets;  /**< packets of every kind that passed */
    _Atomic uint64_t seen;     /**< kernel packets that passed */
    _Atomic uint64_t skipped;  /**< not profiled: the mode leaves them out, or the two below */
    _Atomic uint64_t borrowed; /**< kernels timed on the program's own signal */
    _Atomic uint64_t lost[RTL_LOST_REASONS];
    /* And what who harvests writes. */
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint64_t recorded; /**< written into the ring */
    _Atomic uint64_t
        forwarded;           /**< signals that were replaced and forwarded to the program's own */
    _Atomic uint64_t helped; /**< records that the program's thread harvested itself */
    /* By the submitter again, but only what is not profiled. */
    _Atomic uint64_t stopped;  /**< of `skipped`: the mode takes them, but recording was stopped */
    _Atomic uint64_t withheld; /**< of `skipped`: likewise, their thread had stopped its own */
    /** By who would harvest and finds the ring full: kernels that are known to be done, settled or
     * not (`recorded`, and `lost` for a reason that comes after the submission). What is not waited
     * for room. Stays behind where there was room. */
    _Atomic uint64_t done;
    /** By the submitter, which meets few, and none of which RTL knows what is in them: not the
     * runtime's barriers, nor what passes while recording is stopped. */
    _Atomic uint64_t opaque[RTL_OPAQUE_KINDS];
    _Atomic uint64_t opaque_of_graphs[RTL_OPAQUE_KINDS]; /**< of these: within a launch that HIP
                                                              has told of */
};

/** Rows of the ledger in a ring; a process with more queues adds the rest up in the last row. */
#define RTL_LEDGER_ROWS 1024u

/** What a process records besides kernels and copies. Values are the wire's own; traces have names.
 */
enum rtl_kind {
    RTL_KIND_CALLS = 0,       /**< host calls */
    RTL_KIND_RANGES = 1,      /**< begins of ranges */
    RTL_KIND_RANGE_ENDS = 2,  /**< ends of ranges whose begin is recorded */
    RTL_KIND_MARKS = 3,       /**< marks */
    RTL_KIND_LAUNCHES = 4,    /**< launches of graphs that HIP has told of */
    RTL_KIND_BATCHES = 5,     /**< packets reserved at once, in which graphs are found */
    RTL_KIND_GRAPHS = 6,      /**< generations of graphs, and their nodes */
    RTL_KIND_SAMPLES = 7,     /**< of hardware counters */
    RTL_KIND_NAMES = 8,       /**< that the program gives */
    RTL_KIND_DEFINITIONS = 9, /**< all else that others refer to, and notes */
    RTL_KIND_PROCESSES = 10,  /**< whose ring could not be read; the collector's */
    RTL_KINDS = 11,
    RTL_KIND_NONE = 255
};

/** A kind's account of what did not go straight into the ring: all of it happens rarely, and it is
 * in shared memory, so that it outlives the process. What did go there, the collector counts. */
struct rtl_wire_kind {
    _Atomic uint64_t waiting; /**< in the process's memory: the ring had no room for it so far */
    _Atomic uint64_t lost[RTL_LOST_REASONS];
};

/** The threads of a process share some of these, each always the same one. */
struct rtl_wire_lane {
    _Atomic uint64_t begun[RTL_KINDS];    /**< of kinds that end later: launches. Else 0 */
    _Atomic uint64_t stopped[RTL_KINDS];  /**< left out because recording was stopped */
    _Atomic uint64_t withheld[RTL_KINDS]; /**< left out because its thread had stopped its own */
};

#define RTL_LANES 16u

_Static_assert(sizeof(struct rtl_wire_header) == 8, "header");
_Static_assert(sizeof(struct rtl_wire_header) + sizeof(struct rtl_wire_kernel) <= RTL_SLOT_SIZE,
               "a kernel takes one slot");
_Static_assert(sizeof(struct rtl_wire_header) + sizeof(struct rtl_wire_copy) <= RTL_SLOT_SIZE,
               "a copy takes one slot");
_Static_assert(sizeof(struct rtl_wire_kernels) == 40 && sizeof(struct rtl_wire_packed) == 16 &&
                   sizeof(struct rtl_wire_origin) == 16,
               "packed kernels have no gaps between them");
_Static_assert(sizeof(struct rtl_wire_ledger) == 256, "ledger row");

#endif
