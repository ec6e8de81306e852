/**
 * Kernels of a minute, added up by process, GPU and name: exact sums, and how the durations spread.
 */
#ifndef RTL_TOOLS_FLEET_MINUTES_H
#define RTL_TOOLS_FLEET_MINUTES_H

#include "fleet/rows.h"

/** Bins of durations: 16 to an octave, so that the middle of one is within 1/32 of what is in it;
 * below 16 ns each ns is its own. Bin b of 16 and more begins at (16 + b % 16) << (b / 16 - 1) ns.
 */
#define MINUTES_BINS 976u

struct minutes;

/** A GPU of a process: its number there, which says which `device` (busy.h). */
struct minutes_gpu {
    uint32_t number, device;
};

struct minutes *minutes_new(struct run *run, struct fill *fill);

/** Adds a kernel; those of an earlier minute have come before. Times in ns since 1970. */
void minutes_add(struct minutes *stats, size_t place, const struct minutes_gpu *gpu, uint32_t name,
                 uint64_t start, uint64_t duration);

/** Writes the rows of the minute at hand. */
void minutes_flush(struct minutes *stats);

void minutes_free(struct minutes *stats);

/** The bin of a duration. */
unsigned minutes_bin(uint64_t duration);

#endif
