/**
 * Kernel packets as the rewriter reads them: where the completion signal is, and what a record has
 * of a dispatch.
 *
 * For each packet, so all of it is in place. The packet is the caller's until the device may see
 * it.
 */
#ifndef RTL_INTERCEPT_QUEUE_PACKET_READ_H
#define RTL_INTERCEPT_QUEUE_PACKET_READ_H

#include "intercept/queue/aql.h"
#include "intercept/queue/pending_add.h"
#include "intercept/queue/rewrite.h"

#include <stddef.h>
#include <string.h>

/** For each packet, from several places: a call would cost more than what it saves. */
#define RTL_ALWAYS_INLINE inline __attribute__((always_inline))

/** Formats of vendor packets, all with the completion signal in the usual place:
 * AMD_AQL_FORMAT_PM4_IB of ROCr's amd_gpu_pm4.h, HSA_AMD_PACKET_TYPE_BARRIER_VALUE (2) and
 * _EXT_KERNEL_DISPATCH of hsa_ext_amd.h. */
#define RTL_AMD_FORMAT_PM4_IB 1u

/** Formats that are proposed for packets which lead to buffers of other packets, in the public
 * discussion of ROCr's indirect buffers. */
#define RTL_AMD_FORMAT_INDIRECT_FIRST 4u
#define RTL_AMD_FORMAT_INDIRECT_LAST  6u

/** RTL_AMD_EXTENDED_DISPATCH. */
struct rtl_extended_dispatch {
    uint16_t header;
    uint8_t amd_format;
    uint8_t dimensions;
    uint16_t workgroup_size[3];
    uint16_t reserved;
    uint32_t cluster_count_x;
    uint16_t cluster_count_y, cluster_count_z;
    uint8_t cluster_size[3];
    uint8_t hint;
    uint32_t private_segment_size, group_segment_size;
    uint64_t kernel_object;
    void *kernarg_address;
    hsa_signal_t dependency;
    hsa_signal_t completion_signal;
};

_Static_assert(sizeof(struct rtl_extended_dispatch) == RTL_PACKET_SIZE, "a packet");
_Static_assert(offsetof(struct rtl_extended_dispatch, completion_signal) ==
                   offsetof(hsa_kernel_dispatch_packet_t, completion_signal),
               "the signal has one place in all packets");

/** The header of a packet that is known to be written. */
static RTL_ALWAYS_INLINE uint16_t rtl_packet_header_relaxed(const void *packet)
{
    return __atomic_load_n((const uint16_t *)packet, __ATOMIC_RELAXED);
}

/** Where a packet has its completion signal, NULL if its format is not known. */
static inline hsa_signal_t *rtl_packet_signal(void *packet, unsigned type)
{
    hsa_signal_t *signal = &((hsa_kernel_dispatch_packet_t *)packet)->completion_signal;
    switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
    case HSA_PACKET_TYPE_AGENT_DISPATCH:
        return signal;
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        return rtl_packet_amd_format(packet) >= RTL_AMD_FORMAT_PM4_IB &&
                       rtl_packet_amd_format(packet) <= RTL_AMD_EXTENDED_DISPATCH
                   ? signal
                   : NULL;
    default:
        return NULL;
    }
}

/** Address of a kernel's arguments. */
static inline uint64_t rtl_packet_kernarg(const void *packet, bool extended)
{
    return extended ? (uint64_t)(uintptr_t)((const struct rtl_extended_dispatch *)packet)
                          ->kernarg_address
                    : (uint64_t)(uintptr_t)((const hsa_kernel_dispatch_packet_t *)packet)
                          ->kernarg_address;
}

/** Reads what a record has of a dispatch. */
static inline void rtl_packet_read_dispatch(const hsa_kernel_dispatch_packet_t *packet,
                                            struct rtl_kernel_facts *facts)
{
    facts->kernel_object = packet->kernel_object;
    facts->grid[0] = packet->grid_size_x;
    facts->grid[1] = packet->grid_size_y;
    facts->grid[2] = packet->grid_size_z;
    facts->group_size = packet->group_segment_size;
    facts->block[0] = packet->workgroup_size_x;
    facts->block[1] = packet->workgroup_size_y;
    facts->block[2] = packet->workgroup_size_z;
}

