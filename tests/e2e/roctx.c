/*
 * roctx [LIBRARY]: a program with ranges, and every other function of roctx. They come from the
 * library that it is linked with (ROCTX_LINKED), or from LIBRARY, which it opens.
 *
 * Prints what every call returned: that must not depend on whether anybody records it.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEEP    1000
#define THREADS 4u
#define LONG    70000u /* bytes of a text that is too long for a record */

struct hsa_agent_s;
struct ihipStream_t;
typedef int (*tracer_t)(uint32_t domain, uint32_t operation, void *data);

/* As roctracer's and rocprofiler-sdk's roctx.h have them. */
struct roctx {
    uint32_t (*version_major)(void);
    uint32_t (*version_minor)(void);
    void (*mark)(const char *message);
    int (*push)(const char *message);
    int (*pop)(void);
    uint64_t (*start)(const char *message);
    void (*stop)(uint64_t id);
    int (*pause)(uint64_t tid);
    int (*resume)(uint64_t tid);
    int (*name_thread)(const char *name);
    int (*name_agent)(const char *name, const struct hsa_agent_s *agent);
    int (*name_device)(const char *name, int device_id);
    int (*name_stream)(const char *name, const struct ihipStream_t *stream);
    int (*thread_id)(uint64_t *tid);
    void (*set_tracer)(tracer_t tracer);
};

#ifdef ROCTX_LINKED
uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int roctxProfilerPause(uint64_t tid);
int roctxProfilerResume(uint64_t tid);
int roctxNameOsThread(const char *name);
int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent);
int roctxNameHipDevice(const char *name, int device_id);
int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);
int roctxGetThreadId(uint64_t *tid);
void roctxRegisterTracerCallback(tracer_t tracer);

static struct roctx load(const char *library)
{
    (void)library;
    return (struct roctx){roctx_version_major, roctx_version_minor, roctxMarkA,
                          roctxRangePushA,     roctxRangePop,       roctxRangeStartA,
                          roctxRangeStop,      roctxProfilerPause,  roctxProfilerResume,
                          roctxNameOsThread,   roctxNameHsaAgent,   roctxNameHipDevice,
                          roctxNameHipStream,  roctxGetThreadId,    roctxRegisterTracerCallback};
}
#else
static struct roctx load(const char *library)
{
    static const char *const names[] = {
        "roctx_version_major", "roctx_version_minor", "roctxMarkA",
        "roctxRangePushA",     "roctxRangePop",       "roctxRangeStartA",
        "roctxRangeStop",      "roctxProfilerPause",  "roctxProfilerResume",
        "roctxNameOsThread",   "roctxNameHsaAgent",   "roctxNameHipDevice",
        "roctxNameHipStream",  "roctxGetThreadId",    "roctxRegisterTracerCallback"};
    struct roctx roctx;
    void *functions[sizeof names / sizeof *names];
    void *opened = library != NULL ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    _Static_assert(sizeof functions == sizeof roctx, "a pointer for each function");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        functions[i] = opened != NULL ? dlsym(opened, names[i]) : NULL;
        if (functions[i] == NULL) {
            (void)fprintf(stderr, "roctx: no %s\n", names[i]);
            exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
        }
    }
    memcpy(&roctx, functions, sizeof roctx);
    return roctx;
}
#endif

static struct roctx roctx;
static struct gpu gpu;
static struct gpu_packet packets[32];
static uint64_t from_main; /* a range that a thread stops */
static _Atomic unsigned traced[5];

static void say(const char *what, long long result)
{
    (void)printf("%s %lld\n", what, result);
}

static void run(hsa_queue_t *queue, unsigned kernels)
{
    gpu_submit(&gpu, queue, packets, kernels);
    gpu_drain(&gpu, queue);
}

static void before_hsa(void)
{
    uint64_t thread = 0;
    say("version", roctx.version_major() * 100 + roctx.version_minor());
    say("pop of nothing", roctx.pop());
    say("pop of nothing", roctx.pop());
    say("push early", roctx.push("early"));
    say("push over", roctx.push("over before hsa_init"));
    roctx.mark("too early");
    say("pop over", roctx.pop());
    say("start", (long long)roctx.start("started early"));
    say("thread id", roctx.thread_id(&thread));
    say("it is gettid", thread == (uint64_t)gettid());
    say("no thread id", roctx.thread_id(NULL));
    say("name of the thread", roctx.name_thread("first name"));
    say("name of the thread", roctx.name_thread("main"));
}

static void nested(hsa_queue_t *queue)
{
    say("push a", roctx.push("a"));
    run(queue, 3);
    say("push b", roctx.push("b"));
    run(queue, 5);
    roctx.mark("mark");
    say("pop b", roctx.pop());
    run(queue, 7);
    say("pop a", roctx.pop());
    say("push empty", roctx.push(""));
    say("pop empty", roctx.pop());
}

