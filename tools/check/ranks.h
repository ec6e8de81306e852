/** A job's ledger, summed by rank. */
#ifndef RTL_TOOLS_CHECK_RANKS_H
#define RTL_TOOLS_CHECK_RANKS_H

#include "analysis/account.h"

#include <rtl/rtl_trace.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct check_rank {
    const char *rank; /**< as its launcher told it, "": of no rank; the trace's */
    uint64_t processes;
    struct account kernels, copies;
};

/** By rank, those of no rank last. */
struct check_ranks {
    struct check_rank *list;
    size_t count;
};

/** Reads them; none if no process has a rank. */
rtl_status_t check_ranks_read(rtl_trace_t *trace, struct check_ranks *ranks);

/** A table, where there are two or more. */
void check_ranks_show(const struct check_ranks *ranks, FILE *out);

void check_ranks_free(struct check_ranks *ranks);

#endif
