/*
 * rtl-bench-work WORKLOAD [KERNELS]: a workload for `rtl bench`. Prints one line for it:
 *
 *     rtl-bench-work: kernels=N copies=N begin_ns=T end_ns=T peak_kib=N gpu=NAME
 *
 * kernels and copies are what it submitted, begin_ns and end_ns bound its steady state
 * (CLOCK_MONOTONIC), peak_kib is its greatest resident size so far.
 */
#include "work.h"

#include <hip/hip_runtime_api.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void work_must(int error, const char *what)
{
    if (error == hipSuccess)
        return;
    (void)fprintf(stderr, "rtl-bench-work: %s: %s\n", what, hipGetErrorString((hipError_t)error));
    // NOLINTNEXTLINE(concurrency-mt-unsafe): which thread ends the program does not matter
    exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void work_begin(struct work *work)
{
    work_must(hipDeviceSynchronize(), "waiting for the GPU");
    work->begin_ns = now();
}

void work_end(struct work *work)
{
    work_must(hipDeviceSynchronize(), "waiting for the GPU");
    work->end_ns = now();
}

static const struct workload *find(const char *name)
{
    for (const struct workload *workload = workloads; workload->name; ++workload)
        if (strcmp(workload->name, name) == 0)
            return workload;
    return NULL;
}

static int list(void)
{
    (void)fprintf(stderr, "rtl-bench-work: usage: rtl-bench-work WORKLOAD [KERNELS]; workloads:");
    for (const struct workload *workload = workloads; workload->name; ++workload)
        (void)fprintf(stderr, " %s", workload->name);
    (void)fputc('\n', stderr);
    return 2;
}

/* Of this program alone: what getrusage says begins with the size of what it was forked from. */
static unsigned long peak_kib(void)
{
    char line[128];
    unsigned long peak = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && peak == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", strlen("VmHWM:")) == 0)
            peak = strtoul(line + strlen("VmHWM:"), NULL, 10);
    if (file)
        (void)fclose(file);
    return peak;
}

/* In one write, so that what a profiler prints stays before or behind it. */
static int report(const struct work *work)
{
    char line[512];
    hipDeviceProp_t properties;
    work_must(hipGetDeviceProperties(&properties, 0), "asking for the GPU's name");
    int length = snprintf(line, sizeof line,
                          "\nrtl-bench-work: kernels=%" PRIu64 " copies=%" PRIu64
                          " begin_ns=%" PRIu64 " end_ns=%" PRIu64 " peak_kib=%lu gpu=%.60s\n",
                          work->kernels, work->copies, work->begin_ns, work->end_ns, peak_kib(),
                          properties.name);
    if (length > 0 && write(STDOUT_FILENO, line, (size_t)length) == length)
        return 0;
    (void)fprintf(stderr, "rtl-bench-work: the result could not be written\n");
    return 1;
}

static void require_gpu(void)
{
    int gpus = 0;
    if (hipGetDeviceCount(&gpus) == hipSuccess && gpus > 0)
        return;
    (void)fprintf(stderr, "rtl-bench-work: HIP sees no GPU\n");
    // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
    exit(1);
}

int main(int argc, char **argv)
{
    const struct workload *workload = argc == 2 || argc == 3 ? find(argv[1]) : NULL;
    if (!workload)
        return list();
    struct work work = {.goal = workload->goal};
    if (argc == 3) {
        char *end;
        errno = 0;
        work.goal = strtoull(argv[2], &end, 10);
        if (!isdigit((unsigned char)argv[2][0]) || *end || errno || work.goal == 0)
            return list();
    }
    require_gpu();
    work_must(hipMalloc((void **)&work.sink, sizeof *work.sink), "allocating GPU memory");
    workload->run(&work, workload->detail);
    work_must(hipFree(work.sink), "freeing GPU memory");
    return report(&work);
}
