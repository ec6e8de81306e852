/*
 * A tool as simple as they come: every queue becomes an intercept queue, and every packet is passed
 * on as it came. HSA_TOOLS_LIB=…/passthrough.so
 *
 * It looks at where the packets lie before it passes them on, so that a broken runtime is told by a
 * sentence and the status 1 and not by what happens to lie behind the memory it overran: a call
 * must not lead beyond the end of the ring, and what is not in the ring must have room for all
 * packets of the call in memory that malloc gave.
 *
 * PASSTHROUGH_BLIND=1: it does not look. PASSTHROUGH_LOG=FILE gets a line for each call: number of
 * the queue, index of the first packet, packets.
 */
#include "intercept/base/api.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define PACKET 64u /* bytes */
#define QUEUES 256u

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);

struct watched {
    hsa_queue_t *queue;
    unsigned number;
};

static struct watched watched[QUEUES];
static _Atomic unsigned queues;
static FILE *calls;
static bool blind;

static void must_be_in_one_piece(const hsa_queue_t *queue, const void *packets, uint64_t count)
{
    uintptr_t base = (uintptr_t)queue->base_address;
    uintptr_t at = (uintptr_t)packets;
    uint64_t room = (base + (uintptr_t)queue->size * PACKET - at) / PACKET;
    bool in_ring = at >= base && at < base + (uintptr_t)queue->size * PACKET;
    if (!in_ring)
        room = malloc_usable_size((void *)at) / PACKET;
    if (count <= room)
        return;
    (void)fprintf(stderr,
                  in_ring ? "passthrough: a call with %" PRIu64 " packets begins %" PRIu64
                            " packets before the end of the ring\n"
                          : "passthrough: %" PRIu64
                            " packets were copied into a buffer for %" PRIu64 "\n",
                  count, room);
    _exit(1);
}

static void pass_on(const void *packets, uint64_t count, uint64_t index, void *data,
                    rtl_packet_writer_t writer)
{
    const struct watched *here = data;
    if (!blind)
        must_be_in_one_piece(here->queue, packets, count);
    if (calls != NULL)
        (void)fprintf(calls, "%u %" PRIu64 " %" PRIu64 "\n", here->number, index, count);
    writer(packets, count);
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                           void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                           uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
    unsigned number = atomic_fetch_add(&queues, 1);
    if (number >= QUEUES)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    hsa_status_t status = rtl_api.hsa_amd_queue_intercept_create(agent, size, type, callback, data,
                                                                 private_size, group_size, queue);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    watched[number] = (struct watched){*queue, number};
    return rtl_api.hsa_amd_queue_intercept_register(*queue, pass_on, &watched[number]);
}

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    const char *missing;
    const char *path = getenv("PASSTHROUGH_LOG"); // NOLINT(concurrency-mt-unsafe)
    if (!rtl_api_take(table, &missing) || rtl_api.hsa_amd_queue_intercept_create == NULL ||
        rtl_api.hsa_amd_queue_intercept_register == NULL) {
        (void)fprintf(stderr, "passthrough: this runtime has no intercept queues\n");
        _exit(1);
    }
    blind = getenv("PASSTHROUGH_BLIND") != NULL; // NOLINT(concurrency-mt-unsafe)
    if (path != NULL)
        calls = fopen(path, "we");
    rtl_api_hook(RTL_ENTRY_hsa_queue_create, (void (*)(void))create);
    return true;
}

void OnUnload(void)
{
    if (calls != NULL)
        (void)fclose(calls);
    calls = NULL;
}
