#include "softgpu/isa.h"

#include <stddef.h>
#include <string.h>

enum { FAMILY_AI = 141, FAMILY_GC_11 = 145 };

/* The first is the default. */
static const sg_isa_t isas[] = {
    {.name = "gfx906",
     .product = "RTL software GPU (gfx906)",
     .asic = "vega20",
     .version = 90006,
     .device = 0x66a1,
     .family = FAMILY_AI,
     .compute_units = 60,
     .simds_per_cu = 4,
     .waves_per_simd = 10,
     .wave_size = 64,
     .engines = 4,
     .cu_per_array = 16,
     .xccs = 1,
     .sdma_engines = 2,
     .firmware = 400,
     .sdma_firmware = 145},
    {.name = "gfx908",
     .product = "RTL software GPU (gfx908)",
     .asic = "arcturus",
     .version = 90008,
     .device = 0x738c,
     .family = FAMILY_AI,
     .compute_units = 120,
     .simds_per_cu = 4,
     .waves_per_simd = 10,
     .wave_size = 64,
     .engines = 8,
     .cu_per_array = 16,
     .xccs = 1,
     .sdma_engines = 2,
     .xgmi_engines = 6,
     .firmware = 67,
     .sdma_firmware = 18},
    {.name = "gfx90a",
     .product = "RTL software GPU (gfx90a)",
     .asic = "aldebaran",
     .version = 90010,
     .device = 0x7408,
     .family = FAMILY_AI,
     .compute_units = 104,
     .simds_per_cu = 4,
     .waves_per_simd = 8,
     .wave_size = 64,
     .engines = 8,
     .cu_per_array = 16,
     .xccs = 1,
     .sdma_engines = 2,
     .xgmi_engines = 3,
     .firmware = 78,
     .sdma_firmware = 8},
    {.name = "gfx942",
     .product = "RTL software GPU (gfx942)",
     .asic = "ip discovery",
     .version = 90402,
     .device = 0x74a1,
     .family = FAMILY_AI,
     .compute_units = 304,
     .simds_per_cu = 4,
     .waves_per_simd = 8,
     .wave_size = 64,
     .engines = 32,
     .cu_per_array = 10,
     .xccs = 8,
     .sdma_engines = 2,
     .xgmi_engines = 14,
     .firmware = 175,
     .sdma_firmware = 24},
    {.name = "gfx1100",
     .product = "RTL software GPU (gfx1100)",
     .asic = "ip discovery",
     .version = 110000,
     .device = 0x744c,
     .family = FAMILY_GC_11,
     .compute_units = 96,
     .simds_per_cu = 2,
     .waves_per_simd = 16,
     .wave_size = 32,
     .engines = 6,
     .cu_per_array = 8,
     .xccs = 1,
     .sdma_engines = 2,
     .firmware = 550,
     .sdma_firmware = 19},
};

const sg_isa_t *sg_isa_find(const char *name)
{
    for (size_t i = 0; i < sizeof(isas) / sizeof(isas[0]); i++)
        if (strcmp(isas[i].name, name) == 0)
            return &isas[i];
    return NULL;
}

const sg_isa_t *sg_isa_default(void)
{
    return &isas[0];
}
