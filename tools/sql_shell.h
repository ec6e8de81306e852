/**
 * What users of sqlite3's shell type to `rtl sql` first: .tables and .schema, and names of tables
 * that are near.
 */
#ifndef RTL_TOOLS_SQL_SHELL_H
#define RTL_TOOLS_SQL_SHELL_H

#include <sqlite3.h>
#include <stddef.h>

/** Makes the statement that answers a command of the shell, for sqlite3_free; NULL if `text` is
 * none. EXIT_FINE, or EXIT_USAGE when a sentence has been said: there is no such command or table
 * here. */
int sql_shell_statement(sqlite3 *db, const char *text, char **statement);

/** What to look at after SQLite's `message`: a table of a near name, say. "" if nothing is known.
 */
void sql_shell_advise(sqlite3 *db, const char *message, char *advice, size_t size);

#endif
