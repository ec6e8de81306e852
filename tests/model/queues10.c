/*
 * queues10 WAY [guarded]: a program that makes its queues as ROCm 10 does (rocm10.c has to be among
 * the tools, and preloaded).
 *
 *     create     three descriptors in a call: two of the compute engine and one of SDMA; one of AIE
 *     device     as create, and all ask for a ring in device memory, its queue's descriptor too
 *     unknown    one descriptor of a version that nobody knows, for a ring in device memory
 *     counted    several handles of two hardware queues, released and acquired again in between
 *     early      the queue that was made before librtl.so was loaded
 *     busy       the same, with a packet in it that nobody has seen being written, and that waits
 *     racing     eight threads at once, on queues that nobody has seen, from the first packet on
 *
 * Prints `kernels N` for all that it dispatched, `device N`: queues with a ring in device memory,
 * and `reads N`: how often a guarded ring was read in a call of this program's that reserves
 * packets or rings. A thread of librtl.so that reads one ends the program, since its signals are
 * blocked. Ends with 4 if the flags of a descriptor are not what they were.
 */
#include "rocm10.h"

#include "../e2e/gpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BATCH    50u
#define ROUNDS   40u
#define THREADS  8u
#define HANDLES  6u
#define HEARD_US 50000

static struct gpu gpu;
static struct gpu_packet packets[BATCH];
static _Atomic unsigned kernels;

static void *symbol(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) {
        (void)fprintf(stderr, "queues10: no %s\n", name);
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    }
    return found;
}

/* A ring that cannot be read until the device is told of packets in it. */
static bool guards;
static void *guarded;
static size_t guarded_size;
static uint64_t guarded_doorbell;
static _Atomic unsigned reads;

static void on_fault(int number, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    (void)context;
    if (guarded == NULL || at < (char *)guarded || at >= (char *)guarded + guarded_size) {
        (void)signal(number, SIG_DFL); /* and once more */
        return;
    }
    atomic_fetch_add(&reads, 1);
    (void)mprotect(guarded, guarded_size, PROT_READ | PROT_WRITE);
}

static void guard(const hsa_queue_t *queue)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    guarded_size = (size_t)queue->size * 64;
    guarded = queue->base_address;
    if (sigaction(SIGSEGV, &action, NULL) != 0 || mprotect(guarded, guarded_size, PROT_NONE) != 0)
        exit(5); // NOLINT(concurrency-mt-unsafe)
}

static void unguard(void)
{
    (void)mprotect(guarded, guarded_size, PROT_READ | PROT_WRITE);
}

static void unguard_for(hsa_signal_t doorbell)
{
    if (doorbell.handle == guarded_doorbell)
        unguard();
}

/* The device is done with what was there, and has heard the last doorbell: it looks at the write
 * index when it does, and would read on at what is reserved by then. */
static void submit_guarded(hsa_queue_t *queue, uint32_t count)
{
    gpu_drain(&gpu, queue);
    (void)usleep(HEARD_US);
    void (*before_doorbells)(void (*)(hsa_signal_t));
    *(void **)&before_doorbells = symbol("model10_before_doorbells");
    guarded_doorbell = queue->doorbell_signal.handle;
    before_doorbells(unguard_for);
    guard(queue);
    uint64_t index = hsa_queue_add_write_index_screlease(queue, count);
    unguard();
    for (uint32_t i = 0; i < count; i++)
        gpu_write(&gpu, queue, index + i, &packets[i]);
    guard(queue);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)(index + count - 1));
    atomic_fetch_add(&kernels, count);
}

static void create(struct model10_desc *descs, uint32_t count)
{
    hsa_status_t (*function)(hsa_agent_t, struct model10_desc *, uint32_t);
    *(void **)&function = symbol("hsa_amd_queue_create");
    gpu_must(function(gpu.agent, descs, count), "hsa_amd_queue_create");
}

static hsa_queue_t *acquire(void)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t (*function)(hsa_agent_t, uint32_t, int,
                             void (*)(hsa_status_t, hsa_queue_t *, void *), void *, uint64_t,
                             hsa_queue_t **);
    *(void **)&function = symbol("hsa_amd_counted_queue_acquire");
    gpu_must(function(gpu.agent, HSA_QUEUE_TYPE_MULTI, 0, NULL, NULL, 0, &queue), "acquire");
    return queue;
}

static void release(hsa_queue_t *queue)
{
    hsa_status_t (*function)(hsa_queue_t *);
    *(void **)&function = symbol("hsa_amd_counted_queue_release");
    gpu_must(function(queue), "release");
}

static void submit(hsa_queue_t *queue, uint32_t count)
{
    gpu_submit(&gpu, queue, packets, count);
    atomic_fetch_add(&kernels, count);
}

static struct model10_desc describe(uint8_t engine, uint16_t flags)
{
    return (struct model10_desc){
        .version = 1,
        .flags = flags,
        .engine = engine,
        .bytes = 1024 * 64,
        .compute = {.type = HSA_QUEUE_TYPE_MULTI, .private_size = UINT32_MAX}};
}

static void use(hsa_queue_t *queue)
{
    for (unsigned i = 0; i < 4; i++)
        (guards ? submit_guarded : submit)(queue, BATCH);
    gpu_drain(&gpu, queue);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
}

