#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

uint64_t rtl_row_u64(sqlite3_stmt *row, int column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

uint32_t rtl_row_u32(rtl_trace_t *trace, sqlite3_stmt *row, int column)
{
    sqlite3_int64 value = sqlite3_column_int64(row, column);
    if (value < 0 || value > UINT32_MAX)
        trace->damaged = true;
    return (uint32_t)value;
}

uint32_t rtl_row_id(rtl_trace_t *trace, sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? RTL_TRACE_NONE
                                                           : rtl_row_u32(trace, row, column);
}

const char *rtl_row_text(rtl_trace_t *trace, sqlite3_stmt *row, int column)
{
    return rtl_trace_string(trace, (const char *)sqlite3_column_text(row, column));
}

const char *rtl_row_mangled(rtl_trace_t *trace, sqlite3_stmt *row, int column, const char *name)
{
    const char *mangled = (const char *)sqlite3_column_text(row, column);
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return name;
    return name && mangled && strcmp(mangled, name) == 0 ? name : rtl_trace_string(trace, mangled);
}

void *rtl_list_append(struct rtl_list *list, size_t size)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        void *items = realloc(list->items, capacity * size);
        if (!items)
            return NULL;
        list->items = items;
        list->capacity = capacity;
    }
    void *item = (char *)list->items + list->count++ * size;
    memset(item, 0, size);
    return item;
}

void rtl_list_free(struct rtl_list *list)
{
    free(list->items);
    *list = (struct rtl_list){0};
}

rtl_status_t rtl_table_load(rtl_trace_t *trace, const struct rtl_table *table)
{
    sqlite3_stmt *row = NULL;
    rtl_status_t status = RTL_OK;
    int result = sqlite3_prepare_v2(trace->db, table->query, -1, &row, NULL);
    if (result != SQLITE_OK)
        return rtl_trace_fail_sqlite(trace, result);
    while (status == RTL_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        void *item = rtl_list_append(table->list, table->size);
        if (!item || table->take(trace, row, item) != 0)
            status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
        else if (trace->damaged)
            status = rtl_trace_fail(trace, RTL_E_DAMAGED,
                                    "the trace %s is damaged: a number is out of range in the rows "
                                    "of \"%s\"",
                                    trace->path, table->query);
    }
    if (status == RTL_OK && result != SQLITE_DONE)
        status = rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(row);
    return status;
}
