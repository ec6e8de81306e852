/**
 * Reading tables of a trace into lists: private to the reader.
 */
#ifndef RTL_STORE_TABLES_H
#define RTL_STORE_TABLES_H

#include "store/reader.h"

/** Values of the current row; NULL is 0, "none" or "". A number that does not fit marks the trace
 * as damaged; a text belongs to the trace, NULL when memory is short. */
uint64_t rtl_row_u64(sqlite3_stmt *row, int column);
uint32_t rtl_row_u32(rtl_trace_t *trace, sqlite3_stmt *row, int column);
uint32_t rtl_row_id(rtl_trace_t *trace, sqlite3_stmt *row, int column);
const char *rtl_row_text(rtl_trace_t *trace, sqlite3_stmt *row, int column);

/** A mangled name; where it is NULL, or the same, `name` itself. */
const char *rtl_row_mangled(rtl_trace_t *trace, sqlite3_stmt *row, int column, const char *name);

/** Adds a zeroed item of `size` bytes to a list, all of whose items have that size; NULL when
 * memory is short. The list may move. */
void *rtl_list_append(struct rtl_list *list, size_t size);

/** The place of the item that was appended last. */
static inline uint32_t rtl_list_last(const struct rtl_list *list)
{
    return (uint32_t)(list->count - 1);
}

/** Frees the items and empties the list. */
void rtl_list_free(struct rtl_list *list);

/** Takes a row; `item` is its place in the list, zeroed. 0, or -1 when memory is short. */
typedef int (*rtl_row_take)(rtl_trace_t *trace, sqlite3_stmt *row, void *item);

struct rtl_table {
    const char *query;
    size_t size; /**< of an item */
    rtl_row_take take;
    struct rtl_list *list;
};

/** Reads all rows of a query into a list. */
rtl_status_t rtl_table_load(rtl_trace_t *trace, const struct rtl_table *table);

#endif
