/* What a program may do with its own completion signals, and what it may not. */
#include "fault.h"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void destroy(hsa_signal_t signal)
{
    gpu_must(hsa_signal_destroy(signal), "signal");
}

/* Where the value lies, for a program that goes by the memory. (hsa_amd_signal_value_pointer tells
 * it of some signals only.) */
static _Atomic int64_t *memory_of(hsa_signal_t signal)
{
    return (_Atomic int64_t *)(uintptr_t) & ((amd_signal_t *)(uintptr_t)signal.handle)->value;
}

/* For signals that are not made for waiting. */
static void look_until_done(hsa_signal_t signal)
{
    while (hsa_signal_load_scacquire(signal) >= 1)
        (void)usleep(20);
}

/* ---- armed again ---- */

/* Every way from 0 back to 1. */
#define SET(name)                                                                                  \
    static void name(hsa_signal_t signal)                                                          \
    {                                                                                              \
        hsa_signal_##name(signal, 1);                                                              \
    }
#define CAS(name)                                                                                  \
    static void name(hsa_signal_t signal)                                                          \
    {                                                                                              \
        (void)hsa_signal_##name(signal, 0, 1);                                                     \
    }
SET(store_relaxed)
SET(store_screlease)
SET(silent_store_relaxed)
SET(silent_store_screlease)
SET(add_relaxed)
SET(add_scacquire)
SET(add_screlease)
SET(add_scacq_screl)
SET(or_relaxed)
SET(or_screlease)
SET(xor_relaxed)
SET(xor_screlease)
SET(exchange_relaxed)
SET(exchange_scacquire)
SET(exchange_screlease)
SET(exchange_scacq_screl)
CAS(cas_relaxed)
CAS(cas_scacquire)
CAS(cas_screlease)
CAS(cas_scacq_screl)

static void subtract(hsa_signal_t signal)
{
    hsa_signal_subtract_screlease(signal, -1);
}

static void write_memory(hsa_signal_t signal)
{
    atomic_store(memory_of(signal), 1);
}

static const struct {
    const char *name;
    void (*arm)(hsa_signal_t signal);
} arming[] = {{"store_relaxed", store_relaxed},
              {"store_screlease", store_screlease},
              {"silent_store_relaxed", silent_store_relaxed},
              {"silent_store_screlease", silent_store_screlease},
              {"exchange_relaxed", exchange_relaxed},
              {"exchange_scacquire", exchange_scacquire},
              {"exchange_screlease", exchange_screlease},
              {"exchange_scacq_screl", exchange_scacq_screl},
              {"cas_relaxed", cas_relaxed},
              {"cas_scacquire", cas_scacquire},
              {"cas_screlease", cas_screlease},
              {"cas_scacq_screl", cas_scacq_screl},
              {"add_relaxed", add_relaxed},
              {"add_scacquire", add_scacquire},
              {"add_screlease", add_screlease},
              {"add_scacq_screl", add_scacq_screl},
              {"subtract", subtract},
              {"or_relaxed", or_relaxed},
              {"or_screlease", or_screlease},
              {"xor_relaxed", xor_relaxed},
              {"xor_screlease", xor_screlease},
              {"memory", write_memory}};

/* The times that the program reads from its signal are those of its latest kernel. */
static void rearm(struct gpu *gpu)
{
    enum { ROUNDS = 100 };
    hsa_queue_t *queue = gpu_queue(gpu, 64);
    gpu_must(hsa_amd_profiling_set_profiler_enabled(queue, 1), "profiling");
    for (size_t way = 0; way < sizeof arming / sizeof *arming; way++) {
        hsa_signal_t signal = gpu_signal(0);
        unsigned later = 0;
        uint64_t latest = 0;
        for (int i = 0; i < ROUNDS; i++) {
            hsa_amd_profiling_dispatch_time_t time = {0};
            arming[way].arm(signal);
            fault_dispatch(gpu, queue, (uint32_t)i % GPU_KERNELS, signal);
            fault_wait(signal);
            gpu_must(hsa_amd_profiling_get_dispatch_time(gpu->agent, signal, &time), "times");
            later += time.start >= latest && time.end > time.start;
            latest = time.end;
        }
        (void)printf("%s: %u of %d kernels with times of their own\n", arming[way].name, later,
                     ROUNDS);
        destroy(signal);
    }
    gpu_must(hsa_queue_destroy(queue), "queue");
}

