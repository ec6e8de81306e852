/**
 * Rows that are written together: SQLite reads them as a virtual table, so that one statement
 * writes many and nothing is bound.
 */
#ifndef RTL_TOOLS_EXPORT_DATABASE_ROWS_H
#define RTL_TOOLS_EXPORT_DATABASE_ROWS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#define DATABASE_ROWS 512u /* that are written together */

/** Rows for one table. Zeroed: none. */
struct database_rows {
    sqlite3_stmt *write; /**< writes those that are there */
    const char *into;    /**< "INSERT INTO table(columns)" */
    const char *types;   /**< a letter for each column, 'i' number, 't' text; NULL: numbers */
    unsigned columns, count;
    int64_t *values; /**< DATABASE_ROWS rows; of a text where it begins in `texts` */
    char *texts;
    size_t text_bytes, text_room;
};

/** Begins with `columns` numbers a row for the table that `into` names, under a name that `number`
 * makes unique in the database. An SQLite code. Memory that is short ends the program. */
int database_rows_begin(struct database_rows *rows, sqlite3 *db, unsigned number, const char *into,
                        unsigned columns);

/** Takes a row. There has to be room: count < DATABASE_ROWS. */
void database_rows_take(struct database_rows *rows, const int64_t *values);

/** Takes a copy of a text that belongs to the next row; its value there. */
int64_t database_rows_text(struct database_rows *rows, const char *text);

/** Frees what database_rows_begin made, but the module, which is the database's. */
void database_rows_end(struct database_rows *rows);

/** Writes the rows that are there. An SQLite code. */
int database_rows_write(struct database_rows *rows, sqlite3 *db, unsigned number);

#endif
