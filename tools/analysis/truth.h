/**
 * A trace against the truth: what the software GPU logged that it executed (softgpu/truth.h).
 *
 * Queues are matched by process id, address and the time in which they lived, since addresses come
 * again; kernels by their packet index. Copies: truth_copies.h. Memory: some 60 bytes for each
 * kernel of the logs.
 */
#ifndef RTL_TOOLS_TRUTH_H
#define RTL_TOOLS_TRUTH_H

#include "analysis/truth_copies.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>

/** Sentences that are kept; more are only counted. */
#define TRUTH_SENTENCES 10u

struct truth_result {
    uint64_t executed; /**< kernels of the logs */
    uint64_t recorded; /**< kernels of the trace */
    uint64_t matched;  /**< in both, once */
    uint64_t equal;    /**< matched, with equal name, ticks and times */
    uint64_t
        skipped;   /**< executed, not in the trace, and left out by the mode as the ledger says */
    uint64_t lost; /**< executed, not in the trace, and lost as the ledger says */
    uint64_t
        internal; /**< executed on ROCr's own queues, which no tool is shown; not in `executed` */
    /* Differences. */
    uint64_t missing;      /**< executed, not in the trace, and not accounted for */
    uint64_t invented;     /**< in the trace, never executed */
    uint64_t repeated;     /**< in the trace more than once */
    uint64_t misaccounted; /**< queues whose ledger and truth do not agree on what is not there */
    uint64_t wrong_name, wrong_ticks, wrong_time;
    uint64_t widest_ns; /**< largest difference of a translated time */
    struct truth_copies_result copies;
    bool same; /**< no difference of any kind, nothing lost */
    char sentences[TRUTH_SENTENCES][256];
    unsigned sentence_count;
};

/** Compares. 0, or -1 with a sentence in `error` when a log or the trace cannot be read. */
int truth_compare(rtl_trace_t *trace, const char *const *logs, size_t log_count,
                  struct truth_result *result, char *error, size_t error_size);

#endif
