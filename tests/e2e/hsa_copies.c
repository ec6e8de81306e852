/*
 * Asynchronous copies in every pattern: chains by dependencies, plain signals that are armed again,
 * counting signals, rectangles, copies by the host, from several threads, and calls that the
 * runtime refuses. Checks the data and the signals itself.
 *
 *     hsa_copies [--threads N] [--rounds N] [--times FILE] [--leave N] [--kill]
 *
 * Prints how many copies of each kind it made, with their bytes. FILE gets a line "bytes start end"
 * for each time that the runtime tells about one of its signals. --leave ends with N copies under
 * way, --kill by SIGKILL.
 */
#include "gpu.h"

#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than an SDMA packet moves. */
#define LARGE ((size_t)(4 << 20) + 4096)
#define PITCH 1024u

enum kind { TO_DEVICE, FROM_DEVICE, ON_DEVICE, ON_HOST, KINDS };

static const char *const kind_names[KINDS] = {"host-to-device", "device-to-host",
                                              "device-to-device", "host-to-host"};

static struct {
    unsigned threads, rounds, leave;
    const char *times;
    bool kill;
} options = {.threads = 1, .rounds = 20};

static struct gpu gpu;
static hsa_agent_t host;
static hsa_amd_memory_pool_t host_pool, device_pool;
static _Atomic uint64_t copies[KINDS], bytes[KINDS];
static FILE *times;
static pthread_mutex_t times_lock = PTHREAD_MUTEX_INITIALIZER;

/* What a thread works with. */
struct lane {
    unsigned number;
    unsigned char *from, *to;     /* host */
    unsigned char *device, *next; /* not to be touched by the host */
    hsa_signal_t a, b, c, count;
};

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "e2e: not so: %s\n", what);
    _exit(4);
}

static hsa_status_t take_host(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    gpu_must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent's type");
    if (type != HSA_DEVICE_TYPE_CPU)
        return HSA_STATUS_SUCCESS;
    *(hsa_agent_t *)data = agent;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    bool allowed = false;
    gpu_must(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment),
             "pool's segment");
    gpu_must(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                          &allowed),
             "pool");
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !allowed)
        return HSA_STATUS_SUCCESS;
    *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_INFO_BREAK;
}

static unsigned char *allocate(hsa_amd_memory_pool_t pool)
{
    void *memory = NULL;
    gpu_must(hsa_amd_memory_pool_allocate(pool, LARGE, 0, &memory), "memory");
    if (pool.handle == host_pool.handle)
        gpu_must(hsa_amd_agents_allow_access(1, &gpu.agent, NULL, memory), "access");
    return memory;
}

static void open_lane(struct lane *lane, unsigned number)
{
    *lane = (struct lane){
        .number = number,
        .from = allocate(host_pool),
        .to = allocate(host_pool),
        .device = allocate(device_pool),
        .next = allocate(device_pool),
        .a = gpu_signal(1),
        .b = gpu_signal(1),
        .c = gpu_signal(1),
        .count = gpu_signal(1),
    };
}

static void close_lane(struct lane *lane)
{
    unsigned char *const memory[] = {lane->from, lane->to, lane->device, lane->next};
    const hsa_signal_t signals[] = {lane->a, lane->b, lane->c, lane->count};
    for (int i = 0; i < 4; i++) {
        gpu_must(hsa_amd_memory_pool_free(memory[i]), "freeing memory");
        gpu_must(hsa_signal_destroy(signals[i]), "signal");
    }
}

static void note(enum kind kind, size_t size)
{
    copies[kind]++;
    bytes[kind] += size;
}

static void copy(enum kind kind, void *to, const void *from, size_t size, const hsa_signal_t *after,
                 hsa_signal_t signal)
{
    hsa_agent_t to_agent = kind == TO_DEVICE || kind == ON_DEVICE ? gpu.agent : host;
    hsa_agent_t from_agent = kind == FROM_DEVICE || kind == ON_DEVICE ? gpu.agent : host;
    gpu_must(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, after ? 1 : 0, after,
                                       signal),
             "copy");
    note(kind, size);
}

static void wait_for(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    check(hsa_signal_load_relaxed(signal) == 0, "a signal is decremented once by each copy");
}

