#include "intercept/counters/internal_queue.h"

#include "common/clock.h"
#include "common/tsan.h"
#include "intercept/base/api.h"
#include "intercept/base/forks.h"
#include "intercept/queue/aql.h"

#include <hsa/amd_hsa_signal.h>
#include <string.h>
#include <time.h>

#define SIZE        256u /* packets */
#define NAP_NS      50000
#define PATIENCE_NS UINT64_C(1000000000)

bool rtl_internal_open(struct rtl_internal_queue *own, hsa_agent_t agent)
{
    *own = (struct rtl_internal_queue){0};
    return rtl_api.hsa_queue_create(agent, SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                                    UINT32_MAX, &own->queue) == HSA_STATUS_SUCCESS;
}

void rtl_internal_close(struct rtl_internal_queue *own)
{
    if (own->queue != NULL)
        rtl_api.hsa_queue_destroy(own->queue);
    *own = (struct rtl_internal_queue){0};
}

bool rtl_internal_has_room(const struct rtl_internal_queue *own)
{
    return own->written - rtl_api.hsa_queue_load_read_index_scacquire(own->queue) <
           own->queue->size;
}

void rtl_internal_put(struct rtl_internal_queue *own, const void *packet)
{
    uint64_t index = own->written++;
    unsigned char *at =
        (unsigned char *)own->queue->base_address + index % own->queue->size * RTL_PACKET_SIZE;
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    memcpy(at + sizeof header, (const unsigned char *)packet + sizeof header,
           RTL_PACKET_SIZE - sizeof header);
    __atomic_store_n((uint16_t *)(void *)at, header, __ATOMIC_RELEASE);
    rtl_tsan_release(own->queue->base_address);
    rtl_api.hsa_queue_store_write_index_screlease(own->queue, index + 1);
    rtl_api.hsa_signal_store_screlease(own->queue->doorbell_signal, (hsa_signal_value_t)index);
}

uint64_t rtl_internal_signal(int64_t value)
{
    hsa_signal_t signal = {0};
    rtl_forks_enter();
    hsa_status_t status =
        rtl_api.hsa_amd_signal_create(value, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal);
    rtl_forks_leave();
    return status == HSA_STATUS_SUCCESS ? signal.handle : 0;
}

int64_t rtl_internal_value(uint64_t signal)
{
    return __atomic_load_n(&((const amd_signal_t *)(uintptr_t)signal)->value, __ATOMIC_ACQUIRE);
}

void rtl_internal_set(uint64_t signal, int64_t value)
{
    rtl_api.hsa_signal_store_screlease((hsa_signal_t){signal}, value);
}

static bool has_completed(void *signal)
{
    return rtl_internal_value(*(const uint64_t *)signal) <= 0;
}

bool rtl_internal_wait(uint64_t signal, uint64_t patience_ns)
{
    return rtl_wait_until(has_completed, &signal, rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns,
                          NAP_NS);
}

static bool run(struct rtl_internal_queue *own, const struct rtl_aql_profile *profile,
                uint64_t signal)
{
    struct rtl_aql_packet last = *rtl_aql_stop(profile);
    rtl_aql_set_signal(&last, signal);
    rtl_internal_put(own, rtl_aql_start(profile));
    rtl_internal_put(own, rtl_aql_read(profile));
    rtl_internal_put(own, &last);
    return rtl_internal_wait(signal, PATIENCE_NS);
}

/* What the device may still have in hand is not freed. */
bool rtl_internal_try(const struct rtl_counters_agent *device)
{
    struct rtl_internal_queue own = {0};
    struct rtl_aql_block *block = rtl_counters_profiles(device, 1);
    uint64_t signal = block != NULL ? rtl_internal_signal(1) : 0;
    bool done = signal != 0 && rtl_internal_open(&own, device->handle) &&
                run(&own, rtl_aql_profile(block, 0), signal);
    rtl_internal_close(&own);
    if (!done && signal != 0)
        return false;
    if (signal != 0)
        rtl_api.hsa_signal_destroy((hsa_signal_t){signal});
    rtl_aql_free(block);
    return done;
}
