/* The workloads, each as a program would do it that knows nothing of a profiler. */
#include "work.h"

#include <hip/hip_runtime_api.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_STREAMS 16u
#define WAIT_EVERY   1024u /* kernels between two waits */
#define COPY_BYTES   ((size_t)64 << 10)
#define STEP_NODES   300u /* of a decode step, as rtl demo has them */
#define STEP_EVERY   20u  /* one node in so many is a longer one */

static hipStream_t new_stream(void)
{
    hipStream_t stream;
    work_must(hipStreamCreate(&stream), "creating a stream");
    return stream;
}

static void launch(struct work *work, enum work_kernel kernel, hipStream_t stream)
{
    work_must(work_launch_kernel(kernel, stream, work->sink), "launching a kernel");
    ++work->kernels;
}

static void wait_for(hipStream_t stream)
{
    work_must(hipStreamSynchronize(stream), "waiting for a stream");
}

/* One kernel of each stream, so that code and queues are there. */
static void warm_up(struct work *work, enum work_kernel kernel, hipStream_t *streams,
                    unsigned count)
{
    for (unsigned i = 0; i < count; ++i)
        launch(work, kernel, streams[i]);
}

/* `detail` streams in turn. */
static void run_short(struct work *work, unsigned detail)
{
    hipStream_t streams[MOST_STREAMS] = {0};
    for (unsigned i = 0; i < detail; ++i)
        streams[i] = new_stream();
    warm_up(work, WORK_SHORT, streams, detail);
    work_begin(work);
    unsigned turn = 0;
    for (uint64_t i = 0; i < work->goal; ++i) {
        launch(work, WORK_SHORT, streams[turn]);
        if (i % WAIT_EVERY == WAIT_EVERY - 1)
            wait_for(streams[turn]);
        turn = turn + 1 < detail ? turn + 1 : 0;
    }
    work_end(work);
    for (unsigned i = 0; i < detail; ++i)
        work_must(hipStreamDestroy(streams[i]), "destroying a stream");
}

/* Each kernel is waited for. */
static void run_long(struct work *work, unsigned detail)
{
    (void)detail;
    hipStream_t stream = new_stream();
    warm_up(work, WORK_LONG, &stream, 1);
    work_begin(work);
    for (uint64_t i = 0; i < work->goal; ++i) {
        launch(work, WORK_LONG, stream);
        wait_for(stream);
    }
    work_end(work);
    work_must(hipStreamDestroy(stream), "destroying a stream");
}

/* A graph of `nodes` kernels in a row, `every`-th of them longer ones; 0: none. */
static hipGraphExec_t capture(struct work *work, hipStream_t stream, unsigned nodes, unsigned every)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    work_must(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), "beginning a capture");
    for (unsigned i = 0; i < nodes; ++i)
        work_must(work_launch_kernel(every && i % every == 0 ? WORK_MEDIUM : WORK_SHORT, stream,
                                     work->sink),
                  "capturing a kernel");
    work_must(hipStreamEndCapture(stream, &graph), "ending a capture");
    work_must(hipGraphInstantiate(&exec, graph, NULL, NULL, 0), "instantiating a graph");
    work_must(hipGraphDestroy(graph), "destroying a captured graph");
    return exec;
}

static void replay(struct work *work, hipGraphExec_t exec, unsigned nodes, hipStream_t stream)
{
    work_must(hipGraphLaunch(exec, stream), "launching a graph");
    work->kernels += nodes;
}

static uint64_t launches_of(const struct work *work, unsigned nodes)
{
    return work->goal < nodes ? 1 : work->goal / nodes;
}

static void run_graph(struct work *work, unsigned nodes)
{
    hipStream_t stream = new_stream();
    warm_up(work, WORK_SHORT, &stream, 1);
    hipGraphExec_t exec = capture(work, stream, nodes, 0);
    replay(work, exec, nodes, stream);
    work_begin(work);
    for (uint64_t i = 0; i < launches_of(work, nodes); ++i)
        replay(work, exec, nodes, stream);
    work_end(work);
    work_must(hipGraphExecDestroy(exec), "destroying a graph");
    work_must(hipStreamDestroy(stream), "destroying a stream");
}

static void copy(struct work *work, void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                 hipStream_t stream)
{
    work_must(hipMemcpyAsync(to, from, bytes, kind, stream), "copying");
    ++work->copies;
}

