#include "intercept/queue/intercept_abi.h"

#include "intercept/base/api.h"
#include "intercept/queue/aql.h"

#include <malloc.h>
#include <string.h>

/* A queue larger than the short staging buffer, which has 256 packets. */
#define QUEUE_SIZE 512u

/* Packets of one doorbell on the way to the last slot. No staging buffer is smaller. */
#define STEP 64u

struct call {
    uint64_t count, index;
    bool in_ring;
    size_t room; /* bytes of the buffer that the packets lie in, if that is not the ring */
};

/* The calls of the callback since it was last emptied; more than two are only counted. */
struct observation {
    const hsa_queue_t *queue;
    unsigned calls;
    struct call call[2];
};

static bool in_ring(const hsa_queue_t *queue, const void *packets)
{
    uintptr_t base = (uintptr_t)queue->base_address;
    uintptr_t at = (uintptr_t)packets;
    return at >= base && at < base + (uintptr_t)queue->size * RTL_PACKET_SIZE;
}

/* The writer is not called: the packets end here. They are not looked at either, for they may lie
 * past the end of the ring. What lies outside the ring is the memory of a std::vector: from malloc,
 * the pointer is its begin, and it may be gone after the call. */
static void observe(const void *packets, uint64_t count, uint64_t index, void *data,
                    rtl_packet_writer_t writer)
{
    struct observation *seen = data;
    (void)writer;
    struct call call = {count, index, in_ring(seen->queue, packets), 0};
    if (!call.in_ring)
        call.room = malloc_usable_size((void *)(uintptr_t)packets);
    if (seen->calls < 2)
        seen->call[seen->calls] = call;
    seen->calls++;
}

/* A barrier packet that waits for nothing and tells nobody. */
static void write_packet(const hsa_queue_t *queue, uint64_t index)
{
    hsa_barrier_and_packet_t packet = {.header = HSA_PACKET_TYPE_INVALID};
    unsigned char *base = queue->base_address;
    void *slot = base + (index & (queue->size - 1)) * RTL_PACKET_SIZE;
    memcpy(slot, &packet, sizeof packet);
    __atomic_store_n((uint16_t *)slot, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE,
                     __ATOMIC_RELEASE);
}

/* Publishes `count` packets and rings once: the callback has seen them at the return. */
static void submit(const hsa_queue_t *queue, uint64_t count)
{
    uint64_t first = rtl_api.hsa_queue_add_write_index_relaxed(queue, count);
    for (uint64_t i = 0; i < count; i++)
        write_packet(queue, first + i);
    rtl_api.hsa_signal_store_screlease(queue->doorbell_signal,
                                       (hsa_signal_value_t)(first + count - 1));
}

static enum rtl_intercept_abi classify_batch(const hsa_queue_t *queue, const struct call *call)
{
    if (call->in_ring)
        return RTL_INTERCEPT_ABI_BATCH_UNSTAGED;
    bool enough = call->room >= (size_t)queue->size * RTL_PACKET_SIZE;
    return enough ? RTL_INTERCEPT_ABI_BATCH : RTL_INTERCEPT_ABI_BATCH_SHORT_STAGING;
}

static enum rtl_intercept_abi classify(const hsa_queue_t *queue, const struct observation *seen)
{
    const struct call *first = &seen->call[0];
    const struct call *second = &seen->call[1];
    if (seen->calls == 0 || first->index != queue->size - 1)
        return RTL_INTERCEPT_ABI_UNKNOWN;
    if (seen->calls == 1 && first->count == 2)
        return classify_batch(queue, first);
    bool one_by_one = seen->calls == 2 && first->count == 1 && second->count == 1;
    return one_by_one && second->index == queue->size ? RTL_INTERCEPT_ABI_ONE_PACKET
                                                      : RTL_INTERCEPT_ABI_UNKNOWN;
}

/* Goes to the last slot in steps, then publishes two packets, one on each side of the wrap. Safe on
 * a short staging buffer: only packets that wrap are copied, these are two, and its buffer has room
 * for 256; the steps are small in case a runtime copies the others as well. */
static enum rtl_intercept_abi experiment(hsa_queue_t *queue)
{
    struct observation seen = {.queue = queue};
    if (rtl_api.hsa_amd_queue_intercept_register(queue, observe, &seen) != HSA_STATUS_SUCCESS)
        return RTL_INTERCEPT_ABI_UNKNOWN;
    uint64_t last = queue->size - 1;
    for (uint64_t at = 0; at < last; at += STEP)
        submit(queue, last - at < STEP ? last - at : STEP);
    seen.calls = 0;
    submit(queue, 2);
    return classify(queue, &seen);
}

enum rtl_intercept_abi rtl_intercept_abi_probe(hsa_agent_t agent)
{
    hsa_queue_t *queue = NULL;
    if (rtl_api.hsa_amd_queue_intercept_create == NULL ||
        rtl_api.hsa_amd_queue_intercept_register == NULL)
        return RTL_INTERCEPT_ABI_UNKNOWN;
    if (rtl_api.hsa_amd_queue_intercept_create(agent, QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
                                               UINT32_MAX, UINT32_MAX,
                                               &queue) != HSA_STATUS_SUCCESS)
        return RTL_INTERCEPT_ABI_UNKNOWN;
    enum rtl_intercept_abi abi = experiment(queue);
    rtl_api.hsa_queue_destroy(queue);
    return abi;
}

const char *rtl_intercept_abi_name(enum rtl_intercept_abi abi)
{
    static const char *const names[] = {"unknown", "G1", "unstaged", "G2", "G3"};
    return names[abi];
}
