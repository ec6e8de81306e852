/**
 * Where the device's work stands: which kernels and copies came before a moment, and whether they
 * are done.
 */
#ifndef RTL_KINETO_VENDOR_MARKS_H
#define RTL_KINETO_VENDOR_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#define RTL_MARKS_QUEUES 1024u /* RTL_MOST_QUEUES */
#define RTL_MARKS_GPUS   64u

/** The next packet of each queue, and the next copy of each GPU. */
struct rtl_marks {
    uint32_t newest; /**< no queue had this id yet, nor a larger one */
    uint32_t count;
    struct {
        uint32_t id;
        uint64_t next;
    } queues[RTL_MARKS_QUEUES];
    uint64_t copies[RTL_MARKS_GPUS];
};

/** Notes where everything stands now. Any thread; takes locks of the copies. */
void rtl_marks_take(struct rtl_marks *marks);

/** True if a kernel (rtl_kernel_event_t: queue_id, packet) was submitted after the marks were
 * taken. */
bool rtl_marks_precede_kernel(const struct rtl_marks *marks, uint32_t queue, uint64_t packet);

/** True if a copy (rtl_copy_event_t: device, ordinal) was. One by the host is said to be. */
bool rtl_marks_precede_copy(const struct rtl_marks *marks, uint32_t device, uint64_t ordinal);

/** Waits until all that was submitted before has completed and been harvested, or until
 * `deadline_ns` of CLOCK_MONOTONIC: then false. Not in the worker. */
bool rtl_marks_wait(uint64_t deadline_ns);

#endif