/* The signal was used for `size` bytes and is done. */
static void tell_time(hsa_signal_t signal, size_t size)
{
    hsa_amd_profiling_async_copy_time_t time = {0, 0};
    gpu_must(hsa_amd_profiling_get_async_copy_time(signal, &time), "time of a copy");
    check(time.start != 0 && time.end >= time.start, "a copy has times");
    if (!times)
        return;
    (void)pthread_mutex_lock(&times_lock);
    (void)fprintf(times, "%zu %" PRIu64 " %" PRIu64 "\n", size, time.start, time.end);
    (void)pthread_mutex_unlock(&times_lock);
}

static void fill(struct lane *lane, size_t size, unsigned round)
{
    unsigned first = round * 31 + lane->number * 13 + 1;
    for (size_t i = 0; i < size; i++)
        lane->from[i] = (unsigned char)(i * 7 + first);
    memset(lane->to, 0, size);
}

static void arm(hsa_signal_t signal, unsigned round)
{
    if (round % 2)
        hsa_signal_silent_store_relaxed(signal, 1);
    else
        hsa_signal_store_relaxed(signal, 1);
}

/* To the device, on it, and back, each waiting for the one before on the device. */
static void chain(struct lane *lane, unsigned round)
{
    size_t size = round % 5 == 4 ? LARGE : 1000 + (size_t)round * 64;
    fill(lane, size, round);
    arm(lane->a, round);
    arm(lane->b, round);
    arm(lane->c, round);
    copy(TO_DEVICE, lane->device, lane->from, size, NULL, lane->a);
    copy(ON_DEVICE, lane->next, lane->device, size, &lane->a, lane->b);
    copy(FROM_DEVICE, lane->to, lane->next, size, &lane->b, lane->c);
    wait_for(lane->c);
    wait_for(lane->b);
    wait_for(lane->a);
    check(memcmp(lane->from, lane->to, size) == 0, "a chain of copies leaves the data whole");
    tell_time(lane->a, size);
    tell_time(lane->b, size);
    tell_time(lane->c, size);
}

/* Four copies count one signal down; a fifth waits for it. */
static void count_down(struct lane *lane, unsigned round)
{
    enum { PARTS = 4, PART = 5000 };
    fill(lane, (size_t)PARTS * PART, round);
    hsa_signal_store_relaxed(lane->count, PARTS);
    arm(lane->c, round);
    for (size_t i = 0; i < PARTS; i++)
        copy(TO_DEVICE, lane->device + i * PART, lane->from + i * PART, PART, NULL, lane->count);
    copy(FROM_DEVICE, lane->to, lane->device, (size_t)PARTS * PART, &lane->count, lane->c);
    wait_for(lane->c);
    wait_for(lane->count);
    check(memcmp(lane->from, lane->to, (size_t)PARTS * PART) == 0,
          "a copy waits for all that count its dependency down");
    tell_time(lane->count, PART);
    tell_time(lane->c, (size_t)PARTS * PART);
}

static void rectangle(struct lane *lane, enum kind kind, void *to, void *from, hsa_signal_t signal,
                      const hsa_signal_t *after)
{
    hsa_pitched_ptr_t target = {to, PITCH, 0};
    hsa_pitched_ptr_t source = {from, PITCH, 0};
    hsa_dim3_t none = {0, 0, 0};
    hsa_dim3_t range = {256 + 4 * (lane->number % 4), 33, 1};
    gpu_must(hsa_amd_memory_async_copy_rect(&target, &none, &source, &none, &range, gpu.agent,
                                            kind == TO_DEVICE ? hsaHostToDevice : hsaDeviceToHost,
                                            after ? 1 : 0, after, signal),
             "rectangular copy");
    note(kind, (size_t)range.x * range.y);
}

static void rectangles(struct lane *lane, unsigned round)
{
    size_t width = 256 + 4 * (size_t)(lane->number % 4);
    fill(lane, (size_t)33 * PITCH, round);
    arm(lane->a, round);
    arm(lane->b, round);
    rectangle(lane, TO_DEVICE, lane->device, lane->from, lane->a, NULL);
    rectangle(lane, FROM_DEVICE, lane->to, lane->device, lane->b, &lane->a);
    wait_for(lane->b);
    wait_for(lane->a);
    for (size_t y = 0; y < 33; y++) {
        check(memcmp(lane->from + y * PITCH, lane->to + y * PITCH, width) == 0,
              "a rectangle arrives");
        check(lane->to[y * PITCH + width] == 0, "a rectangle ends where it should");
    }
    tell_time(lane->a, width * 33);
    tell_time(lane->b, width * 33);
}

static void by_host(struct lane *lane, unsigned round)
{
    size_t size = 3000 + round;
    fill(lane, size, round);
    arm(lane->a, round);
    copy(ON_HOST, lane->to, lane->from, size, NULL, lane->a);
    wait_for(lane->a);
    check(memcmp(lane->from, lane->to, size) == 0, "a copy by the host arrives");
}

