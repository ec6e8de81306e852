/**
 * PM4, the command processor's own packets: those that the library for performance counters writes
 * and the device reads. Numbers are gfx9's; sources: Linux's amdgpu driver (soc15d.h), AMD's
 * aqlprofile (gfx9_cmd_builder.h, gfx9_primitives.h), gc_9_2_1_offset.h.
 *
 * A packet of type 3 is a header (type in bits 30-31, dwords after the first one less one in bits
 * 16-29, operation in bits 8-15) and its body.
 */
#ifndef SOFTGPU_PM4_PACKETS_H
#define SOFTGPU_PM4_PACKETS_H

#include <stdint.h>

/** Operations. */
enum {
    SG_PM4_NOP = 0x10,             /**< any body */
    SG_PM4_INDIRECT_BUFFER = 0x3f, /**< address low, high, size and flags: goes on there */
    SG_PM4_COPY_DATA = 0x40,       /**< what to where, source low and high, target low and high */
    SG_PM4_EVENT_WRITE = 0x46,     /**< an event */
    SG_PM4_ACQUIRE_MEM = 0x58,     /**< caches: nothing to do on this device */
    SG_PM4_SET_SH_REG = 0x76,      /**< offset of the first register, values */
    SG_PM4_SET_UCONFIG_REG = 0x79  /**< offset of the first register, values */
};

/** Bits and fields. */
enum {
    SG_PM4_TYPE_3 = 3,
    SG_PM4_SH_BASE = 0x2c00,      /**< first register of SET_SH_REG */
    SG_PM4_UCONFIG_BASE = 0xc000, /**< first register of SET_UCONFIG_REG */
    SG_PM4_JUMP_VALID = 1 << 23,
    SG_PM4_JUMP_STREAM = 1 << 28, /**< cache policy */
    SG_PM4_JUMP_SIZE = 0xfffff,   /**< mask of the size in dwords */
    SG_PM4_COPY_FROM_REGISTER = 0,
    SG_PM4_COPY_TO_MEMORY = 5 << 8,
    SG_PM4_COPY_SELECTORS = 0xf0f, /**< mask of source and target */
    SG_PM4_COPY_64_BITS = 1 << 16,
    SG_PM4_COPY_STREAM = 1 << 13 | 1 << 25, /**< cache policies */
    SG_PM4_FLUSH = 7 | 4 << 8               /**< CS_PARTIAL_FLUSH and its index */
};

/** The vendor packet around a jump: AMD_AQL_FORMAT_PM4_IB of ROCr's amd_aql_queue.cpp. */
enum { SG_PM4_AQL_FORMAT = 1, SG_PM4_AQL_REMAINING = 10 };

/** Registers, as addresses in dwords. */
enum {
    SG_REG_COMPUTE_PERFCOUNT_ENABLE = 0x2e0b,
    SG_REG_GRBM_GFX_INDEX = 0xc200,
    SG_REG_CP_PERFMON_CNTL = 0xd808,
    SG_REG_SQ_PERFCOUNTER_CTRL = 0xd9e0,
    SG_REG_SQ_PERFCOUNTER_MASK = 0xd9e1,
    SG_REG_RLC_PERFMON_CLK_CNTL = 0xdcbf
};

/** Fields of CP_PERFMON_CNTL. */
enum {
    SG_PERFMON_RESET = 0,
    SG_PERFMON_START = 1,
    SG_PERFMON_STOP = 2,
    SG_PERFMON_STATE = 0xf,      /**< mask */
    SG_PERFMON_SAMPLE = 1 << 10, /**< counters are copied to where they are read */
};

/** Fields of GRBM_GFX_INDEX, which says which instances register accesses go to. */
#define SG_INDEX_INSTANCE(number) ((uint32_t)(number)&0xffU)
#define SG_INDEX_ENGINE(number)   (((uint32_t)(number)&0xffU) << 16)
#define SG_INDEX_ALL_ARRAYS       (UINT32_C(1) << 29)
#define SG_INDEX_ALL_INSTANCES    (UINT32_C(1) << 30)
#define SG_INDEX_ALL_ENGINES      (UINT32_C(1) << 31)
#define SG_INDEX_ALL              (SG_INDEX_ALL_ARRAYS | SG_INDEX_ALL_INSTANCES | SG_INDEX_ALL_ENGINES)

/** Header of a packet whose body has `body` dwords. */
static inline uint32_t sg_pm4_header(uint32_t operation, uint32_t body)
{
    return UINT32_C(3) << 30 | (body - 1) << 16 | operation << 8;
}

#endif
