/**
 * What a GPU runtime says about this machine, asked in a process of its own: initialising it may
 * take long, print, crash or take memory of the GPU.
 */
#ifndef RTL_TOOLS_PROBE_H
#define RTL_TOOLS_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#define PROBE_GPUS 16u

struct probe {
    bool ran;                 /**< the process ended in order */
    char runtime[256];        /**< path of libhsa-runtime64, "" if there is none */
    char hip[256];            /**< path of libamdhip64, "" if there is none */
    char registers[256];      /**< path of librocprofiler-register, "" if there is none */
    int hsa_major, hsa_minor; /**< version of the HSA interface, -1 if it could not be started */
    bool tool; /**< the runtime loaded the tool that it was asked to load (HSA_TOOLS_LIB) */
    unsigned core_table, ext_table; /**< sizes of its API tables, bytes; 0: not told */
    unsigned core_step, ext_step;   /**< their step ids */
    char missing[64];    /**< an entry of the tables that RTL cannot do without, "" if none */
    char generation[16]; /**< of its intercept queues, as rtl_intercept_abi_name, "" if not told */
    char counters[256];  /**< path of AMD's library for hardware counters, "" if it has none */
    char failure[256];   /**< why it could not be started, "" if it could */
    unsigned gpus;       /**< GPUs that it has */
    char gpu[PROBE_GPUS][96]; /**< their names */
};

/** Asks the runtime that a program would get here; with `softgpu` (a folder, or NULL) in front of
 * the library path. */
void probe_run(const char *softgpu, struct probe *probe);

/** Why the probe has found no GPU, in a part of a sentence of at most `size` bytes. */
void probe_trouble(const struct probe *probe, char *text, size_t size);

/** ", under a limit of 2.0 GiB of address space (ulimit -v)", which GPU runtimes take much of; ""
 * if there is no such limit. A static string of the calling thread. */
const char *probe_limit(void);

/** The process of its own: writes what it finds to stdout. Returns an exit status. */
int probe_answer(void);

#endif
