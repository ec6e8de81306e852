/**
 * The device: one thread that plays every queue of every software GPU.
 */
#ifndef SOFTGPU_DEVICE_H
#define SOFTGPU_DEVICE_H

#include "softgpu/queue.h"

#include <stdbool.h>

/** Starts the device thread. False when the system refuses a thread. */
bool sg_device_start(void);

/** Stops and joins the device thread, and lets go of queues that were never destroyed. */
void sg_device_stop(void);

/** In a forked child: forgets the parent's thread and queues. */
void sg_device_forget(void);

/** Locks and unlocks the list of queues around a fork. */
void sg_device_before_fork(void);
void sg_device_after_fork(void);

/** Hands a queue to the device thread. False when memory is short. Any thread. */
bool sg_device_add(sg_queue_t *queue);

/** Takes a queue from the device thread: on return the device does not touch it, its ring or its
 * doorbell any more. Kernels in flight are abandoned, as when hardware is told to drop a queue:
 * their signals stay as they are. Any thread. */
void sg_device_remove(sg_queue_t *queue);

#endif
