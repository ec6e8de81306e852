/*
 * bench_ranges [session]: what a range costs the thread that sets it, by roctx: push and pop, and a
 * mark; the medians over batches, ns, with time in between for what takes the records. With
 * `session` there is one (librtl.so has to be where the dynamic linker looks), and what a pop costs
 * that tells the range's result is measured as well: the wait for the GPU, which has nothing to do,
 * included; us.
 */
#include "gpu.h"
#include "timing.h"

#include <rtl/rtl_session.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BATCHES  100u
#define EACH     1000u
#define PAUSE_US 1000u

int roctxRangePushA(const char *message);
int roctxRangePop(void);
void roctxMarkA(const char *message);

static int (*begin_session)(void);
static int (*pop_result)(rtl_range_result_t *result);

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
        (void)usleep(PAUSE_US);
    }
    return quantile(each, BATCHES, 0.5);
}

static double median_result_us(void)
{
    static double each[BATCHES];
    for (unsigned i = 0; i < BATCHES; i++) {
        rtl_range_result_t result;
        (void)roctxRangePushA("a range of the model");
        double begin = now_ns(CLOCK_MONOTONIC);
        if (pop_result(&result) != 0 || result.error != 0)
            return -1;
        each[i] = (now_ns(CLOCK_MONOTONIC) - begin) / 1000;
    }
    return quantile(each, BATCHES, 0.5);
}

/* The library is there for all to find, drop-in libraries of roctx included. */
static bool open_session(void)
{
    void *library = dlopen("librtl.so", RTLD_NOW | RTLD_GLOBAL);
    void *begin = library != NULL ? dlsym(library, "rtlSessionBegin") : NULL;
    void *pop = library != NULL ? dlsym(library, "rtlRangePop") : NULL;
    if (begin == NULL || pop == NULL)
        return false;
    memcpy(&begin_session, &begin, sizeof begin);
    memcpy(&pop_result, &pop, sizeof pop);
    return begin_session() == 0;
}

int main(int argc, char **argv)
{
    static struct gpu gpu;
    bool session = argc > 1 && strcmp(argv[1], "session") == 0;
    if (session && !open_session()) {
        (void)fprintf(stderr, "bench_ranges: no session\n");
        return 1;
    }
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, 64);
    double range = median_ns(set_ranges);
    double mark = median_ns(set_marks);
    (void)printf("{\"items\": %u, \"range_ns\": %.1f, \"mark_ns\": %.1f", BATCHES * EACH, range,
                 mark);
    if (session)
        (void)printf(", \"result_us\": %.1f", median_result_us());
    (void)printf("}\n");
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}
