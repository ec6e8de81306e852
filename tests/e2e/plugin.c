/* What the kernels of kernels.cl do, for the software GPU. */
#include "random_kernel.h"

#include <softgpu/plugin.h>
#include <stdatomic.h>

/* The device's thread alone adds; the program reads when the kernels are done. */
static void count(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    _Atomic uint64_t *counter = *(_Atomic uint64_t *const *)dispatch->kernarg;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void leave_trace(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const struct random_arguments *arguments = dispatch->kernarg;
    struct random_tally *tally = arguments->tally;
    if (arguments->after != arguments->id &&
        atomic_load_explicit(&tally->runs[arguments->after], memory_order_relaxed) == 0)
        atomic_fetch_add_explicit(&tally->broken, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tally->runs[arguments->id], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tally->sum, random_mix(arguments->id), memory_order_relaxed);
    atomic_fetch_add_explicit(&tally->count, 1, memory_order_relaxed);
}

static const softgpu_kernel_t kernels[] = {
    {.name = "storm_first", .run = count},         {.name = "storm_second", .run = count},
    {.name = "storm_third", .run = count},         {.name = "random_quick", .run = leave_trace},
    {.name = "random_middle", .run = leave_trace}, {.name = "random_slow", .run = leave_trace},
    {.name = "storm_endless", .run = count}};

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                            .name = "end-to-end kernels",
                                            .kernel_count = sizeof kernels / sizeof *kernels,
                                            .kernels = kernels};
    return version == SOFTGPU_PLUGIN_VERSION ? &plugin : NULL;
}
