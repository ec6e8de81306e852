#include "hooks.h"
#include "openreg.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_STREAMS 64u
#define NAME_BYTES   64u

/* A piece of work for the device. */
struct task {
    struct task *next;
    struct trace_origin origin;
    pu1ActivityKind kind;
    char name[NAME_BYTES];
    openregKernel_t kernel;
    void *argument, *to;
    const void *from;
    size_t bytes;
    int value;
    unsigned spin_us;
};

struct openregStream {
    uint64_t id;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct task *first, **last; /* under the lock, as the rest */
    uint64_t given, done;       /* tasks */
    bool ending;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static openregStream_t streams[MOST_STREAMS]; /* under the lock; [0] is the default stream */
static uint64_t next_id;

/* ---- what the device does ---- */

static void spin(unsigned microseconds)
{
    struct timespec time = {.tv_sec = microseconds / 1000000,
                            .tv_nsec = (long)(microseconds % 1000000) * 1000};
    (void)nanosleep(&time, NULL);
}

static void execute(struct task *task)
{
    if (task->kind == GPU_MEMCPY)
        memcpy(task->to, task->from, task->bytes);
    else if (task->kind == GPU_MEMSET)
        memset(task->to, task->value, task->bytes);
    else if (task->kernel != NULL)
        task->kernel(task->argument);
    else
        spin(task->spin_us);
}

/* Under the stream's lock. */
static struct task *take(openregStream_t stream)
{
    while (stream->first == NULL && !stream->ending)
        pthread_cond_wait(&stream->changed, &stream->lock);
    struct task *task = stream->first;
    if (task != NULL)
        stream->first = task->next;
    if (stream->first == NULL)
        stream->last = &stream->first;
    return task;
}

static void *work(void *argument)
{
    openregStream_t stream = argument;
    struct task *task;
    pthread_mutex_lock(&stream->lock);
    while ((task = take(stream)) != NULL) {
        pthread_mutex_unlock(&stream->lock);
        uint64_t start = trace_now();
        execute(task);
        trace_work(&task->origin, task->kind, task->name, stream->id, start, task->bytes);
        free(task);
        pthread_mutex_lock(&stream->lock);
        stream->done++;
        pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

/* ---- streams ---- */

static void give_back(openregStream_t stream)
{
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}

/* Under the lock. */
static int make_stream(openregStream_t *place)
{
    openregStream_t stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return ENOMEM;
    stream->id = next_id;
    stream->last = &stream->first;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    int error = pthread_create(&stream->thread, NULL, work, stream);
    if (error != 0) {
        give_back(stream);
        return error;
    }
    next_id++;
    *place = stream;
    return 0;
}

/* Under the lock. The default stream is made when it is first wanted, and is number 0. */
static int make_default(void)
{
    return streams[0] != NULL ? 0 : make_stream(&streams[0]);
}

static int create(openregStream_t *stream)
{
    pthread_mutex_lock(&lock);
    int error = make_default();
    unsigned place = 1;
    while (place < MOST_STREAMS && streams[place] != NULL)
        place++;
    if (error == 0)
        error = place < MOST_STREAMS ? make_stream(&streams[place]) : EAGAIN;
    if (error == 0)
        *stream = streams[place];
    pthread_mutex_unlock(&lock);
    return error;
}

static openregStream_t resolve(openregStream_t stream)
{
    if (stream != NULL)
        return stream;
    pthread_mutex_lock(&lock);
    (void)make_default();
    stream = streams[0];
    pthread_mutex_unlock(&lock);
    return stream;
}

/* False if it is not done at `deadline` (CLOCK_REALTIME; NULL: never). */
static bool wait_for(openregStream_t stream, const struct timespec *deadline)
{
    int error = 0;
    pthread_mutex_lock(&stream->lock);
    uint64_t goal = stream->given;
    while (stream->done < goal && error == 0)
        error = deadline != NULL ? pthread_cond_timedwait(&stream->changed, &stream->lock, deadline)
                                 : pthread_cond_wait(&stream->changed, &stream->lock);
    bool done = stream->done >= goal;
    pthread_mutex_unlock(&stream->lock);
    return done;
}

static int destroy(openregStream_t stream)
{
    unsigned place = 1;
    pthread_mutex_lock(&lock);
    while (place < MOST_STREAMS && streams[place] != stream)
        place++;
    if (place < MOST_STREAMS)
        streams[place] = NULL;
    pthread_mutex_unlock(&lock);
    if (place == MOST_STREAMS || stream == NULL)
        return EINVAL;
    pthread_mutex_lock(&stream->lock);
    stream->ending = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    (void)pthread_join(stream->thread, NULL);
    give_back(stream);
    return 0;
}

/* A stream that is destroyed meanwhile waits for its work itself, and for us at the lock. */
static bool wait_for_all(const struct timespec *deadline)
{
    bool done = true;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MOST_STREAMS; i++)
        if (streams[i] != NULL)
            done = wait_for(streams[i], deadline) && done;
    pthread_mutex_unlock(&lock);
    return done;
}

bool device_wait(unsigned seconds)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += seconds;
    return wait_for_all(&deadline);
}

/* ---- launches ---- */

static int launch(const struct trace_call *call, openregStream_t stream, const struct task *what,
                  const char *name)
{
    stream = resolve(stream);
    struct task *task = malloc(sizeof *task);
    if (stream == NULL || task == NULL) {
        free(task);
        return ENOMEM;
    }
    *task = *what;
    task->next = NULL;
    strncpy(task->name, name, NAME_BYTES - 1);
    task->name[NAME_BYTES - 1] = '\0';
    pthread_mutex_lock(&stream->lock);
    task->origin = trace_launch(call, task->kind);
    *stream->last = task;
    stream->last = &task->next;
    stream->given++;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return 0;
}

/* ---- the runtime's calls, each with a hook at either end ---- */

int openregStreamCreate(openregStream_t *stream)
{
    struct trace_call call;
    trace_call_begin(&call, "openregStreamCreate");
    int error = stream != NULL ? create(stream) : EINVAL;
    trace_call_end(&call);
    return error;
}

int openregStreamDestroy(openregStream_t stream)
{
    struct trace_call call;
    trace_call_begin(&call, "openregStreamDestroy");
    int error = destroy(stream);
    trace_call_end(&call);
    return error;
}

int openregLaunchKernel(const char *name, openregKernel_t kernel, void *argument,
                        openregStream_t stream)
{
    struct task task = {.kind = CONCURRENT_KERNEL, .kernel = kernel, .argument = argument};
    struct trace_call call;
    trace_call_begin(&call, "openregLaunchKernel");
    int error = name != NULL && kernel != NULL ? launch(&call, stream, &task, name) : EINVAL;
    trace_call_end(&call);
    return error;
}

int openregSpin(const char *name, unsigned microseconds, openregStream_t stream)
{
    struct task task = {.kind = CONCURRENT_KERNEL, .spin_us = microseconds};
    struct trace_call call;
    trace_call_begin(&call, "openregSpin");
    int error = name != NULL ? launch(&call, stream, &task, name) : EINVAL;
    trace_call_end(&call);
    return error;
}

int openregMalloc(void **memory, size_t bytes)
{
    struct trace_call call;
    trace_call_begin(&call, "openregMalloc");
    int error = memory == NULL ? EINVAL : 0;
    if (error == 0) {
        *memory = malloc(bytes > 0 ? bytes : 1);
        error = *memory != NULL ? 0 : ENOMEM;
    }
    trace_call_end(&call);
    return error;
}

int openregFree(void *memory)
{
    struct trace_call call;
    trace_call_begin(&call, "openregFree");
    free(memory);
    trace_call_end(&call);
    return 0;
}

int openregMemcpyAsync(void *to, const void *from, size_t bytes, openregStream_t stream)
{
    struct task task = {.kind = GPU_MEMCPY, .to = to, .from = from, .bytes = bytes};
    struct trace_call call;
    trace_call_begin(&call, "openregMemcpyAsync");
    int error = to != NULL && from != NULL ? launch(&call, stream, &task, "Memcpy") : EINVAL;
    trace_call_end(&call);
    return error;
}

int openregMemsetAsync(void *memory, int value, size_t bytes, openregStream_t stream)
{
    struct task task = {.kind = GPU_MEMSET, .to = memory, .value = value, .bytes = bytes};
    struct trace_call call;
    trace_call_begin(&call, "openregMemsetAsync");
    int error = memory != NULL ? launch(&call, stream, &task, "Memset") : EINVAL;
    trace_call_end(&call);
    return error;
}

int openregStreamSynchronize(openregStream_t stream)
{
    struct trace_call call;
    trace_call_begin(&call, "openregStreamSynchronize");
    stream = resolve(stream);
    if (stream != NULL)
        (void)wait_for(stream, NULL);
    trace_call_end(&call);
    return stream != NULL ? 0 : ENOMEM;
}

int openregDeviceSynchronize(void)
{
    struct trace_call call;
    trace_call_begin(&call, "openregDeviceSynchronize");
    (void)wait_for_all(NULL);
    trace_call_end(&call);
    return 0;
}
