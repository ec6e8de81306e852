/**
 * What ranges cost the GPU, told to the program that set them.
 *
 *     rtlSessionBegin();                         before hsa_init or the first HIP call
 *     …
 *     rtl_range_result_t result;
 *     rtlRangePush("step");
 *     … launch …
 *     rtlRangePop(&result);                      waits for the GPU
 *     if (result.error == 0)
 *         printf("%lu kernels, busy for %lu ns\n", result.kernels, result.busy_ns);
 *     …
 *     rtlSessionEnd();
 *
 * A session keeps what the process submits while it lasts: each kernel and copy (some 100 bytes
 * each) and each host call within a range. How many there may be is limited by memory alone; what
 * found none is counted in `lost`. `rtl ranges` tells the same of a trace.
 *
 * - A session is the process's subscriber (rtl_callbacks.h, whose contract holds): there is one at
 *   a time, and the first one begins before hsa_init. Link librtl.so before libamdhip64.so, or
 *   preload it.
 * - In a process that `rtl trace` records there may be a session as well, which other subscribers
 *   may not: both get the same, in the mode of the trace, and a session that ends leaves the trace
 *   alone.
 * - Ranges of roctx are ranges as well: both are one. RTL_RANGES=rtl or roctx leaves those of the
 *   other kind out: what lies in them belongs to the ranges around them.
 * - A kernel or copy belongs to the innermost range that was open in its thread when it was
 *   submitted, and to those around that one. Kernels of a graph belong to the range in which it was
 *   launched.
 * - What has not ended on the GPU is not in what rtlSessionResult tells: wait for it before you
 *   ask. rtlRangePop does so itself.
 * - Functions may be called by any thread, but not by one of rtl_callbacks.h's callbacks. In a
 *   forked child there is no session.
 *
 * Times are nanoseconds, moments those of CLOCK_BOOTTIME (in a time namespace: of the machine's);
 * those of ranges may be a microsecond off.
 * Structures keep their size within a major version.
 */
#ifndef RTL_SESSION_H
#define RTL_SESSION_H

#include <rtl/rtl.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kernels of one name in a range. */
typedef struct rtl_range_kernels {
    const char *name; /**< mangled, NULL if it is not known; lives until the process ends */
    uint64_t kernels, total_ns;
} rtl_range_kernels_t;

/** A kernel of a range. */
typedef struct rtl_range_kernel {
    const char *name; /**< as above */
    uint64_t start, end;
    uint64_t queue_address; /**< of the hsa_queue_t */
    uint64_t range;         /**< innermost one that it was submitted in */
    uint64_t packet;        /**< index in its queue; (queue, packet) names the kernel */
    uint32_t queue;         /**< of RTL, counted in the process from 0 */
    uint32_t device;        /**< ordinal among the GPUs */
} rtl_range_kernel_t;

/** Begins a session. Returns 0, or -1 with errno as rtlSubscribe has it: EBUSY if there is a
 * session or a subscriber, ENOTSUP also if the process is recorded into a trace and hsa_init was
 * called before the first session. */
RTL_API int rtlSessionBegin(void);

/** Tells what a range that has ended cost, when all that has ended on the GPU has been looked at:
 * waits for that at most `timeout_ms`, as rtlFlush. Time and memory grow with the work in it.
 *
 * Returns 0, or -1 with errno: ENOENT (the session knows no such range, or it has not ended),
 * ENOMEM, EINVAL (`result` is NULL), and as rtlFlush ETIMEDOUT, EDEADLK, ESRCH (no session, or
 * hsa_init is still to come). */
RTL_API int rtlSessionResult(uint64_t range, unsigned timeout_ms, rtl_range_result_t *result);

/** Puts up to `capacity` names of the range's kernels into `names` (the largest total first), up to
 * so many of its kernels into `kernels` (in the order of their launches: by host call, packet of
 * their graph launch, queue and packet), or up to so many ids of ranges that have ended into `ids`
 * (by their start). How many there are is returned, whether they had room or not; `capacity` 0
 * asks for that alone. They say what is there without waiting: after rtlSessionResult or rtlFlush
 * that is all.
 *
 * -1 with errno: ENOENT, ENOMEM, ESRCH. */
RTL_API int64_t rtlSessionNames(uint64_t range, rtl_range_kernels_t *names, size_t capacity);
RTL_API int64_t rtlSessionKernels(uint64_t range, rtl_range_kernel_t *kernels, size_t capacity);
RTL_API int64_t rtlSessionRanges(uint64_t *ids, size_t capacity);

/** A metric of a range. The texts live as long as the library. */
typedef struct rtl_range_metric {
    const char *name;
    const char *unit;
    const char *rule;    /**< what many kernels make: "sum", "max" or "ratio of sums" */
    const char *formula; /**< in words */
    double value;
    uint64_t exact; /**< the same, of a sum or a maximum; 0 of a ratio */
    /** Of hardware counters, else 0: kernels that were counted (RTL_COUNTING=kernel), or devices on
     * which the range was. */
    uint64_t counted;
    uint32_t shared; /**< 1: other work was on the device meanwhile, or may have been, and counts */
    uint32_t reserved;
} rtl_range_metric_t;

/** Chooses the metrics that the next sessions can tell: names of metrics and of hardware counters
 * with commas between them, as `rtl ranges --metrics list` lists them; NULL or "" for none, as it
 * is without. Before rtlSessionBegin. Each kernel takes 32 bytes more then. Other threads must not
 * use the environment meanwhile.
 *
 * Hardware counters are chosen before hsa_init: their names go into RTL_METRICS, if nobody has set
 * that, and RTL_COUNTING tells how they are read (docs/ranges.md). A process makes one pass.
 *
 * Returns 0, or -1 with errno, and nothing is changed: EINVAL (there is no such metric), EBUSY
 * (there is a session), ENOTSUP (it needs hardware counters, and hsa_init was called), ENOMEM.
 * rtlSessionError says it in a sentence. */
RTL_API int rtlSessionMetrics(const char *names);

/** Tells a metric of a range that has ended, as far as the session knows its work: without waiting,
 * see rtlSessionNames. Time and memory grow with the work in the range.
 *
 * Returns 0, or -1 with errno: EINVAL (`metric` is NULL, or rtlSessionMetrics did not name it),
 * ENODATA (it has no value: a ratio to nothing, or nothing was counted in the range), ENOTSUP (its
 * hardware counters are not read here, or in another pass, which the sentence names), and ENOENT,
 * ENOMEM, ESRCH. */
RTL_API int rtlSessionMetric(uint64_t range, const char *name, rtl_range_metric_t *metric);

/** Copies the sentence about the last call of rtlSessionMetrics or rtlSessionMetric that failed, in
 * whichever thread, into `sentence`: at most `size` bytes with the terminator. Returns its length;
 * 0 if none has failed. */
RTL_API size_t rtlSessionError(char *sentence, size_t size);

/** Ends the session and frees what it has kept. Returns 0, or -1 with errno: EDEADLK, ESRCH. */
RTL_API int rtlSessionEnd(void);

#ifdef __cplusplus
}
#endif

#endif
