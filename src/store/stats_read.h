/**
 * The statistics of all kernels that a trace may have (docs/format.md, "Statistics"): who asks for
 * sums over all of them need not unpack one.
 */
#ifndef RTL_STORE_STATS_READ_H
#define RTL_STORE_STATS_READ_H

#include "store/reader.h"
#include "store/stat_codec.h"

/** How long the kernels of a queue, or of a GPU, ran: a row of stat_spans. */
struct rtl_stats_span {
    uint32_t process;
    uint32_t agent; /**< of a GPU: the agent of its first queue; RTL_TRACE_NONE: it is a queue */
    uint32_t queue; /**< RTL_TRACE_NONE: it is a GPU */
    uint64_t kernels, start, end, busy, overlap, copied;
};

/** The CRC-32C over the digests of all that statistics are made of: statistics are right for a
 * trace whose digests give this. False if there are no digests, or they cannot be read. */
bool rtl_stats_basis(sqlite3 *db, uint32_t *basis);

/** Whether the trace has statistics of all its kernels, which were made of what it holds now.
 * `graphs`: that tell kernels apart by graph, generation and node, too. */
bool rtl_stats_usable(rtl_trace_t *trace, bool graphs);

/** Takes a group, whose kernels it may change. 0, or -1 when memory is short. */
typedef int (*rtl_stats_take)(void *context, uint32_t process, const struct rtl_stat_group *group,
                              const struct rtl_stat *stat);

/** Gives all groups of a process, 0: of all. After rtl_stats_usable. */
rtl_status_t rtl_stats_read(rtl_trace_t *trace, uint32_t process, rtl_stats_take take,
                            void *context);

/** Reads all spans into a list of struct rtl_stats_span, which the caller frees. */
rtl_status_t rtl_stats_read_spans(rtl_trace_t *trace, struct rtl_list *spans);

#endif
