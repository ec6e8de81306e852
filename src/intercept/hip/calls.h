/**
 * What a wrapper does around the real function.
 */
#ifndef RTL_INTERCEPT_HIP_CALLS_H
#define RTL_INTERCEPT_HIP_CALLS_H

#include "intercept/base/thread_context.h"
#include "intercept/hip/hip.h"

#include <stdatomic.h>

/** A call under way. */
struct rtl_hip_call {
    uint64_t start, end; /**< of the real function */
    uint64_t range;      /**< innermost range when it began */
    uint64_t stream;     /**< if flags have RTL_API_STREAM */
    uint16_t flags;      /**< enum rtl_api_flags */
    bool wanted;         /**< when it began */
    int error;           /**< errno, as the program is to see it */
};

/** True while calls are not wanted: what each wrapper asks first. */
static inline bool rtl_hip_off(void)
{
    return atomic_load_explicit(&rtl_calls_state, memory_order_relaxed) <= RTL_CALLS_STOPPED;
}

/** True while nobody wants to know of any call: calls that make graphs or streams are followed
 * while recording is stopped, too, so that they are known when it starts. */
static inline bool rtl_hip_off_for_graphs(void)
{
    return atomic_load_explicit(&rtl_calls_state, memory_order_relaxed) == RTL_CALLS_OFF;
}

/** Begins a call: gives it a correlation. False if HIP makes it itself; nothing else is to be done
 * then. */
bool rtl_hip_enter(struct rtl_hip_call *call);

/** Right before and right after the real function. */
void rtl_hip_begin(struct rtl_hip_call *call);
void rtl_hip_end(struct rtl_hip_call *call);

/** Ends a call and sends its record; `words` are its arguments, as the entry's text has them. */
void rtl_hip_leave(struct rtl_hip_call *call, enum rtl_hip_entry entry, int result,
                   const uint64_t *words, unsigned count);

#endif
