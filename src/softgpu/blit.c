/*
 * The copy and fill kernels of HIP and ROCr, done on the host.
 *
 * HIP (ROCclr) compiles its kernels from OpenCL source in the process, so they come with names;
 * what their arguments mean is in that source (ROCclr, device/blitcl.cpp and
 * device/rocm/rocblit.cpp) and in the library functions they call (ROCm device libs,
 * opencl/src/misc/amdblit.cl). OpenCL's kernarg segment holds the arguments in order with their
 * natural alignment. HIP 6.4 and later have other arguments for two of them, in which each
 * work-item goes on by a stride; the source that they are compiled from is among HIP's strings.
 * Which arguments a kernel has is told by its code object. ROCr's kernels are bare code with a
 * descriptor before it; their arguments stand in comments of ROCr's amd_blit_kernel.cpp.
 *
 * As on the device, only work-items of the grid do anything.
 */
#include "softgpu/kernel.h"

#include <string.h>

/* ---- HIP
 * --------------------------------------------------------------------------------------------------
 */

typedef struct fill_arguments {
    uint8_t
        *buffer[4]; /* as bytes, 2, 4 and 8 bytes; the kernel uses the widest that is not NULL */
    const uint8_t *pattern;
    uint32_t pattern_size; /* in units of the buffer used */
    uint64_t offset;       /* in units */
    uint64_t size;         /* patterns */
} fill_arguments_t;

typedef struct fill_2d_arguments {
    uint8_t *buffer[4];
    const uint8_t *pattern;
    uint32_t pattern_size;
    uint64_t origin, width, height, pitch; /* in units */
} fill_2d_arguments_t;

typedef struct copy_arguments {
    const uint8_t *source;
    uint8_t *target;
    uint64_t source_origin, target_origin, size;
    uint32_t remain; /* of copyBufferAligned: the alignment */
} copy_arguments_t;

/* Of HIP 6.4 and later. Sizes and strides of the fill are in units of `unit` bytes, those of the
 * copy in its own; a later release has the size of a workgroup behind them, which says nothing new.
 */
typedef struct fill_on_arguments {
    uint8_t *buffer;
    const uint8_t *pattern;
    uint32_t pattern_size;
    uint32_t unit;
    uint64_t end; /* an address */
    uint32_t stride;
} fill_on_arguments_t;

typedef struct copy_on_arguments {
    const uint8_t *source;
    uint8_t *target;
    uint64_t size;
    uint32_t remainder; /* the bytes at the end that the first work-item copies */
    uint32_t unit;
    uint64_t end; /* an address in the target */
    uint32_t stride;
} copy_on_arguments_t;

typedef struct rectangle_arguments {
    const uint8_t *source;
    uint8_t *target;
    uint64_t padding[2];
    uint64_t source_rectangle[4], target_rectangle[4]; /* row pitch, slice pitch, start */
    uint64_t size[4];                                  /* width, height, depth, bytes per unit */
} rectangle_arguments_t;

typedef struct stream_arguments {
    void *word32;
    void *word64;
    uint64_t value, flags, mask; /* of the write: value, size */
} stream_arguments_t;

_Static_assert(offsetof(fill_arguments_t, offset) == 48, "kernarg of fillBufferAligned");
_Static_assert(offsetof(fill_2d_arguments_t, pitch) == 72, "kernarg of fillBufferAligned2D");
_Static_assert(offsetof(copy_arguments_t, remain) == 40, "kernarg of copyBuffer");
_Static_assert(offsetof(fill_on_arguments_t, stride) == 32, "kernarg of fillBufferAligned, 6.4");
_Static_assert(offsetof(copy_on_arguments_t, stride) == 40, "kernarg of copyBuffer, 6.4");
_Static_assert(offsetof(rectangle_arguments_t, size) == 96, "kernarg of copyBufferRect");

