/*
 * sides WAY: dispatches kernels in a way that RTL sees from the side only.
 *
 *     stranger MEDDLER   on a queue that librtl.so was not asked for (see meddler.c)
 *     bypass             a producer moves the write index and the doorbell itself, between
 *                        producers that ask the runtime
 *     index [register]   a producer moves the write index itself and rings through the runtime, or
 *                        the device's register; then another one asks the runtime
 *     register           a producer reserves through the runtime and rings the device's register
 *                        itself, while another one keeps other queues busy
 *     leave              the same, and ends at once with its queue
 *     gone HOW           a producer moves the write index and rings the register itself, and the
 *                        program ends at once: by return, shut-down or _exit
 *     stop               with rtlStop and rtlStart between batches
 *     cut                batches of 12 kernels, reserved at once, as a graph has them; rtlStop in
 *                        the midst of each fifth, rtlStart behind it
 *     flicker            four producers, while another thread stops and starts all the time
 *
 * Prints `kernels N` for all that it dispatched; `stop` how many of them while recording was on.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH     50u
#define BYPASS    10u
#define PRODUCERS 4u
#define ROUNDS    200u
#define BUSY      10u
#define TRIPS     50u
#define CUT       12u

static struct gpu gpu;
static struct gpu_packet packets[BATCH];
static _Atomic bool over;

static void *symbol(void *library, const char *name)
{
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) {
        (void)fprintf(stderr, "sides: no %s\n", name);
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    }
    return found;
}

static int (*control(const char *name))(void)
{
    int (*function)(void);
    void *library = dlopen("librtl.so", RTLD_NOW | RTLD_NOLOAD);
    void *found = symbol(library, name);
    memcpy(&function, &found, sizeof function);
    return function;
}

static unsigned run_stranger(const char *meddler)
{
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_t **);
    void *found = symbol(dlopen(meddler, RTLD_NOW | RTLD_NOLOAD), "meddler_queue_create");
    memcpy(&create, &found, sizeof create);
    hsa_queue_t *queue;
    gpu_must(create(gpu.agent, 1024, &queue), "queue");
    gpu_submit(&gpu, queue, packets, BATCH);
    gpu_drain(&gpu, queue);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    return BATCH;
}

/* HSA's doorbell is a register of the device. */
static void ring_register(const hsa_queue_t *queue, uint64_t index)
{
    const amd_signal_t *doorbell = (const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle;
    *doorbell->hardware_doorbell_ptr = index;
}

static void wait_and_destroy(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    gpu_must(hsa_signal_destroy(signal), "signal");
}

/* As device-side enqueue and other drivers do it. */
static void bypass(hsa_queue_t *queue)
{
    amd_queue_t *memory = (amd_queue_t *)(void *)queue;
    uint64_t first = memory->write_dispatch_id;
    struct gpu_packet last = {gpu_signal(1), GPU_BARRIER, true};
    for (uint32_t i = 0; i < BYPASS; i++)
        gpu_write(&gpu, queue, first + i, &packets[i]);
    gpu_write(&gpu, queue, first + BYPASS, &last);
    __atomic_store_n(&memory->write_dispatch_id, first + BYPASS + 1, __ATOMIC_RELEASE);
    ring_register(queue, first + BYPASS);
    wait_and_destroy(last.signal);
}

static unsigned run_bypass(void)
{
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    gpu_submit(&gpu, queue, packets, BATCH);
    gpu_drain(&gpu, queue);
    bypass(queue);
    gpu_submit(&gpu, queue, packets, BATCH);
    gpu_drain(&gpu, queue);
    bypass(queue);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    return 2 * BATCH + 2 * BYPASS;
}

/* One by one with pauses in which the worker may notice, then all with one doorbell. */
static unsigned run_index(bool by_register)
{
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    amd_queue_t *memory = (amd_queue_t *)(void *)queue;
    for (uint32_t i = 0; i < 2 * BYPASS; i++) {
        struct gpu_packet packet = {gpu_signal(1), i % GPU_KERNELS, true};
        bool alone = i < BYPASS || i + 1 == 2 * BYPASS;
        uint64_t index = __atomic_fetch_add(&memory->write_dispatch_id, 1, __ATOMIC_ACQ_REL);
        gpu_write(&gpu, queue, index, alone ? &packet : &packets[i]);
        (void)usleep(alone ? 100000 * (i % 5) : 0);
        if (alone && by_register)
            ring_register(queue, index);
        else if (alone)
            hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
        if (alone)
            wait_and_destroy(packet.signal);
        else
            gpu_must(hsa_signal_destroy(packet.signal), "signal");
    }
    gpu_submit(&gpu, queue, packets, BATCH);
    gpu_drain(&gpu, queue);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    return BATCH + 2 * BYPASS;
}

static unsigned keep_busy(hsa_queue_t **queues)
{
    unsigned kernels = 0;
    for (unsigned i = 0; !atomic_load(&over); i++, kernels += BATCH) {
        gpu_submit(&gpu, queues[i % BUSY], packets, BATCH);
        (void)usleep(20);
    }
    return kernels;
}

static void *make_trips(void *queue)
{
    for (unsigned i = 0; i < TRIPS; i++) {
        struct gpu_packet packet = {gpu_signal(1), i % GPU_KERNELS, false};
        uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
        gpu_write(&gpu, queue, index, &packet);
        ring_register(queue, index);
        wait_and_destroy(packet.signal);
    }
    atomic_store(&over, true);
    return NULL;
}

static unsigned run_register(void)
{
    pthread_t other;
    hsa_queue_t *busy[BUSY];
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    for (unsigned i = 0; i < BUSY; i++)
        busy[i] = gpu_queue(&gpu, 256);
    (void)pthread_create(&other, NULL, make_trips, queue);
    unsigned kernels = keep_busy(busy);
    (void)pthread_join(other, NULL);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    for (unsigned i = 0; i < BUSY; i++) {
        gpu_drain(&gpu, busy[i]);
        gpu_must(hsa_queue_destroy(busy[i]), "queue destroy");
    }
    return kernels + TRIPS;
}

/* Nobody has looked at the queue since. */
static unsigned run_leave(void)
{
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    struct gpu_packet last = {gpu_signal(1), 0, true};
    uint64_t first = hsa_queue_add_write_index_relaxed(queue, BYPASS);
    for (uint32_t i = 0; i < BYPASS; i++)
        gpu_write(&gpu, queue, first + i, i + 1 < BYPASS ? &packets[i] : &last);
    ring_register(queue, first + BYPASS - 1);
    wait_and_destroy(last.signal);
    return BYPASS;
}

static unsigned run_gone(void)
{
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    gpu_submit(&gpu, queue, packets, BATCH);
    gpu_drain(&gpu, queue);
    bypass(queue);
    return BATCH + BYPASS;
}

static unsigned run_stop(void)
{
    int (*stop)(void) = control("rtlStop");
    int (*start)(void) = control("rtlStart");
    hsa_queue_t *queue = gpu_queue(&gpu, 1024);
    unsigned on = 0;
    for (unsigned i = 0; i < 10; i++) {
        bool stopped = i % 3 == 1;
        if ((stopped ? stop() : start()) != 0)
            (void)fprintf(stderr, "sides: not recorded\n");
        gpu_submit(&gpu, queue, packets, BATCH);
        gpu_drain(&gpu, queue); /* else another thread may be submitting them still */
        on += stopped ? 0 : BATCH;
    }
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    (void)printf("recorded %u\n", on);
    return 10 * BATCH;
}

static void submit_half(hsa_queue_t *queue, uint64_t first, uint32_t begin)
{
    for (uint32_t i = begin; i < begin + CUT / 2; i++)
        gpu_write(&gpu, queue, first + i, &packets[i]);
    hsa_signal_store_screlease(queue->doorbell_signal,
                               (hsa_signal_value_t)(first + begin + CUT / 2 - 1));
}

static unsigned run_cut(void)
{
    int (*stop)(void) = control("rtlStop");
    int (*start)(void) = control("rtlStart");
    hsa_queue_t *queue = gpu_queue(&gpu, 1024);
    for (unsigned i = 0; i < BATCH; i++) {
        uint64_t first = hsa_queue_add_write_index_relaxed(queue, CUT);
        submit_half(queue, first, 0);
        /* Another thread may be submitting them still. */
        while (hsa_queue_load_read_index_scacquire(queue) < first + CUT / 2)
            (void)sched_yield();
        if (i % 5 == 4 && stop() != 0)
            (void)fprintf(stderr, "sides: not recorded\n");
        submit_half(queue, first, CUT / 2);
        gpu_drain(&gpu, queue); /* else another thread may be submitting them still */
        if (i % 5 == 4 && start() != 0)
            (void)fprintf(stderr, "sides: not recorded\n");
    }
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    return BATCH * CUT;
}

static void *produce(void *queue)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        gpu_submit(&gpu, queue, packets, 1 + i % BATCH);
    return NULL;
}

