/**
 * The GPUs that the software GPU can look like.
 */
#ifndef SOFTGPU_ISA_H
#define SOFTGPU_ISA_H

#include <stdint.h>

/** What the driver and libdrm tell of a GPU. Sources: the properties that Linux's amdkfd gives such
 * cards, and its tables of devices. */
typedef struct sg_isa {
    const char *name;    /**< the target of compilers */
    const char *product; /**< marketing name */
    const char *asic;    /**< the driver's name of the chip */
    uint32_t version;    /**< gfx_target_version: 10000 major + 100 minor + stepping */
    uint32_t device;     /**< PCI device id, by which thunks up to 6.x know the target */
    uint32_t family;     /**< AMDGPU_FAMILY_* */
    uint32_t compute_units;
    uint32_t simds_per_cu;
    uint32_t waves_per_simd;
    uint32_t wave_size;
    uint32_t engines; /**< shader engines */
    uint32_t cu_per_array;
    uint32_t xccs;
    uint32_t sdma_engines;
    uint32_t xgmi_engines; /**< SDMA engines for other GPUs */
    uint32_t firmware, sdma_firmware;
} sg_isa_t;

/** The GPU with this name; NULL if there is none. */
const sg_isa_t *sg_isa_find(const char *name);

/** The default, a gfx906. */
const sg_isa_t *sg_isa_default(void);

#endif
