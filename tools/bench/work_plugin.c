/* What the kernels of rtl-bench-work do on the software GPU: nothing, for as long as work.h says.
 */
#include "work.h"

#include <softgpu/plugin.h>

static uint64_t takes_short(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)dispatch, (void)context;
    return WORK_SHORT_NS;
}

static uint64_t takes_medium(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)dispatch, (void)context;
    return WORK_MEDIUM_NS;
}

static uint64_t takes_long(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)dispatch, (void)context;
    return WORK_LONG_NS;
}

static const softgpu_kernel_t kernels[] = {
    {"rtl_bench_short", NULL, takes_short, NULL},
    {"rtl_bench_medium", NULL, takes_medium, NULL},
    {"rtl_bench_long", NULL, takes_long, NULL},
};

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                            .name = "rtl bench",
                                            .kernel_count = sizeof kernels / sizeof kernels[0],
                                            .kernels = kernels};
    return version == SOFTGPU_PLUGIN_VERSION ? &plugin : NULL;
}
