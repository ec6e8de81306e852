/* What the kernels of rtl-selftest-work do on the software GPU, and how long they take. */
#include "selftest/kernels.h"

#include <softgpu/plugin.h>

static unsigned number(const softgpu_dispatch_t *dispatch, size_t argument)
{
    return *(const unsigned *)softgpu_argument(dispatch, argument);
}

static void run(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    unsigned *values = *(unsigned *const *)softgpu_argument(dispatch, 0);
    unsigned count = number(dispatch, 1);
    unsigned amount = number(dispatch, 2);
    unsigned rounds = number(dispatch, 3);
    for (unsigned item = 0; item < count; ++item)
        SELFTEST_ITEM(values, item, amount, rounds);
}

/* As a GPU of 2 GHz that needs some twenty cycles a round. */
static uint64_t takes(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    return 1500 + UINT64_C(10) * number(dispatch, 3);
}

static const softgpu_kernel_t kernels[] = {
#define X(name) {#name, run, takes, NULL},
    SELFTEST_KERNELS(X)
#undef X
};

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                            .name = "rtl selftest",
                                            .kernel_count = sizeof kernels / sizeof kernels[0],
                                            .kernels = kernels};
    return version == SOFTGPU_PLUGIN_VERSION ? &plugin : NULL;
}
