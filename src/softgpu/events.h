/**
 * KFD events: what an interrupt from the device sets and what ROCr's sleeping waiters wait for.
 */
#ifndef SOFTGPU_EVENTS_H
#define SOFTGPU_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/** An interrupt with this event id: sets the event and wakes its waiters. Unknown ids are ignored
 * (the event may just have been destroyed). Any thread; makes a system call only if somebody
 * sleeps. */
void sg_event_raise(uint32_t id);

/** Reports a memory access fault of a GPU (KFD node `node`) at `address` through the memory event
 * of the process; ROCr then calls the program's system event handler or ends the process, as on
 * hardware. False when the process has no such event. */
bool sg_event_memory_fault(uint32_t node, uint64_t address);

#endif