static void run_create(uint16_t flags)
{
    struct model10_desc descs[] = {describe(MODEL10_COMPUTE, flags), describe(MODEL10_SDMA, flags),
                                   describe(MODEL10_COMPUTE, flags)};
    struct model10_desc aie = describe(MODEL10_AIE, flags);
    create(descs, 3);
    create(&aie, 1);
    if (descs[0].flags != flags || descs[1].flags != flags || descs[2].flags != flags ||
        aie.flags != flags)
        exit(4); // NOLINT(concurrency-mt-unsafe)
    use(descs[0].queue);
    use(descs[2].queue);
    free(descs[1].queue);
    free(aie.queue);
}

static void run_unknown(void)
{
    struct model10_desc desc = describe(MODEL10_COMPUTE, MODEL10_RING_IN_DEVICE_MEMORY);
    desc.version = 9;
    create(&desc, 1);
    use(desc.queue);
}

static void run_counted(void)
{
    hsa_queue_t *handles[HANDLES];
    for (unsigned i = 0; i < HANDLES; i++)
        handles[i] = acquire();
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < HANDLES; i++)
            submit(handles[i], 1 + (round + i) % BATCH);
        if (round % 4 != 3)
            continue;
        unsigned which = round / 4 % HANDLES;
        release(handles[which]);
        handles[which] = acquire();
    }
    for (unsigned i = 0; i < HANDLES; i++)
        gpu_drain(&gpu, handles[i]);
    for (unsigned i = 0; i < HANDLES; i++)
        release(handles[i]);
}

static hsa_queue_t *early(void)
{
    hsa_queue_t *(*function)(void);
    *(void **)&function = symbol("model10_early");
    return function();
}

/* The packet is written by the index that the runtime has in memory: nobody sees it. */
static hsa_signal_t block(hsa_queue_t *queue)
{
    hsa_signal_t signal = gpu_signal(1);
    hsa_barrier_and_packet_t packet = {.dep_signal = {signal}};
    hsa_barrier_and_packet_t *slot = queue->base_address;
    uint64_t (*add)(const hsa_queue_t *, uint64_t);
    *(void **)&add = symbol("model10_add_write_index");
    uint64_t index = add(queue, 1);
    packet.header = HSA_PACKET_TYPE_INVALID;
    slot[index % queue->size] = packet;
    uint16_t header =
        HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER;
    __atomic_store_n(&slot[index % queue->size].header, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    return signal;
}

static void run_early(bool busy)
{
    hsa_queue_t *queue = early();
    hsa_signal_t signal = {0};
    if (busy) {
        signal = block(queue);
        submit(queue, BATCH); /* these are not seen */
        hsa_signal_store_screlease(signal, 0);
        gpu_drain(&gpu, queue);
    }
    use(queue);
    if (busy)
        gpu_must(hsa_signal_destroy(signal), "signal");
}

static pthread_barrier_t line;

static void *race(void *queue)
{
    (void)pthread_barrier_wait(&line);
    for (unsigned i = 0; i < ROUNDS; i++)
        submit(queue, 1 + i % 3);
    return NULL;
}

static void run_racing(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        struct model10_desc desc = describe(MODEL10_COMPUTE, 0);
        create(&desc, 1);
        (void)pthread_barrier_init(&line, NULL, THREADS);
        for (unsigned i = 0; i < THREADS; i++)
            (void)pthread_create(&threads[i], NULL, race, desc.queue);
        for (unsigned i = 0; i < THREADS; i++)
            (void)pthread_join(threads[i], NULL);
        (void)pthread_barrier_destroy(&line);
        gpu_drain(&gpu, desc.queue);
        gpu_must(hsa_queue_destroy(desc.queue), "queue destroy");
    }
}

static bool run(const char *way)
{
    if (strcmp(way, "create") == 0)
        run_create(0);
    else if (strcmp(way, "device") == 0)
        run_create(MODEL10_RING_IN_DEVICE_MEMORY | MODEL10_DESCRIPTOR_IN_DEVICE_MEMORY);
    else if (strcmp(way, "unknown") == 0)
        run_unknown();
    else if (strcmp(way, "counted") == 0)
        run_counted();
    else if (strcmp(way, "early") == 0 || strcmp(way, "busy") == 0)
        run_early(way[0] == 'b');
    else if (strcmp(way, "racing") == 0)
        run_racing();
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    unsigned (*in_device_memory)(void);
    gpu_open(&gpu);
    for (uint32_t i = 0; i < BATCH; i++)
        packets[i] = (struct gpu_packet){{0}, i % GPU_KERNELS, false};
    guards = argc == 3 && strcmp(argv[2], "guarded") == 0;
    if ((argc != 2 && !guards) || !run(argv[1])) {
        (void)fprintf(stderr, "usage: queues10 WAY [guarded]\n");
        return 2;
    }
    *(void **)&in_device_memory = symbol("model10_in_device_memory");
    (void)printf("kernels %u\ndevice %u\nreads %u\n", atomic_load(&kernels), in_device_memory(),
                 atomic_load(&reads));
    gpu_close(&gpu);
    return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 3;
}
