/**
 * The queues of the process, as it makes and ends them through the driver.
 */
#ifndef SOFTGPU_KFD_QUEUES_H
#define SOFTGPU_KFD_QUEUES_H

#include "softgpu/kfd.h"

/** Ends queues that were never destroyed. After the device thread has stopped. */
void sg_kfd_queues_clear(void);

/** In a forked child: forgets the parent's queues. */
void sg_kfd_queues_forget(void);

/** The struct of newer drivers is longer than what is here: its last field chooses an SDMA engine,
 * and all are alike. */
int sg_kfd_create_queue(struct kfd_ioctl_create_queue_args *args);
int sg_kfd_destroy_queue(const struct kfd_ioctl_destroy_queue_args *args);
int sg_kfd_update_queue(const struct kfd_ioctl_update_queue_args *args);

/** Whether there is any queue. */
bool sg_kfd_has_queues(void);

/** Whether there is such a queue. */
bool sg_kfd_has_queue(uint32_t id);

#endif
