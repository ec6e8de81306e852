/*
 * A tool that stands between the HSA runtime and librtl.so and makes signals scarce or counts them.
 * For tests and benchmarks: HSA_TOOLS_LIB="…/meddler.so …/librtl.so".
 *
 *     MEDDLER_SIGNALS=N   the runtime makes N signals for librtl and then refuses
 *     MEDDLER_COUNT=FILE  at the shut-down of the runtime, FILE gets one line: how many signals
 * librtl made in all, how many of them after its first second
 *     MEDDLER_KILL=1      the process is killed while the runtime loads its tools
 */
#include "intercept/base/api.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);

/** hsa_queue_create as it is below librtl. */
EXPORT hsa_status_t meddler_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_t **queue);

static unsigned long limit = ~0ul;
static _Atomic unsigned long made, made_late;
static struct timespec begin;

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9;
}

static hsa_status_t create(hsa_signal_value_t value, uint32_t consumers, const hsa_agent_t *agents,
                           uint64_t attributes, hsa_signal_t *signal)
{
    if (atomic_fetch_add(&made, 1) >= limit)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (seconds() > 1)
        atomic_fetch_add(&made_late, 1);
    return rtl_api.hsa_amd_signal_create(value, consumers, agents, attributes, signal);
}

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    const char *missing;
    const char *most = getenv("MEDDLER_SIGNALS"); // NOLINT(concurrency-mt-unsafe)
    if (getenv("MEDDLER_KILL") != NULL)           // NOLINT(concurrency-mt-unsafe)
        (void)raise(SIGKILL);
    if (most != NULL)
        limit = strtoul(most, NULL, 10);
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    if (rtl_api_take(table, &missing))
        rtl_api_hook(RTL_ENTRY_hsa_amd_signal_create, (void (*)(void))create);
    return true;
}

hsa_status_t meddler_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_t **queue)
{
    return rtl_api.hsa_queue_create(agent, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                                    UINT32_MAX, queue);
}

void OnUnload(void)
{
    const char *path = getenv("MEDDLER_COUNT"); // NOLINT(concurrency-mt-unsafe)
    FILE *file = path != NULL ? fopen(path, "we") : NULL;
    if (file == NULL)
        return;
    (void)fprintf(file, "%lu %lu\n", atomic_load(&made), atomic_load(&made_late));
    (void)fclose(file);
}