/* ---- changed while the kernel runs ---- */

static void take_one(hsa_signal_t signal)
{
    hsa_signal_subtract_relaxed(signal, 1);
}

static void and_nothing(hsa_signal_t signal)
{
    hsa_signal_and_scacq_screl(signal, 0);
}

static void or_two(hsa_signal_t signal)
{
    hsa_signal_or_scacq_screl(signal, 2);
}

static void xor_one(hsa_signal_t signal)
{
    hsa_signal_xor_scacq_screl(signal, 1);
}

static void add_five(hsa_signal_t signal)
{
    hsa_signal_add_screlease(signal, 5);
}

static void store_nine(hsa_signal_t signal)
{
    hsa_signal_store_screlease(signal, 9);
}

static void memory_zero(hsa_signal_t signal)
{
    atomic_store(memory_of(signal), 0);
}

static const struct {
    const char *name;
    void (*change)(hsa_signal_t signal);
    hsa_signal_value_t then; /* after the kernel */
} changes[] = {{"subtract", take_one, -1},
               {"and", and_nothing, -1},
               {"or", or_two, 2},
               {"xor", xor_one, -1},
               {"add", add_five, 5},
               {"store", store_nine, 8},
               {"memory to 0", memory_zero, -1}};

/* A gate holds the kernel while the program changes its signal, which has seen a kernel before. */
static void change_one(struct gpu *gpu, hsa_queue_t *queue, size_t which)
{
    hsa_signal_t gate = gpu_signal(1);
    hsa_signal_t signal = gpu_signal(1);
    fault_dispatch(gpu, queue, 0, signal);
    fault_wait(signal);
    hsa_signal_store_relaxed(signal, 1);
    union fault_packet packets[] = {fault_barrier(gate, fault_none()),
                                    fault_kernel(gpu, 1, signal, true)};
    (void)fault_submit(queue, packets, 2);
    changes[which].change(signal);
    hsa_signal_store_screlease(gate, 0);
    fault_wait_for(signal, changes[which].then);
    destroy(signal);
    destroy(gate);
}

static void change(struct gpu *gpu)
{
    hsa_queue_t *queue = gpu_queue(gpu, 64);
    for (size_t which = 0; which < sizeof changes / sizeof *changes; which++) {
        for (int round = 0; round < 20; round++)
            change_one(gpu, queue, which);
        (void)printf("%s: %lld after the kernel\n", changes[which].name,
                     (long long)changes[which].then);
    }
    gpu_must(hsa_queue_destroy(queue), "queue");
}

/* Thousands of signals that are armed by a write to their memory and never used again, over more
 * kernels than any ring of records holds. */
static void memory(struct gpu *gpu)
{
    enum { BATCH = 256, BATCHES = 100 };
    static hsa_signal_t signals[BATCHES][BATCH];
    static union fault_packet packets[BATCH];
    hsa_queue_t *queue = gpu_queue(gpu, BATCH);
    for (int round = 0; round < BATCHES; round++) {
        for (int i = 0; i < BATCH; i++) {
            gpu_must(
                hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signals[round][i]),
                "signal");
            packets[i] = fault_kernel(gpu, (uint32_t)i % GPU_KERNELS, signals[round][i], false);
        }
        (void)fault_submit(queue, packets, BATCH);
        for (int i = 0; i < BATCH; i++) {
            look_until_done(signals[round][i]);
            write_memory(signals[round][i]);
        }
    }
    gpu_drain(gpu, queue);
    gpu_must(hsa_queue_destroy(queue), "queue");
    for (int round = 0; round < BATCHES; round++)
        for (int i = 0; i < BATCH; i++)
            destroy(signals[round][i]);
}

/* ---- destroyed ---- */

/* Nothing is made while a packet holds the handle of a signal that is gone: its memory may be
 * anybody's. */
static void destroyed(struct gpu *gpu)
{
    enum { ROUNDS = 20 };
    hsa_queue_t *queue = gpu_queue(gpu, 64);
    hsa_signal_t gate = gpu_signal(0);
    hsa_signal_t done = gpu_signal(0);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        hsa_signal_t signal = gpu_signal(1 + i % 2); /* borrowed, replaced */
        hsa_signal_store_relaxed(gate, 1);
        hsa_signal_store_relaxed(done, 1);
        union fault_packet packets[] = {fault_barrier(gate, fault_none()),
                                        fault_kernel(gpu, 0, signal, true),
                                        fault_kernel(gpu, 1, done, true)};
        (void)fault_submit(queue, packets, 3);
        destroy(signal);
        hsa_signal_store_screlease(gate, 0);
        fault_wait(done);
    }
    destroy(gate);
    destroy(done);
    gpu_must(hsa_queue_destroy(queue), "queue");
}

