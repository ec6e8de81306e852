/*
 * The wrappers, made from the table. For each entry:
 *
 * - `name`, which the program calls: goes on to the real function, or to the next while calls are
 *   wanted;
 * - `recorded_name`: the real function with a record around it;
 * - `first_name`: in the place of the real function until somebody calls it; looks for it.
 */
#include "intercept/hip/calls.h"
#include "intercept/queue/waits.h"

/* What is deprecated is wrapped all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The C library's name for "there is no such function" is a crash; a program that is linked with a
 * newer HIP than it finds gets this instead. */
#define ABSENT hipErrorSharedObjectSymbolNotFound

/* So that the way past them stays short. */
#define NOINLINE __attribute__((noinline))

_Atomic uint32_t rtl_hip_captures;

static void tell_ended(hipError_t result)
{
    if (result == hipSuccess)
        rtl_waits_ended();
}

static uint64_t pair(dim3 size)
{
    return size.x | (uint64_t)size.y << 32;
}

/* The words of an argument, with a comma behind each. `done` is whether the call has succeeded:
 * what it fills is read only then. */
#define WORD_p(name) (uint64_t)(uintptr_t)(name),
#define WORD_P(name) done && (name) != NULL ? (uint64_t)(uintptr_t) * (name) : 0,
#define WORD_s(name) WORD_p(name)
#define WORD_e(name) WORD_p(name)
#define WORD_g(name) WORD_p(name)
#define WORD_x(name) WORD_p(name)
#define WORD_n(name) WORD_p(name)
#define WORD_f(name) WORD_p(name)
#define WORD_u(name) (uint64_t)(name),
#define WORD_i(name) (uint64_t)(int64_t)(name),
#define WORD_z(name) (uint64_t)(name),
#define WORD_b(name) (uint64_t)(name),
#define WORD_3(name) pair(name), (name).z,
#define WORD_D(name) pair(*(name)), (name)->z,
#define WORD_E(name) (name).width, (name).height, (name).depth,
#define WORD_Q(name) (uint64_t)(uintptr_t)(name).ptr, (name).pitch,
#define WORD_L(name)                                                                               \
    done ? pair((name)->gridDim) : 0, done ? (name)->gridDim.z : 0,                                \
        done ? pair((name)->blockDim) : 0, done ? (name)->blockDim.z : 0,                          \
        done ? (name)->dynamicSmemBytes : 0, done ? (uint64_t)(uintptr_t)(name)->stream : 0,
#define WORD_K(name)                                                                               \
    done ? (name)->gridDimX | (uint64_t)(name)->gridDimY << 32 : 0, done ? (name)->gridDimZ : 0,   \
        done ? (name)->blockDimX | (uint64_t)(name)->blockDimY << 32 : 0,                          \
        done ? (name)->blockDimZ : 0, done ? (name)->sharedMemBytes : 0,                           \
        done ? (uint64_t)(uintptr_t)(name)->hStream : 0,
#define WORD_M(name)                                                                               \
    (uint64_t)(uintptr_t)(name), done ? (name)->kind : 0, done ? (name)->extent.width : 0,         \
        done ? (name)->extent.height : 0, done ? (name)->extent.depth : 0,
#define WORD_W(name)                                                                               \
    (uint64_t)(uintptr_t)(name), done ? (name)->WidthInBytes : 0, done ? (name)->Height : 0,
#define WORD_V(name)                                                                               \
    (uint64_t)(uintptr_t)(name), done ? (name)->WidthInBytes : 0, done ? (name)->Height : 0,       \
        done ? (name)->Depth : 0,
#define WORD__(name)
#define WORD(type, name, field) WORD_##field(name)

/* The stream that a call is about. */
#define STREAM_NONE          NULL
#define STREAM_GIVEN         stream
#define STREAM_THREAD_OR     (stream != NULL ? stream : hipStreamPerThread)
#define STREAM_LEGACY        NULL
#define STREAM_THREAD        hipStreamPerThread
#define STREAM_CONFIG        (done ? config->stream : NULL)
#define STREAM_DRIVER_CONFIG (done ? config->hStream : NULL)

#define FLAGS_NONE          0
#define FLAGS_GIVEN         RTL_API_STREAM
#define FLAGS_THREAD_OR     RTL_API_STREAM
#define FLAGS_LEGACY        RTL_API_STREAM
#define FLAGS_THREAD        RTL_API_STREAM
#define FLAGS_CONFIG        (done ? RTL_API_STREAM : 0)
#define FLAGS_DRIVER_CONFIG (done ? RTL_API_STREAM : 0)

