/**
 * A hardware queue as the device thread sees it.
 *
 * kfd_queues.c makes and ends queues for the program; device.c serves them, with aql.c and sdma.c
 * as the two packet processors. After sg_device_add all fields but the atomic ones belong to the
 * device thread.
 */
#ifndef SOFTGPU_QUEUE_H
#define SOFTGPU_QUEUE_H

#include "softgpu/pm4.h"
#include "softgpu/pmc_model.h"
#include "softgpu/settings.h"
#include "softgpu/truth.h"

#include <hsa/amd_hsa_queue.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** A doorbell that nobody has rung since the device looked last. */
#define SG_DOORBELL_SILENT UINT64_MAX

/** A tick that never comes: the queue waits for something other than time. */
#define SG_NEVER UINT64_MAX

/** A packet that has started and whose completion lies at a known time. */
typedef struct sg_flight {
    uint64_t
        complete; /**< tick at which its signal is decremented: end, or later by SOFTGPU_DELAY */
    bool holds_queue; /**< a barrier: nothing of the queue starts before it is complete */
    sg_mix_t mix;     /**< of a kernel: what it adds to the performance counters */
    bool of_waves;    /**< of a kernel: its waves are counted, its queue had counting enabled */
    softgpu_truth_entry_t entry; /**< what the truth log will say */
} sg_flight_t;

/** State of an AQL queue. */
typedef struct sg_aql {
    amd_queue_t *queue;
    uint64_t slots;         /**< packets in the ring, a power of two */
    uint64_t next;          /**< index of the next packet to start */
    uint64_t limit;         /**< packets below this index were announced */
    uint64_t dispatches;    /**< kernel dispatches started so far */
    uint64_t barrier_start; /**< tick at which the barrier packet at `next` began to wait, 0 if it
                               has not */
    bool held;              /**< a barrier is in flight */
    bool failed;            /**< a malformed packet stopped the queue for good */
    sg_pm4_t pm4;           /**< the PM4 buffer of the packet at `next` */
    uint32_t flights;
    sg_flight_t flight[SG_MAX_WIDTH + 1]; /**< kernels up to the width, and one barrier */
} sg_aql_t;

/** State of an SDMA queue. Indices are in bytes and only grow. */
typedef struct sg_sdma {
    uint64_t next;                   /**< index of the next packet */
    uint64_t limit;                  /**< announced bytes */
    _Atomic uint64_t *read_pointer;  /**< where the program reads `next` */
    _Atomic uint64_t *write_pointer; /**< written by the program along with the doorbell */
    uint64_t time;  /**< end of the last packet of the running command, 0: take the clock */
    uint64_t until; /**< tick at which the packet at `next` is done, 0 if it has not begun */
    bool failed;    /**< an unknown packet stopped the queue for good */
    softgpu_truth_entry_t entry; /**< the copy under way */
} sg_sdma_t;

/** A queue. Allocated by kfd_queues.c, freed there after sg_device_remove. */
typedef struct sg_queue {
    uint32_t gpu;     /**< ordinal of the GPU, from 0 */
    uint32_t ordinal; /**< ordinal of the queue in its process, from 0 */
    uint32_t pid;     /**< process that owns the queue */
    bool is_sdma;
    void *ring;
    uint64_t ring_bytes;        /**< a power of two */
    _Atomic uint64_t *doorbell; /**< its slot in the GPU's doorbell page */
    atomic_bool suspended;      /**< the driver was told to give it 0 percent of the device */
    const void *save_area;      /**< of the program, for its waves; at its head is whom to tell of
                                   exceptions. NULL: none */
    uint64_t delays;            /**< state of the random completion delays */
    uint64_t wake;              /**< next tick at which time alone changes something, or SG_NEVER */
    union {
        sg_aql_t aql;
        sg_sdma_t sdma;
    };
} sg_queue_t;

#endif
