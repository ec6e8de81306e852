/* What a process recorded besides kernels and copies, and how much of it the file has. */
#include "ring/wire.h"
#include "store/reader.h"
#include "store/tables.h"
#include "store/text.h"

#include <stdlib.h>
#include <string.h>

bool rtl_trace_has_kinds(const rtl_trace_t *trace)
{
    return trace->info.format_major > 1 || trace->info.format_minor >= 5;
}

/* RTL_KINDS for one that is not known: of a newer minor version. */
static uint32_t kind_named(const char *name)
{
    uint32_t kind = 0;
    while (kind < RTL_KINDS && strcmp(name, rtl_text_kind(kind)) != 0)
        kind++;
    return kind;
}

static int by_process_and_kind(const void *left, const void *right)
{
    const rtl_kind_ledger_t *a = left;
    const rtl_kind_ledger_t *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    uint32_t first = kind_named(a->kind);
    uint32_t second = kind_named(b->kind);
    return (first > second) - (first < second);
}

static rtl_kind_ledger_t *find(const rtl_trace_t *trace, uint32_t process, const char *kind)
{
    rtl_kind_ledger_t *accounts = trace->kinds.items;
    for (size_t i = 0; kind && i < trace->kinds.count; i++)
        if (accounts[i].process == process && strcmp(accounts[i].kind, kind) == 0)
            return &accounts[i];
    return NULL;
}

/* Of a sorted list. */
static rtl_kind_ledger_t *find_kind(const rtl_trace_t *trace, uint32_t process, enum rtl_kind kind)
{
    const rtl_kind_ledger_t key = {.process = process, .kind = rtl_text_kind(kind)};
    if (trace->kinds.count == 0)
        return NULL;
    return bsearch(&key, trace->kinds.items, trace->kinds.count, sizeof key, by_process_and_kind);
}

static int take_kind(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_kind_ledger_t *account = item;
    account->process = rtl_row_u32(trace, row, 0);
    account->kind = rtl_row_text(trace, row, 1);
    account->recorded = rtl_row_u64(row, 2);
    uint64_t dropped = rtl_row_u64(row, 3);
    account->stored = account->recorded > dropped ? account->recorded - dropped : 0;
    account->waiting = rtl_row_u64(row, 4);
    account->stopped = rtl_row_u64(row, 5);
    account->withheld = rtl_row_u64(row, 6);
    account->seen = account->recorded + account->waiting + account->stopped + account->withheld;
    return account->kind ? 0 : -1;
}

static int take_loss(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    const char *kind = (const char *)sqlite3_column_text(row, 1);
    const char *reason = (const char *)sqlite3_column_text(row, 2);
    rtl_kind_ledger_t *account = find(trace, rtl_row_u32(trace, row, 0), kind);
    for (int i = 0; account && reason && i < RTL_LOSS_REASONS; i++)
        if (strcmp(reason, rtlLossName((rtl_loss_t)i)) == 0) {
            account->lost[i] = rtl_row_u64(row, 3);
            account->seen += account->lost[i];
        }
    return 0;
}

/* In the file, where that tells: process, kind, count. */
static const char stored[] =
    "SELECT process, 'calls', sum(calls) FROM main.api_chunks GROUP BY process"
    " UNION ALL SELECT process, 'samples', sum(samples) FROM main.sample_chunks GROUP BY process"
    " UNION ALL SELECT process, CASE kind WHEN 'mark' THEN 'marks' ELSE 'ranges' END, count(*)"
    "  FROM main.ranges WHERE start IS NOT NULL GROUP BY 1, 2"
    " UNION ALL SELECT process, 'range_ends', count(*) FROM main.ranges"
    "  WHERE end IS NOT NULL AND kind IS NOT 'mark' GROUP BY process";

static int take_stored(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    const char *name = (const char *)sqlite3_column_text(row, 1);
    uint32_t kind = name ? kind_named(name) : RTL_KINDS;
    rtl_kind_ledger_t *account =
        kind < RTL_KINDS ? find_kind(trace, rtl_row_u32(trace, row, 0), (enum rtl_kind)kind) : NULL;
    if (account)
        account->stored = rtl_row_u64(row, 2);
    return 0;
}

static void forget_stored(rtl_trace_t *trace)
{
    rtl_kind_ledger_t *accounts = trace->kinds.items;
    for (size_t i = 0; i < trace->kinds.count; i++) {
        uint32_t kind = kind_named(accounts[i].kind);
        if (kind <= RTL_KIND_LAUNCHES || kind == RTL_KIND_SAMPLES)
            accounts[i].stored = 0;
    }
}

/* Launches of graphs that HIP has told of: each generation says how many it has. */
static rtl_status_t count_launches(rtl_trace_t *trace)
{
    const rtl_graph_t *graphs;
    size_t count;
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &count);
    for (size_t i = 0; status == RTL_OK && i < count; i++) {
        rtl_kind_ledger_t *account = find_kind(trace, graphs[i].process, RTL_KIND_LAUNCHES);
        if (account && strcmp(graphs[i].source, "hip") == 0)
            account->stored += graphs[i].launches;
    }
    return status;
}

static rtl_status_t load(rtl_trace_t *trace)
{
    struct rtl_list none = {0};
    const struct rtl_table kinds = {
        "SELECT process, kind, recorded, dropped, waiting, stopped, withheld"
        " FROM main.ledger_kind_rows",
        sizeof(rtl_kind_ledger_t), take_kind, &trace->kinds};
    const struct rtl_table losses = {
        "SELECT process, kind, reason, lost FROM main.ledger_kind_losses", 1, take_loss, &none};
    const struct rtl_table counts = {stored, 1, take_stored, &none};
    rtl_status_t status = rtl_table_load(trace, &kinds);
    if (status == RTL_OK && trace->kinds.count)
        qsort(trace->kinds.items, trace->kinds.count, sizeof(rtl_kind_ledger_t),
              by_process_and_kind);
    forget_stored(trace);
    if (status == RTL_OK)
        status = rtl_table_load(trace, &losses);
    if (status == RTL_OK)
        status = rtl_table_load(trace, &counts);
    free(none.items);
    return status == RTL_OK ? count_launches(trace) : status;
}

rtl_status_t rtlTraceKinds(rtl_trace_t *trace, const rtl_kind_ledger_t **items, size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    rtl_status_t status = RTL_OK;
    if (!trace->kinds_loaded && rtl_trace_has_kinds(trace)) {
        rtl_list_free(&trace->kinds);
        status = load(trace);
        trace->kinds_loaded = status == RTL_OK;
    }
    *items = trace->kinds.items;
    *count = status == RTL_OK ? trace->kinds.count : 0;
    return status;
}
