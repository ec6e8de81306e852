/**
 * Host calls of HIP: wrapped by symbols of the same names, which librtl.so exports and the dynamic
 * linker finds first when the library is preloaded.
 *
 * A wrapper looks at rtl_calls_state (base/thread_context.h). While calls are not wanted it goes on
 * to the real function at once; else it gives the call a correlation, which is in
 * rtl_thread_context.call until the call returns, and sends a record of it. What HIP calls itself
 * is not recorded. The result, errno and HIP's last error are those of the real function.
 */
#ifndef RTL_INTERCEPT_HIP_HIP_H
#define RTL_INTERCEPT_HIP_HIP_H

#include "intercept/hip/declare.h"
#include "ring/wire.h"

#include <stdbool.h>

/** RTL_HIP_<name> of every wrapped call. */
enum rtl_hip_entry {
#define CALL(name, ...)      RTL_HIP_##name,
#define CALL_0(name)         RTL_HIP_##name,
#define CALL_VOID(name, ...) RTL_HIP_##name,
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID
    RTL_HIP_ENTRIES
};

/** Any function; to be converted before it is called. */
typedef void (*rtl_hip_function)(void);

/** The real functions; before they have been looked for, functions that look for them. */
extern _Atomic(rtl_hip_function) rtl_hip_functions[RTL_HIP_ENTRIES];

/** The program's own HIP function behind a wrapper, NULL where its HIP has none or HIP is not
 * loaded. Any thread. */
rtl_hip_function rtl_hip_find(enum rtl_hip_entry entry);

/** rtl_hip_find, with the type of the function: rtl_hip_real(hipGraphGetNodes)(graph, NULL, &n).
 * What is called so is not recorded. */
#define rtl_hip_real(name) ((__typeof__(name) *)rtl_hip_find(RTL_HIP_##name))

/** True if host calls may be recorded in this process, now or later. */
bool rtl_hip_possible(void);

/** The lasting name (mangled) of a kernel: by its host function, as registered by the compiler's
 * code, or by its hipFunction_t. NULL if it is not known. The text is there until the kernel's
 * library or module is unloaded. Any thread. */
const char *rtl_hip_kernel_name(const void *function);

/** Hooks around the calls that are marked GRAPH (streams' are, too), while calls are recorded or
 * recording is stopped: before the real function, and after it with its result. Called in the
 * thread of the call, with rtl_thread_context.call set; never for what HIP calls itself. They keep
 * HIP's last error; errno is kept for them. One that nobody defines is left out. */
#define RTL_HIP_WEAK __attribute__((weak, visibility("hidden")))
#define RTL_HIP_HOOKS_PLAIN(name, ...)
#define RTL_HIP_HOOKS_WAIT(name, ...)
#define RTL_HIP_HOOKS_ALWAYS(name, ...)                                                            \
    void rtl_hip_always_##name(hipError_t result, RTL_LIST(RTL_PARAMETER, __VA_ARGS__));
#define RTL_HIP_HOOKS_GRAPH(name, ...)                                                             \
    void rtl_hip_before_##name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__)) RTL_HIP_WEAK;                 \
    void rtl_hip_after_##name(hipError_t result, RTL_LIST(RTL_PARAMETER, __VA_ARGS__)) RTL_HIP_WEAK;
#define CALL(name, hook, about, node, ...) RTL_HIP_HOOKS_##hook(name, __VA_ARGS__)
#define CALL_0(name)
#define CALL_VOID(name, hook, about, node, ...)
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID

/** Number of stream captures that are open in the process; graphs.c counts. Zero: no call is
 * captured. */
extern _Atomic uint32_t rtl_hip_captures;

/** A call that a capture may have recorded as a node has succeeded; told only while
 * rtl_hip_captures is not 0. Whether the stream is captured is for the hook to find out. As the
 * hooks above. */
void rtl_hip_captured(enum rtl_node_type type, hipStream_t stream) RTL_HIP_WEAK;

#endif
