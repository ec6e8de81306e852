/* What `append` of kernels.cl computes. */
#include <softgpu/plugin.h>
#include <string.h>

static void append(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    int *list = NULL;
    int value = 0;
    memcpy(&list, softgpu_argument(dispatch, 0), sizeof(list));
    memcpy(&value, softgpu_argument(dispatch, 1), sizeof(value));
    list[++list[0]] = value;
}

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_kernel_t kernels[] = {{.name = "append", .run = append}};
    static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                            .name = "driver tests",
                                            .kernel_count = 1,
                                            .kernels = kernels};
    (void)version;
    return &plugin;
}
