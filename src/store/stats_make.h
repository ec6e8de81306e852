/**
 * Making the statistics of a whole trace, and putting them into it (docs/format.md, "Statistics").
 *
 * They are made by a reader, since only then it is known how ticks become times and which graph a
 * kernel is of; and put in by whoever writes the trace, in the transaction that closes it.
 */
#ifndef RTL_STORE_STATS_MAKE_H
#define RTL_STORE_STATS_MAKE_H

#include "store/digest.h"
#include "store/reader.h"

#include <sqlite3.h>

/** Below so many kernels a recorded trace gets none: to unpack them takes no time. */
#define RTL_STATS_KERNELS 262144u

/** What kernels are told apart by, and by what besides where they are of graphs: rtl_by_t. */
#define RTL_STATS_BY_QUEUE (RTL_BY_QUEUE | RTL_BY_SHAPE)
#define RTL_STATS_BY_GRAPH (RTL_BY_GRAPH | RTL_BY_GENERATION | RTL_BY_NODE)

/** Packed statistics. Zeroed memory has none. */
struct rtl_stats_made {
    struct rtl_list blocks; /**< struct rtl_stats_packed, in stats_make.c */
    struct rtl_list spans;  /**< struct rtl_stats_span */
    struct rtl_list chunks; /**< the same of chunks */
    bool made;              /**< false: there would be too many groups */
    bool graphs;            /**< kernels are told apart by graph, generation and node */
};

/** Adds up all kernels of a trace, in several threads. Without a selection. What it makes does not
 * need the trace; free it with rtl_stats_free, also after a failure, of which rtlTraceError tells.
 */
rtl_status_t rtl_stats_make(rtl_trace_t *trace, struct rtl_stats_made *made);

/** Unpacks all kernels and compares, if the trace has statistics that are used; what is different
 * is told. */
rtl_status_t rtl_stats_compare(rtl_trace_t *trace, rtl_digest_tell tell, void *context);

/** How many groups a block has; adds its size in bytes. */
uint32_t rtl_stats_block(const struct rtl_stats_made *made, size_t block, uint64_t *bytes);

/** The bytes of the statistics of all chunks. */
uint64_t rtl_stats_chunk_bytes(const struct rtl_stats_made *made);

void rtl_stats_free(struct rtl_stats_made *made);

/** What rtl_stats_close and rtl_stats_add have done. */
struct rtl_stats_done {
    uint64_t kernels; /**< of the trace */
    uint64_t groups, bytes;
    bool made; /**< false: there are too few kernels, or too many groups */
    bool graphs;
};

/** Ends the making of a trace, in the open transaction of a connection: statistics, if it has at
 * least so many kernels and they can be added up, and digests. RTL_OK, or a status with a sentence
 * in `error`. */
rtl_status_t rtl_stats_close(sqlite3 *db, const char *path, uint64_t least,
                             struct rtl_stats_done *done, char *error, size_t error_size);

/** Puts statistics into the trace at `path`, which was closed in order and is not damaged, instead
 * of those that it has; all else stays as it is. RTL_OK, or a status with a sentence in `error`,
 * and nothing has changed. */
rtl_status_t rtl_stats_add(const char *path, struct rtl_stats_done *done, char *error,
                           size_t error_size);

/** Puts them into the main database of a connection, in its open transaction, instead of those that
 * it has, and makes the tables if it has none. Before rtl_digest_store. An SQLite result code. */
int rtl_stats_store(sqlite3 *db, const struct rtl_stats_made *made);

/** Says what they were made of: after rtl_digest_store, as the last that is written. An SQLite
 * result code. */
int rtl_stats_seal(sqlite3 *db, const struct rtl_stats_made *made);

#endif
