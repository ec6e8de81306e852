/*
 * wrap COUNT: publishes COUNT packets, half of them before and half of them behind the end of a
 * queue's ring, and rings the doorbell once. Each must complete exactly once.
 *
 * On its own it passes everywhere. It is meant for the tool passthrough.so, which makes the queue
 * an intercept queue: see patches/README.md.
 */
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_SIZE 2048u
#define STEP       64u                      /* packets of a doorbell on the way to the wrap */
#define PATIENCE   UINT64_C(60000000000000) /* ticks of the system clock: at least a minute */

static void must(hsa_status_t status, const char *what)
{
    const char *why = "unknown error";
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
        return;
    (void)hsa_status_string(status, &why);
    (void)fprintf(stderr, "wrap: %s: %s\n", what, why);
    exit(3); // NOLINT(concurrency-mt-unsafe): there is one thread
}

static hsa_status_t take_gpu(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent's type");
    if (type != HSA_DEVICE_TYPE_GPU)
        return HSA_STATUS_SUCCESS;
    *(hsa_agent_t *)data = agent;
    return HSA_STATUS_INFO_BREAK;
}

/* A barrier packet that waits for nothing and decrements `signal`. */
static void write_packet(const hsa_queue_t *queue, uint64_t index, hsa_signal_t signal)
{
    hsa_barrier_and_packet_t packet = {.header = HSA_PACKET_TYPE_INVALID,
                                       .completion_signal = signal};
    char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * sizeof packet;
    memcpy(slot, &packet, sizeof packet);
    atomic_store_explicit((_Atomic uint16_t *)(void *)slot,
                          HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE,
                          memory_order_release);
}

/* Publishes `count` packets, rings once, waits until all are done. False if not each completed
 * once. */
static bool submit(hsa_queue_t *queue, uint64_t count)
{
    hsa_signal_t signal;
    must(hsa_signal_create((hsa_signal_value_t)count, 0, NULL, &signal), "signal");
    uint64_t first = hsa_queue_add_write_index_relaxed(queue, count);
    for (uint64_t i = 0; i < count; i++)
        write_packet(queue, first + i, signal);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)(first + count - 1));
    hsa_signal_value_t left = hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1,
                                                        PATIENCE, HSA_WAIT_STATE_BLOCKED);
    must(hsa_signal_destroy(signal), "signal");
    if (left != 0)
        (void)printf("of %llu packets at index %llu, %lld did not complete\n",
                     (unsigned long long)count, (unsigned long long)first, (long long)left);
    return left == 0;
}

static bool cross(hsa_queue_t *queue, uint64_t count)
{
    uint64_t before = queue->size - count / 2;
    for (uint64_t at = 0; at < before; at += STEP)
        if (!submit(queue, before - at < STEP ? before - at : STEP))
            return false;
    return submit(queue, count);
}

int main(int argc, char **argv)
{
    hsa_agent_t agent = {0};
    hsa_queue_t *queue;
    uint64_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (count < 2 || count > QUEUE_SIZE / 2) {
        (void)fprintf(stderr, "wrap COUNT: 2 to %u packets\n", QUEUE_SIZE / 2);
        return 2;
    }
    must(hsa_init(), "hsa_init");
    must(hsa_iterate_agents(take_gpu, &agent), "agents");
    must(agent.handle != 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT, "GPU");
    must(hsa_queue_create(agent, QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                          UINT32_MAX, &queue),
         "queue");
    bool good = cross(queue, count);
    if (good)
        (void)printf("%llu packets across the end of the ring: each completed once\n",
                     (unsigned long long)count);
    must(hsa_queue_destroy(queue), "queue");
    must(hsa_shut_down(), "hsa_shut_down");
    return good ? 0 : 1;
}
