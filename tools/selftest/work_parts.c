/* The parts, each with kernels of its own. What the GPU is to compute the host does, too. */
#include "selftest/work.h"

#include "selftest/kernels.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* EAGER kernels follow without a wait. The more they are, the more often HIP 6.4.3 crashes in its
 * handler of signals, without RTL as well; fewer than its limit of a batch (1000) make that rare.
 */
#define ITEMS         256u
#define BLOCK         64u
#define MOST_STEPS    64u /* of a graph */
#define TIMES         8u
#define EAGER         800u
#define ORDER         200u
#define GRAPH_NODES   40u
#define REPLAYS       50u
#define FORK_NODES    5u
#define SIDES         4u /* streams, and threads */
#define SIDE_LAUNCHES 200u
#define COPIES        8u
#define COPY_BYTES    ((size_t)1 << 20)
#define EVENTS        20u
#define TIMED         3u
#define HOLD_ROUNDS   300000u /* while the host submits what is timed */
#define TIMED_ROUNDS  200000u

static _Atomic uint64_t eager[WORK_KERNEL_COUNT], replayed[WORK_KERNEL_COUNT];
static unsigned graphs; /* instantiated */

/* Numbers on the device, and what they should be. */
struct numbers {
    unsigned *device, *host; /* host: pinned */
    unsigned wanted[ITEMS];
};

/* A kernel to be launched. HIP 5.2's graphs keep the array of arguments itself, so that it stays
 * where it is as long as they live. */
struct step {
    enum work_kernel kernel;
    struct numbers *numbers;
    unsigned *values;
    unsigned count, amount, rounds;
    void *arguments[4];
};

struct graph {
    hipGraphExec_t exec;
    unsigned number, generation, launches;
    unsigned nodes;
    struct step steps[MOST_STEPS];
};

static uint64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static hipStream_t new_stream(void)
{
    hipStream_t stream;
    HIP(hipStreamCreate, &stream);
    return stream;
}

static _Atomic uint64_t moves_in, moves_out; /* copies of numbers */

static struct numbers *new_numbers(hipStream_t stream)
{
    struct numbers *numbers = calloc(1, sizeof *numbers);
    if (!numbers)
        work_fail("memory is short");
    HIP(hipMalloc, (void **)&numbers->device, sizeof numbers->wanted);
    HIP(hipHostMalloc, (void **)&numbers->host, sizeof numbers->wanted, hipHostMallocDefault);
    for (unsigned i = 0; i < ITEMS; ++i)
        numbers->host[i] = numbers->wanted[i] = i * 2654435761u;
    HIP(hipMemcpyAsync, numbers->device, numbers->host, sizeof numbers->wanted,
        hipMemcpyHostToDevice, stream);
    (void)atomic_fetch_add(&moves_in, 1);
    HIP(hipStreamSynchronize, stream);
    return numbers;
}

/* FNV-1a */
static uint64_t sum_of(const unsigned *values, size_t count)
{
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < count; ++i)
        sum = (sum ^ values[i]) * 0x100000001B3u;
    return sum;
}

static void tell_result(FILE *known, const char *part, uint64_t wanted, uint64_t seen)
{
    (void)fprintf(known, "result %s %016" PRIx64 " %016" PRIx64 "\n", part, wanted, seen);
}

/* Waits for the stream, tells the result, and gives the numbers back. */
static void end_numbers(FILE *known, const char *part, struct numbers *numbers, hipStream_t stream)
{
    HIP(hipMemcpyAsync, numbers->host, numbers->device, sizeof numbers->wanted,
        hipMemcpyDeviceToHost, stream);
    (void)atomic_fetch_add(&moves_out, 1);
    HIP(hipStreamSynchronize, stream);
    tell_result(known, part, sum_of(numbers->wanted, ITEMS), sum_of(numbers->host, ITEMS));
    HIP(hipHostFree, numbers->host);
    HIP(hipFree, numbers->device);
    free(numbers);
}

