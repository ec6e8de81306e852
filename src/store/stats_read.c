#include "store/stats_read.h"

#include "store/checksum.h"
#include "store/tables.h"

#include <string.h>

enum column { BLOCK, PROCESS, GROUPS, BINS, KERNELS, CHECKSUM, DATA };

/* What is looked at is what the sums are made of: meta has them in a row of its own, `head` changes
 * with the version, and the statistics have checksums. */
bool rtl_stats_basis(sqlite3 *db, uint32_t *basis)
{
    static const char query[] = "SELECT name, digest FROM main.digests WHERE name NOT IN ('head',"
                                " 'meta', 'digests', 'stat_blocks', 'stat_spans') ORDER BY name";
    sqlite3_stmt *row = NULL;
    uint32_t crc = 0;
    bool any = false;
    int result = sqlite3_prepare_v2(db, query, -1, &row, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        const uint64_t digest = (uint64_t)sqlite3_column_int64(row, 1);
        crc = rtl_crc32c(crc, name ? name : "", name ? strlen(name) : 0);
        uint32_t number = rtl_checksum_row(&digest, 1, NULL, 0);
        crc = rtl_crc32c(crc, &number, sizeof number);
        any = true;
        result = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    *basis = crc;
    return result == SQLITE_DONE && any;
}

static bool has_tables(const rtl_trace_t *trace)
{
    return sqlite3_table_column_metadata(trace->db, "main", "stat_blocks", "data", NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK &&
           sqlite3_table_column_metadata(trace->db, "main", "stat_spans", "copied", NULL, NULL,
                                         NULL, NULL, NULL) == SQLITE_OK;
}

static bool is_sum(const rtl_trace_t *trace, const char *query, uint64_t kernels)
{
    sqlite3_stmt *row = NULL;
    bool is = sqlite3_prepare_v2(trace->db, query, -1, &row, NULL) == SQLITE_OK &&
              sqlite3_step(row) == SQLITE_ROW && (uint64_t)sqlite3_column_int64(row, 0) == kernels;
    (void)sqlite3_finalize(row);
    return is;
}

/* Rows may have been changed, and their digests not. Of queues without a row nothing is known. */
static bool are_all(const rtl_trace_t *trace)
{
    const rtl_queue_t *queues = trace->queues.items;
    uint64_t of_queues = 0;
    uint64_t of_gpus = 0;
    for (size_t i = 0; i < trace->queues.count; i++) {
        of_queues += queues[i].kernels;
        of_gpus += queues[i].gpu == RTL_TRACE_NONE ? 0 : queues[i].kernels;
    }
    return is_sum(trace, "SELECT sum(kernels) FROM main.stat_blocks", trace->info.kernels) &&
           is_sum(trace, "SELECT sum(kernels) FROM main.stat_spans WHERE agent IS NULL",
                  of_queues) &&
           is_sum(trace, "SELECT sum(kernels) FROM main.stat_spans WHERE queue IS NULL", of_gpus);
}

bool rtl_stats_usable(rtl_trace_t *trace, bool graphs)
{
    struct rtl_trace_stats *stats = &trace->stats;
    uint32_t basis;
    if (!stats->asked) {
        stats->asked = true;
        stats->usable = stats->made && has_tables(trace) && rtl_stats_basis(trace->db, &basis) &&
                        basis == stats->basis && are_all(trace);
    }
    return stats->usable && (!graphs || stats->graphs);
}

static rtl_status_t damaged(rtl_trace_t *trace, int64_t block)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED, "the trace %s is damaged: block %lld of statistics",
                          trace->path, (long long)block);
}

/* What a reading of all blocks needs. */
struct reading {
    rtl_trace_t *trace;
    struct rtl_stat_codec *codec;
    rtl_stats_take take;
    void *context;
};

static int read_groups(const struct reading *reading, uint32_t process)
{
    for (;;) {
        struct rtl_stat_group group;
        struct rtl_stat stat = {0};
        int got = rtl_stat_get(reading->codec, &group, &stat);
        if (got == 1 && reading->take(reading->context, process, &group, &stat) != 0)
            got = -2;
        rtl_stat_free(&stat);
        if (got != 1)
            return got;
    }
}

static rtl_status_t read_block(const struct reading *reading, sqlite3_stmt *row)
{
    rtl_trace_t *trace = reading->trace;
    int64_t number = sqlite3_column_int64(row, BLOCK);
    const struct rtl_stat_block block = {
        .process = rtl_row_u32(trace, row, PROCESS),
        .groups = rtl_row_u32(trace, row, GROUPS),
        .bins = rtl_row_u32(trace, row, BINS),
        .kernels = rtl_row_u64(row, KERNELS),
        .checksum = rtl_row_u32(trace, row, CHECKSUM),
    };
    const unsigned char *data = sqlite3_column_blob(row, DATA);
    size_t size = (size_t)sqlite3_column_bytes(row, DATA);
    if (trace->damaged) {
        trace->damaged = false; /* what is read later may be whole */
        return damaged(trace, number);
    }
    if (!data && sqlite3_errcode(trace->db) == SQLITE_NOMEM)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    int got = data ? rtl_stat_open(reading->codec, &block, data, size) : -1;
    got = got == 0 ? read_groups(reading, block.process) : got;
    if (got == 0)
        return RTL_OK;
    return got == -1 ? damaged(trace, number) : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
}

rtl_status_t rtl_stats_read(rtl_trace_t *trace, uint32_t process, rtl_stats_take take,
                            void *context)
{
    static const char query[] = "SELECT block, process, groups, bins, kernels, checksum, data"
                                " FROM main.stat_blocks WHERE ?1 IN (0, process) ORDER BY block";
    const struct reading reading = {trace, rtl_stat_codec_new(), take, context};
    sqlite3_stmt *row = NULL;
    rtl_status_t status = RTL_OK;
    int result =
        reading.codec ? sqlite3_prepare_v2(trace->db, query, -1, &row, NULL) : SQLITE_NOMEM;
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(row, 1, process);
    while (status == RTL_OK && result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        status = read_block(&reading, row);
        result = SQLITE_OK;
    }
    if (status == RTL_OK && result != SQLITE_DONE)
        status = rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(row);
    rtl_stat_codec_free(reading.codec);
    return status;
}

static int take_span(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_stats_span *span = item;
    *span = (struct rtl_stats_span){
        .process = rtl_row_u32(trace, row, 0),
        .agent = rtl_row_id(trace, row, 1),
        .queue = rtl_row_id(trace, row, 2),
        .kernels = rtl_row_u64(row, 3),
        .start = rtl_row_u64(row, 4),
        .end = rtl_row_u64(row, 5),
        .busy = rtl_row_u64(row, 6),
        .overlap = rtl_row_u64(row, 7),
        .copied = rtl_row_u64(row, 8),
    };
    return 0;
}

rtl_status_t rtl_stats_read_spans(rtl_trace_t *trace, struct rtl_list *spans)
{
    const struct rtl_table table = {
        "SELECT process, agent, queue, kernels, start, \"end\", busy, overlap, copied"
        " FROM main.stat_spans ORDER BY rowid",
        sizeof(struct rtl_stats_span), take_span, spans};
    return rtl_table_load(trace, &table);
}
