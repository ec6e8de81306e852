/**
 * An export that is an SQLite database: one file, rows one by one. Errors are kept:
 * database_end tells.
 */
#ifndef RTL_TOOLS_EXPORT_DATABASE_H
#define RTL_TOOLS_EXPORT_DATABASE_H

#include "export/database_rows.h"
#include "export/export.h"

#include <sqlite3.h>

#define DATABASE_STATEMENTS 32u

struct database {
    const struct output *output;
    sqlite3 *db;
    sqlite3_stmt *statements[DATABASE_STATEMENTS];
    struct database_rows rows[DATABASE_STATEMENTS];
    bool failed; /**< a sentence has been said */
};

/** Begins the file of the export and runs `schema` in it. */
int database_begin(struct database *database, struct export *export, const char *schema);

/** Bytes of the file as it is now, without rows that database_flush has yet to write. */
uint64_t database_size(struct database *database);

/** Lets the ids that SQLite gives in a table (AUTOINCREMENT), which is empty, go on behind `last`.
 */
int database_continue(struct database *database, const char *table, int64_t last);

/** Runs statements without rows. */
int database_run(struct database *database, const char *sql);

/** Binds values to statement `which` of the database (a number of the caller's, below
 * DATABASE_STATEMENTS, prepared from `sql` when first used) and runs it. A letter of `types` for
 * each value: 'i' int64_t, 'd' double, 't' text (NULL: NULL), 'n' NULL (no argument). */
int database_row(struct database *database, unsigned which, const char *sql, const char *types,
                 ...);

/** Takes a row of `columns` numbers for the table that `into` names ("INSERT INTO
 * table(columns)"), which must outlive the database; `which` as above, and of no other statement.
 * It is written with others, at database_flush at the latest. */
int database_numbers(struct database *database, unsigned which, const char *into, unsigned columns,
                     const int64_t *values);

/** The same with texts among the values: a letter of `types` for each, 'i' int64_t, 't' text, which
 * is copied. `types` must outlive the database, too. */
int database_mixed(struct database *database, unsigned which, const char *into, const char *types,
                   ...);

/** Writes the rows that database_numbers and database_mixed have taken: before anybody reads them.
 */
int database_flush(struct database *database);

/** The same as database_row for a statement that reads: its first row in `numbers`, `count` of
 * them, or nothing at all. True if there was a row. */
bool database_find(struct database *database, unsigned which, const char *sql, int64_t key,
                   int64_t *numbers, int count);

/** Frees the statements, so that tables may be changed; they are prepared again when used. */
void database_forget(struct database *database);

/** Commits and closes. */
int database_end(struct database *database);

/** Closes a file that nobody wants any more. */
void database_drop(struct database *database);

#endif
