/**
 * The queues and doorbells of the process; most of queues.c is behind the hsaKmt functions.
 */
#ifndef SOFTGPU_QUEUES_H
#define SOFTGPU_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

/** A doorbell without a value, for runtimes that ring through hsaKmtQueueRingDoorbell: announces
 * all packets below the queue's write index. `id` as hsaKmtCreateQueue gave it; false if there is
 * no such queue. Any thread, no lock. */
bool sg_queues_ring(uint64_t id);

/** Ends queues that were never destroyed and unmaps the doorbells. Called at the thunk's close,
 * after the device thread has stopped. */
void sg_queues_close(void);

/** In a forked child: forgets the parent's queues. */
void sg_queues_forget(void);

#endif
