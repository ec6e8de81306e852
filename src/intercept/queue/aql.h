/**
 * AQL packets, as far as several parts of the library look into them.
 */
#ifndef RTL_INTERCEPT_QUEUE_AQL_H
#define RTL_INTERCEPT_QUEUE_AQL_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>

#define RTL_PACKET_SIZE 64u

/** Of the vendor's packets, the one that dispatches a kernel with clusters and a dependency:
 * HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH of ROCm 7's hsa_ext_amd.h. */
#define RTL_AMD_EXTENDED_DISPATCH 3u

/** The header of a packet that others may be writing; what they wrote before it is seen then. */
static inline uint16_t rtl_packet_header(const void *packet)
{
    return __atomic_load_n((const uint16_t *)packet, __ATOMIC_ACQUIRE);
}

/** Packet type in a header. */
static inline unsigned rtl_packet_type(uint16_t header)
{
    return (header >> HSA_PACKET_HEADER_TYPE) & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

/** Which of the vendor's packets it is, of type HSA_PACKET_TYPE_VENDOR_SPECIFIC. */
static inline uint8_t rtl_packet_amd_format(const void *packet)
{
    return ((const hsa_amd_vendor_packet_header_t *)packet)->AmdFormat;
}

/** True if a packet of that type is an extended dispatch. */
static inline bool rtl_packet_is_extended(const void *packet, unsigned type)
{
    return type == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
           rtl_packet_amd_format(packet) == RTL_AMD_EXTENDED_DISPATCH;
}

/** True if a packet of that type is a kernel: a dispatch, or an extended one. */
static inline bool rtl_packet_is_kernel(const void *packet, unsigned type)
{
    return type == HSA_PACKET_TYPE_KERNEL_DISPATCH || rtl_packet_is_extended(packet, type);
}

#endif
