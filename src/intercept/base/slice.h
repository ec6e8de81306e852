/**
 * How soon a thread that has slept gets a processor that others are busy on.
 */
#ifndef RTL_INTERCEPT_BASE_SLICE_H
#define RTL_INTERCEPT_BASE_SLICE_H

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/** The kernel's struct sched_attr, as it was in the beginning (SCHED_ATTR_SIZE_VER0): <sched.h> has
 * it from glibc 2.41 on, and linux/sched/types.h cannot stand beside older ones. */
struct rtl_sched_attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /**< ns */
};

_Static_assert(sizeof(struct rtl_sched_attr) == 48, "the kernel's layout");

/** The shortest turn that may be asked for, ns. */
#define RTL_SLICE_SHORTEST UINT64_C(100000)

/**
 * Asks for turns of so many ns for the calling thread. One that takes short turns need not wait for
 * the end of another's long one when it wakes, and gets no more of the processor for it. An advice:
 * Linux before 6.12 does not heed it, and threads that are not scheduled as usual (real time,
 * batch, idle) are left alone. Keeps errno.
 *
 * Source: sched_attr::sched_runtime, in Documentation/scheduler/sched-eevdf.rst and
 * sched_setattr(2).
 */
static inline void rtl_sched_request_slice(uint64_t ns)
{
    struct rtl_sched_attr attr = {0};
    int saved = errno;
    if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) == 0 && attr.policy == SCHED_OTHER) {
        attr.runtime = ns;
        (void)syscall(SYS_sched_setattr, 0, &attr, 0);
    }
    errno = saved;
}

#endif
