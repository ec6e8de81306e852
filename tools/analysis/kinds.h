/**
 * The account of what a trace has besides kernels and copies: host calls, ranges, graph launches …
 */
#ifndef RTL_TOOLS_KINDS_H
#define RTL_TOOLS_KINDS_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>

/** Kinds that are told apart, in the order in which they are shown. */
#define KINDS 11u

/** The first of them. */
#define KIND_HOST_CALLS 0u

/** Sums over the processes of a trace. */
struct kind {
    bool there; /**< some process accounts for it */
    uint64_t seen, recorded, stored, waiting, stopped, withheld;
    uint64_t lost[RTL_LOSS_REASONS];
    uint64_t lost_total;
    uint64_t unstored; /**< recorded by the process and not in the file */
};

struct kinds {
    struct kind kinds[KINDS];
    unsigned unknown; /**< processes that do not account for them: of a format before 1.5 */
    bool whole;       /**< nothing that is accounted for is missing */
};

/** Reads them. */
rtl_status_t kinds_read(rtl_trace_t *trace, struct kinds *kinds);

/** What a kind is called, "host calls". */
const char *kinds_label(unsigned kind);

/** Its name in SQL and JSON, "calls". */
const char *kinds_name(unsigned kind);

/** True if a process accounts for them; the ledger then tells why kernels were left out, too. */
bool kinds_known(rtl_trace_t *trace, uint32_t process);

/** What a reason means of them, as account_meaning. */
const char *kinds_meaning(rtl_loss_t reason);

/** What to do about it, as account_advice. */
const char *kinds_advice(rtl_loss_t reason);

/** How many are missing: lost, waiting, or not in the file. */
uint64_t kinds_missing(const struct kind *kind);

#endif
