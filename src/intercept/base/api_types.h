/**
 * Types of the HSA API that the oldest supported headers (ROCr 5.2.3) do not have, or have for C++
 * only.
 *
 * Sources: hsa_api_trace.h and hsa_ext_amd.h of ROCr 5.2.3 and 6.2.4.
 */
#ifndef RTL_INTERCEPT_BASE_API_TYPES_H
#define RTL_INTERCEPT_BASE_API_TYPES_H

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

/** hsa_amd_signal_wait_all, from ROCm 6.4 on: as hsa_amd_signal_wait_any, with a value each. */
typedef uint32_t(rtl_signal_wait_all_t)(uint32_t count, hsa_signal_t *signals,
                                        hsa_signal_condition_t *conditions,
                                        hsa_signal_value_t *compare, uint64_t timeout,
                                        hsa_wait_state_t state, hsa_signal_value_t *values);

/** What hsa_amd_queue_create of ROCm 10 gets for each queue, as far as it is looked at:
 * hsa_amd_queue_create_desc_t, version 1, of hsa_ext_amd.h 1.26 of August 2026
 * (github.com/iree-org/hsa-runtime-headers). */
struct rtl_queue_desc {
    uint16_t version;
    uint16_t flags; /**< 1: the ring in device memory; 2: the queue's own descriptor too */
    uint8_t engine; /**< 0: compute */
    uint8_t rest[91];
};

_Static_assert(sizeof(struct rtl_queue_desc) == 96, "as in hsa_ext_amd.h");

typedef hsa_status_t(rtl_queue_create_t)(hsa_agent_t agent, struct rtl_queue_desc *descs,
                                         uint32_t count);
typedef hsa_status_t(rtl_queue_release_t)(hsa_queue_t *queue);

/** What one operation of a batch of copies does. */
enum rtl_copy_op_type {
    RTL_COPY_OP_LINEAR = 0,
    RTL_COPY_OP_BROADCAST = 1,
    RTL_COPY_OP_SWAP = 2,
    RTL_COPY_OP_INDIRECT_SRC = 3,
    RTL_COPY_OP_INDIRECT_DST = 4,
    RTL_COPY_OP_INDIRECT_BOTH = 5
};

/** hsa_amd_memory_copy_op_t of ROCm 7's hsa_ext_amd.h (github.com/ROCm/rocm-systems, commit
 * 0b2ca8ed): with entries, destination and sizes are lists of so many, else single values. */
struct rtl_copy_op {
    uint16_t version;
    uint16_t type; /**< enum rtl_copy_op_type */
    uint16_t entries;
    uint16_t traffic_class;
    hsa_signal_t completion; /**< the same in all operations of a batch */
    void *src;               /**< or a list */
    hsa_agent_t src_agent;
    union {
        hsa_agent_t one;
        const hsa_agent_t *list;
    } dst_agent;
    void *dst; /**< or a list */
    union {
        size_t one;
        const size_t *list;
    } size;
    size_t second_size; /**< of a swap */
    uint64_t wait[4], signal[3], reserved;
};

_Static_assert(sizeof(struct rtl_copy_op) == 128, "as in hsa_ext_amd.h");

/** hsa_amd_memory_async_batch_copy: the signal starts at `count` and falls by one an operation. */
typedef hsa_status_t(rtl_async_batch_copy_t)(const struct rtl_copy_op *ops, uint32_t count,
                                             uint32_t dependencies, const hsa_signal_t *signals);

#endif
