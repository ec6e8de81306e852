#include "check/ranks.h"

#include "common/memory.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"

#include <stdlib.h>
#include <string.h>

/* By number where they are some. */
static int compare(const char *a, const char *b)
{
    if (!a[0] || !b[0])
        return !a[0] - !b[0];
    return strverscmp(a, b);
}

static int by_rank(const void *left, const void *right)
{
    const struct check_rank *a = left;
    const struct check_rank *b = right;
    return compare(a->rank, b->rank);
}

/* The ranks of a trace's processes, in order: first one of each process, then those are one that
 * are the same. */
static void find_ranks(const rtl_process_t *processes, size_t count, struct check_ranks *ranks)
{
    struct check_rank *list = memory_new(count, sizeof *list);
    for (size_t i = 0; i < count; ++i)
        list[i] = (struct check_rank){.rank = processes[i].rank};
    qsort(list, count, sizeof *list, by_rank);
    for (size_t i = 0; i < count; ++i) {
        if (i == 0 || by_rank(&list[i], &list[ranks->count - 1]) != 0)
            list[ranks->count++] = list[i];
        ++list[ranks->count - 1].processes;
    }
    ranks->list = list;
}

static struct check_rank *rank_of(const struct check_ranks *ranks, const rtl_process_t *processes,
                                  size_t count, uint32_t process)
{
    for (size_t i = 0; i < count; ++i) {
        const struct check_rank wanted = {.rank = processes[i].rank};
        if (processes[i].process == process)
            return bsearch(&wanted, ranks->list, ranks->count, sizeof *ranks->list, by_rank);
    }
    return NULL;
}

/* Rows stand by process. */
static void add_rows(rtl_trace_t *trace, const struct check_ranks *ranks,
                     const rtl_process_t *processes, size_t count, const rtl_ledger_t *rows,
                     size_t row_count)
{
    struct check_rank *rank = NULL;
    for (size_t i = 0; i < row_count; ++i) {
        struct account account;
        if (i == 0 || rows[i].process != rows[i - 1].process)
            rank = rank_of(ranks, processes, count, rows[i].process);
        if (!rank)
            continue;
        account_of(&rows[i], &account);
        account_add(account_is_copies(trace, &rows[i]) ? &rank->copies : &rank->kernels, &account);
    }
}

rtl_status_t check_ranks_read(rtl_trace_t *trace, struct check_ranks *ranks)
{
    const rtl_process_t *processes;
    const rtl_ledger_t *rows;
    size_t count;
    size_t row_count;
    *ranks = (struct check_ranks){.list = NULL};
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &count);
    if (status == RTL_OK)
        status = rtlTraceLedger(trace, &rows, &row_count);
    if (status != RTL_OK || count == 0)
        return status;
    find_ranks(processes, count, ranks);
    if (!ranks->list[0].rank[0])
        ranks->count = 0;
    add_rows(trace, ranks, processes, count, rows, row_count);
    return RTL_OK;
}

static void show_row(struct table *table, const struct check_rank *rank, const char *of,
                     const struct account *account)
{
    if (account->seen == 0 && of[0] == 'c')
        return;
    table_cell(table, rank->rank[0] ? plain(rank->rank) : "none");
    table_cell(table, show_count(rank->processes).text);
    table_cell(table, of);
    table_cell(table, show_count(account->seen).text);
    table_cell(table, show_count(account->stored).text);
    table_cell(table, show_count(account->skipped).text);
    table_cell(table, show_count(account->lost_total).text);
    table_cell(table, show_count(account->pending).text);
}

void check_ranks_show(const struct check_ranks *ranks, FILE *out)
{
    static const char *const heading[] = {"rank",     "processes", "of",   "seen",
                                          "in trace", "left out",  "lost", "pending"};
    if (ranks->count < 2)
        return;
    struct table *table = table_new("rrlrrrrr");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < ranks->count; ++i) {
        show_row(table, &ranks->list[i], "kernels", &ranks->list[i].kernels);
        show_row(table, &ranks->list[i], "copies", &ranks->list[i].copies);
    }
    table_print(table, out);
}

void check_ranks_free(struct check_ranks *ranks)
{
    free(ranks->list);
    ranks->list = NULL;
}