static void fill_in(struct step *step)
{
    step->values = step->numbers->device;
    step->arguments[0] = &step->values;
    step->arguments[1] = &step->count;
    step->arguments[2] = &step->amount;
    step->arguments[3] = &step->rounds;
}

/* What the device does with a step. */
static void follow(const struct step *step)
{
    for (unsigned i = 0; i < step->count; ++i)
        SELFTEST_ITEM(step->numbers->wanted, i, step->amount, step->rounds);
}

static void launch_step(struct step *step, hipStream_t stream)
{
    fill_in(step);
    HIP(hipModuleLaunchKernel, work_functions[step->kernel], ITEMS / BLOCK, 1, 1, BLOCK, 1, 1, 0,
        stream, step->arguments, NULL);
    follow(step);
    (void)atomic_fetch_add(&eager[step->kernel], 1);
}

static void launch(enum work_kernel kernel, struct numbers *numbers, unsigned amount,
                   hipStream_t stream)
{
    struct step step = {
        .kernel = kernel, .numbers = numbers, .count = ITEMS, .amount = amount, .rounds = 1};
    launch_step(&step, stream);
}

/* One number, for so long. */
static void launch_long(enum work_kernel kernel, struct numbers *numbers, unsigned rounds,
                        hipStream_t stream)
{
    struct step step = {
        .kernel = kernel, .numbers = numbers, .count = 1, .amount = rounds, .rounds = rounds};
    launch_step(&step, stream);
}

static void tell_time(FILE *known, const char *part, uint64_t begin, uint64_t kernels)
{
    (void)fprintf(known, "time %s %" PRIu64 " %" PRIu64 "\n", part, now() - begin, kernels);
}

/* Several times, as what the machine does besides makes most of them longer. */
static void run_eager(FILE *known)
{
    hipStream_t stream = new_stream();
    struct numbers *numbers = new_numbers(stream);
    launch(KERNEL_rtl_selftest_warm, numbers, 1, stream);
    for (unsigned time = 0; time < TIMES; ++time) {
        HIP(hipStreamSynchronize, stream);
        uint64_t begin = now();
        for (unsigned i = 0; i < EAGER; ++i)
            launch(i % 3 ? KERNEL_rtl_selftest_eager_a : KERNEL_rtl_selftest_eager_b, numbers, i,
                   stream);
        HIP(hipStreamSynchronize, stream);
        tell_time(known, "eager", begin, EAGER);
    }
    end_numbers(known, "eager", numbers, stream);
    HIP(hipStreamDestroy, stream);
}

/* Three kernels in an order that has no pattern. */
static void run_order(FILE *known)
{
    hipStream_t stream = new_stream();
    struct numbers *numbers = new_numbers(stream);
    char letters[ORDER + 1] = "";
    uint32_t random = 1;
    for (unsigned i = 0; i < ORDER; ++i) {
        random = random * 1103515245u + 12345u;
        unsigned which = (random >> 16) % 3;
        letters[i] = (char)('a' + which);
        launch((enum work_kernel)(KERNEL_rtl_selftest_order_a + which), numbers, i, stream);
    }
    (void)fprintf(known, "order %s\n", letters);
    end_numbers(known, "order", numbers, stream);
    HIP(hipStreamDestroy, stream);
}

static void begin_capture(hipStream_t stream)
{
    HIP(hipStreamBeginCapture, stream, hipStreamCaptureModeGlobal);
}

static void capture(struct graph *graph, enum work_kernel kernel, struct numbers *numbers,
                    unsigned amount, hipStream_t stream)
{
    struct step *step = &graph->steps[graph->nodes++];
    *step = (struct step){
        .kernel = kernel, .numbers = numbers, .count = ITEMS, .amount = amount, .rounds = 1};
    fill_in(step);
    HIP(hipLaunchKernel, &work_stubs[kernel], (dim3){ITEMS / BLOCK, 1, 1}, (dim3){BLOCK, 1, 1},
        step->arguments, 0, stream);
}

