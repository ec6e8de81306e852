/* What the demo's kernels do and how long they take, for the software GPU. */
#include "kernels.h"

#include <softgpu/plugin.h>

/* Argument `number` of the dispatch, as a pointer or a number. */
// NOLINTNEXTLINE(bugprone-macro-parentheses): a type cannot stand in parentheses
#define POINTER(type, number) (*(type *const *)softgpu_argument(dispatch, number))
#define NUMBER(number)        (*(const int32_t *)softgpu_argument(dispatch, number))

/* A kernel that calls `item` for each of the work-items that the last argument counts. */
#define KERNEL(name, count, ...)                                                                   \
    static void name(const softgpu_dispatch_t *dispatch, void *context)                            \
    {                                                                                              \
        (void)context;                                                                             \
        for (int item = 0; item < (count); item++) {                                               \
            decode_##name(item, __VA_ARGS__);                                                      \
        }                                                                                          \
    }

typedef const int32_t input_t;
typedef const decode_step_t step_t;
typedef const decode_cache_t cache_t;

KERNEL(embed, DECODE_WIDTH, POINTER(input_t, 0), POINTER(step_t, 1), POINTER(int32_t, 2))
KERNEL(norm, DECODE_WIDTH, POINTER(input_t, 0), POINTER(int32_t, 1))
KERNEL(matvec, NUMBER(3), POINTER(input_t, 0), POINTER(input_t, 1), NUMBER(4), POINTER(int32_t, 2))
KERNEL(rotate, DECODE_WIDTH, POINTER(step_t, 0), POINTER(int32_t, 1))
KERNEL(append, DECODE_WIDTH, POINTER(step_t, 0), POINTER(input_t, 1), POINTER(decode_cache_t, 2))
KERNEL(scores, DECODE_HEADS *DECODE_WINDOW, POINTER(input_t, 0), POINTER(cache_t, 1),
       POINTER(int32_t, 2))
KERNEL(soften, DECODE_HEADS *DECODE_WINDOW, POINTER(step_t, 0), POINTER(input_t, 1),
       POINTER(int32_t, 2))
KERNEL(mix, DECODE_WIDTH, POINTER(input_t, 0), POINTER(cache_t, 1), POINTER(int32_t, 2))
KERNEL(add, DECODE_WIDTH, POINTER(input_t, 0), POINTER(int32_t, 1))
KERNEL(gated, DECODE_INNER, POINTER(input_t, 0), POINTER(input_t, 1), POINTER(input_t, 2),
       POINTER(int32_t, 3))
KERNEL(down, DECODE_WIDTH, POINTER(input_t, 0), POINTER(input_t, 1), POINTER(int32_t, 2))

static void pick(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    decode_pick(POINTER(input_t, 0), POINTER(step_t, 1), POINTER(int32_t, 2));
}

/* Times as they are in the proportions of a real decode step: matrices take longest. */
static uint64_t quick(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)dispatch, (void)context;
    return 1400;
}

static uint64_t by_matrix(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    return 2000 + (uint64_t)NUMBER(3) * (uint64_t)NUMBER(4) / 4;
}

static uint64_t wide(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)dispatch, (void)context;
    return 3000;
}

static const softgpu_kernel_t kernels[] = {
    {"decode::embed", embed, quick, NULL},       {"decode::norm", norm, quick, NULL},
    {"decode::matvec", matvec, by_matrix, NULL}, {"decode::rotate", rotate, quick, NULL},
    {"decode::append", append, quick, NULL},     {"decode::scores", scores, wide, NULL},
    {"decode::soften", soften, quick, NULL},     {"decode::mix", mix, wide, NULL},
    {"decode::add", add, quick, NULL},           {"decode::gated", gated, wide, NULL},
    {"decode::down", down, wide, NULL},          {"decode::pick", pick, wide, NULL},
};

const softgpu_plugin_t *softgpu_plugin(uint32_t version)
{
    static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                            .name = "decode demo",
                                            .kernel_count = sizeof kernels / sizeof kernels[0],
                                            .kernels = kernels};
    return version == SOFTGPU_PLUGIN_VERSION ? &plugin : NULL;
}
