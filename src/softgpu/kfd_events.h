/**
 * KFD events: what an interrupt from the device sets and what ROCr's sleeping waiters wait for.
 *
 * sg_event_raise and sg_event_memory_fault (events.h) are implemented here.
 */
#ifndef SOFTGPU_KFD_EVENTS_H
#define SOFTGPU_KFD_EVENTS_H

#include "softgpu/kfd.h"

/** Ends all events; a thread that still waits is woken and its call fails. */
void sg_kfd_events_clear(void);

/** In a forked child: forgets the parent's events. */
void sg_kfd_events_forget(void);

int sg_kfd_create_event(struct kfd_ioctl_create_event_args *args);
int sg_kfd_destroy_event(const struct kfd_ioctl_destroy_event_args *args);
int sg_kfd_set_event(const struct kfd_ioctl_set_event_args *args);
int sg_kfd_reset_event(const struct kfd_ioctl_reset_event_args *args);
int sg_kfd_wait_events(struct kfd_ioctl_wait_events_args *args);

#endif
