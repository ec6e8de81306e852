/**
 * Types of the HSA API that the oldest supported headers (ROCr 5.2.3) do not have, or have for C++
 * only.
 *
 * Sources: hsa_api_trace.h and hsa_ext_amd.h of ROCr 5.2.3 and 6.2.4.
 */
#ifndef RTL_INTERCEPT_API_TYPES_H
#define RTL_INTERCEPT_API_TYPES_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>

/** Passes packets on to the next interceptor, the last of which is the hardware queue. */
typedef void (*rtl_packet_writer_t)(const void *packets, uint64_t count);

/** Called on the thread that rang the doorbell, under the queue's lock, with packets that are about
 * to go to the hardware; `index` is the one its producer reserved for the first. */
typedef void (*rtl_intercept_handler_t)(const void *packets, uint64_t count, uint64_t index,
                                        void *data, rtl_packet_writer_t writer);

typedef hsa_status_t(rtl_intercept_create_t)(hsa_agent_t agent, uint32_t size,
                                             hsa_queue_type32_t type,
                                             void (*callback)(hsa_status_t, hsa_queue_t *, void *),
                                             void *data, uint32_t private_size, uint32_t group_size,
                                             hsa_queue_t **queue);

typedef hsa_status_t(rtl_intercept_register_t)(hsa_queue_t *queue, rtl_intercept_handler_t handler,
                                               void *data);

/** `engine`: hsa_amd_sdma_engine_id_t, a bit of an SDMA engine. */
typedef hsa_status_t(rtl_async_copy_on_engine_t)(void *to, hsa_agent_t to_agent, const void *from,
                                                 hsa_agent_t from_agent, size_t size,
                                                 uint32_t dependencies, const hsa_signal_t *signals,
                                                 hsa_signal_t completion, uint32_t engine,
                                                 bool force_on_sdma);

#endif
