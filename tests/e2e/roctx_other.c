/* libroctx64.so.4 as somebody else has it: it counts levels and numbers, and knows nothing of RTL.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

struct hsa_agent_s;
struct ihipStream_t;
typedef int (*tracer_t)(uint32_t domain, uint32_t operation, void *data);

struct data {
    const char *message;
    uint64_t id;
};

API uint32_t roctx_version_major(void);
API uint32_t roctx_version_minor(void);
API void roctxMarkA(const char *message);
API int roctxRangePushA(const char *message);
API int roctxRangePop(void);
API uint64_t roctxRangeStartA(const char *message);
API void roctxRangeStop(uint64_t id);
API int roctxProfilerPause(uint64_t thread);
API int roctxProfilerResume(uint64_t thread);
API int roctxNameOsThread(const char *name);
API int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent);
API int roctxNameHipDevice(const char *name, int device);
API int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);
API int roctxGetThreadId(uint64_t *thread);
API void roctxRegisterTracerCallback(tracer_t function);

static _Thread_local int depth;
static _Atomic uint64_t numbers;
static _Atomic tracer_t tracer;

static void report(uint32_t operation, const char *message, uint64_t id)
{
    struct data data = {message, id};
    tracer_t call = atomic_load(&tracer);
    if (call != NULL)
        (void)call(6, operation, &data);
}

uint32_t roctx_version_major(void)
{
    return 4;
}

uint32_t roctx_version_minor(void)
{
    return 1;
}

void roctxMarkA(const char *message)
{
    report(0, message, 0);
}

int roctxRangePushA(const char *message)
{
    report(1, message, 0);
    return depth++;
}

int roctxRangePop(void)
{
    report(2, NULL, 0);
    return depth > 0 ? --depth : -1;
}

uint64_t roctxRangeStartA(const char *message)
{
    uint64_t id = atomic_fetch_add(&numbers, 1) + 1;
    report(3, message, id);
    return id;
}

void roctxRangeStop(uint64_t id)
{
    report(4, NULL, id);
}

int roctxProfilerPause(uint64_t thread)
{
    (void)thread;
    return 0;
}

int roctxProfilerResume(uint64_t thread)
{
    (void)thread;
    return 0;
}

int roctxNameOsThread(const char *name)
{
    (void)name;
    return 0;
}

int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
    (void)name;
    (void)agent;
    return 0;
}

int roctxNameHipDevice(const char *name, int device)
{
    (void)name;
    (void)device;
    return 0;
}

int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
    (void)name;
    (void)stream;
    return 0;
}

int roctxGetThreadId(uint64_t *thread)
{
    if (thread == NULL)
        return -1;
    *thread = (uint64_t)gettid();
    return 0;
}

void roctxRegisterTracerCallback(tracer_t function)
{
    atomic_store(&tracer, function);
}