static void deep(void)
{
    int wrong = 0;
    for (int i = 0; i < DEEP; i++)
        wrong += roctx.push("deep") != 1 + i;
    for (int i = DEEP - 1; i >= 0; i--)
        wrong += roctx.pop() != 1 + i;
    say("wrong levels", wrong);
}

static void long_text(void)
{
    char *text = malloc(LONG + 1);
    memset(text, 'x', LONG);
    text[LONG] = '\0';
    say("push of a long text", roctx.push(text));
    free(text);
    say("pop of a long text", roctx.pop());
}

static void paused(hsa_queue_t *queue)
{
    say("pause", roctx.pause(0));
    say("pause again", roctx.pause(0));
    say("push paused", roctx.push("paused"));
    run(queue, 20);
    say("pop paused", roctx.pop());
    say("push across", roctx.push("across"));
    say("resume", roctx.resume(0));
    run(queue, 11);
    say("pop across", roctx.pop());
    say("resume again", roctx.resume(0));
}

/* What the thread does itself is left out, what others do is not. */
static void *beside(void *queue)
{
    (void)roctx.push("beside");
    run(queue, 6);
    (void)roctx.pop();
    return NULL;
}

static void paused_thread(hsa_queue_t *queue)
{
    pthread_t thread;
    uint64_t own = 0;
    (void)roctx.thread_id(&own);
    say("pause of the thread", roctx.pause(own));
    say("push left out", roctx.push("left out"));
    run(queue, 13);
    roctx.mark("left out");
    say("pop left out", roctx.pop());
    say("push half", roctx.push("half"));
    run(queue, 1);
    if (pthread_create(&thread, NULL, beside, queue) != 0)
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    (void)pthread_join(thread, NULL);
    say("resume of the thread", roctx.resume(own));
    run(queue, 8);
    say("pop half", roctx.pop());
}

static void *work(void *argument)
{
    unsigned number = *(const unsigned *)argument;
    char name[32];
    int wrong = 0;
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    (void)snprintf(name, sizeof name, "thread %u", number);
    wrong += roctx.name_thread(name) != 0;
    wrong += roctx.pop() != -1;
    wrong += roctx.push(name) != 0;
    run(queue, 10 + number);
    if (number == 0)
        roctx.stop(from_main);
    wrong += roctx.pop() != 0;
    wrong += roctx.push("left open") != 0;
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    return wrong == 0 ? argument : NULL;
}

static void threads(void)
{
    pthread_t all[THREADS];
    unsigned numbers[THREADS];
    unsigned fine = 0;
    void *result;
    from_main = roctx.start("stopped by a thread");
    say("start", (long long)from_main);
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&all[i], NULL, work, &numbers[i]) != 0)
            exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    }
    for (unsigned i = 0; i < THREADS; i++)
        fine += pthread_join(all[i], &result) == 0 && result == &numbers[i];
    say("threads that saw what they should", fine);
}

static void names(void)
{
    say("name of an agent",
        roctx.name_agent("gpu", (const struct hsa_agent_s *)(void *)&gpu.agent));
    say("name of a device", roctx.name_device("device", 0));
    say("name of a stream",
        roctx.name_stream("stream", (const struct ihipStream_t *)(uintptr_t)0x1234));
}

static int trace(uint32_t domain, uint32_t operation, void *data)
{
    const char *message = *(const char *const *)data;
    if (domain == 6 && operation < 5 && (message == NULL || strcmp(message, "traced") == 0))
        atomic_fetch_add(&traced[operation], 1);
    return 0;
}

static void tracer(void)
{
    roctx.set_tracer(trace);
    roctx.mark("traced");
    say("push traced", roctx.push("traced"));
    say("pop traced", roctx.pop());
    uint64_t id = roctx.start("traced");
    say("start traced", (long long)id);
    roctx.stop(id);
    roctx.set_tracer(NULL);
    roctx.mark("not traced");
    for (unsigned i = 0; i < 5; i++)
        say("traced", traced[i]);
}

int main(int argc, char **argv)
{
    roctx = load(argc > 1 ? argv[1] : NULL);
    before_hsa();
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    run(queue, 2);
    nested(queue);
    deep();
    long_text();
    paused(queue);
    paused_thread(queue);
    threads();
    names();
    tracer();
    roctx.stop(1);
    roctx.stop(1);
    roctx.stop(4711);
    say("pop early", roctx.pop());
    say("pop of nothing", roctx.pop());
    run(queue, 1);
    say("push open", roctx.push("open"));
    run(queue, 4);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}
