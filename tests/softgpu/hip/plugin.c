/* What the kernels of the HIP tests do on the software GPU. */
#include <softgpu/plugin.h>

#include <string.h>

#define SLOW_NS 3000000U

typedef struct values {
    int32_t *values;
    int32_t count, number;
} values_t;

static void move(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    memcpy(*(void *const *)softgpu_argument(dispatch, 0),
           *(const void *const *)softgpu_argument(dispatch, 1),
           *(const size_t *)softgpu_argument(dispatch, 2));
}

/* The work-items of the grid that have a value. */
static values_t read_values(const softgpu_dispatch_t *dispatch)
{
    values_t in;
    memcpy(&in.values, softgpu_argument(dispatch, 0), sizeof in.values);
    memcpy(&in.count, softgpu_argument(dispatch, 1), sizeof in.count);
    memcpy(&in.number, softgpu_argument(dispatch, 2), sizeof in.number);
    if ((uint32_t)in.count > dispatch->grid[0]) {
        in.count = (int32_t)dispatch->grid[0];
    }
    return in;
}

static void add(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    values_t in = read_values(dispatch);
    for (int32_t i = 0; i < in.count; i++) {
        in.values[i] += in.number;
    }
}

static void scale(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    values_t in = read_values(dispatch);
    for (int32_t i = 0; i < in.count; i++) {
        in.values[i] = in.values[i] * in.number + i;
    }
}

static uint64_t slow(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)dispatch, (void)context;
    return SLOW_NS;
}

/* hip_lasts(counter, ns) */
static void lasts(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    (**(int32_t *const *)softgpu_argument(dispatch, 0))++;
}

static uint64_t lasts_ns(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    return *(const uint32_t *)softgpu_argument(dispatch, 1);
}

/* hip_takes(counter, ns) */
static uint64_t takes_ns(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    return **(const uint32_t *const *)softgpu_argument(dispatch, 1);
}

static void where(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    **(int32_t *const *)softgpu_argument(dispatch, 0) = (int32_t)dispatch->gpu;
}

static const softgpu_kernel_t kernels[] = {
    {.name = "hip_move", .run = move},
    {.name = "hip_add", .run = add},
    {.name = "hip_scale", .run = scale},
    {.name = "hip_slow", .duration = slow},
    {.name = "hip_lasts", .run = lasts, .duration = lasts_ns},
    {.name = "hip_takes", .run = lasts, .duration = takes_ns},
    {.name = "hip_where", .run = where},
    {.name = "ncclDevKernel_AllReduce", .run = lasts, .duration = takes_ns},
    {.name = "module_add", .run = add},
    {.name = "module_scale", .run = scale},
};

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                            .name = "HIP tests",
                                            .kernel_count = sizeof kernels / sizeof kernels[0],
                                            .kernels = kernels};
    return version == SOFTGPU_PLUGIN_VERSION ? &plugin : NULL;
}
