/* A software GPU that is broken: one kernel of rtl-selftest-work computes nothing. Stands in front
 * of the plugin that has them all. */
#include <softgpu/plugin.h>

static uint64_t takes(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)dispatch, (void)context;
    return 1500;
}

static const softgpu_kernel_t kernels[] = {{"rtl_selftest_fork_join", NULL, takes, NULL}};

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                            .name = "wrong",
                                            .kernel_count = sizeof kernels / sizeof kernels[0],
                                            .kernels = kernels};
    return version == SOFTGPU_PLUGIN_VERSION ? &plugin : NULL;
}
