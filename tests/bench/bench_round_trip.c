/*
 * What a round trip costs: one kernel with a completion signal of the program's own, submitted and
 * waited for, over and over.
 *
 *     bench_round_trip WAIT ROUNDS BUSY ARMED
 *
 * WAIT: `active` spins, `blocked` may sleep. BUSY threads spin beside it all the time. ARMED: value
 * of the signal before each round; at 1 librtl borrows the signal, at 2 it replaces it. Prints one
 * line of JSON: ns from the reservation of the packet to the return of the wait.
 */
#include "gpu.h"
#include "timing.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define QUEUE_SIZE 1024u
#define WARM_UP    100u
#define MOST_BUSY  64u

static _Atomic bool done;

static void *spin(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&done, memory_order_relaxed))
        ;
    return NULL;
}

/* One kernel with the signal, armed before and waited for. */
static void go_round(const struct gpu *gpu, hsa_queue_t *queue, hsa_signal_t signal,
                     hsa_wait_state_t wait, hsa_signal_value_t armed)
{
    struct gpu_packet packet = {.signal = signal};
    gpu_submit(gpu, queue, &packet, 1);
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, armed, UINT64_MAX, wait) >=
           armed)
        ;
}

/* How long ago the device ended the kernel, ns. */
static double ns_since_end(const struct gpu *gpu, hsa_signal_t signal)
{
    uint64_t now;
    hsa_amd_profiling_dispatch_time_t time;
    gpu_must(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now), "timestamp");
    gpu_must(hsa_amd_profiling_get_dispatch_time(gpu->agent, signal, &time), "dispatch time");
    return (double)now - (double)time.end;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc == 5 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned long busy = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
    hsa_signal_value_t armed = argc == 5 ? strtol(argv[4], NULL, 10) : 0;
    if (rounds == 0 || busy > MOST_BUSY || armed < 1) {
        (void)fprintf(stderr, "usage: bench_round_trip active|blocked ROUNDS BUSY ARMED\n");
        return 2;
    }
    hsa_wait_state_t wait =
        strcmp(argv[1], "active") == 0 ? HSA_WAIT_STATE_ACTIVE : HSA_WAIT_STATE_BLOCKED;
    struct gpu gpu;
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, QUEUE_SIZE);
    hsa_signal_t signal = gpu_signal(armed);
    double *times = calloc(rounds, sizeof *times);
    double *delays = calloc(rounds, sizeof *delays);
    if (times == NULL || delays == NULL) {
        free(times);
        free(delays);
        return 3;
    }
    gpu_must(hsa_amd_profiling_set_profiler_enabled(queue, 1), "profiling");
    double scale = ticks_per_ns();
    pthread_t threads[MOST_BUSY];
    for (unsigned long i = 0; i < busy; i++)
        (void)pthread_create(&threads[i], NULL, spin, NULL);
    for (unsigned long i = 0; i < WARM_UP + rounds; i++) {
        hsa_signal_store_relaxed(signal, armed);
        unsigned long long begin = __rdtsc();
        go_round(&gpu, queue, signal, wait, armed);
        unsigned long long end = __rdtsc();
        if (i < WARM_UP)
            continue;
        times[i - WARM_UP] = (double)(end - begin) / scale;
        delays[i - WARM_UP] = ns_since_end(&gpu, signal);
    }
    atomic_store(&done, true);
    for (unsigned long i = 0; i < busy; i++)
        (void)pthread_join(threads[i], NULL);
    (void)printf("{\"wait\": \"%s\", \"busy\": %lu, \"armed\": %ld, \"rounds\": %lu, "
                 "\"median_ns\": %.0f, \"late_ns\": %.0f}\n",
                 argv[1], busy, (long)armed, rounds, quantile(times, rounds, 0.5),
                 quantile(delays, rounds, 0.5));
    free(times);
    free(delays);
    gpu_must(hsa_signal_destroy(signal), "signal destroy");
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}
