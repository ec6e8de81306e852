/* rtl sql: asks a trace in SQL. */
#include "store/sql.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "store/extent.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

struct options {
    const char *path, *statement;
    bool json;
};

static const struct argp_option option_list[] = {
    {"json", 'j', NULL, 0, "write JSON: a list with an object for each row", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
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

static int print_rows(sqlite3 *db, sqlite3_stmt *statement, bool json)
{
    bool first = true;
    bool terminal = show_terminal(stdout);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW && !ferror(stdout)) {
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
    if (json)
        (void)fputs(first ? "[]\n" : "\n]\n", stdout);
    return EXIT_FINE;
}

/* Runs all statements of the text, one after the other. */
static int run(sqlite3 *db, const struct options *options)
{
    int status = EXIT_FINE;
    bool any = false;
    const char *rest = options->statement;
    while (status == EXIT_FINE && *rest) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(db, rest, -1, &statement, &rest) != SQLITE_OK)
            return say_fail(EXIT_USAGE, "the statement is wrong: %s", sqlite3_errmsg(db));
        any = any || statement;
        if (statement)
            status = print_rows(db, statement, options->json);
        (void)sqlite3_finalize(statement);
    }
    if (status == EXIT_FINE && !any)
        return say_fail(EXIT_USAGE, "there is no statement in '%s'", options->statement);
    return status;
}

int cmd_sql(int argc, char **argv)
{
    static const char doc[] =
        "Runs an SQL statement on a trace and writes its rows, columns parted by '|'."
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
        "  rtl sql trace.db 'SELECT * FROM ledger' --json";
    static const struct argp argp = {option_list, parse_option, "FILE STATEMENT", doc, NULL,
                                     NULL,        NULL};
    struct options options = {0};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
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
