/**
 * Inside the kernel side of the software GPU: how kernel.c (the table of known kernels),
 * kernel_elf.c and kernel_args.c (names and arguments out of code objects), plugin.c and blit.c
 * (what kernels compute) and model.c (how long they take) meet.
 *
 * Device thread only, unless a line says otherwise.
 */
#ifndef SOFTGPU_KERNEL_H
#define SOFTGPU_KERNEL_H

#include "softgpu/exec.h"
#include "softgpu/pmc_model.h"

#include <softgpu/plugin.h>

/** How the duration of a kernel is found. */
typedef struct sg_duration {
    bool fixed;    /**< `ns` is the base; false: the plugin's function, or the size of the grid */
    uint64_t ns;   /**< base duration */
    double jitter; /**< fraction of the base, 0..1: the duration lies within base * (1 ± jitter) */
    uint64_t every; /**< one dispatch in so many is an outlier; 0: none */
    double factor;  /**< what an outlier's duration is multiplied with */
} sg_duration_t;

/** A known kernel. */
struct sg_kernel {
    uint64_t object;
    char *name;      /**< mangled, "" if unknown; owned */
    char *demangled; /**< NULL if the name is not a mangled one; owned */
    size_t kernarg_size;
    softgpu_argument_t *arguments; /**< owned */
    size_t argument_count;
    const softgpu_kernel_t *host; /**< what it computes; NULL: nothing is known */
    void *context;                /**< of the plugin that `host` is of */
    sg_duration_t duration;
    sg_mix_t mix;           /**< what it adds to the performance counters */
    struct sg_kernel *next; /**< in its bucket, or among the forgotten */
};

/** What a code object says about a kernel. Pointers lead into the code object. */
typedef struct sg_elf_kernel {
    const char *symbol;      /**< `name.kd` */
    const uint8_t *metadata; /**< msgpack of the note, NULL if there is none */
    size_t metadata_size;
} sg_elf_kernel_t;

/** Looks for the code object around `kernel_object` within [base, base+size) and for the symbol
 * that has exactly this address. False if there is no code object or no such symbol. Any thread. */
bool sg_elf_find(uint64_t kernel_object, const void *base, size_t size, sg_elf_kernel_t *found);

/** Reads the explicit arguments of the kernel with this symbol from code object metadata (version 3
 * and later: msgpack, "amdhsa.kernels"). `*arguments` is the caller's to free. False if the
 * metadata does not tell. Source of the format: "User Guide for AMDGPU Backend" of LLVM, Code
 * Object Metadata. Any thread. */
bool sg_metadata_arguments(const uint8_t *metadata, size_t size, const char *symbol,
                           softgpu_argument_t **arguments, size_t *count);

/** Name of ROCr's own blit kernel with this code, which lies in no code object; NULL if it is none
 * of them. `size` bytes may be read. Any thread. */
const char *sg_blit_recognise(const uint8_t *code, size_t size);

/** The built-in kernels: HIP's and ROCr's blits. */
const softgpu_plugin_t *sg_blit_plugin(void);

/** Loads the plugins that SOFTGPU_PLUGINS names, once in the process. A bad one is named on stderr
 * and left out. Before the device thread starts. */
void sg_plugin_load(void);

/** Finds what the kernel computes among plugins and built-in kernels. Fills `host` and `context`.
 */
void sg_plugin_match(sg_kernel_t *kernel);

/** The forms of a demangled name, from the most exact one: whole, without parameters and return
 * type, without template arguments. Writes at most 3 strings, which the caller frees; returns how
 * many. Any thread. */
size_t sg_name_forms(const char *demangled, char *forms[3]);

/** Reads SOFTGPU_DURATION, SOFTGPU_COPY and SOFTGPU_SEED. Before the device thread starts. */
void sg_model_init(void);

/** Reads the settings from strings; NULL stands for a variable that is not set. Returns false after
 * a bad one has been named on stderr; its default is then in use. */
bool sg_model_set(const char *duration, const char *copy, const char *seed);

/** Finds the duration rule for the kernel; fills `duration`. */
void sg_model_match(sg_kernel_t *kernel);

/** True if the shell pattern fits one of the kernel's names: the mangled one, the demangled one,
 * the demangled one without parameters, with and without template arguments. */
bool sg_name_fits(const char *pattern, const sg_kernel_t *kernel);

/** Finds the kernel's rule of SOFTGPU_COUNTERS; fills `mix`. */
void sg_mix_match(sg_kernel_t *kernel);

/** The dispatch as plugins see it. */
softgpu_dispatch_t sg_kernel_dispatch(const sg_kernel_t *kernel,
                                      const hsa_kernel_dispatch_packet_t *packet, uint32_t gpu);

#endif
