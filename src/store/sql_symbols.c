#include "store/sql_symbols.h"

#include "store/sql_plan.h"
#include "store/sql_table.h"

enum column { PROCESS, SYMBOL, AGENT, KERNEL_OBJECT, NAME, MANGLED, KERNARG, GROUP, PRIVATE };

static const char declaration[] =
    "CREATE TABLE all_symbols(process INTEGER, symbol INTEGER, agent INTEGER,"
    " kernel_object INTEGER, name TEXT, mangled TEXT, kernarg_size INTEGER, group_size INTEGER,"
    " private_size INTEGER)";

static const struct rtl_sql_rule rules[] = {
    {PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.01},
    {SYMBOL, RTL_SQL_EQUAL, RTL_SQL_SYMBOL, 0.0001},
};

struct cursor {
    struct rtl_sql_cursor base;
    const rtl_symbol_t *symbols; /* of all processes, or of one */
    size_t next, count;
    uint64_t symbol; /* wanted; above all ids: all */
};

static int plan(sqlite3_index_info *info)
{
    return rtl_sql_plan(info, rules, sizeof rules / sizeof *rules);
}

/* The first symbol of those in the cursor at or above (process, symbol). */
static size_t find(const struct cursor *cursor, uint64_t process, uint64_t symbol)
{
    size_t from = 0;
    size_t to = cursor->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const rtl_symbol_t *at = &cursor->symbols[middle];
        if (at->process < process || (at->process == process && at->symbol < symbol))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Within a process symbols are in order, so that one is found; across processes all are looked at.
 */
static rtl_status_t start(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    struct cursor *cursor = (struct cursor *)base;
    uint64_t process = UINT64_MAX;
    uint64_t number = 0;
    cursor->symbol = UINT64_MAX;
    rtl_status_t status = rtlTraceSymbols(base->trace, &cursor->symbols, &cursor->count);
    for (int i = 0; i < choice->count; i++) {
        if (!rtl_sql_number(choice->values[i], &number))
            continue;
        if (choice->restrictions[i] == RTL_SQL_PROCESS)
            process = number;
        else
            cursor->symbol = number;
    }
    cursor->next = 0;
    if (process == UINT64_MAX)
        return status;
    cursor->next = find(cursor, process, cursor->symbol == UINT64_MAX ? 0 : cursor->symbol);
    cursor->count = cursor->symbol == UINT64_MAX ? find(cursor, process + 1, 0)
                                                 : find(cursor, process, cursor->symbol + 1);
    return status;
}

static rtl_status_t next(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    while (cursor->next < cursor->count) {
        const rtl_symbol_t *symbol = &cursor->symbols[cursor->next++];
        base->row = (sqlite3_int64)cursor->next;
        if (cursor->symbol == UINT64_MAX || symbol->symbol == cursor->symbol)
            return RTL_OK;
    }
    return RTL_END;
}

static rtl_status_t column(struct rtl_sql_cursor *base, sqlite3_context *result, int which)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const rtl_symbol_t *symbol = &cursor->symbols[cursor->next - 1];
    switch (which) {
    case PROCESS:
        rtl_sql_result(result, symbol->process);
        break;
    case SYMBOL:
        rtl_sql_result(result, symbol->symbol);
        break;
    case AGENT:
        rtl_sql_result(result, symbol->agent);
        break;
    case KERNEL_OBJECT:
        rtl_sql_result(result, symbol->kernel_object);
        break;
    case NAME:
        rtl_sql_result_text(result, symbol->name);
        break;
    case MANGLED:
        rtl_sql_result_text(result, symbol->mangled);
        break;
    case KERNARG:
        rtl_sql_result(result, symbol->kernarg_size);
        break;
    case GROUP:
        rtl_sql_result(result, symbol->group_size);
        break;
    case PRIVATE:
        rtl_sql_result(result, symbol->private_size);
        break;
    default:
        break;
    }
    return RTL_OK;
}

int rtl_sql_register_symbols(sqlite3 *db, struct rtl_sql_trace *shared)
{
    static const struct rtl_sql_kind kind = {
        .declaration = declaration,
        .cursor_size = sizeof(struct cursor),
        .plan = plan,
        .start = start,
        .next = next,
        .column = column,
    };
    return rtl_sql_add_table(db, "all_symbols", &kind, shared);
}