/* Packets that keep the handles of signals destroyed long ago, as recorded ones do. Nothing is made
 * any more when they are submitted. The memory of the first is free when the queue is made: the
 * runtime takes the last of it, and a profiler may take the rest. */
static void stale(struct gpu *gpu)
{
    enum { SIGNALS = 48, TAKEN = 8, ROUNDS = 40 };
    hsa_signal_t signals[2][SIGNALS];
    hsa_signal_t done = gpu_signal(0);
    for (int i = 0; i < SIGNALS; i++)
        signals[0][i] = gpu_signal(1);
    for (int i = 0; i < SIGNALS; i++)
        destroy(signals[0][i]);
    hsa_queue_t *queue = gpu_queue(gpu, 64);
    for (int i = 0; i < SIGNALS; i++)
        signals[1][i] = gpu_signal(2);
    for (int i = 0; i < SIGNALS; i++)
        destroy(signals[1][i]);
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < SIGNALS - TAKEN; i++) {
            fault_dispatch(gpu, queue, 0, signals[round % 2][i]);
            fault_dispatch(gpu, queue, 1, fault_none());
        }
        hsa_signal_store_relaxed(done, 1);
        union fault_packet last = fault_kernel(gpu, 2, done, true);
        (void)fault_submit(queue, &last, 1);
        fault_wait(done);
    }
    destroy(done);
    gpu_must(hsa_queue_destroy(queue), "queue");
}

/* A program may destroy its signal as soon as it has seen the value, from as many threads as it
 * likes, while whoever completes it is not yet back from the call. */
struct hasty {
    pthread_t thread;
    struct gpu *gpu;
    hsa_queue_t *queue;
};

static void *make_haste(void *context)
{
    const struct hasty *hasty = context;
    for (int i = 0; i < 1500; i++) {
        hsa_signal_t signal = gpu_signal(2);
        union fault_packet packets[] = {fault_kernel(hasty->gpu, 0, signal, false),
                                        fault_kernel(hasty->gpu, 1, signal, false)};
        (void)fault_submit(hasty->queue, packets, 2);
        while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                         i % 2 == 0 ? HSA_WAIT_STATE_BLOCKED
                                                    : HSA_WAIT_STATE_ACTIVE) >= 1)
            ;
        destroy(signal);
    }
    return NULL;
}

static void haste(struct gpu *gpu)
{
    enum { THREADS = 3 };
    struct hasty threads[THREADS];
    hsa_queue_t *queue = gpu_queue(gpu, 256);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct hasty){.gpu = gpu, .queue = queue};
        if (pthread_create(&threads[i].thread, NULL, make_haste, &threads[i]) != 0)
            exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    }
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i].thread, NULL);
    gpu_must(hsa_queue_destroy(queue), "queue");
}

/* ---- kinds of signals ---- */

static hsa_status_t take_any(hsa_agent_t agent, void *data)
{
    *(hsa_agent_t *)data = agent;
    return HSA_STATUS_INFO_BREAK;
}

/* Alone, and counting down with others. */
static void use(struct gpu *gpu, hsa_queue_t *queue, const char *kind, hsa_signal_t signal)
{
    enum { KERNELS = 30 };
    union fault_packet packets[KERNELS];
    for (int i = 0; i < KERNELS; i++) {
        hsa_signal_store_relaxed(signal, 1);
        fault_dispatch(gpu, queue, 0, signal);
        look_until_done(signal);
        packets[i] = fault_kernel(gpu, 1, signal, false);
    }
    hsa_signal_store_relaxed(signal, KERNELS);
    (void)fault_submit(queue, packets, KERNELS);
    look_until_done(signal);
    (void)printf("%s: %lld\n", kind, (long long)hsa_signal_load_scacquire(signal));
    destroy(signal);
}

