/**
 * Passes of a trace that is being recorded: hardware has room for few counters at once, so the
 * program runs once for each group of them.
 */
#ifndef RTL_TOOLS_PASSES_H
#define RTL_TOOLS_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct passes {
    unsigned count; /**< the most that a process named; 0: none counts */
    bool asked;     /**< there are processes that were to count */
    bool refused;   /**< there are such that cannot, `why` says what one of them noted */
    bool unreached; /**< some queues take no packets of RTL, or devices cannot; `why` as well */
    char why[512];
    uint64_t unmatched; /**< kernels, where --kernel asked for the name of none; else 0 */
};

/** Reads what the processes in the trace at `path` say. False if it could not be read. */
bool passes_read(const char *path, struct passes *passes);

/** Writes the names of the counters that a pass (from 0) reads, "SQ_WAVES, TCC_HIT", cut off to fit
 * `size` bytes. False if the trace could not be read. */
bool passes_counters(const char *path, unsigned pass, char *text, size_t size);

#endif
