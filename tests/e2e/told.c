/*
 * told WAY: kernels with and without signals on two queues; when HSA tells the program in this way
 * that they are done, it is killed in the same moment. Prints before that how many kernels it has
 * waited for.
 */
#include "gpu.h"

#include <hsa/hsa_ext_amd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNELS 200u
#define QUEUES  2u

static struct gpu gpu;
static hsa_queue_t *queues[QUEUES];
static hsa_signal_t last[QUEUES]; /* goes to 0 with all that its queue has */

/* The last kernel of each queue has the barrier bit. Its signal is one that RTL borrows, or, where
 * it counts two kernels, one that it replaces. */
static void submit(bool counting)
{
    for (uint32_t q = 0; q < QUEUES; q++) {
        struct gpu_packet packets[KERNELS] = {0};
        last[q] = gpu_signal(counting ? 2 : 1);
        for (uint32_t i = 0; i < KERNELS; i++)
            packets[i].kernel = i % GPU_KERNELS;
        packets[KERNELS - 1].signal = last[q];
        packets[KERNELS - 1].barrier = true;
        if (counting)
            packets[0].signal = last[q];
        gpu_submit(&gpu, queues[q], packets, KERNELS / 2);
        gpu_submit(&gpu, queues[q], packets + KERNELS / 2, KERNELS / 2);
    }
}

/* On a thread of the runtime's. */
static bool count(hsa_signal_value_t value, void *argument)
{
    _Atomic uint32_t *handled = argument;
    (void)value;
    atomic_fetch_add(handled, 1);
    return false;
}

static void by_handler(void)
{
    _Atomic uint32_t handled = 0;
    for (uint32_t q = 0; q < QUEUES; q++)
        gpu_must(hsa_amd_signal_async_handler(last[q], HSA_SIGNAL_CONDITION_LT, 1, count,
                                              (void *)&handled),
                 "handler");
    while (atomic_load(&handled) < QUEUES)
        ;
}

static void by_wait(hsa_wait_state_t state)
{
    for (uint32_t q = 0; q < QUEUES; q++)
        while (hsa_signal_wait_scacquire(last[q], HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, state) >=
               1)
            ;
}

static void by_relaxed(void)
{
    for (uint32_t q = 0; q < QUEUES; q++)
        while (hsa_signal_wait_relaxed(last[q], HSA_SIGNAL_CONDITION_EQ, 0, 1000,
                                       HSA_WAIT_STATE_ACTIVE) != 0)
            ;
}

static void by_load(hsa_signal_value_t (*load)(hsa_signal_t))
{
    for (uint32_t q = 0; q < QUEUES; q++)
        while (load(last[q]) >= 1)
            ;
}

/* One after the other, as they come. */
static void by_any(void)
{
    hsa_signal_t signals[QUEUES];
    hsa_signal_condition_t conditions[QUEUES];
    hsa_signal_value_t values[QUEUES] = {0};
    uint32_t left = QUEUES;
    memcpy(signals, last, sizeof signals);
    for (uint32_t q = 0; q < QUEUES; q++)
        conditions[q] = HSA_SIGNAL_CONDITION_EQ;
    while (left > 0) {
        uint32_t found = hsa_amd_signal_wait_any(left, signals, conditions, values, UINT64_MAX,
                                                 HSA_WAIT_STATE_BLOCKED, NULL);
        if (found < left)
            signals[found] = signals[--left];
    }
}

static void by_group(void)
{
    hsa_signal_group_t group;
    hsa_signal_condition_t conditions[QUEUES] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ};
    hsa_signal_value_t values[QUEUES] = {0};
    hsa_signal_t signal;
    hsa_signal_value_t value;
    for (uint32_t q = 0; q < QUEUES; q++) {
        gpu_must(hsa_signal_group_create(1, &last[q], 0, NULL, &group), "group");
        gpu_must(hsa_signal_group_wait_any_scacquire(group, conditions, values,
                                                     HSA_WAIT_STATE_BLOCKED, &signal, &value),
                 "waiting for a group");
    }
}

static void wait_by(const char *way)
{
    if (strcmp(way, "active") == 0)
        by_wait(HSA_WAIT_STATE_ACTIVE);
    else if (strcmp(way, "blocked") == 0 || strcmp(way, "counting") == 0)
        by_wait(HSA_WAIT_STATE_BLOCKED);
    else if (strcmp(way, "relaxed") == 0)
        by_relaxed();
    else if (strcmp(way, "load") == 0)
        by_load(hsa_signal_load_scacquire);
    else if (strcmp(way, "load-relaxed") == 0)
        by_load(hsa_signal_load_relaxed);
    else if (strcmp(way, "any") == 0)
        by_any();
    else if (strcmp(way, "group") == 0)
        by_group();
    else if (strcmp(way, "handler") == 0)
        by_handler();
    else
        exit(2); // NOLINT(concurrency-mt-unsafe): nothing else runs yet
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    gpu_open(&gpu);
    for (uint32_t q = 0; q < QUEUES; q++)
        queues[q] = gpu_queue(&gpu, 1024);
    (void)printf("%u -\n", KERNELS * QUEUES);
    (void)fflush(stdout);
    submit(strcmp(arguments[1], "counting") == 0);
    wait_by(arguments[1]);
    (void)raise(SIGKILL);
    (void)pause();
}