/* In, a kernel, out, as a pipeline does it. */
static void run_copies(struct work *work, unsigned detail)
{
    (void)detail;
    hipStream_t stream = new_stream();
    void *host;
    void *device;
    work_must(hipHostMalloc(&host, COPY_BYTES, hipHostMallocDefault), "allocating pinned memory");
    work_must(hipMalloc(&device, COPY_BYTES), "allocating GPU memory");
    warm_up(work, WORK_SHORT, &stream, 1);
    copy(work, device, host, COPY_BYTES, hipMemcpyHostToDevice, stream);
    work_begin(work);
    for (uint64_t i = 0; i < work->goal; ++i) {
        copy(work, device, host, COPY_BYTES, hipMemcpyHostToDevice, stream);
        launch(work, WORK_SHORT, stream);
        copy(work, host, device, COPY_BYTES, hipMemcpyDeviceToHost, stream);
        if (i % 16 == 15)
            wait_for(stream);
    }
    work_end(work);
    work_must(hipFree(device), "freeing GPU memory");
    work_must(hipHostFree(host), "freeing pinned memory");
    work_must(hipStreamDestroy(stream), "destroying a stream");
}

static void *submit_in_thread(void *argument)
{
    struct work *work = argument;
    hipStream_t stream = new_stream();
    for (uint64_t i = 0; i < work->goal; ++i) {
        launch(work, WORK_SHORT, stream);
        if (i % WAIT_EVERY == WAIT_EVERY - 1)
            wait_for(stream);
    }
    wait_for(stream);
    work_must(hipStreamDestroy(stream), "destroying a stream");
    return NULL;
}

/* `count` threads with a stream each. */
static void run_threads(struct work *work, unsigned count)
{
    pthread_t threads[MOST_STREAMS];
    struct work parts[MOST_STREAMS];
    hipStream_t stream = new_stream();
    warm_up(work, WORK_SHORT, &stream, 1);
    work_begin(work);
    for (unsigned i = 0; i < count; ++i) {
        parts[i] = (struct work){.goal = (work->goal + count - 1) / count, .sink = work->sink};
        if (pthread_create(&threads[i], NULL, submit_in_thread, &parts[i]) != 0)
            work_must(hipErrorOutOfMemory, "making a thread");
    }
    for (unsigned i = 0; i < count; ++i) {
        (void)pthread_join(threads[i], NULL);
        work->kernels += parts[i].kernels;
    }
    work_end(work);
    work_must(hipStreamDestroy(stream), "destroying a stream");
}

struct step {
    hipStream_t compute, sample;
    hipEvent_t stepped;
    hipGraphExec_t exec;
    int *in, *out; /* pinned */
};

/* A token in, the graph of a step, sampling on a second stream, the token out, which is waited for.
 */
static void decode_step(struct work *work, const struct step *step)
{
    copy(work, work->sink, step->in, sizeof *step->in, hipMemcpyHostToDevice, step->compute);
    replay(work, step->exec, STEP_NODES, step->compute);
    work_must(hipEventRecord(step->stepped, step->compute), "recording an event");
    work_must(hipStreamWaitEvent(step->sample, step->stepped, 0), "waiting for an event");
    launch(work, WORK_MEDIUM, step->sample);
    copy(work, step->out, work->sink, sizeof *step->out, hipMemcpyDeviceToHost, step->sample);
    wait_for(step->sample);
}

static void run_decode(struct work *work, unsigned detail)
{
    (void)detail;
    struct step step = {.compute = new_stream(), .sample = new_stream()};
    work_must(hipHostMalloc((void **)&step.in, sizeof *step.in, hipHostMallocDefault),
              "allocating pinned memory");
    work_must(hipHostMalloc((void **)&step.out, sizeof *step.out, hipHostMallocDefault),
              "allocating pinned memory");
    work_must(hipEventCreateWithFlags(&step.stepped, hipEventDisableTiming), "creating an event");
    warm_up(work, WORK_MEDIUM, (hipStream_t[]){step.compute, step.sample}, 2);
    *step.in = 0;
    step.exec = capture(work, step.compute, STEP_NODES, STEP_EVERY);
    decode_step(work, &step);
    work_begin(work);
    for (uint64_t i = 0; i < launches_of(work, STEP_NODES + 1); ++i)
        decode_step(work, &step);
    work_end(work);
    work_must(hipGraphExecDestroy(step.exec), "destroying a graph");
    work_must(hipEventDestroy(step.stepped), "destroying an event");
    work_must(hipHostFree(step.in), "freeing pinned memory");
    work_must(hipHostFree(step.out), "freeing pinned memory");
    work_must(hipStreamDestroy(step.compute), "destroying a stream");
    work_must(hipStreamDestroy(step.sample), "destroying a stream");
}

const struct workload workloads[] = {
    {"eager", run_short, 1, 20000},        {"long", run_long, 0, 500},
    {"streams", run_short, 8, 20000},      {"graph-64", run_graph, 64, 64000},
    {"graph-512", run_graph, 512, 102400}, {"graph-4096", run_graph, 4096, 102400},
    {"copies", run_copies, 0, 1000},       {"threads", run_threads, 8, 20000},
    {"decode", run_decode, 0, 30000},      {NULL, NULL, 0, 0},
};