static uint64_t smaller(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* Writes `count` patterns of `length` bytes, each time doubling what is there. */
static void fill_pattern(uint8_t *target, const uint8_t *pattern, uint64_t length, uint64_t count)
{
    uint64_t total = length * count;
    if (total == 0) {
        return;
    }
    memcpy(target, pattern, length);
    for (uint64_t done = length; done < total; done *= 2) {
        memcpy(target + done, target, smaller(done, total - done));
    }
}

/* The buffer that the kernel uses, and the bytes of its unit. */
static uint8_t *choose_buffer(uint8_t *const buffer[4], uint64_t *unit)
{
    for (int wide = 3; wide > 0; wide--) {
        if (buffer[wide] != NULL) {
            *unit = (uint64_t)1 << (unsigned)wide;
            return buffer[wide];
        }
    }
    *unit = 1;
    return buffer[0];
}

/* The fourth argument tells the arguments of HIP 6.4 from those before, whose fourth is as long as
 * a pointer, in both kernels. */
static bool goes_on(const softgpu_dispatch_t *dispatch)
{
    enum { FOURTH = 3 };
    return dispatch->argument_count > FOURTH &&
           dispatch->arguments[FOURTH].size == sizeof(uint32_t);
}

static void fill_on(const softgpu_dispatch_t *dispatch)
{
    const fill_on_arguments_t *in = dispatch->kernarg;
    uint64_t length = (uint64_t)in->pattern_size * in->unit;
    uint64_t bytes = in->end > (uintptr_t)in->buffer ? in->end - (uintptr_t)in->buffer : 0;
    uint64_t stride = (uint64_t)in->stride * in->unit;
    if (length == 0 || stride == 0) {
        return;
    }
    if (stride == length * dispatch->grid[0]) { /* no gaps */
        fill_pattern(in->buffer, in->pattern, length, (bytes + length - 1) / length);
        return;
    }
    for (uint64_t id = 0; id < dispatch->grid[0]; id++) {
        for (uint64_t at = id * length; at < bytes; at += stride) {
            memcpy(in->buffer + at, in->pattern, length);
        }
    }
}

static void fill_aligned(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const fill_arguments_t *in = dispatch->kernarg;
    if (goes_on(dispatch)) {
        fill_on(dispatch);
        return;
    }
    uint64_t unit;
    uint8_t *buffer = choose_buffer(in->buffer, &unit);
    fill_pattern(buffer + in->offset * unit, in->pattern, in->pattern_size * unit,
                 smaller(in->size, dispatch->grid[0]));
}

/* Neighbouring work-items of a row are one unit apart, whatever the size of the pattern. */
static void fill_aligned_2d(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const fill_2d_arguments_t *in = dispatch->kernarg;
    uint64_t unit;
    uint8_t *buffer = choose_buffer(in->buffer, &unit);
    uint64_t width = smaller(in->width, dispatch->grid[0]);
    for (uint64_t y = 0; y < smaller(in->height, dispatch->grid[1]); y++) {
        uint8_t *row = buffer + (in->origin + y * in->pitch) * unit;
        if (in->pattern_size == 1) {
            fill_pattern(row, in->pattern, unit, width);
            continue;
        }
        for (uint64_t x = 0; x < width; x++) {
            memcpy(row + x * unit, in->pattern, in->pattern_size * unit);
        }
    }
}

static void copy_on(const softgpu_dispatch_t *dispatch)
{
    const copy_on_arguments_t *in = dispatch->kernarg;
    uint64_t unit = in->unit == 16 ? 16 : 4;
    uint64_t bytes = in->end > (uintptr_t)in->target ? in->end - (uintptr_t)in->target : 0;
    uint64_t stride = in->stride * unit;
    if (in->stride == dispatch->grid[0]) { /* no gaps */
        memmove(in->target, in->source, (bytes + unit - 1) / unit * unit);
        bytes = 0;
    }
    for (uint64_t id = 0; id < dispatch->grid[0] && stride > 0; id++) {
        for (uint64_t at = id * unit; at < bytes; at += stride) {
            memmove(in->target + at, in->source + at, unit);
        }
    }
    if (in->remainder <= in->size) {
        uint64_t rest = in->size - in->remainder;
        memmove(in->target + rest, in->source + rest, in->remainder);
    }
}

/* Work-items copy 4 bytes each, the last one the remaining 0 to 3; or, where `remain` is 8, a byte
 * each. */
static void copy_buffer(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const copy_arguments_t *in = dispatch->kernarg;
    if (goes_on(dispatch)) {
        copy_on(dispatch);
        return;
    }
    uint64_t items = smaller(in->size, dispatch->grid[0]);
    uint64_t bytes = items;
    if (in->remain != 8) {
        bytes = items < in->size || items == 0 ? items * 4 : (items - 1) * 4 + in->remain;
    }
    memmove(in->target + in->target_origin, in->source + in->source_origin, bytes);
}

static void copy_aligned(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const copy_arguments_t *in = dispatch->kernarg;
    uint64_t unit = in->remain == 16 ? 16 : 4;
    memmove(in->target + in->target_origin * unit, in->source + in->source_origin * unit,
            smaller(in->size, dispatch->grid[0]) * unit);
}

static void copy_rectangle(const softgpu_dispatch_t *dispatch, uint64_t unit)
{
    const rectangle_arguments_t *in = dispatch->kernarg;
    const uint64_t *from = in->source_rectangle, *into = in->target_rectangle;
    uint64_t width = smaller(in->size[0], dispatch->grid[0]) * unit;
    for (uint64_t z = 0; z < smaller(in->size[2], dispatch->grid[2]); z++) {
        for (uint64_t y = 0; y < smaller(in->size[1], dispatch->grid[1]); y++) {
            memmove(in->target + (into[2] + y * into[0] + z * into[1]) * unit,
                    in->source + (from[2] + y * from[0] + z * from[1]) * unit, width);
        }
    }
}

static void copy_rectangle_bytes(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    copy_rectangle(dispatch, 1);
}

static void copy_rectangle_aligned(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const rectangle_arguments_t *in = dispatch->kernarg;
    copy_rectangle(dispatch, in->size[3] == 16 ? 16 : 4);
}

static void stream_write(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const stream_arguments_t *in = dispatch->kernarg;
    if (in->word32 != NULL) {
        __atomic_store_n((uint32_t *)in->word32, (uint32_t)in->value, __ATOMIC_SEQ_CST);
    } else {
        __atomic_store_n((uint64_t *)in->word64, in->value, __ATOMIC_SEQ_CST);
    }
}

/* The conditions of the kernel: 0 greater or equal, 1 equal, 2 and, 3 nor. An unknown one does not
 * wait. */
static bool stream_condition(uint64_t now, const stream_arguments_t *in, uint64_t width)
{
    uint64_t mask = in->mask & width, value = in->value & width;
    switch (in->flags) {
    case 0:
        return (now & mask) >= value;
    case 1:
        return (now & mask) == value;
    case 2:
        return (now & mask & value) != 0;
    case 3:
        return ((now | value) & mask) != mask;
    default:
        return true;
    }
}

static bool stream_ready(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const stream_arguments_t *in = dispatch->kernarg;
    if (in->word32 != NULL) {
        return stream_condition(__atomic_load_n((uint32_t *)in->word32, __ATOMIC_SEQ_CST), in,
                                UINT32_MAX);
    }
    return stream_condition(__atomic_load_n((uint64_t *)in->word64, __ATOMIC_SEQ_CST), in,
                            UINT64_MAX);
}

/* ---- ROCr
 * -------------------------------------------------------------------------------------------------
 */

/* Starts of the copy's phases, each a source and a target; the copy ends where the last pair says.
 */
typedef struct phase {
    const uint8_t *source;
    uint8_t *target;
} phase_t;

typedef struct rocr_fill_arguments {
    uint8_t *phase1, *phase2, *end;
    uint32_t value;
    uint32_t work_items;
} rocr_fill_arguments_t;

#define ROCR_PREFIX          "__rocr_"
#define NAME_COPY_ALIGNED    ROCR_PREFIX "CopyAligned"
#define NAME_COPY_MISALIGNED ROCR_PREFIX "CopyMisaligned"
#define NAME_FILL            ROCR_PREFIX "Fill"

/* The pair that ends the copy. */
enum { LAST_ALIGNED = 4, LAST_MISALIGNED = 2 };

static void copy_phases(const phase_t *phases, size_t last)
{
    memmove(phases[0].target, phases[0].source, (size_t)(phases[last].source - phases[0].source));
}

/* Four phases (up to alignment, blocks, words, bytes) that follow one another without gaps. */
static void rocr_copy_aligned(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    copy_phases(dispatch->kernarg, LAST_ALIGNED);
}

static void rocr_copy_misaligned(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    copy_phases(dispatch->kernarg, LAST_MISALIGNED);
}

void sg_blit_describe(const void *kernarg, softgpu_truth_entry_t *entry)
{
    size_t last = 0;
    if (strncmp(entry->name, ROCR_PREFIX, sizeof ROCR_PREFIX - 1) != 0)
        return;
    if (strcmp(entry->name, NAME_COPY_ALIGNED) == 0)
        last = LAST_ALIGNED;
    else if (strcmp(entry->name, NAME_COPY_MISALIGNED) == 0)
        last = LAST_MISALIGNED;
    if (last == 0)
        return;
    const phase_t *phases = kernarg;
    entry->src = (uintptr_t)phases[0].source;
    entry->dst = (uintptr_t)phases[0].target;
    entry->bytes = (uint64_t)(phases[last].source - phases[0].source);
}

static void rocr_fill(const softgpu_dispatch_t *dispatch, void *context)
{
    (void)context;
    const rocr_fill_arguments_t *in = dispatch->kernarg;
    fill_pattern(in->phase1, (const uint8_t *)&in->value, sizeof in->value,
                 (uint64_t)(in->end - in->phase1) / sizeof in->value);
}

/* Scalar loads of kernel arguments on GFX8 and GFX9: "Vega" ISA document, SMEM encoding:
 * bits 31..26 are 0x30, 25..18 the opcode (0 loads one word, 2 four), bit 17 an immediate offset.
 * On GFX10 and GFX11 (their ISA documents) bits 31..26 are 0x3D, and there is no bit 17.
 * All three kernels begin with theirs. */
#define SMEM_MASK         0xFFFE0000U
#define SMEM_LOAD_1       0xC0020000U
#define SMEM_LOAD_4       0xC00A0000U
#define SMEM_LOAD_1_GFX10 0xF4000000U
#define SMEM_LOAD_4_GFX10 0xF4080000U

static bool is_load(uint32_t instruction, uint32_t until_gfx9, uint32_t from_gfx10)
{
    uint32_t kind = instruction & SMEM_MASK;
    return kind == until_gfx9 || kind == from_gfx10;
}

const char *sg_blit_recognise(const uint8_t *code, size_t size)
{
    unsigned quads = 0, words = 0;
    for (size_t at = 0; at + 8 <= size && at < 64; at += 8) {
        uint32_t instruction;
        memcpy(&instruction, code + at, sizeof instruction);
        if (is_load(instruction, SMEM_LOAD_4, SMEM_LOAD_4_GFX10)) {
            quads++;
        } else if (is_load(instruction, SMEM_LOAD_1, SMEM_LOAD_1_GFX10)) {
            words++;
        } else {
            break;
        }
    }
    if (quads == 5 && words == 1) {
        return NAME_COPY_ALIGNED;
    }
    if (quads == 3 && words == 1) {
        return NAME_COPY_MISALIGNED;
    }
    return quads == 2 && words == 0 ? NAME_FILL : NULL;
}

static const softgpu_kernel_t kernels[] = {
    {.name = "__amd_rocclr_fillBufferAligned", .run = fill_aligned},
    {.name = "__amd_rocclr_fillBufferAligned2D", .run = fill_aligned_2d},
    {.name = "__amd_rocclr_copyBuffer", .run = copy_buffer},
    {.name = "__amd_rocclr_copyBufferAligned", .run = copy_aligned},
    {.name = "__amd_rocclr_copyBufferRect", .run = copy_rectangle_bytes},
    {.name = "__amd_rocclr_copyBufferRectAligned", .run = copy_rectangle_aligned},
    {.name = "__amd_rocclr_streamOpsWrite", .run = stream_write},
    {.name = "__amd_rocclr_streamOpsWait", .ready = stream_ready},
    /* Of device-side malloc, and of barriers across the grid: nothing here runs code that has them.
     */
    {.name = "__amd_rocclr_initHeap"},
    {.name = "__amd_rocclr_gwsInit"},
    {.name = NAME_COPY_ALIGNED, .run = rocr_copy_aligned},
    {.name = NAME_COPY_MISALIGNED, .run = rocr_copy_misaligned},
    {.name = NAME_FILL, .run = rocr_fill},
};

static const softgpu_plugin_t plugin = {.version = SOFTGPU_PLUGIN_VERSION,
                                        .name = "built in",
                                        .kernel_count = sizeof kernels / sizeof kernels[0],
                                        .kernels = kernels};

const softgpu_plugin_t *sg_blit_plugin(void)
{
    return &plugin;
}
