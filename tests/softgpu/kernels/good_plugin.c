/* A plugin as it should be. */
#include <softgpu/plugin.h>

static void store(const softgpu_dispatch_t *dispatch, void *context)
{
    int32_t *target = *(int32_t *const *)softgpu_argument(dispatch, 0);
    int8_t small = *(const int8_t *)softgpu_argument(dispatch, 1);
    int64_t wide = *(const int64_t *)softgpu_argument(dispatch, 2);
    *target = small + (int32_t)wide + *(const int32_t *)context;
}

static uint64_t by_grid(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    return (uint64_t)dispatch->grid[0] * 100;
}

static bool when_set(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    return **(int32_t *const *)softgpu_argument(dispatch, 0) != 0;
}

static int32_t offset = 1000;
static const softgpu_kernel_t kernels[] = {
    {.name = "store", .run = store, .duration = by_grid, .ready = when_set},
    {.name = "ns::scale"},
};

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                            .name = "good",
                                            .kernel_count = 2,
                                            .kernels = kernels,
                                            .context = &offset};
    return version == SOFTGPU_PLUGIN_VERSION ? &plugin : NULL;
}
