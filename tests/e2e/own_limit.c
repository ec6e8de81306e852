/*
 * own_limit LETTER KIB: starts the GPU runtime and runs some kernels, then gives itself a limit of
 * addresses (`v`) or data (`d`), so many KiB above what it has by then, and runs many more than the
 * signals that there are by then. Says on stdout how far it came, the same with and without RTL.
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define QUEUES  4u
#define SIZE    16384u
#define BATCH   64u
#define KERNELS 16384u /* of a queue, at a time */

#define LOOK_MS    10u
#define REST_MS    200u
#define LONGEST_MS 10000u

/* In KiB, as the kernel counts it for the limit. */
static unsigned long long held(int resource)
{
    const char *format = resource == RLIMIT_AS ? "VmSize: %llu" : "VmData: %llu";
    char line[256];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && kib == 0 && fgets(line, sizeof line, status) != NULL)
        (void)sscanf(line, format, &kib); // NOLINT(cert-err34-c)
    if (status != NULL)
        (void)fclose(status);
    return kib;
}

/* What is held once it has not changed for a while: RTL takes memory ahead of use for some time
 * behind the first kernels, and what it took between a look and the limit would be missing below
 * the limit. */
static unsigned long long held_at_rest(int resource)
{
    unsigned long long kib = held(resource);
    for (unsigned waited = 0, same = 0; waited < LONGEST_MS && same < REST_MS; waited += LOOK_MS) {
        (void)usleep(LOOK_MS * 1000u);
        unsigned long long now = held(resource);
        same = now == kib ? same + LOOK_MS : 0;
        kib = now;
    }
    return kib;
}

static void limit(int resource, unsigned long long more)
{
    struct rlimit limit;
    (void)getrlimit(resource, &limit);
    limit.rlim_cur = (held_at_rest(resource) + more) << 10;
    if (setrlimit(resource, &limit) != 0)
        gpu_must(HSA_STATUS_ERROR, "setrlimit");
}

static void burst(const struct gpu *gpu, hsa_queue_t *const *queues, uint32_t kernels)
{
    struct gpu_packet packets[BATCH] = {0};
    for (uint32_t q = 0; q < QUEUES; q++)
        for (uint32_t i = 0; i < kernels; i += BATCH)
            gpu_submit(gpu, queues[q], packets, BATCH);
    for (uint32_t q = 0; q < QUEUES; q++)
        gpu_drain(gpu, queues[q]);
}

int main(int argc, char **argv)
{
    struct gpu gpu;
    hsa_queue_t *queues[QUEUES];
    if (argc < 3)
        return 2;
    gpu_open(&gpu);
    for (uint32_t q = 0; q < QUEUES; q++)
        queues[q] = gpu_queue(&gpu, SIZE);
    burst(&gpu, queues, BATCH);
    limit(*argv[1] == 'v' ? RLIMIT_AS : RLIMIT_DATA, strtoull(argv[2], NULL, 10));
    (void)puts("limited");
    for (int i = 0; i < 2; i++) {
        burst(&gpu, queues, KERNELS);
        (void)printf("%u\n", QUEUES * KERNELS);
    }
    for (int i = 0; i < 50; i++)
        (void)gpu_signal(1);
    (void)puts("done");
    return 0;
}
