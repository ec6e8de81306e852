/* rtl sql: asks a trace in SQL. */
#include "store/sql.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "sql_shell.h"
#include "store/extent.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum headings { HEADINGS_ON_TERMINALS, HEADINGS_ALWAYS, HEADINGS_NEVER };

struct options {
    const char *path, *statement;
    bool json;
    enum headings headings;
};

enum { KEY_HEADINGS = 256, KEY_NO_HEADINGS };

static const struct argp_option option_list[] = {
    {"json", 'j', NULL, 0, "write JSON: a list with an object for each row", 0},
    {"headings", KEY_HEADINGS, NULL, 0,
     "write the names of the columns first; only on a terminal without this", 0},
    {"no-headings", KEY_NO_HEADINGS, NULL, 0, "leave them out on a terminal as well", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case KEY_HEADINGS:
        options->headings = HEADINGS_ALWAYS;
        return 0;
    case KEY_NO_HEADINGS:
        options->headings = HEADINGS_NEVER;
        return 0;
    case ARGP_KEY_ARG:
        if (!options->path)
            options->path = value;
        else if (!options->statement)
            options->statement = value;
        else
            return say_fail(EINVAL, "'%s' is one argument too many: put the statement in quotes",
                            value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Scripts get what is in the trace, byte by byte; on a terminal it must do nothing. */
static void print_row(sqlite3_stmt *statement, bool terminal)
{
    int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; ++i) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        text = text ? text : "";
        (void)printf("%s%s", i ? "|" : "", terminal ? plain(text) : text);
    }
    (void)putchar('\n');
}

static void print_headings(sqlite3_stmt *statement, bool terminal)
{
    int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; ++i) {
        const char *name = sqlite3_column_name(statement, i);
        name = name ? name : "";
        (void)printf("%s%s", i ? "|" : "", terminal ? plain(name) : name);
    }
    if (columns > 0)
        (void)putchar('\n');
}

static json_t *json_float(double value)
{
    if (!isinf(value))
        return json_real(value);
    return json_string(value > 0 ? "Inf" : "-Inf"); /* as without --json */
}

static json_t *json_value(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return json_float(sqlite3_column_double(statement, column));
    case SQLITE_NULL:
        return json_null();
    default: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        return text && text[0] ? open_text(text) : json_string("");
    }
    }
}

/* Columns may have one name; the others get a number, as they do in subqueries of SQLite. */
static void add_column(json_t *object, const char *name, json_t *value)
{
    char *other = NULL;
    for (unsigned i = 1; json_object_get(object, other ? other : name); ++i) {
        sqlite3_free(other);
        other = sqlite3_mprintf("%s:%u", name, i);
        if (!other)
            memory_is_short();
    }
    (void)json_object_set_new(object, other ? other : name, value);
    sqlite3_free(other);
}

/* Rows are written as they come: a trace may have many. */
static void print_json_row(sqlite3_stmt *statement, bool first)
{
    json_t *object = json_object();
    int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; ++i)
        add_column(object, sqlite3_column_name(statement, i), json_value(statement, i));
    (void)fputs(first ? "[\n  " : ",\n  ", stdout);
    (void)open_write_json(stdout, object, JSON_COMPACT);
    json_decref(object);
}

/* Behind the first step: a statement that fails there has said nothing on standard output. */
static void begin_rows(sqlite3_stmt *statement, const struct options *options, bool terminal)
{
    bool wanted = options->headings == HEADINGS_ALWAYS ||
                  (options->headings == HEADINGS_ON_TERMINALS && terminal);
    if (wanted && !options->json)
        print_headings(statement, terminal);
}

static int print_rows(sqlite3 *db, sqlite3_stmt *statement, const struct options *options)
{
    bool json = options->json;
    bool first = true;
    bool terminal = show_terminal(stdout);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW && !ferror(stdout)) {
        if (first)
            begin_rows(statement, options, terminal);
        if (json)
            print_json_row(statement, first);
        else
            print_row(statement, terminal);
        first = false;
    }
    if (code == SQLITE_ROW) /* nobody gets the rest, which may have no end */
        return EXIT_USAGE;
    if (code != SQLITE_DONE)
        return say_fail(EXIT_USAGE, "the statement failed: %s", sqlite3_errmsg(db));
    if (first)
        begin_rows(statement, options, terminal);
    if (json)
        (void)fputs(first ? "[]\n" : "\n]\n", stdout);
    return EXIT_FINE;
}

