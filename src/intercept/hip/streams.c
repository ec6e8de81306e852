/*
 * Tells when streams begin and end: HIP gives the handle of a destroyed stream to a later one, and
 * a host call's record has the handle alone.
 */
#include "common/stamp.h"
#include "intercept/base/emit.h"
#include "intercept/base/thread_context.h"
#include "intercept/hip/hip.h"
#include "intercept/queue/waits.h"

/* When the thread asked HIP to destroy a stream. */
static _Thread_local uint64_t asked __attribute__((tls_model("initial-exec")));

static void tell(hipStream_t stream, uint64_t time, uint64_t done)
{
    struct rtl_wire_stream wire = {
        .time_ns = time, .done_ns = done, .handle = (uint64_t)(uintptr_t)stream};
    struct rtl_piece piece = {&wire, sizeof wire};
    if (atomic_load_explicit(&rtl_calls_state, memory_order_relaxed) != RTL_CALLS_OFF)
        rtl_emit_definition(RTL_WIRE_STREAM, &piece, 1);
}

static void made(hipError_t result, const hipStream_t *stream)
{
    if (result == hipSuccess && stream != NULL)
        tell(*stream, rtl_stamp(), 0);
}

void rtl_hip_after_hipStreamCreate(hipError_t result, hipStream_t *stream)
{
    made(result, stream);
}

void rtl_hip_after_hipStreamCreateWithFlags(hipError_t result, hipStream_t *stream,
                                            unsigned int flags)
{
    (void)flags;
    made(result, stream);
}

void rtl_hip_after_hipStreamCreateWithPriority(hipError_t result, hipStream_t *stream,
                                               unsigned int flags, int priority)
{
    (void)flags, (void)priority;
    made(result, stream);
}

void rtl_hip_after_hipExtStreamCreateWithCUMask(hipError_t result, hipStream_t *stream,
                                                uint32_t size, const uint32_t *mask)
{
    (void)size, (void)mask;
    made(result, stream);
}

void rtl_hip_before_hipStreamDestroy(hipStream_t stream)
{
    (void)stream;
    asked = rtl_stamp();
}

void rtl_hip_after_hipStreamDestroy(hipError_t result, hipStream_t stream)
{
    if (result != hipSuccess)
        return;
    tell(stream, asked, rtl_stamp());
    rtl_waits_ended();
}