/** The same of an extended dispatch. */
static inline void rtl_packet_read_extended(const struct rtl_extended_dispatch *packet,
                                            struct rtl_kernel_facts *facts)
{
    uint32_t count[3] = {packet->cluster_count_x, packet->cluster_count_y, packet->cluster_count_z};
    facts->kernel_object = packet->kernel_object;
    facts->group_size = packet->group_segment_size;
    for (unsigned i = 0; i < 3; i++) {
        facts->block[i] = packet->workgroup_size[i];
        facts->grid[i] = count[i] * packet->cluster_size[i] * packet->workgroup_size[i];
    }
}

/** The program has just written the packet, and its line may still be on the way to this core. A
 * load gets what a store before it wrote without waiting for that, but only if one store wrote all
 * of it: HIP, and whoever copies a packet that is made elsewhere, writes 16 bytes or more at a
 * time, and the header, alone, last. */
static RTL_ALWAYS_INLINE uint64_t rtl_packet_word(const void *packet, size_t offset)
{
    uint64_t word;
    memcpy(&word, (const unsigned char *)packet + offset, sizeof word);
    return word;
}

static RTL_ALWAYS_INLINE uint32_t rtl_packet_half(const void *packet, size_t offset)
{
    uint32_t half;
    memcpy(&half, (const unsigned char *)packet + offset, sizeof half);
    return half;
}

#define RTL_DISPATCH_AT(field) offsetof(hsa_kernel_dispatch_packet_t, field)

_Static_assert(RTL_DISPATCH_AT(workgroup_size_x) == 4 && RTL_DISPATCH_AT(workgroup_size_z) == 8 &&
                   RTL_DISPATCH_AT(grid_size_x) == 12 && RTL_DISPATCH_AT(grid_size_y) == 16 &&
                   RTL_DISPATCH_AT(grid_size_z) == 20 &&
                   RTL_DISPATCH_AT(private_segment_size) == 24 &&
                   RTL_DISPATCH_AT(group_segment_size) == 28,
               "a record has the words of a packet");

/** What a record has of a dispatch, in the packet's words; the half for its header is left out. */
static RTL_ALWAYS_INLINE struct rtl_record_words
rtl_packet_words(const hsa_kernel_dispatch_packet_t *packet)
{
    return (struct rtl_record_words){
        .block = (uint64_t)rtl_packet_half(packet, RTL_DISPATCH_AT(workgroup_size_x)) << 32,
        .block_z_grid_x = rtl_packet_word(packet, RTL_DISPATCH_AT(workgroup_size_z)),
        .grid_y_z = rtl_packet_word(packet, RTL_DISPATCH_AT(grid_size_y)),
        .group = rtl_packet_word(packet, RTL_DISPATCH_AT(private_segment_size)),
        .kernel_object = rtl_packet_word(packet, RTL_DISPATCH_AT(kernel_object)),
    };
}

/** True if a packet is a dispatch, and no extended one. */
static RTL_ALWAYS_INLINE bool rtl_packet_is_dispatch(const hsa_kernel_dispatch_packet_t *packet)
{
    return rtl_packet_type(rtl_packet_header_relaxed(packet)) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
}

/** What the fingerprint of a dispatch is made of. */
static RTL_ALWAYS_INLINE struct rtl_kernel_key
rtl_packet_key(const hsa_kernel_dispatch_packet_t *packet, const struct rtl_record_words *words)
{
    return (struct rtl_kernel_key){
        .kernel_object = words->kernel_object,
        .kernarg = rtl_packet_word(packet, RTL_DISPATCH_AT(kernarg_address)),
        .block = words->block,
        .block_z_grid_x = words->block_z_grid_x,
        .grid_y_z = words->grid_y_z,
    };
}

#endif
