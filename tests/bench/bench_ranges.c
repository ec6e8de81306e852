/*
 * bench_ranges: what a range costs the thread that sets it, by roctx: push and pop, and a mark. The
 * medians over batches, ns. All records fit into the ring.
 */
#include "gpu.h"
#include "timing.h"

#include <stdio.h>

#define BATCHES 100u
#define EACH    1000u

int roctxRangePushA(const char *message);
int roctxRangePop(void);
void roctxMarkA(const char *message);

static void set_ranges(void)
{
    for (unsigned i = 0; i < EACH; i++) {
        (void)roctxRangePushA("a range of the model");
        (void)roctxRangePop();
    }
}

static void set_marks(void)
{
    for (unsigned i = 0; i < EACH; i++)
        roctxMarkA("a mark of the model");
}

static double median_ns(void (*set)(void))
{
    static double each[BATCHES];
    for (unsigned i = 0; i < BATCHES; i++) {
        double begin = now_ns(CLOCK_MONOTONIC);
        set();
        each[i] = (now_ns(CLOCK_MONOTONIC) - begin) / EACH;
    }
    return quantile(each, BATCHES, 0.5);
}

int main(void)
{
    static struct gpu gpu;
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    double range = median_ns(set_ranges);
    double mark = median_ns(set_marks);
    (void)printf("{\"range_ns\": %.1f, \"mark_ns\": %.1f}\n", range, mark);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}
