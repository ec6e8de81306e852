/**
 * rtl-selftest-work: a HIP program that knows what it did (work.c says how it tells).
 *
 * HIP is opened, not linked: one program runs with every release. Whatever fails ends the program
 * with a sentence.
 */
#ifndef RTL_TOOLS_SELFTEST_WORK_H
#define RTL_TOOLS_SELFTEST_WORK_H

#include <hip/hip_runtime_api.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** The calls that are made, but for those that tell about the runtime; `X(name)`. */
#define WORK_CALLS(X)                                                                              \
    X(hipModuleLoadData)                                                                           \
    X(hipModuleGetFunction)                                                                        \
    X(hipModuleLaunchKernel)                                                                       \
    X(hipLaunchKernel)                                                                             \
    X(hipMalloc)                                                                                   \
    X(hipFree)                                                                                     \
    X(hipHostMalloc)                                                                               \
    X(hipHostFree)                                                                                 \
    X(hipMemcpyAsync)                                                                              \
    X(hipStreamCreate)                                                                             \
    X(hipStreamDestroy)                                                                            \
    X(hipStreamSynchronize)                                                                        \
    X(hipStreamWaitEvent)                                                                          \
    X(hipStreamBeginCapture)                                                                       \
    X(hipStreamEndCapture)                                                                         \
    X(hipEventCreate)                                                                              \
    X(hipEventDestroy)                                                                             \
    X(hipEventRecord)                                                                              \
    X(hipEventSynchronize)                                                                         \
    X(hipEventElapsedTime)                                                                         \
    X(hipGraphInstantiate)                                                                         \
    X(hipGraphLaunch)                                                                              \
    X(hipGraphExecUpdate)                                                                          \
    X(hipGraphDestroy)                                                                             \
    X(hipGraphExecDestroy)

#define WORK_QUESTIONS(X)                                                                          \
    X(hipGetDeviceCount) X(hipRuntimeGetVersion) X(hipDeviceGetName) X(hipGetErrorString)

struct work_hip {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member cannot be named in parentheses
#define X(name) __typeof__(name) *name;
    WORK_CALLS(X)
    WORK_QUESTIONS(X)
#undef X
};

enum work_call {
#define X(name) CALL_##name,
    WORK_CALLS(X)
#undef X
        WORK_CALL_COUNT
};

extern struct work_hip work_hip;

/** How often each call was made and succeeded; by any thread. */
extern _Atomic uint64_t work_calls[WORK_CALL_COUNT];

/** Makes a call, which must succeed, and counts it. */
#define HIP(name, ...)                                                                             \
    (work_must(work_hip.name(__VA_ARGS__), #name),                                                 \
     (void)atomic_fetch_add(&work_calls[CALL_##name], 1))

/** Ends the program with a sentence unless `error` is hipSuccess. */
void work_must(hipError_t error, const char *what);

/** Ends the program with the sentence. */
_Noreturn void work_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Opens HIP. */
void work_open(void);

/**
 * Loads the kernels. From `path` if there is such a file; else they are compiled by hipRTC for the
 * GPU that is there, and left at `path` for later runs; else those of `spare`, which were compiled
 * with RTL. Returns which of them: "file", "hiprtc" or "spare".
 */
const char *work_load(const char *path, const char *spare);

/** A kernel, by its name in kernels.h. */
#define X(name) KERNEL_##name,
#include "selftest/kernels.h"
enum work_kernel { SELFTEST_KERNELS(X) WORK_KERNEL_COUNT };
#undef X

extern const char *const work_kernel_names[WORK_KERNEL_COUNT];

/** The kernels as those of a module, and by their addresses on the host (hipLaunchKernel). HIP 5.2
 * leaves out the former where it replays a graph. */
extern hipFunction_t work_functions[WORK_KERNEL_COUNT];
extern char work_stubs[WORK_KERNEL_COUNT];

/** Does all parts and writes to `known` what is known of each. */
void work_parts(FILE *known);

#endif
