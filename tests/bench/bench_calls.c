/*
 * What a wrapped host call of HIP costs the thread that makes it, beyond HIP itself: the HIP
 * library is one that does nothing.
 *
 *     bench_calls BATCHES
 *
 * Alone it measures the bare calls; with librtl.so preloaded, wrapped ones. Prints one line of
 * JSON: ns per call by the time-stamp counter, median over the batches, between which the collector
 * gets time, and how many calls of each there were.
 *
 * Instructions per call:
 *     valgrind --tool=callgrind --toggle-collect=call_launch bench_calls 20
 */
#include "intercept/hip/declare.h"
#include "timing.h"

#include <hsa/hsa.h>
#include <stdio.h>

#define CALLS 1000u /* in a batch */

static void *memory;

static void call_free(void)
{
    (void)hipFree(memory);
}

static void call_malloc(void)
{
    (void)hipMalloc(&memory, 4096);
}

static void call_launch(void)
{
    dim3 grid = {64, 1, 1};
    dim3 block = {256, 1, 1};
    (void)hipLaunchKernel((const void *)&memory, grid, block, NULL, 0, NULL);
}

static void call_module_launch(void)
{
    (void)hipModuleLaunchKernel(NULL, 64, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL);
}

static double measure(void (*call)(void), double *times, size_t batches)
{
    for (size_t i = 0; i < batches; i++) {
        unsigned long long begin = __rdtsc();
        for (unsigned j = 0; j < CALLS; j++)
            call();
        times[i] = (double)(__rdtsc() - begin) / CALLS;
        (void)usleep(2000);
    }
    return quantile(times, batches, 0.5);
}

int main(int argc, char **argv)
{
    size_t batches = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    double *times = calloc(batches + 1, sizeof *times);
    if (batches == 0 || times == NULL) {
        (void)fprintf(stderr, "usage: bench_calls BATCHES\n");
        free(times);
        return 2;
    }
    if (hsa_init() != HSA_STATUS_SUCCESS) { /* brings librtl up */
        free(times);
        return 3;
    }
    double scale = ticks_per_ns();
    (void)measure(call_free, times, batches); /* warms up */
    double free_ns = measure(call_free, times, batches) / scale;
    (void)printf("{\"items\": %zu, \"free_ns\": %.2f, \"malloc_ns\": %.2f, \"launch_ns\": %.2f, "
                 "\"module_launch_ns\": %.2f}\n",
                 batches * CALLS, free_ns, measure(call_malloc, times, batches) / scale,
                 measure(call_launch, times, batches) / scale,
                 measure(call_module_launch, times, batches) / scale);
    free(times);
    return 0;
}
