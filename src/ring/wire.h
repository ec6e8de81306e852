/**
 * What travels from a profiled process to the collector.
 *
 * One ring of 64-byte slots per process, in shared memory. A record takes one or more consecutive
 * slots: a header of 8 bytes, then a body of a type below, then (for the types that say so) text.
 * Both ends are of the same build; RTL_WIRE_VERSION moves with any change here, and either end
 * refuses a stranger.
 *
 * Ids (queue, agent, symbol, shape) are local to the process and count from 0. A definition
 * normally comes before the records that refer to it; when the ring is full it may come later, so
 * ids are resolved when the trace is read.
 */
#ifndef RTL_RING_WIRE_H
#define RTL_RING_WIRE_H

#include <stdint.h>

#ifndef RTL_WIRE_VERSION
#define RTL_WIRE_VERSION 3u
#endif

#define RTL_SLOT_SIZE 64u

/** "No such thing" for 32-bit ids. */
#define RTL_NONE UINT32_MAX

enum rtl_wire_type {
    RTL_WIRE_PROCESS = 1,   /**< rtl_wire_process + text */
    RTL_WIRE_AGENT = 2,     /**< rtl_wire_agent + text */
    RTL_WIRE_QUEUE = 3,     /**< rtl_wire_queue */
    RTL_WIRE_QUEUE_END = 4, /**< rtl_wire_queue_end */
    RTL_WIRE_SYMBOL = 5,    /**< rtl_wire_symbol + text */
    RTL_WIRE_SHAPE = 6,     /**< rtl_wire_shape */
    RTL_WIRE_KERNEL = 7,    /**< rtl_wire_kernel */
    RTL_WIRE_CLOCK = 8,     /**< rtl_wire_clock */
    RTL_WIRE_BRACKET = 9,   /**< rtl_wire_bracket */
    RTL_WIRE_NOTE = 10,     /**< rtl_wire_note + text */
    RTL_WIRE_COPY = 11      /**< rtl_wire_copy */
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
    uint32_t way;                   /**< enum rtl_queue_way */
    uint32_t core_table, ext_table; /**< sizes of the HSA API tables, bytes */
    uint16_t hsa_major, hsa_minor;
    uint16_t command_length, host_length, library_length;
    uint16_t rank_length; /**< rank as the launcher told it (OMPI_COMM_WORLD_RANK, SLURM_PROCID,
                             RANK), or 0 */
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
    uint32_t size;     /**< packets */
    uint32_t hsa_type; /**< hsa_queue_type32_t */
    uint32_t way; /**< enum rtl_queue_way; RTL_WAY_PASS: not followed, its kernels are not in the
                     trace */
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
    uint64_t correlation; /**< id of the host call, 0 if none */
    uint32_t queue;
    uint32_t shape;
    uint32_t launch; /**< graph launch, RTL_NONE if none */
    uint32_t node;   /**< node in the graph, RTL_NONE if none */
};

/** Between what a copy goes. Values are in trace files: add, do not renumber. */
enum rtl_copy_kind {
    RTL_COPY_HOST_TO_HOST = 0,
    RTL_COPY_HOST_TO_DEVICE = 1,
    RTL_COPY_DEVICE_TO_HOST = 2,
    RTL_COPY_DEVICE_TO_DEVICE = 3, /**< within one GPU, or (rectangles) unknown which */
    RTL_COPY_PEER = 4              /**< from a GPU to another */
};

/** What did a copy. Values are in trace files: add, do not renumber. */
enum rtl_copy_engine { RTL_ENGINE_HOST = 0, RTL_ENGINE_SDMA = 1, RTL_ENGINE_KERNEL = 2 };

/** One asynchronous copy; exactly a slot with its header. Times are raw ticks of the agent of its
 * queue, for a CPU ns of the HSA system clock; both 0 if nobody took them. */
struct rtl_wire_copy {
    uint64_t ordinal; /**< in its queue */
    uint64_t start, end;
    uint64_t bytes;
    uint64_t correlation; /**< id of the host call, 0 if none */
    uint32_t queue;       /**< one with RTL_WAY_COPIES */
    uint32_t src, dst;    /**< agents, RTL_NONE if not known */
    uint16_t kind;        /**< enum rtl_copy_kind */
    uint16_t engine;      /**< enum rtl_copy_engine */
};

/** A point on the line from an agent's ticks to the trace's clock. The points of an agent rise in
 * both. */
struct rtl_wire_clock {
    uint64_t ticks;
    uint64_t system_ns; /**< HSA system clock, ns */
    uint32_t agent;
};

/** The clocks of the host read together; the tightest of several tries. */
struct rtl_wire_bracket {
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

enum rtl_mode { RTL_MODE_LITE = 0, RTL_MODE_STANDARD = 1, RTL_MODE_HIP = 2, RTL_MODE_FULL = 3 };

/** How a queue is followed. */
enum rtl_queue_way {
    RTL_WAY_PASS = 0,
    RTL_WAY_INTERPOSE = 1,
    RTL_WAY_INTERCEPT = 2,
    RTL_WAY_COPIES = 3 /**< no queue: the asynchronous copies of an agent */
};

/** Why a kernel or copy is in the ledger and not in the trace. Values are in trace files: add, do
 * not renumber. */
enum rtl_lost {
    RTL_LOST_POOL = 0,         /**< no signal was free */
    RTL_LOST_PENDING = 1,      /**< too many records of the queue were waiting for their kernel */
    RTL_LOST_RING = 2,         /**< the collector was too slow and the ring was full */
    RTL_LOST_SHUTDOWN = 3,     /**< not finished when the program or the queue ended */
    RTL_LOST_REARMED = 4,      /**< the program wrote the signal while its kernel ran */
    RTL_LOST_KILLED = 5,       /**< seen but not handed over when the process died */
    RTL_LOST_NO_TIME = 6,      /**< the device left no timestamps */
    RTL_LOST_NOT_FOLLOWED = 7, /**< on a queue (or agent) that RTL only passes through */
    RTL_LOST_REASONS = 8
};

/** A queue's account (of an agent's copies: copies take the place of kernels), kept in shared
 * memory so that it outlives the process. seen = recorded + skipped + sum of lost + still pending.
 */
struct rtl_wire_ledger {
    _Atomic uint64_t seen;     /**< kernel packets that passed */
    _Atomic uint64_t skipped;  /**< not profiled because the mode leaves them out */
    _Atomic uint64_t recorded; /**< written into the ring */
    _Atomic uint64_t packets;  /**< packets of every kind that passed */
    _Atomic uint64_t lost[RTL_LOST_REASONS];
    _Atomic uint64_t
        forwarded;             /**< signals that were replaced and forwarded to the program's own */
    _Atomic uint64_t borrowed; /**< kernels timed on the program's own signal */
    _Atomic uint64_t helped;   /**< records that the program's thread harvested itself */
    uint64_t reserved[1];
};

/** Rows of the ledger in a ring; a process with more queues adds the rest up in the last row. */
#define RTL_LEDGER_ROWS 1024u

_Static_assert(sizeof(struct rtl_wire_header) == 8, "header");
_Static_assert(sizeof(struct rtl_wire_header) + sizeof(struct rtl_wire_kernel) <= RTL_SLOT_SIZE,
               "a kernel takes one slot");
_Static_assert(sizeof(struct rtl_wire_header) + sizeof(struct rtl_wire_copy) <= RTL_SLOT_SIZE,
               "a copy takes one slot");
_Static_assert(sizeof(struct rtl_wire_ledger) == 128, "ledger row");

#endif
