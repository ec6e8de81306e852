/**
 * The copies of a trace against those of the truth: the part of truth.h that is about copies.
 *
 * A copy is known by its process, its GPU, its ticks and its bytes; a program's copies have no
 * other name that both sides could know. Memory: some 60 bytes for each copy of either side.
 */
#ifndef RTL_TOOLS_TRUTH_COPIES_H
#define RTL_TOOLS_TRUTH_COPIES_H

#include "softgpu/truth.h"

#include <rtl/rtl_trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct truth_copies_result {
    uint64_t executed; /**< asynchronous copies by the SDMA engines of the logs, and those by
                          kernels that the trace has too */
    uint64_t recorded; /**< copies of the trace that a device did */
    uint64_t equal;    /**< in both, with equal ticks, bytes and times */
    uint64_t by_host;  /**< copies of the trace that no device did */
    uint64_t internal; /**< by kernels of the runtime for itself; not in `executed` */
    uint64_t skipped;  /**< not in the trace and left out by the mode as the ledger says */
    uint64_t lost;     /**< not in the trace and lost as the ledger says */
    /* Differences. */
    uint64_t missing;    /**< executed, not in the trace, and not accounted for */
    uint64_t invented;   /**< in the trace, never executed so */
    uint64_t wrong_time; /**< translated times are more than a tick off */
};

/** One copy of either side. */
struct truth_copy {
    uint32_t pid, gpu;
    uint64_t start_ticks, end_ticks, bytes;
    uint64_t start, end; /**< ns */
    bool by_kernel;
};

/** Where an SDMA queue stands in the middle of a command. */
struct truth_engine {
    size_t log;
    uint32_t pid, image, queue;
    uint64_t index, signal;
    size_t copy;
};

struct truth_copy_list {
    struct truth_copy *copies;
    size_t count, capacity;
    struct truth_engine *engines;
    size_t engine_count, engine_capacity;
};

/** Makes room for one more behind `count` elements of `size` bytes. False when memory is short. */
bool truth_grow(void **array, size_t *capacity, size_t count, size_t size);

/** Takes what a log's entry tells about copies; other entries are passed. False when memory is
 * short. */
bool truth_copies_take(struct truth_copy_list *list, size_t log,
                       const softgpu_truth_entry_t *entry);

/** Says a sentence about the first difference of a kind. */
typedef void (*truth_tell)(void *context, const char *sentence);

/** Compares; `list` is sorted on the way. */
rtl_status_t truth_copies_compare(rtl_trace_t *trace, struct truth_copy_list *list,
                                  struct truth_copies_result *result, truth_tell tell,
                                  void *context);

void truth_copies_free(struct truth_copy_list *list);

#endif