#define CAPTURED_NO(about)
#define CAPTURED(about, type)                                                                      \
    if (done && atomic_load_explicit(&rtl_hip_captures, memory_order_relaxed) != 0 &&              \
        rtl_hip_captured != NULL)                                                                  \
        rtl_hip_captured(type, STREAM_##about);
#define CAPTURED_KERNEL(about)       CAPTURED(about, RTL_NODE_KERNEL)
#define CAPTURED_MEMCPY(about)       CAPTURED(about, RTL_NODE_MEMCPY)
#define CAPTURED_MEMSET(about)       CAPTURED(about, RTL_NODE_MEMSET)
#define CAPTURED_HOST(about)         CAPTURED(about, RTL_NODE_HOST)
#define CAPTURED_WAIT_EVENT(about)   CAPTURED(about, RTL_NODE_WAIT_EVENT)
#define CAPTURED_EVENT_RECORD(about) CAPTURED(about, RTL_NODE_EVENT_RECORD)
#define CAPTURED_OTHER(about)        CAPTURED(about, RTL_NODE_OTHER)

#define BEFORE_PLAIN(name, ...)
#define BEFORE_WAIT(name, ...)
#define BEFORE_ALWAYS(name, ...)
#define BEFORE_GRAPH(name, ...)                                                                    \
    if (rtl_hip_before_##name != NULL)                                                             \
        rtl_hip_before_##name(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));
#define AFTER_PLAIN(name, ...)
#define AFTER_WAIT(name, ...)   tell_ended(result);
#define AFTER_ALWAYS(name, ...) rtl_hip_always_##name(result, RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));
#define AFTER_GRAPH(name, ...)                                                                     \
    if (rtl_hip_after_##name != NULL)                                                              \
        rtl_hip_after_##name(result, RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));

/* While calls are not wanted. */
#define PASS_PLAIN(name, ...) return REAL(name)(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));
#define PASS_WAIT(name, ...)                                                                       \
    hipError_t result = REAL(name)(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                           \
    AFTER_WAIT(name, __VA_ARGS__)                                                                  \
    return result;
#define PASS_GRAPH(name, ...)                                                                      \
    if (rtl_hip_off_for_graphs())                                                                  \
    PASS_PLAIN(name, __VA_ARGS__)
#define PASS_ALWAYS(name, ...)                                                                     \
    hipError_t result = REAL(name)(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                           \
    AFTER_ALWAYS(name, __VA_ARGS__)                                                                \
    return result;

#define REAL(name)                                                                                 \
    ((__typeof__(name) *)atomic_load_explicit(&rtl_hip_functions[RTL_HIP_##name],                  \
                                              memory_order_relaxed))

/* The zero makes a list of no words a list. */
#define LEAVE(name, result, about, ...)                                                            \
    const uint64_t words[] = {__VA_ARGS__ 0};                                                      \
    call.stream = (uint64_t)(uintptr_t)(STREAM_##about);                                           \
    call.flags = FLAGS_##about;                                                                    \
    rtl_hip_leave(&call, RTL_HIP_##name, result, words, sizeof words / sizeof *words - 1);

#define CALL(name, hook, about, node, ...)                                                         \
    static hipError_t first_##name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__))                           \
    {                                                                                              \
        __typeof__(name) *real = rtl_hip_real(name);                                               \
        return real != NULL ? real(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__)) : ABSENT;                  \
    }                                                                                              \
    NOINLINE static hipError_t recorded_##name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__))               \
    {                                                                                              \
        struct rtl_hip_call call;                                                                  \
        if (!rtl_hip_enter(&call))                                                                 \
            return REAL(name)(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                                \
        BEFORE_##hook(name, __VA_ARGS__) rtl_hip_begin(&call);                                     \
        hipError_t result = REAL(name)(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                       \
        rtl_hip_end(&call);                                                                        \
        const bool done = result == hipSuccess;                                                    \
        (void)done; /* some have no use for it */                                                  \
        AFTER_##hook(name, __VA_ARGS__) CAPTURED_##node(about)                                     \
            LEAVE(name, (int)result, about, RTL_EACH(WORD, __VA_ARGS__)) return result;            \
    }                                                                                              \
    hipError_t name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__))                                          \
    {                                                                                              \
        if (rtl_hip_off()) {                                                                       \
            PASS_##hook(name, __VA_ARGS__)                                                         \
        }                                                                                          \
        return recorded_##name(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                               \
    }

#define CALL_0(name)                                                                               \
    static hipError_t first_##name(void)                                                           \
    {                                                                                              \
        __typeof__(name) *real = rtl_hip_real(name);                                               \
        return real != NULL ? real() : ABSENT;                                                     \
    }                                                                                              \
    NOINLINE static hipError_t recorded_##name(void)                                               \
    {                                                                                              \
        struct rtl_hip_call call;                                                                  \
        if (!rtl_hip_enter(&call))                                                                 \
            return REAL(name)();                                                                   \
        rtl_hip_begin(&call);                                                                      \
        hipError_t result = REAL(name)();                                                          \
        rtl_hip_end(&call);                                                                        \
        tell_ended(result);                                                                        \
        rtl_hip_leave(&call, RTL_HIP_##name, (int)result, NULL, 0);                                \
        return result;                                                                             \
    }                                                                                              \
    static hipError_t waited_##name(void)                                                          \
    {                                                                                              \
        hipError_t result = REAL(name)();                                                          \
        tell_ended(result);                                                                        \
        return result;                                                                             \
    }                                                                                              \
    hipError_t name(void)                                                                          \
    {                                                                                              \
        return rtl_hip_off() ? waited_##name() : recorded_##name();                                \
    }

#define CALL_VOID(name, hook, about, node, ...)                                                    \
    static void first_##name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__))                                 \
    {                                                                                              \
        __typeof__(name) *real = rtl_hip_real(name);                                               \
        if (real != NULL)                                                                          \
            real(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                                             \
    }                                                                                              \
    void name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__))                                                \
    {                                                                                              \
        struct rtl_hip_call call;                                                                  \
        if (rtl_hip_off() || !rtl_hip_enter(&call)) {                                              \
            REAL(name)(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                                       \
            return;                                                                                \
        }                                                                                          \
        const bool done = true;                                                                    \
        rtl_hip_begin(&call);                                                                      \
        REAL(name)(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                                           \
        rtl_hip_end(&call);                                                                        \
        CAPTURED_##node(about) LEAVE(name, 0, about, RTL_EACH(WORD, __VA_ARGS__))                  \
    }

#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID

_Atomic(rtl_hip_function) rtl_hip_functions[RTL_HIP_ENTRIES] = {
#define CALL(name, ...)      (rtl_hip_function) first_##name,
#define CALL_0(name)         (rtl_hip_function) first_##name,
#define CALL_VOID(name, ...) (rtl_hip_function) first_##name,
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID
};