static void *flicker(void *unused)
{
    (void)unused;
    int (*stop)(void) = control("rtlStop");
    int (*start)(void) = control("rtlStart");
    for (unsigned i = 0; !atomic_load(&over); i++) {
        (void)(i % 2 == 0 ? stop : start)();
        (void)usleep(200);
    }
    return NULL;
}

static unsigned run_flicker(void)
{
    pthread_t producers[PRODUCERS];
    pthread_t other;
    hsa_queue_t *queues[2] = {gpu_queue(&gpu, 64), gpu_queue(&gpu, 256)};
    (void)pthread_create(&other, NULL, flicker, NULL);
    for (unsigned i = 0; i < PRODUCERS; i++)
        (void)pthread_create(&producers[i], NULL, produce, queues[i % 2]);
    for (unsigned i = 0; i < PRODUCERS; i++)
        (void)pthread_join(producers[i], NULL);
    atomic_store(&over, true);
    (void)pthread_join(other, NULL);
    for (unsigned i = 0; i < 2; i++) {
        gpu_drain(&gpu, queues[i]);
        gpu_must(hsa_queue_destroy(queues[i]), "queue destroy");
    }
    unsigned each = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        each += 1 + i % BATCH;
    return PRODUCERS * each;
}

/* Before the worker looks at the queue again. */
static _Noreturn void end_at_once(unsigned kernels, const char *how)
{
    if (strcmp(how, "shut-down") == 0)
        gpu_must(hsa_shut_down(), "shut down");
    (void)printf("kernels %u\n", kernels);
    (void)fflush(stdout);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    exit(0); // NOLINT(concurrency-mt-unsafe): no other thread of the program is there
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    unsigned kernels = 0;
    gpu_open(&gpu);
    if (strcmp(way, "stranger") == 0 && argc > 2)
        kernels = run_stranger(argv[2]);
    else if (strcmp(way, "bypass") == 0)
        kernels = run_bypass();
    else if (strcmp(way, "index") == 0)
        kernels = run_index(argc > 2 && strcmp(argv[2], "register") == 0);
    else if (strcmp(way, "register") == 0)
        kernels = run_register();
    else if (strcmp(way, "leave") == 0)
        kernels = run_leave();
    else if (strcmp(way, "stop") == 0)
        kernels = run_stop();
    else if (strcmp(way, "cut") == 0)
        kernels = run_cut();
    else if (strcmp(way, "flicker") == 0)
        kernels = run_flicker();
    else if (strcmp(way, "gone") == 0 && argc > 2)
        kernels = run_gone();
    if (strcmp(way, "gone") == 0)
        end_at_once(kernels, argv[2]);
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    (void)printf("kernels %u\n", kernels);
    return kernels == 0;
}
