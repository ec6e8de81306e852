/* A plugin of a version that does not exist. */
#include <softgpu/plugin.h>

static const softgpu_kernel_t kernels[] = {{.name = "nothing"}};

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_plugin_t plugin = {
        .version = 4711, .name = "old", .kernel_count = 1, .kernels = kernels};
    (void)version;
    return &plugin;
}