/* Nothing to copy is done at once, and leaves the signal alone; the rest is refused. */
static void odd_calls(struct lane *lane)
{
    const hsa_signal_t none = {0};
    arm(lane->a, 0);
    check(hsa_amd_memory_async_copy(lane->device, gpu.agent, lane->from, host, 0, 0, NULL,
                                    lane->a) == HSA_STATUS_SUCCESS,
          "a copy of nothing is accepted");
    check(hsa_amd_memory_async_copy(lane->device, gpu.agent, lane->from, host, 64, 0, NULL, none) !=
              HSA_STATUS_SUCCESS,
          "a copy without a signal is refused");
    check(hsa_amd_memory_async_copy(NULL, gpu.agent, lane->from, host, 64, 0, NULL, lane->a) !=
              HSA_STATUS_SUCCESS,
          "a copy to nowhere is refused");
    check(hsa_amd_memory_async_copy(lane->device, gpu.agent, lane->from, host, 64, 1, NULL,
                                    lane->a) != HSA_STATUS_SUCCESS,
          "a copy with a dependency that is not given is refused");
    check(hsa_signal_load_relaxed(lane->a) == 1, "refused copies leave the signal alone");
}

static void *work(void *data)
{
    struct lane *lane = data;
    for (unsigned round = 0; round < options.rounds; round++) {
        chain(lane, round);
        count_down(lane, round);
        rectangles(lane, round);
        by_host(lane, round);
        odd_calls(lane);
    }
    return NULL;
}

static void work_in_threads(struct lane *lanes)
{
    pthread_t threads[64];
    for (unsigned i = 0; i < options.threads; i++)
        check(pthread_create(&threads[i], NULL, work, &lanes[i]) == 0, "a thread starts");
    for (unsigned i = 0; i < options.threads; i++)
        (void)pthread_join(threads[i], NULL);
}

static void report(void)
{
    for (int i = 0; i < KINDS; i++)
        (void)printf("%s %" PRIu64 " %" PRIu64 "\n", kind_names[i], (uint64_t)copies[i],
                     (uint64_t)bytes[i]);
    (void)fflush(stdout);
}

static unsigned number(const char *text)
{
    check(text != NULL, "an option's number is given");
    return (unsigned)strtoul(text, NULL, 10);
}

static void read_options(char **arguments)
{
    for (; *arguments; arguments++) {
        if (strcmp(*arguments, "--threads") == 0)
            options.threads = number(*++arguments);
        else if (strcmp(*arguments, "--rounds") == 0)
            options.rounds = number(*++arguments);
        else if (strcmp(*arguments, "--leave") == 0)
            options.leave = number(*++arguments);
        else if (strcmp(*arguments, "--times") == 0)
            options.times = *++arguments;
        else if (strcmp(*arguments, "--kill") == 0)
            options.kill = true;
        else
            check(false, "an option is known");
    }
    check(options.threads >= 1 && options.threads <= 64, "there are 1 to 64 threads");
}

int main(int argc, char **argv)
{
    static struct lane lanes[64];
    (void)argc;
    read_options(argv + 1);
    gpu_open(&gpu);
    gpu_must(hsa_iterate_agents(take_host, &host), "agents");
    gpu_must(hsa_amd_agent_iterate_memory_pools(host, take_pool, &host_pool), "pools");
    gpu_must(hsa_amd_agent_iterate_memory_pools(gpu.agent, take_pool, &device_pool), "pools");
    gpu_must(hsa_amd_profiling_async_copy_enable(true), "times of copies");
    if (options.times) {
        times = fopen(options.times, "w");
        check(times != NULL, "the file for times can be written");
    }
    for (unsigned i = 0; i < options.threads; i++)
        open_lane(&lanes[i], i);
    work_in_threads(lanes);
    report();
    if (times)
        (void)fclose(times);
    if (options.kill)
        (void)raise(SIGKILL);
    if (options.leave) {
        hsa_signal_store_relaxed(lanes[0].count, options.leave);
        for (unsigned i = 0; i < options.leave; i++)
            copy(TO_DEVICE, lanes[0].device, lanes[0].from, LARGE, NULL, lanes[0].count);
        return 6;
    }
    for (unsigned i = 0; i < options.threads; i++)
        close_lane(&lanes[i]);
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "hsa_shut_down");
    (void)puts("all right");
    return 0;
}
