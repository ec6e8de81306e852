/**
 * The truth log: what the software GPU really executed, and when.
 *
 * The device writes one entry for each packet that it has executed (SOFTGPU_TRUTH=FILE; `%p` in
 * FILE becomes the process id). A trace is compared with this log kernel by kernel, so the log is
 * written from the device's own state and never passes through anything that a profiler could
 * touch. It is a shared mapping of the file: what was executed before a kill -9 is in it. Several
 * processes may share one file only through `%p`. When a process executes another program, the
 * next image continues the log; a log that another process has left is emptied.
 *
 * The byte layout stands at the head of truth_write.c; this header is the reader and, at the end,
 * the writer that the device uses.
 */
#ifndef SOFTGPU_TRUTH_H
#define SOFTGPU_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What an entry is about. */
typedef enum softgpu_truth_kind {
    SOFTGPU_TRUTH_KERNEL = 1,  /**< kernel dispatch packet (AQL) */
    SOFTGPU_TRUTH_BARRIER = 2, /**< barrier-AND, barrier-OR or barrier-value packet */
    SOFTGPU_TRUTH_VENDOR = 3,  /**< any other vendor packet (PM4 buffer) */
    SOFTGPU_TRUTH_AGENT = 4,   /**< agent dispatch packet */
    SOFTGPU_TRUTH_COPY = 5,    /**< SDMA copy or fill: `bytes`, `src` (0: a fill), `dst` are set */
    SOFTGPU_TRUTH_ERROR = 6    /**< malformed packet: the queue stopped here */
} softgpu_truth_kind_t;

/** What a kernel added to one event of the performance counters, over all instances. */
typedef struct softgpu_truth_count {
    uint32_t block; /**< hsa_ven_amd_aqlprofile_block_name_t */
    uint32_t event; /**< counter_id of hsa_ven_amd_aqlprofile_event_t */
    uint64_t value;
} softgpu_truth_count_t;

/** One executed packet. Times: `*_ticks` in ticks of the GPU clock (100 MHz), `*_ns` the same
 * instants on the system clock (CLOCK_BOOTTIME, ns). */
typedef struct softgpu_truth_entry {
    softgpu_truth_kind_t kind;
    uint32_t pid;           /**< process that owned the queue */
    uint32_t image;         /**< of the process: execs before it that have continued the log */
    uint32_t gpu;           /**< ordinal of the GPU among the software GPUs, from 0 */
    uint32_t queue;         /**< ordinal of the queue in its image, in creation order, from 0 */
    uint64_t queue_address; /**< address of the hsa_queue_t (AQL) or of the ring (SDMA) */
    uint64_t queue_hsa_id;  /**< hsa_queue_t.id (AQL), 0 (SDMA) */
    uint64_t index;         /**< packet index (AQL), byte index (SDMA) */
    uint64_t kernel_object; /**< 0 unless kind is KERNEL */
    const char
        *name; /**< mangled kernel name without `.kd`, "" when unknown; owned by the reader */
    uint64_t kernarg; /**< kernarg address as in the packet */
    uint64_t signal;  /**< completion signal handle that the device completed, 0 if none */
    uint64_t start_ticks, end_ticks;
    uint64_t start_ns, end_ns;
    uint32_t grid[3];         /**< in work-items */
    uint16_t block[3];        /**< in work-items */
    uint16_t header;          /**< AQL header as read by the device */
    uint64_t bytes, src, dst; /**< of COPY, and of ROCr's own copies by KERNEL; else 0 */
    /** What a kernel added to the counters, by event, whatever they were set to; events that it
     * added nothing to are left out, and all are where the GPU's counters did not run at its end.
     * Valid until the next entry is read. */
    uint32_t count_count;
    const softgpu_truth_count_t *counts;
} softgpu_truth_entry_t;

typedef struct softgpu_truth softgpu_truth_t;

/** Opens a log for reading. On failure returns NULL and writes one sentence, which names the file,
 * to `error`. The log may still be growing; entries that are not complete yet are not seen. */
softgpu_truth_t *softgpu_truth_open(const char *path, char *error, size_t error_size);

/** Reads the next entry in the order of execution ends as written. Returns 1 and fills `entry`, 0
 * at the end, -1 on damage (a sentence is then in softgpu_truth_error). Strings live until the
 * close. */
int softgpu_truth_next(softgpu_truth_t *truth, softgpu_truth_entry_t *entry);

/** Last error sentence, "" if none; valid until the close. */
const char *softgpu_truth_error(const softgpu_truth_t *truth);

/** Closes; NULL is allowed. */
void softgpu_truth_close(softgpu_truth_t *truth);

#endif
