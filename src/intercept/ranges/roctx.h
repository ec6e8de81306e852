/**
 * roctx as librtl.so answers it.
 *
 * The functions have the names, types and results of libroctx64.so.4 (roctracer: roctx.h,
 * src/roctx/exportmap) and of librocprofiler-sdk-roctx.so.1 (rocprofiler-sdk: roctx.h). A program
 * that is linked with one of these finds them here where librtl.so is preloaded or linked. Else the
 * libraries of the same names that belong to RTL (roctx_drop_in.c) lead here, by rtlRoctx.
 */
#ifndef RTL_INTERCEPT_RANGES_ROCTX_H
#define RTL_INTERCEPT_RANGES_ROCTX_H

#include <stdint.h>

/** What roctxRegisterTracerCallback registers: domain 6, an operation, and a pointer to a
 * rtl_roctx_data (roctracer: ext/prof_protocol.h, roctracer_roctx.h). */
typedef int (*rtl_roctx_tracer_t)(uint32_t domain, uint32_t operation, void *data);

#define RTL_ROCTX_DOMAIN 6u
enum rtl_roctx_operation {
    RTL_ROCTX_MARK = 0,
    RTL_ROCTX_PUSH = 1,
    RTL_ROCTX_POP = 2,
    RTL_ROCTX_START = 3,
    RTL_ROCTX_STOP = 4
};
struct rtl_roctx_data {
    const char *message; /**< NULL where the operation has none */
    uint64_t id;         /**< of RTL_ROCTX_START and _STOP */
};

/** Version of the interface, as roctx_version_major and _minor tell it. */
#define RTL_ROCTX_MAJOR 4u
#define RTL_ROCTX_MINOR 1u

struct hsa_agent_s;
struct ihipStream_t;

/** The functions of librtl.so. Pointers are added at the end; `size` tells which there are. */
struct rtl_roctx {
    uint64_t size;
    void (*mark)(const char *message);
    int (*push)(const char *message);
    int (*pop)(void);
    uint64_t (*start)(const char *message);
    void (*stop)(uint64_t id);
    int (*pause)(uint64_t thread);
    int (*resume)(uint64_t thread);
    int (*name_thread)(const char *name);
    int (*name_agent)(const char *name, const struct hsa_agent_s *agent);
    int (*name_device)(const char *name, int device);
    int (*name_stream)(const char *name, const struct ihipStream_t *stream);
    void (*set_tracer)(rtl_roctx_tracer_t tracer);
};

#define RTL_ROCTX_API __attribute__((visibility("default")))

/** Exported by librtl.so. */
RTL_ROCTX_API extern const struct rtl_roctx rtlRoctx;

/** What a program gets that asks a library for its function `name` and would find `found`:
 * librtl.so's function if `found` is roctx's of a libroctx64 or librocprofiler-sdk-roctx, else
 * `found`. For programs that open these libraries themselves and so pass what is preloaded by. Any
 * thread; takes no lock of the dynamic linker's but for a moment. */
void *rtl_roctx_instead_of(const char *name, void *found);

/** Marks the current moment. NULL is an empty text, here and below. */
RTL_ROCTX_API void roctxMarkA(const char *message);

/** Begins a range in the calling thread; returns its level, from 0. */
RTL_ROCTX_API int roctxRangePushA(const char *message);

/** Ends the innermost range of the calling thread; returns its level, or -1 if there was none. */
RTL_ROCTX_API int roctxRangePop(void);

/** Begins a range that any thread may end; returns its number: 1, 2, 3 … */
RTL_ROCTX_API uint64_t roctxRangeStartA(const char *message);

/** Ends the range of that number. */
RTL_ROCTX_API void roctxRangeStop(uint64_t id);

/** Stops and resumes recording: of the whole process (`thread` 0), or of what the calling thread
 * does (its own id). Returns 0, also where it is so already and where the process is not recorded;
 * before hsa_init a 0 decides whether recording will begin. Another thread cannot be left out: -1
 * in a process that is recorded. */
RTL_ROCTX_API int roctxProfilerPause(uint64_t thread);
RTL_ROCTX_API int roctxProfilerResume(uint64_t thread);

/** Names the calling thread, an HSA agent, a HIP device, a HIP stream (NULL is one, too), in the
 * trace only. Returns 0; -1 for an agent that is NULL. */
RTL_ROCTX_API int roctxNameOsThread(const char *name);
RTL_ROCTX_API int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent);
RTL_ROCTX_API int roctxNameHipDevice(const char *name, int device);
RTL_ROCTX_API int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);

/** Stores the calling thread's id as Linux has it (gettid), which names it in the trace; 0, or
 * -1 if `thread` is NULL. */
RTL_ROCTX_API int roctxGetThreadId(uint64_t *thread);

/** Has `tracer` called in the calling thread before each mark, push, pop, start and stop takes
 * effect; NULL ends that. There is one tracer. */
RTL_ROCTX_API void roctxRegisterTracerCallback(rtl_roctx_tracer_t tracer);

/** 4 and 1. */
RTL_ROCTX_API uint32_t roctx_version_major(void);
RTL_ROCTX_API uint32_t roctx_version_minor(void);

#endif
