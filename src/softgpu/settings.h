/**
 * Settings of the software GPU's driver and device, from the environment.
 *
 * docs/softgpu.md describes each variable. The settings that belong to kernels (durations, plugins,
 * truth log) are read by their own modules through exec.h.
 */
#ifndef SOFTGPU_SETTINGS_H
#define SOFTGPU_SETTINGS_H

#include "softgpu/isa.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SG_MAX_GPUS = 16,  /**< most GPUs that SOFTGPU_DEVICES may ask for */
    SG_MAX_WIDTH = 64, /**< most kernels of one queue that may overlap */
};

/** What the environment asked for. */
typedef struct sg_settings {
    const sg_isa_t *isa; /**< SOFTGPU_ISA: what the GPUs look like */
    uint32_t gpus;       /**< SOFTGPU_DEVICES: number of GPUs, 1 to SG_MAX_GPUS */
    uint32_t width; /**< SOFTGPU_WIDTH: kernels of one queue in flight at once, 1 to SG_MAX_WIDTH */
    bool read_ahead;      /**< SOFTGPU_READ_AHEAD: consume valid packets without a doorbell */
    uint64_t delay_ticks; /**< SOFTGPU_DELAY: longest completion delay, in ticks of the GPU clock; 0
                             = none */
    uint64_t delay_seed;  /**< SOFTGPU_DELAY: seed of the delays */
    bool reorder;         /**< SOFTGPU_REORDER is set: queues are served in random order */
    uint64_t reorder_seed; /**< SOFTGPU_REORDER: seed of the order */
    int cpu;               /**< SOFTGPU_CPU: processor of the device thread, -1: any */
    bool debug;            /**< SOFTGPU_DEBUG: tell on stderr what the driver does */
} sg_settings_t;

/** The settings in force. Written by sg_settings_read only, before the device thread starts; read
 * by any thread. Never NULL. */
const sg_settings_t *sg_settings(void);

/** Reads the environment. A bad value is named in one sentence on stderr and its default is used.
 *  Called under the lock of kfd.c while no device thread runs. */
void sg_settings_read(void);

/** Writes one line to stderr if SOFTGPU_DEBUG is set, else does nothing. printf's conventions; any
 * thread. */
void sg_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The next number of a cheap pseudo-random sequence (splitmix64) whose state is `*state`. Not
 * shared between threads. */
uint64_t sg_random(uint64_t *state);

#endif
