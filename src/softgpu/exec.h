/**
 * Inside the software GPU: the seam between the device (driver, queues, packet processor) and what
 * a kernel is (its name, what it computes, how long it takes, the entry in the truth log).
 *
 * All functions are called by the device thread only, unless a line says otherwise.
 */
#ifndef SOFTGPU_EXEC_H
#define SOFTGPU_EXEC_H

#include "softgpu/pmc_model.h"
#include "softgpu/truth.h"

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A kernel known to the device; lives until its code memory is freed (sg_kernel_forget). */
typedef struct sg_kernel sg_kernel_t;

/** Tells whether [address, address+size) is memory of the device that may be read: the driver
 * offers it, so that the search for an ELF header does not walk off an allocation. Fills the
 * allocation's bounds. Implemented by kfd_memory.c; any thread. */
bool sg_memory_find(const void *address, void **base, size_t *size);

/** Where the process, of which the device is a thread, sees the memory that the devices have at
 * `address`, and how many bytes follow in one piece. NULL if nothing is mapped there. Host and
 * devices have one address for everything but registered memory. Implemented by kfd_memory.c; any
 * thread. */
void *sg_memory_host(uint64_t address, uint64_t *bytes);

/** True while there is no memory that host and devices see at different addresses. Any thread. */
bool sg_memory_is_one(void);

/** Finds (and on first use resolves and remembers) the kernel behind a kernel object handle: ELF
 * symbol `name.kd`, HIP's and ROCr's blit kernels, else an unknown kernel that computes nothing and
 * is named once on stderr. Never NULL. */
const sg_kernel_t *sg_kernel_find(uint64_t kernel_object);

/** Mangled name without `.kd`; "" when no name could be found. */
const char *sg_kernel_name(const sg_kernel_t *kernel);

/** Bytes of its arguments, 0 if unknown. */
size_t sg_kernel_kernarg_size(const sg_kernel_t *kernel);

/** What the kernel is made of, for the performance counters. */
const sg_mix_t *sg_kernel_mix(const sg_kernel_t *kernel);

/** Forgets the kernels whose code lies in the memory that is being freed. Any thread. */
void sg_kernel_forget(const void *base, size_t size);

/** Does the kernel's work on the host, in the memory that the kernarg segment points to. */
void sg_kernel_run(const sg_kernel_t *kernel, const hsa_kernel_dispatch_packet_t *packet,
                   uint32_t gpu);

/** Tells whether the kernel may start. False only for kernels that wait for a value in memory
 * (HIP's
 *  `__amd_rocclr_streamOpsWait`, plugins with a `ready` function): the device leaves the packet at
 * the head of its queue, serves other queues and asks again; on hardware such a kernel would spin.
 * Cheap. */
bool sg_kernel_ready(const sg_kernel_t *kernel, const hsa_kernel_dispatch_packet_t *packet,
                     uint32_t gpu);

/** How long this dispatch takes by the duration model, in ticks of the GPU clock (10 ns). `ordinal`
 * counts the dispatches of the queue, so that schedules and jitter repeat from run to run. */
uint64_t sg_model_ticks(const sg_kernel_t *kernel, const hsa_kernel_dispatch_packet_t *packet,
                        uint32_t queue, uint64_t ordinal);

/** How long a copy or fill of `bytes` takes, in ticks. */
uint64_t sg_model_copy_ticks(uint64_t bytes);

/** What plugins are opened with. */
typedef struct sg_linker {
    void *(*open)(const char *path, int mode);        /**< as dlopen, which it is without */
    void *(*symbol)(void *library, const char *name); /**< as dlsym */
} sg_linker_t;

/** Says what to open plugins with. Before sg_exec_init. */
void sg_plugin_linker(const sg_linker_t *with);

/** Reads SOFTGPU_PLUGINS, SOFTGPU_DURATION, SOFTGPU_COUNTERS and the rest of the models' settings;
 * called once when the driver is opened, before the device thread starts. A bad setting is named in
 * one sentence on stderr and the default is used. */
void sg_exec_init(void);

/** Starts the log if SOFTGPU_TRUTH is set; called once at the driver's open, again in a forked
 * child that opens the driver (a new file is made where the name has `%p`, otherwise the child does
 * not log). */
void sg_truth_start(void);

/** True when entries are wanted. */
bool sg_truth_on(void);

/** Appends one entry; `name` is copied (interned). Cheap: no system call but for growth of the
 * file. */
void sg_truth_write(const softgpu_truth_entry_t *entry);

/** Notes in the entry of a kernel, whose arguments are given, what it moves if it is ROCr's own for
 * copies. */
void sg_blit_describe(const void *kernarg, softgpu_truth_entry_t *entry);

#endif