/* The name of a table or view alone asks for all of it. */
static char *whole_statement(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    bool name = length > 0 && text[length] == '\0' && sqlite3_keyword_check(text, (int)length) == 0;
    char *statement = sqlite3_mprintf(name ? "SELECT * FROM %s" : "%s", text);
    if (!statement)
        memory_is_short();
    return statement;
}

static int say_wrong(sqlite3 *db)
{
    char message[512];
    char advice[256];
    (void)snprintf(message, sizeof message, "%s", sqlite3_errmsg(db));
    sql_shell_advise(db, message, advice, sizeof advice);
    return say_fail(EXIT_USAGE, "the statement is wrong: %s%s", message, advice);
}

/* Runs all statements of the text, one after the other. */
static int run_all(sqlite3 *db, const struct options *options, const char *text)
{
    int status = EXIT_FINE;
    bool any = false;
    const char *rest = text;
    while (status == EXIT_FINE && *rest) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(db, rest, -1, &statement, &rest) != SQLITE_OK)
            return say_wrong(db);
        any = any || statement;
        if (statement)
            status = print_rows(db, statement, options);
        (void)sqlite3_finalize(statement);
    }
    if (status == EXIT_FINE && !any)
        return say_fail(EXIT_USAGE, "there is no statement in '%s'", text);
    return status;
}

static int run(sqlite3 *db, const struct options *options)
{
    char *text = NULL;
    int status = sql_shell_statement(db, options->statement, &text);
    if (status == EXIT_FINE && !text)
        text = whole_statement(options->statement);
    if (status == EXIT_FINE)
        status = run_all(db, options, text);
    sqlite3_free(text);
    return status;
}

int cmd_sql(int argc, char **argv)
{
    static const char doc[] =
        "Runs an SQL statement on a trace and writes its rows, columns parted by '|'; on a "
        "terminal "
        "their names first."
        "\vTables: kernels, kernel_stats (added up), copies, api, graphs, graph_nodes, "
        "graph_launches, ranges, ledger, "
        "ledger_kinds, processes, agents, queues, streams, threads, names, symbols, notes; and "
        "RPD's: rocpd_op, "
        "rocpd_api, "
        "rocpd_string, top, busy, op and others. Times are in "
        "nanoseconds; unknown is NULL. The trace is "
        "never changed. Functions beside SQLite's: regexp (REGEXP; POSIX extended), median(x), "
        "percentile(x, p).\n\n"
        "Examples:\n"
        "  rtl sql trace.db 'SELECT name, count(*), sum(duration) FROM kernels GROUP BY name'\n"
        "  rtl sql trace.db 'SELECT * FROM ledger' --json\n"
        "  rtl sql trace.db top        (all of a table or view)\n"
        "  rtl sql trace.db .tables    (what there is; .schema: with columns)";
    static const struct argp argp = {option_list, parse_option, "FILE STATEMENT", doc, NULL,
                                     NULL,        NULL};
    struct options options = {0};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (options.json && options.headings != HEADINGS_ON_TERMINALS)
        return say_fail(EXIT_USAGE,
                        "--%s is for rows as text: each row of --json names its columns",
                        options.headings == HEADINGS_ALWAYS ? "headings" : "no-headings");
    if (!options.path || !options.statement)
        return say_fail(EXIT_USAGE, "a trace and a statement are needed: rtl sql FILE "
                                    "\"SELECT ...\"");
    sqlite3 *db = NULL;
    char error[512] = "";
    if (!options.path[0])
        return say_fail(EXIT_USAGE, "the trace's name is empty");
    struct rtl_extent extent;
    if (rtl_sql_open(options.path, &db, error, sizeof error) != RTL_OK)
        return say_fail(EXIT_USAGE, "%s", error);
    if (rtl_extent_read(db, options.path, &extent) == SQLITE_OK)
        open_say_behind(options.path, extent.behind);
    int status = run(db, &options);
    (void)sqlite3_close(db);
    return status;
}