static void instantiate(struct graph *graph, hipStream_t stream)
{
    hipGraph_t made;
    HIP(hipStreamEndCapture, stream, &made);
    HIP(hipGraphInstantiate, &graph->exec, made, NULL, NULL, 0);
    HIP(hipGraphDestroy, made);
    graph->number = ++graphs;
    graph->generation = 1;
}

static void replay(struct graph *graph, hipStream_t stream)
{
    HIP(hipGraphLaunch, graph->exec, stream);
    for (unsigned i = 0; i < graph->nodes; ++i) {
        follow(&graph->steps[i]);
        (void)atomic_fetch_add(&replayed[graph->steps[i].kernel], 1);
    }
    ++graph->launches;
}

static void tell_graph(FILE *known, const struct graph *graph)
{
    (void)fprintf(known, "graph %u %u %u %u\n", graph->number, graph->generation, graph->launches,
                  graph->nodes);
}

static void run_graph(FILE *known)
{
    static struct graph graph;
    hipStream_t stream = new_stream();
    struct numbers *numbers = new_numbers(stream);
    begin_capture(stream);
    for (unsigned i = 0; i < GRAPH_NODES; ++i)
        capture(&graph, i % 4 ? KERNEL_rtl_selftest_graph_a : KERNEL_rtl_selftest_graph_b, numbers,
                i, stream);
    instantiate(&graph, stream);
    replay(&graph, stream);
    for (unsigned time = 0; time < TIMES; ++time) {
        HIP(hipStreamSynchronize, stream);
        uint64_t begin = now();
        for (unsigned i = 0; i < REPLAYS; ++i)
            replay(&graph, stream);
        HIP(hipStreamSynchronize, stream);
        tell_time(known, "graph", begin, (uint64_t)REPLAYS * GRAPH_NODES);
    }
    tell_graph(known, &graph);
    end_numbers(known, "graph", numbers, stream);
    HIP(hipGraphExecDestroy, graph.exec);
    HIP(hipStreamDestroy, stream);
}

/* A capture that forks into a second stream and joins it again. */
static void run_fork(FILE *known)
{
    static struct graph graph;
    hipStream_t stream = new_stream();
    hipStream_t side = new_stream();
    hipEvent_t forked;
    hipEvent_t joined;
    struct numbers *left = new_numbers(stream);
    struct numbers *right = new_numbers(stream);
    HIP(hipEventCreate, &forked);
    HIP(hipEventCreate, &joined);
    begin_capture(stream);
    capture(&graph, KERNEL_rtl_selftest_fork_top, right, 1, stream);
    HIP(hipEventRecord, forked, stream);
    HIP(hipStreamWaitEvent, side, forked, 0);
    for (unsigned i = 0; i < FORK_NODES; ++i) {
        capture(&graph, KERNEL_rtl_selftest_fork_left, left, 10 + i, stream);
        capture(&graph, KERNEL_rtl_selftest_fork_right, right, 20 + i, side);
    }
    HIP(hipEventRecord, joined, side);
    HIP(hipStreamWaitEvent, stream, joined, 0);
    capture(&graph, KERNEL_rtl_selftest_fork_join, right, 2, stream);
    instantiate(&graph, stream);
    for (unsigned i = 0; i < REPLAYS; ++i)
        replay(&graph, stream);
    tell_graph(known, &graph);
    end_numbers(known, "fork-left", left, stream);
    end_numbers(known, "fork-right", right, stream);
    HIP(hipGraphExecDestroy, graph.exec);
    HIP(hipEventDestroy, forked);
    HIP(hipEventDestroy, joined);
    HIP(hipStreamDestroy, side);
    HIP(hipStreamDestroy, stream);
}

