#include "store/kinds.h"

#include <stdlib.h>
#include <string.h>

struct rtl_kinds_of *rtl_kinds_get(struct rtl_kinds *kinds, uint32_t process)
{
    if (process > kinds->count) {
        struct rtl_kinds_of *processes = realloc(kinds->processes, process * sizeof *processes);
        if (!processes)
            return NULL;
        memset(processes + kinds->count, 0, (process - kinds->count) * sizeof *processes);
        kinds->processes = processes;
        kinds->count = process;
    }
    return process ? &kinds->processes[process - 1] : NULL;
}

/* What is always told, and what there is something to tell of. */
static bool has_row(const struct rtl_kinds_of *of, enum rtl_kind kind)
{
    static const struct rtl_kind_account none = {.recorded = 0};
    if (kind == RTL_KIND_CALLS)
        return of->calls;
    if (kind == RTL_KIND_RANGES || kind == RTL_KIND_LAUNCHES)
        return true;
    return memcmp(&of->accounts[kind], &none, sizeof none) != 0;
}

static int store(struct rtl_kinds_of *of, uint32_t process, struct rtl_rows *rows)
{
    int result = SQLITE_OK;
    for (uint32_t kind = 0; kind < RTL_KINDS && result == SQLITE_OK; kind++) {
        if (!has_row(of, (enum rtl_kind)kind) && (of->stored >> kind & 1) == 0)
            continue;
        result = rtl_rows_kind(rows, process, (enum rtl_kind)kind, &of->accounts[kind]);
        of->stored |= 1u << kind;
    }
    return result;
}

int rtl_kinds_store(const struct rtl_kinds *kinds, struct rtl_rows *rows)
{
    int result = SQLITE_OK;
    for (uint32_t i = 0; i < kinds->count && result == SQLITE_OK; i++)
        if (kinds->processes[i].known && kinds->processes[i].is_new)
            result = store(&kinds->processes[i], i + 1, rows);
    return result;
}

void rtl_kinds_stored(struct rtl_kinds *kinds)
{
    for (uint32_t i = 0; i < kinds->count; i++)
        kinds->processes[i].is_new = false;
}

void rtl_kinds_free(struct rtl_kinds *kinds)
{
    free(kinds->processes);
    *kinds = (struct rtl_kinds){0};
}
