/*
 * An interceptor on every queue that does what an interceptor had better not, for tests of the
 * model:
 *
 *     STRANGE=split  calls the writer once for each packet
 *     STRANGE=alter  writes into the packets that it was given, what changes nothing for the device
 *     STRANGE=ring   once: keeps a packet back, publishes it again behind the others and rings
 */
#include "intercept/base/api.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define PACKET 64u /* bytes */

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);

static const char *manner;
static bool rang;

static void split(const unsigned char *packets, uint64_t count, rtl_packet_writer_t writer)
{
    for (uint64_t i = 0; i < count; i++)
        writer(packets + i * PACKET, 1);
}

/* Acquire fences that a barrier packet does not need. */
static void alter(const void *packets, uint64_t count, rtl_packet_writer_t writer)
{
    uint16_t *header = (uint16_t *)(uintptr_t)packets;
    *header ^= HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE;
    writer(packets, count);
}

static void publish_again(hsa_queue_t *queue, const void *packet)
{
    uint64_t index = rtl_api.hsa_queue_add_write_index_relaxed(queue, 1);
    unsigned char *slot =
        (unsigned char *)queue->base_address + (index & (queue->size - 1)) * PACKET;
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    memcpy(slot + sizeof header, (const unsigned char *)packet + sizeof header,
           PACKET - sizeof header);
    __atomic_store_n((uint16_t *)(void *)slot, header, __ATOMIC_RELEASE);
    rtl_api.hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void ring(const unsigned char *packets, uint64_t count, hsa_queue_t *queue,
                 rtl_packet_writer_t writer)
{
    bool first = !rang;
    rang = true;
    if (first)
        publish_again(queue, packets);
    if (count > first)
        writer(packets + (first ? PACKET : 0), count - first);
}

static void intercept(const void *packets, uint64_t count, uint64_t index, void *data,
                      rtl_packet_writer_t writer)
{
    (void)index;
    if (strcmp(manner, "split") == 0)
        split(packets, count, writer);
    else if (strcmp(manner, "alter") == 0)
        alter(packets, count, writer);
    else
        ring(packets, count, data, writer);
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                           void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                           uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
    hsa_status_t status = rtl_api.hsa_amd_queue_intercept_create(agent, size, type, callback, data,
                                                                 private_size, group_size, queue);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    return rtl_api.hsa_amd_queue_intercept_register(*queue, intercept, *queue);
}

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    const char *missing;
    manner = getenv("STRANGE"); // NOLINT(concurrency-mt-unsafe)
    if (manner != NULL && rtl_api_take(table, &missing))
        rtl_api_hook(RTL_ENTRY_hsa_queue_create, (void (*)(void))create);
    return true;
}

void OnUnload(void)
{
}