static void kinds(struct gpu *gpu)
{
    hsa_queue_t *queue = gpu_queue(gpu, 64);
    hsa_agent_t first = {0};
    hsa_signal_t signal;
    gpu_must(hsa_iterate_agents(take_any, &first), "agents");
    hsa_agent_t both[] = {first, gpu->agent};
    use(gpu, queue, "any consumer", gpu_signal(1));
    gpu_must(hsa_signal_create(1, 1, &gpu->agent, &signal), "signal for the GPU");
    use(gpu, queue, "the GPU", signal);
    gpu_must(hsa_signal_create(1, 2, both, &signal), "signal for both");
    use(gpu, queue, "host and GPU", signal);
    gpu_must(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal), "GPU only");
    use(gpu, queue, "without interrupt", signal);
    gpu_must(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal), "for other processes");
    use(gpu, queue, "for other processes", signal);
    gpu_must(hsa_queue_destroy(queue), "queue");
}

/* ---- kernels that never end ---- */

/* Many kernels pass one that runs for ever. They take equally long, so the last one of a batch is
 * the last to end. The queue is destroyed with the endless one: a barrier would wait. */
static void pass_endless(struct gpu *gpu, hsa_signal_t signal, int batches, bool counting)
{
    enum { BATCH = 200 };
    static struct gpu_packet packets[BATCH];
    hsa_queue_t *queue = gpu_queue(gpu, 256);
    hsa_signal_t own = gpu_signal(counting ? batches : 1);
    fault_dispatch(gpu, queue, GPU_ENDLESS, signal);
    for (int i = 0; i < BATCH; i++)
        packets[i].kernel = (uint32_t)i % GPU_KERNELS;
    packets[BATCH - 1].signal = own;
    for (int i = 0; i < batches; i++) {
        gpu_submit(gpu, queue, packets, BATCH);
        if (counting)
            continue;
        fault_wait(own);
        hsa_signal_store_relaxed(own, 1);
    }
    if (counting)
        fault_wait(own);
    gpu_must(hsa_queue_destroy(queue), "queue");
    destroy(own);
}

static void endless(struct gpu *gpu)
{
    pass_endless(gpu, fault_none(), 150, false);
}

/* The last of the forwarded signals are far behind the oldest record. */
static void endless_counting(struct gpu *gpu)
{
    pass_endless(gpu, fault_none(), 15, true);
}

static void endless_own_signal(struct gpu *gpu)
{
    hsa_signal_t signal = gpu_signal(1);
    pass_endless(gpu, signal, 150, false);
    (void)printf("signal of the endless kernel: %lld\n",
                 (long long)hsa_signal_load_relaxed(signal));
    destroy(signal);
}

/* ---- AMD's extended dispatch ---- */

static void extended(struct gpu *gpu)
{
    enum { BATCH = 24, BATCHES = 60 };
    union fault_packet packets[BATCH];
    hsa_queue_t *queue = gpu_queue(gpu, 128);
    hsa_signal_t counting = gpu_signal(BATCHES * BATCH / 4);
    hsa_signal_t own = gpu_signal(0);
    hsa_signal_t gate = gpu_signal(0);
    for (int round = 0; round < BATCHES; round++) {
        hsa_signal_store_relaxed(own, 1);
        hsa_signal_store_relaxed(gate, 1);
        for (uint32_t i = 0; i < BATCH; i++) {
            hsa_signal_t signal = i % 4 == 1 ? counting : fault_none();
            packets[i] = i % 3 == 0 ? fault_kernel(gpu, 0, signal, false)
                                    : fault_extended(gpu, i % GPU_KERNELS, signal, fault_none());
        }
        packets[10] = fault_extended(gpu, 1, fault_none(), gate);
        packets[BATCH - 1] = fault_extended(gpu, 2, own, fault_none());
        (void)fault_submit(queue, packets, BATCH);
        hsa_signal_store_screlease(gate, 0);
        fault_wait(own);
    }
    fault_wait(counting);
    gpu_drain(gpu, queue);
    destroy(own);
    destroy(gate);
    destroy(counting);
    gpu_must(hsa_queue_destroy(queue), "queue");
}

const struct fault_way fault_signal_ways[] = {{"rearm", rearm},
                                              {"change", change},
                                              {"memory", memory},
                                              {"destroyed", destroyed},
                                              {"stale", stale},
                                              {"haste", haste},
                                              {"kinds", kinds},
                                              {"endless", endless},
                                              {"endless-counting", endless_counting},
                                              {"endless-own-signal", endless_own_signal},
                                              {"extended", extended},
                                              {NULL, NULL}};
