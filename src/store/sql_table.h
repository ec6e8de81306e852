/**
 * The frame of the virtual tables over the reader: what they have in common, so that each of them
 * says only which columns it has, which rows, and what a query may save. Private to those tables;
 * one thread at a time, as the connection.
 */
#ifndef RTL_STORE_SQL_TABLE_H
#define RTL_STORE_SQL_TABLE_H

#include "store/sql_trace.h"

struct rtl_sql_kind;

/** One reading of a table; a kind's own begins with it. The rest of that is zero at the start. */
struct rtl_sql_cursor {
    sqlite3_vtab_cursor base;
    const struct rtl_sql_kind *kind;
    rtl_trace_t *trace; /**< stays as it is as long as the cursor */
    /** Id of the row, which `next` sets. Of two readings the same row has the same one: by it
     * SQLite knows that both parts of an OR have found it. */
    sqlite3_int64 row;
    bool end; /**< there is no row */
};

/** What a query restricts its rows by: the letters that rtl_sql_plan has chosen, and their values
 * in the same order. */
struct rtl_sql_choice {
    int order; /**< idxNum, what the kind's `plan` has put there */
    const char *restrictions;
    sqlite3_value **values;
    int count;
};

/** A kind of table. Where a function returns a status that is an error, rtlTraceError says the
 * sentence that the query fails with. */
struct rtl_sql_kind {
    const char *declaration; /**< CREATE TABLE … */
    size_t cursor_size;      /**< bytes of a struct that begins with rtl_sql_cursor */
    /** Chooses how to answer a query (xBestIndex). An SQLite result code. */
    int (*plan)(sqlite3_index_info *info);
    /** Begins to read, for the first time or once more; none of the values is NULL. */
    rtl_status_t (*start)(struct rtl_sql_cursor *cursor, const struct rtl_sql_choice *choice);
    /** Goes to the first or next row: RTL_OK, RTL_END, or an error. */
    rtl_status_t (*next)(struct rtl_sql_cursor *cursor);
    /** A column of the row. It is NULL if no result is given. */
    rtl_status_t (*column)(struct rtl_sql_cursor *cursor, sqlite3_context *result, int column);
    /** Frees what the kind has put into its cursor; may be NULL. */
    void (*close)(struct rtl_sql_cursor *cursor);
};

/** Adds a table to a connection whose main database is a trace. It is there by its name alone,
 * with no CREATE; `kind` outlives the connection. An SQLite result code. */
int rtl_sql_add_table(sqlite3 *db, const char *name, const struct rtl_sql_kind *kind,
                      struct rtl_sql_trace *shared);

/** An id made of numbers that tell the row from all others. Two rows have the same one as rarely as
 * two random numbers of 64 bits. */
sqlite3_int64 rtl_sql_row(const uint64_t *numbers, size_t count);

/** Results of a column. A number has the bits of `value`. */
void rtl_sql_result(sqlite3_context *result, uint64_t value);

/** The number, or NULL where it is RTL_TRACE_NONE. */
void rtl_sql_result_id(sqlite3_context *result, uint32_t value);

/** The number, or NULL where it is 0. */
void rtl_sql_result_known(sqlite3_context *result, uint64_t value);

/** The text, which is copied. */
void rtl_sql_result_text(sqlite3_context *result, const char *text);

/** The text, or NULL where it is "". */
void rtl_sql_result_known_text(sqlite3_context *result, const char *text);

#endif