static void capture_row(struct graph *graph, struct numbers *numbers, unsigned amount,
                        hipStream_t stream)
{
    begin_capture(stream);
    for (unsigned i = 0; i < GRAPH_NODES; ++i)
        capture(graph, KERNEL_rtl_selftest_update, numbers, amount + i, stream);
}

/* A graph that is updated from a second capture, and computes something else from then on. */
static void run_update(FILE *known)
{
    static struct graph before;
    static struct graph after;
    hipStream_t stream = new_stream();
    struct numbers *numbers = new_numbers(stream);
    hipGraph_t changed;
    hipGraphNode_t at = NULL;
    hipGraphExecUpdateResult result;
    capture_row(&before, numbers, 1000, stream);
    instantiate(&before, stream);
    for (unsigned i = 0; i < REPLAYS; ++i)
        replay(&before, stream);
    tell_graph(known, &before);
    HIP(hipStreamSynchronize, stream);
    capture_row(&after, numbers, 2000, stream);
    HIP(hipStreamEndCapture, stream, &changed);
    HIP(hipGraphExecUpdate, before.exec, changed, &at, &result);
    after.exec = before.exec;
    after.number = before.number;
    after.generation = before.generation + 1;
    for (unsigned i = 0; i < REPLAYS; ++i)
        replay(&after, stream);
    tell_graph(known, &after);
    end_numbers(known, "update", numbers, stream);
    HIP(hipGraphDestroy, changed);
    HIP(hipGraphExecDestroy, before.exec);
    HIP(hipStreamDestroy, stream);
}

/* In, from one buffer to another, a kernel, out. */
static void run_copies(FILE *known)
{
    hipStream_t stream = new_stream();
    struct numbers *numbers = new_numbers(stream);
    size_t count = COPY_BYTES / sizeof(unsigned);
    unsigned *in;
    unsigned *out;
    void *first;
    void *second;
    uint64_t wanted = 0;
    uint64_t seen = 0;
    HIP(hipHostMalloc, (void **)&in, COPY_BYTES, hipHostMallocDefault);
    HIP(hipHostMalloc, (void **)&out, COPY_BYTES, hipHostMallocDefault);
    HIP(hipMalloc, &first, COPY_BYTES);
    HIP(hipMalloc, &second, COPY_BYTES);
    for (unsigned i = 0; i < COPIES; ++i) {
        for (size_t j = 0; j < count; ++j)
            in[j] = (unsigned)j * 2654435761u + i;
        memset(out, 0, COPY_BYTES);
        HIP(hipMemcpyAsync, first, in, COPY_BYTES, hipMemcpyHostToDevice, stream);
        HIP(hipMemcpyAsync, second, first, COPY_BYTES, hipMemcpyDeviceToDevice, stream);
        launch(KERNEL_rtl_selftest_copy, numbers, i, stream);
        HIP(hipMemcpyAsync, out, second, COPY_BYTES, hipMemcpyDeviceToHost, stream);
        HIP(hipStreamSynchronize, stream);
        wanted = wanted * 31 + sum_of(in, count);
        seen = seen * 31 + sum_of(out, count);
    }
    tell_result(known, "copies", wanted, seen);
    (void)fprintf(known, "copy h2d %zu %u\ncopy d2d %zu %u\ncopy d2h %zu %u\n", COPY_BYTES, COPIES,
                  COPY_BYTES, COPIES, COPY_BYTES, COPIES);
    end_numbers(known, "copy-kernels", numbers, stream);
    HIP(hipFree, first);
    HIP(hipFree, second);
    HIP(hipHostFree, in);
    HIP(hipHostFree, out);
    HIP(hipStreamDestroy, stream);
}

