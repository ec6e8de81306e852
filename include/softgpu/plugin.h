/**
 * Plugins of the software GPU: what kernels compute.
 *
 * The software GPU does not execute GPU code. A kernel does its work on the host, in a C function
 * that is found by the kernel's name. HIP's and ROCr's own copy and fill kernels are built in; a
 * program brings the functions of its kernels in a shared object that exports `softgpu_plugin`, and
 * names it in the environment:
 *
 *     SOFTGPU_PLUGINS=/path/one.so:/path/two.so
 *
 * A plugin needs nothing but this header:
 *
 *     static void add_one(const softgpu_dispatch_t *dispatch, void *context)
 *     {
 *         int *data = *(int *const *)softgpu_argument(dispatch, 0);
 *         for (uint32_t i = 0; i < dispatch->grid[0]; i++)
 *             data[i] += 1;
 *     }
 *     static const softgpu_kernel_t kernels[] = {{.name = "add_one", .run = add_one}};
 *     static const softgpu_plugin_t plugin = {SOFTGPU_PLUGIN_VERSION, "mine", 1, kernels, NULL};
 *     const softgpu_plugin_t *softgpu_plugin(uint32_t version) { (void)version; return &plugin; }
 *
 * The functions are called in the program's process by the device's thread, one at a time: they
 * need no locks among themselves, must not call HIP or HSA, must not block (every queue of every
 * software GPU would stand still) and see the program's memory at its own addresses.
 */
#ifndef SOFTGPU_PLUGIN_H
#define SOFTGPU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this interface. A plugin of another version is refused with a sentence on stderr. */
#define SOFTGPU_PLUGIN_VERSION 1U

/** Where one explicit argument lies in the kernarg segment, in bytes. */
typedef struct softgpu_argument {
    uint32_t offset;
    uint32_t size;
} softgpu_argument_t;

/** One dispatch: a whole grid. Valid during the call only; the software GPU owns everything in it.
 */
typedef struct softgpu_dispatch {
    const char *name; /**< mangled kernel name, without `.kd` */
    const char
        *demangled; /**< demangled name with parameters; the mangled name where it is not mangled */
    uint32_t gpu;   /**< ordinal among the software GPUs, from 0 */
    uint32_t dynamic_lds; /**< group segment of the packet, bytes */
    uint32_t grid[3];     /**< work-items */
    uint32_t block[3];    /**< work-items */
    const void *kernarg;  /**< kernarg segment, NULL if the packet has none */
    size_t kernarg_size;  /**< its size by the kernel descriptor, bytes; 0 if unknown */
    /** Explicit arguments, in order, from the code object's metadata; none if it has no metadata.
     */
    size_t argument_count;
    const softgpu_argument_t *arguments;
} softgpu_dispatch_t;

/** Address of explicit argument `number` in the kernarg segment; NULL if the kernel has no such
 * argument. */
static inline const void *softgpu_argument(const softgpu_dispatch_t *dispatch, size_t number)
{
    if (number >= dispatch->argument_count || dispatch->kernarg == NULL) {
        return NULL;
    }
    return (const char *)dispatch->kernarg + dispatch->arguments[number].offset;
}

/** Computes the whole grid. Called when the kernel starts; what it stores is there when the kernel
 * ends. */
typedef void (*softgpu_run_fn)(const softgpu_dispatch_t *dispatch, void *context);

/** How long the dispatch takes, in nanoseconds (the device rounds up to its 10 ns ticks).
 * SOFTGPU_DURATION is stronger. Must be a function of the dispatch alone, so that runs repeat. */
typedef uint64_t (*softgpu_duration_fn)(const softgpu_dispatch_t *dispatch, void *context);

/** Tells whether a kernel that waits for a value in memory may go on. Until it says true the
 * dispatch has not started; the device asks again and serves other queues meanwhile. */
typedef bool (*softgpu_ready_fn)(const softgpu_dispatch_t *dispatch, void *context);

/** One kernel of a plugin. */
typedef struct softgpu_kernel {
    /** Mangled name, or demangled with or without its parameters and template arguments:
     * `_ZN2ns3addIfEEvPT_`, `void ns::add<float>(float*)`, `ns::add<float>` and `ns::add` all fit.
     * The most exact one wins; among equal ones the first plugin's. */
    const char *name;
    softgpu_run_fn run;           /**< NULL: computes nothing, and that is meant */
    softgpu_duration_fn duration; /**< NULL: by the model */
    softgpu_ready_fn ready;       /**< NULL: at once */
} softgpu_kernel_t;

/** What a plugin brings; lives as long as the process. */
typedef struct softgpu_plugin {
    uint32_t version; /**< SOFTGPU_PLUGIN_VERSION */
    const char *name; /**< for messages */
    size_t kernel_count;
    const softgpu_kernel_t *kernels;
    void *context; /**< handed to the functions */
} softgpu_plugin_t;

/** The entry point that the plugin exports. `version` is the software GPU's; return NULL to refuse
 * it. Called once, before the device starts. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const softgpu_plugin_t *
softgpu_plugin(uint32_t version);

/** Its type, for who looks it up. */
typedef const softgpu_plugin_t *(*softgpu_plugin_fn)(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
