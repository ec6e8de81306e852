/**
 * PrivateUse1TracingApi.h as C and as C++ see it.
 */
#ifndef TESTS_KINETO_HEADER_H
#define TESTS_KINETO_HEADER_H

#include <PrivateUse1TracingApi.h>

#define HEADER_FACTS 32

/** Fills in sizes, offsets and values; one list for both languages. */
#define HEADER_LIST                                                                                \
    sizeof(pu1ActivityRecord), offsetof(pu1ActivityRecord, struct_size),                           \
        offsetof(pu1ActivityRecord, kind), offsetof(pu1ActivityRecord, start_time),                \
        offsetof(pu1ActivityRecord, end_time), offsetof(pu1ActivityRecord, device_id),             \
        offsetof(pu1ActivityRecord, stream_id), offsetof(pu1ActivityRecord, correlation_id),       \
        offsetof(pu1ActivityRecord, external_id), offsetof(pu1ActivityRecord, process_id),         \
        offsetof(pu1ActivityRecord, thread_id), offsetof(pu1ActivityRecord, name),                 \
        offsetof(pu1ActivityRecord, metadata), sizeof(pu1TracingApiTable),                         \
        offsetof(pu1TracingApiTable, vendor), offsetof(pu1TracingApiTable, getDroppedRecords),     \
        sizeof(pu1Result), sizeof(pu1ActivityKind), (size_t)PRIVATEUSE1_RUNTIME,                   \
        (size_t)PRIVATEUSE1_DRIVER, (size_t)CONCURRENT_KERNEL, (size_t)GPU_MEMCPY,                 \
        (size_t)GPU_MEMSET, (size_t)PU1_SUCCESS, (size_t)PU1_ERROR_INVALID_ARGUMENT,               \
        (size_t)PU1_ERROR_NOT_INITIALIZED, (size_t)PU1_ERROR_END_OF_BUFFER,                        \
        (size_t)PU1_ERROR_STACK_EMPTY, (size_t)PU1_VERSION, (size_t)PU1_NO_DEVICE,                 \
        (size_t)PU1_LAST_KIND, (size_t)PU1_BUFFER_ALIGNMENT

#ifdef __cplusplus
extern "C"
#endif
    void
    header_in_c(size_t facts[HEADER_FACTS]);

#endif
