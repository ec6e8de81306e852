/**
 * What ROCm 10 offers beside older entries (hsa_ext_amd.h, interface 1.26 of August 2026), as far
 * as the model and its program need it. See rocm10.c.
 */
#ifndef MODEL_ROCM10_H
#define MODEL_ROCM10_H

#include <hsa/hsa.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL10_COMPUTE = 0, MODEL10_SDMA = 1, MODEL10_AIE = 2 };
enum { MODEL10_RING_IN_DEVICE_MEMORY = 1, MODEL10_DESCRIPTOR_IN_DEVICE_MEMORY = 2 };

/** hsa_amd_queue_create_desc_t, version 1. */
struct model10_desc {
    uint16_t version, flags;
    uint8_t engine;
    uint32_t bytes; /**< of the ring */
    int priority;
    void (*callback)(hsa_status_t, hsa_queue_t *, void *);
    void *data;
    hsa_queue_t *queue; /**< out */
    struct {
        const uint32_t *cu_mask;
        uint32_t type, private_size, cu_mask_bits;
        uint32_t reserved[3];
    } compute;
    uint64_t traffic_class;
    uint64_t reserved[2];
};

_Static_assert(sizeof(struct model10_desc) == 96, "as in hsa_ext_amd.h");
_Static_assert(offsetof(struct model10_desc, queue) == 32, "as in hsa_ext_amd.h");
_Static_assert(offsetof(struct model10_desc, compute.private_size) == 52, "as in hsa_ext_amd.h");

#endif