static void run_streams(FILE *known)
{
    hipStream_t streams[SIDES];
    struct numbers *numbers[SIDES];
    for (unsigned i = 0; i < SIDES; ++i) {
        streams[i] = new_stream();
        numbers[i] = new_numbers(streams[i]);
    }
    for (unsigned i = 0; i < SIDE_LAUNCHES * SIDES; ++i)
        launch((enum work_kernel)(KERNEL_rtl_selftest_stream_0 + i % SIDES), numbers[i % SIDES], i,
               streams[i % SIDES]);
    (void)fprintf(known, "streams %u\n", SIDES);
    for (unsigned i = 0; i < SIDES; ++i) {
        end_numbers(known, "streams", numbers[i], streams[i]);
        HIP(hipStreamDestroy, streams[i]);
    }
}

struct side {
    enum work_kernel kernel;
    hipStream_t stream;
    struct numbers *numbers;
};

static void *run_side(void *argument)
{
    const struct side *side = argument;
    for (unsigned i = 0; i < SIDE_LAUNCHES; ++i)
        launch(side->kernel, side->numbers, i, side->stream);
    HIP(hipStreamSynchronize, side->stream);
    return NULL;
}

static void run_threads(FILE *known)
{
    pthread_t threads[SIDES];
    struct side sides[SIDES];
    for (unsigned i = 0; i < SIDES; ++i) {
        sides[i].kernel = (enum work_kernel)(KERNEL_rtl_selftest_thread_0 + i);
        sides[i].stream = new_stream();
        sides[i].numbers = new_numbers(sides[i].stream);
    }
    for (unsigned i = 0; i < SIDES; ++i)
        if (pthread_create(&threads[i], NULL, run_side, &sides[i]) != 0)
            work_fail("a thread could not be made");
    for (unsigned i = 0; i < SIDES; ++i)
        (void)pthread_join(threads[i], NULL);
    (void)fprintf(known, "threads %u\n", SIDES);
    for (unsigned i = 0; i < SIDES; ++i) {
        end_numbers(known, "threads", sides[i].numbers, sides[i].stream);
        HIP(hipStreamDestroy, sides[i].stream);
    }
}

/* The stream is held up by a long kernel while the host submits, so that no time of the host's is
 * between the events. */
static void run_events(FILE *known)
{
    hipStream_t stream = new_stream();
    struct numbers *numbers = new_numbers(stream);
    hipEvent_t begin;
    hipEvent_t end;
    HIP(hipEventCreate, &begin);
    HIP(hipEventCreate, &end);
    for (unsigned i = 0; i < EVENTS; ++i) {
        float ms = 0;
        launch_long(KERNEL_rtl_selftest_hold, numbers, HOLD_ROUNDS, stream);
        HIP(hipEventRecord, begin, stream);
        for (unsigned j = 0; j < TIMED; ++j)
            launch_long(KERNEL_rtl_selftest_timed, numbers, TIMED_ROUNDS, stream);
        HIP(hipEventRecord, end, stream);
        HIP(hipEventSynchronize, end);
        HIP(hipEventElapsedTime, &ms, begin, end);
        (void)fprintf(known, "event %.0f %u\n", (double)ms * 1e6, TIMED);
    }
    end_numbers(known, "events", numbers, stream);
    HIP(hipEventDestroy, begin);
    HIP(hipEventDestroy, end);
    HIP(hipStreamDestroy, stream);
}

void work_parts(FILE *known)
{
    run_eager(known);
    run_order(known);
    run_graph(known);
    run_fork(known);
    run_update(known);
    run_copies(known);
    run_streams(known);
    run_threads(known);
    run_events(known);
    (void)fprintf(known, "copy h2d %zu %" PRIu64 "\ncopy d2h %zu %" PRIu64 "\n",
                  ITEMS * sizeof(unsigned), atomic_load(&moves_in), ITEMS * sizeof(unsigned),
                  atomic_load(&moves_out));
    for (unsigned i = 0; i < WORK_KERNEL_COUNT; ++i)
        (void)fprintf(known, "kernel %s %" PRIu64 " %" PRIu64 "\n", work_kernel_names[i],
                      atomic_load(&eager[i]), atomic_load(&replayed[i]));
}
