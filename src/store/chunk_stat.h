/**
 * What the kernels of one chunk add up to, by shape (docs/format.md, "Statistics of chunks"): who
 * wants sums over a stretch of time unpacks the chunks at its ends alone.
 */
#ifndef RTL_STORE_CHUNK_STAT_H
#define RTL_STORE_CHUNK_STAT_H

#include "store/reader.h"

/** A chunk with more different shapes than one of so many of its kernels has no statistics: they
 * would be large, and save little. */
#define RTL_CHUNK_STAT_KERNELS 32u

/** Kernels of a chunk that have the same shape. */
struct rtl_chunk_share {
    uint32_t shape; /**< RTL_NONE: nobody knows it */
    uint32_t kernels;
    uint64_t total; /**< sum of their durations, ns */
};

/** All kernels of a chunk. */
struct rtl_chunk_stat {
    uint64_t busy;                        /**< ns in which at least one ran */
    const struct rtl_chunk_share *shares; /**< by shape */
    uint32_t count;
};

/* Packing and unpacking: pure. */

/** Buffers and zstd contexts, used again for every chunk. One thread at a time. */
struct rtl_chunk_stat_codec;

/** NULL when memory is short. */
struct rtl_chunk_stat_codec *rtl_chunk_stat_codec_new(void);

/** NULL is allowed. */
void rtl_chunk_stat_codec_free(struct rtl_chunk_stat_codec *codec);

/** A row of stat_chunks but for its data. */
struct rtl_chunk_stat_row {
    int64_t chunk;
    uint32_t shapes; /**< shares */
    uint64_t busy;
    uint32_t checksum; /**< CRC-32C over the fields above and the data */
};

/** Packs the shares of `stat`, and fills the row but for `chunk`, which the caller has set. `*data`
 * belongs to the codec and lives until its next use. 0, or -1 when memory is short. */
int rtl_chunk_stat_pack(struct rtl_chunk_stat_codec *codec, const struct rtl_chunk_stat *stat,
                        struct rtl_chunk_stat_row *row, const unsigned char **data, size_t *size);

/** Unpacks a row's data. What `stat` has belongs to the codec and lives until its next use.
 * `kernels`: of the chunk. 0, -1: damaged, -2: memory is short. */
int rtl_chunk_stat_unpack(struct rtl_chunk_stat_codec *codec, const struct rtl_chunk_stat_row *row,
                          const unsigned char *data, size_t size, uint32_t kernels,
                          struct rtl_chunk_stat *stat);

/* Those that a trace has. */

struct rtl_chunk_stats;

/** Opens them. `*stats` is NULL where the trace has none that are of what it holds now. On failure
 * rtlTraceError tells. Free it with rtl_chunk_stats_free, before the trace. */
rtl_status_t rtl_chunk_stats_open(rtl_trace_t *trace, struct rtl_chunk_stats **stats);

/** Whether a process's chunk has some, and all of its kernels pass the selection. For the thread
 * that uses the trace. */
bool rtl_chunk_stats_has(struct rtl_chunk_stats *stats, uint32_t process, int64_t chunk);

/** Gives those of a chunk that has so many kernels: RTL_OK, or RTL_END if it has none. What `stat`
 * has lives until the next call. For the thread that uses the trace. */
rtl_status_t rtl_chunk_stats_get(struct rtl_chunk_stats *stats, int64_t chunk, uint32_t kernels,
                                 struct rtl_chunk_stat *stat);

/** NULL is allowed. */
void rtl_chunk_stats_free(struct rtl_chunk_stats *stats);

#endif
