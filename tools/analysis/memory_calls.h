/**
 * What host calls do with memory: hipMalloc, hipFree and their kind, for devices, managed memory,
 * and pinned memory of the host. Arrays and textures are left out: their sizes are not told.
 */
#ifndef RTL_TOOLS_MEMORY_CALLS_H
#define RTL_TOOLS_MEMORY_CALLS_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>

enum memory_kind { MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_HOST, MEMORY_KINDS };

struct memory_call {
    enum memory_kind kind; /**< what the call is made for: hipFree frees managed memory as well */
    bool frees;            /**< it gives memory back, else it allocates */
    bool is_virtual;       /**< memory without an address; `pointer` is its handle */
    uint64_t pointer;      /**< 0: it did nothing */
    uint64_t bytes;        /**< of an allocation; a pitched one is its width times its height */
};

/** True if a host call is of this kind, whether it succeeded or not. */
bool memory_call(const rtl_api_t *api, struct memory_call *call);

/** "device", "managed", "host" */
const char *memory_kind_name(enum memory_kind kind);

#endif
