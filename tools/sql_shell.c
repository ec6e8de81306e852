#include "sql_shell.h"

#include "common/command.h"
#include "common/elsewhere.h"
#include "common/memory.h"
#include "common/say.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_NAME 64u
#define FAR_OFF      3u /* changes of letters after which a name is another one */
#define SPACE        " \t\n;"

/* What scripts may rely on: views, tables that are made as they are read, and two of the file. */
#define TABLES                                                                                     \
    "SELECT name FROM sqlite_temp_master WHERE type = 'view' AND name NOT GLOB 'stored_*'"         \
    " UNION VALUES ('kernels'), ('kernel_stats'), ('api'), ('graphs'), ('graph_nodes'),"           \
    " ('graph_launches'), ('kernel_counters'), ('range_counters'), ('agents'), ('notes')"

static char *printed(char *text)
{
    if (!text)
        memory_is_short();
    return text;
}

/* The first value of a statement with a text for its parameter; false if it has no row. */
static bool first_of(sqlite3 *db, const char *text, const char *parameter, char *value, size_t size)
{
    sqlite3_stmt *statement = NULL;
    bool any = sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_bind_text(statement, 1, parameter, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW;
    if (any)
        (void)snprintf(value, size, "%s", (const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    return any;
}

/* A pattern of LIKE, as the shell has it; all without. */
static int take_pattern(sqlite3 *db, const char *rest, char *pattern, size_t size)
{
    char name[LONGEST_NAME];
    rest += strspn(rest, SPACE);
    size_t length = strcspn(rest, SPACE);
    (void)snprintf(pattern, size, "%.*s", length ? (int)length : 1, length ? rest : "%");
    if (rest[length + strspn(rest + length, SPACE)])
        return say_fail(EXIT_USAGE, "'%s' is more than one table", rest);
    if (!first_of(db, "SELECT name FROM (" TABLES ") WHERE name LIKE ?", pattern, name,
                  sizeof name))
        return say_fail(EXIT_USAGE, "there is no table '%s', see .tables", pattern);
    return EXIT_FINE;
}

static bool is_command(const char *text, const char *command)
{
    size_t length = strcspn(text, SPACE);
    return length == strlen(command) && strncmp(text, command, length) == 0;
}

int sql_shell_statement(sqlite3 *db, const char *text, char **statement)
{
    char pattern[4 * LONGEST_NAME];
    *statement = NULL;
    text += strspn(text, SPACE);
    bool tables = is_command(text, ".tables");
    if (text[0] != '.')
        return EXIT_FINE;
    if (!tables && !is_command(text, ".schema"))
        return say_fail(EXIT_USAGE,
                        "'%.*s' is a command of sqlite3: there are .tables and .schema here, the "
                        "options --headings and --json, and 'rtl export FILE -F csv'",
                        (int)strcspn(text, SPACE), text);
    int status = take_pattern(db, text + strcspn(text, SPACE), pattern, sizeof pattern);
    if (status == EXIT_FINE)
        *statement =
            printed(tables ? sqlite3_mprintf("SELECT name FROM (" TABLES ") WHERE name LIKE %Q "
                                             "ORDER BY name",
                                             pattern)
                           : sqlite3_mprintf("SELECT t.name, group_concat(c.name, ', ') AS columns "
                                             "FROM (" TABLES ") t, pragma_table_info(t.name) c "
                                             "WHERE t.name LIKE %Q GROUP BY t.name ORDER BY t.name",
                                             pattern));
    return status;
}

/* The table whose name is nearest, "" if none is near. */
static void find_near(sqlite3 *db, const char *name, char *near, size_t size)
{
    sqlite3_stmt *statement = NULL;
    unsigned best = FAR_OFF;
    near[0] = '\0';
    (void)sqlite3_prepare_v2(db, "SELECT name FROM (" TABLES ") ORDER BY name", -1, &statement,
                             NULL);
    while (statement && sqlite3_step(statement) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(statement, 0);
        unsigned distance = table ? say_distance(name, table) : FAR_OFF;
        if (distance >= best)
            continue;
        best = distance;
        (void)snprintf(near, size, "%s", table);
    }
    (void)sqlite3_finalize(statement);
}

void sql_shell_advise(sqlite3 *db, const char *message, char *advice, size_t size)
{
    static const char no_table[] = "no such table: ";
    static const char no_column[] = "no such column: ";
    char near[LONGEST_NAME];
    advice[0] = '\0';
    if (strncmp(message, no_column, strlen(no_column)) == 0)
        (void)snprintf(advice, size, "; .schema TABLE names the columns");
    if (strncmp(message, no_table, strlen(no_table)) != 0)
        return;
    const char *name = message + strlen(no_table);
    const char *here = elsewhere_table(name);
    find_near(db, name, near, sizeof near);
    if (here)
        (void)snprintf(advice, size, "; it is %s here", here);
    else if (near[0])
        (void)snprintf(advice, size, ", did you mean %s?", near);
    else
        (void)snprintf(advice, size, "; .tables names all");
}
