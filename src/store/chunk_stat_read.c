/* Statistics of chunks that a trace has. */
#include "store/chunk_stat.h"

#include "store/select.h"
#include "store/stats_read.h"
#include "store/tables.h"

#include <stdlib.h>

struct rtl_chunk_stats {
    rtl_trace_t *trace;
    sqlite3_stmt *row, *has;
    struct rtl_chunk_stat_codec *codec;
};

static bool has_table(const rtl_trace_t *trace)
{
    return sqlite3_table_column_metadata(trace->db, "main", "stat_chunks", "data", NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

rtl_status_t rtl_chunk_stats_open(rtl_trace_t *trace, struct rtl_chunk_stats **stats)
{
    static const char query[] =
        "SELECT shapes, busy, checksum, data FROM main.stat_chunks WHERE chunk = ?";
    *stats = NULL;
    if (!rtl_stats_usable(trace, false) || !has_table(trace))
        return RTL_OK;
    struct rtl_chunk_stats *made = calloc(1, sizeof *made);
    int result = made && (made->codec = rtl_chunk_stat_codec_new())
                     ? sqlite3_prepare_v2(trace->db, query, -1, &made->row, NULL)
                     : SQLITE_NOMEM;
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(trace->db, "SELECT 1 FROM main.stat_chunks WHERE chunk = ?", -1,
                                    &made->has, NULL);
    if (result != SQLITE_OK) {
        rtl_chunk_stats_free(made);
        return rtl_trace_fail_sqlite(trace, result);
    }
    made->trace = trace;
    *stats = made;
    return RTL_OK;
}

bool rtl_chunk_stats_has(struct rtl_chunk_stats *stats, uint32_t process, int64_t chunk)
{
    const rtl_trace_t *trace = stats->trace;
    struct rtl_select_look look;
    if (rtl_select_begin(trace->select_paused ? NULL : trace->select, process, &look))
        return false;
    (void)sqlite3_bind_int64(stats->has, 1, chunk);
    bool has = sqlite3_step(stats->has) == SQLITE_ROW;
    (void)sqlite3_reset(stats->has);
    return has;
}

static rtl_status_t damaged(rtl_trace_t *trace, int64_t chunk)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: statistics of kernel chunk %lld", trace->path,
                          (long long)chunk);
}

static rtl_status_t take_row(struct rtl_chunk_stats *stats, int64_t chunk, uint32_t kernels,
                             struct rtl_chunk_stat *stat)
{
    rtl_trace_t *trace = stats->trace;
    const struct rtl_chunk_stat_row row = {
        .chunk = chunk,
        .shapes = rtl_row_u32(trace, stats->row, 0),
        .busy = rtl_row_u64(stats->row, 1),
        .checksum = rtl_row_u32(trace, stats->row, 2),
    };
    const unsigned char *data = sqlite3_column_blob(stats->row, 3);
    size_t size = (size_t)sqlite3_column_bytes(stats->row, 3);
    if (!data && sqlite3_errcode(trace->db) == SQLITE_NOMEM)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    int unpacked = -1;
    if (!trace->damaged && data)
        unpacked = rtl_chunk_stat_unpack(stats->codec, &row, data, size, kernels, stat);
    trace->damaged = false; /* what is read later may be whole */
    if (unpacked == 0)
        return RTL_OK;
    return unpacked == -1 ? damaged(trace, chunk) : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
}

rtl_status_t rtl_chunk_stats_get(struct rtl_chunk_stats *stats, int64_t chunk, uint32_t kernels,
                                 struct rtl_chunk_stat *stat)
{
    rtl_status_t status = RTL_END;
    (void)sqlite3_bind_int64(stats->row, 1, chunk);
    int result = sqlite3_step(stats->row);
    if (result == SQLITE_ROW)
        status = take_row(stats, chunk, kernels, stat);
    else if (result != SQLITE_DONE)
        status = rtl_trace_fail_sqlite(stats->trace, result);
    (void)sqlite3_reset(stats->row);
    return status;
}

void rtl_chunk_stats_free(struct rtl_chunk_stats *stats)
{
    if (!stats)
        return;
    (void)sqlite3_finalize(stats->row);
    (void)sqlite3_finalize(stats->has);
    rtl_chunk_stat_codec_free(stats->codec);
    free(stats);
}
