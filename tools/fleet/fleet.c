/* rtl fleet: questions to a database server that has the traces of many hosts. */
#include "fleet/question.h"
#include "fleet/server.h"
#include "fleet/tables.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_NS UINT64_C(60000000000)

struct options {
    const char *url, *folder, *question;
    struct question_words words;
    bool json, show_sql;
};

enum {
    KEY_URL = 256,
    KEY_WHERE,
    KEY_BEFORE,
    KEY_AFTER,
    KEY_FROM,
    KEY_TO,
    KEY_KERNEL,
    KEY_BY,
    KEY_FOLDER,
    KEY_SQL
};

static const struct argp_option option_list[] = {
    {"url", KEY_URL, "URL", 0, "of the server: http://[user[:password]@]host:port[/database]", 0},
    {"where", KEY_WHERE, "KEY=VALUE", 0,
     "only runs with this label; or with this run=, host=, rank=, trace=, or begun from= or before "
     "to=; may "
     "be repeated: all hold",
     0},
    {"before", KEY_BEFORE, "KEY=VALUE", 0, "of regressions: the runs before, as --where", 0},
    {"after", KEY_AFTER, "KEY=VALUE", 0, "of regressions: the runs after, as --where", 0},
    {"from", KEY_FROM, "TIME", 0,
     "only what was then or later: 2026-11-28, 2026-11-28T16:30 (UTC, whole minutes)", 0},
    {"to", KEY_TO, "TIME", 0, "only what was before", 0},
    {"kernel", KEY_KERNEL, "TEXT", 0, "only kernels whose name has this text in it", 0},
    {"by", KEY_BY, "LABEL", 0,
     "of regressions: runs with the same value of this label, such as the ranks of a job, are one "
     "run",
     0},
    {"top", 'n', "COUNT", 0, "how many rows, 20 by default", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {"sql-dir", KEY_FOLDER, "FOLDER", 0, "questions of your own, in files NAME.sql, before RTL's",
     0},
    {"show-sql", KEY_SQL, NULL, 0, "write the query and ask nothing", 0},
    {0},
};

static void add(struct question_runs *runs, const char *word)
{
    runs->words = memory_grown((void *)runs->words, runs->count + 1, sizeof *runs->words);
    runs->words[runs->count++] = word;
}

static int take_time(const char *option, const char *text, uint64_t *ns)
{
    if (question_time(text, ns))
        return *ns % MINUTE_NS == 0
                   ? 0
                   : say_fail(EINVAL,
                              "--%s %s is no whole minute, and the server has sums of minutes",
                              option, text);
    return say_fail(EINVAL,
                    "'%s' is no time for --%s: write one such as 2026-11-28 or "
                    "2026-11-28T16:30",
                    text, option);
}

static int take_top(const char *text, unsigned *top)
{
    int status = parse_count("top", text, top);
    return status || *top ? status : say_fail(EINVAL, "--top 0 would show no row: write 1 or more");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    struct question_words *words = &options->words;
    switch (key) {
    case KEY_URL:
        return parse_once("url", value, &options->url);
    case KEY_WHERE:
        add(&words->runs, value);
        return 0;
    case KEY_BEFORE:
        add(&words->before, value);
        return 0;
    case KEY_AFTER:
        add(&words->after, value);
        return 0;
    case KEY_FROM:
        return take_time("from", value, &words->from);
    case KEY_TO:
        return take_time("to", value, &words->to);
    case KEY_KERNEL:
        return parse_once("kernel", value, &words->kernel);
    case KEY_BY:
        return parse_once("by", value, &words->by);
    case 'n':
        return take_top(value, &words->top);
    case 'j':
        options->json = true;
        return 0;
    case KEY_FOLDER:
        return parse_once("sql-dir", value, &options->folder);
    case KEY_SQL:
        options->show_sql = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->question)
            return say_fail(EINVAL, "one question at a time: '%s' is a second one", value);
        options->question = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Answers. */

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t size = strlen(ending);
    return length > size && strcmp(text + length - size, ending) == 0;
}

/* Durations and shares as people read them, by the column's name. */
static void put_number(struct table *table, const char *column, const json_t *value)
{
    char text[80];
    double number = json_number_value(value);
    if (ends_with(column, "_ns"))
        (void)snprintf(text, sizeof text, "%s%s", number < 0 ? "-" : "",
                       show_duration(number < 0 ? -number : number).text);
    else if (ends_with(column, "_share"))
        (void)snprintf(text, sizeof text, "%.2f %%", 100 * number);
    else if (json_is_integer(value))
        (void)snprintf(text, sizeof text, "%s",
                       show_count((uint64_t)json_integer_value(value)).text);
    else
        (void)snprintf(text, sizeof text, "%.3f", number);
    table_cell(table, text);
}

static void put_value(struct table *table, const char *column, const json_t *value)
{
    if (json_is_number(value))
        put_number(table, column, value);
    else
        table_cell(table, json_is_string(value) ? json_string_value(value) : "-");
}

static const char *column_name(const json_t *meta, size_t at)
{
    const char *name = json_string_value(json_object_get(json_array_get(meta, at), "name"));
    return name ? name : "";
}

static void put_heading(struct table *table, const char *column)
{
    char text[64];
    size_t length = strlen(column);
    length -= ends_with(column, "_ns")      ? strlen("_ns")
              : ends_with(column, "_share") ? strlen("_share")
                                            : 0;
    (void)snprintf(text, sizeof text, "%.*s", (int)length, column);
    for (char *letter = text; *letter; ++letter)
        *letter = *letter == '_' ? ' ' : *letter;
    table_cell(table, text);
}

static int print_table(const json_t *meta, const json_t *data)
{
    char layout[TABLE_MOST_COLUMNS + 1] = "";
    size_t columns = json_array_size(meta);
    if (columns == 0 || columns > TABLE_MOST_COLUMNS)
        return say_fail(EXIT_USAGE, "the answer has %zu columns: --json shows it", columns);
    for (size_t i = 0; i < columns; ++i) {
        const char *type = json_string_value(json_object_get(json_array_get(meta, i), "type"));
        bool text = !type || strstr(type, "String");
        layout[i] =
            text ? (i + 1 == columns && strcmp(column_name(meta, i), "name") == 0 ? 'n' : 'l')
                 : 'r';
    }
    struct table *table = table_new(layout);
    for (size_t i = 0; i < columns; ++i)
        put_heading(table, column_name(meta, i));
    for (size_t row = 0; row < json_array_size(data); ++row)
        for (size_t i = 0; i < columns; ++i) {
            const json_t *value = json_array_get(json_array_get(data, row), i);
            if (layout[i] == 'n' && json_is_string(value))
                table_name(table, "", json_string_value(value));
            else
                put_value(table, column_name(meta, i), value);
        }
    table_print(table, stdout);
    return EXIT_FINE;
}

static int print_json(const struct options *options, const struct url *url, const json_t *meta,
                      const json_t *data)
{
    json_t *rows = json_array();
    for (size_t row = 0; row < json_array_size(data); ++row) {
        json_t *object = json_object();
        for (size_t i = 0; i < json_array_size(meta); ++i)
            (void)json_object_set(object, column_name(meta, i),
                                  json_array_get(json_array_get(data, row), i));
        (void)json_array_append_new(rows, object);
    }
    json_t *all = json_object();
    (void)json_object_set_new(all, "question", open_text(options->question));
    (void)json_object_set_new(all, "url", open_text(url->shown));
    (void)json_object_set_new(all, "rows", rows);
    return open_print_json(all, EXIT_FINE);
}

static bool has_type(const json_t *meta, size_t at, const char *part)
{
    const char *type = json_string_value(json_object_get(json_array_get(meta, at), "type"));
    return type && strstr(type, part);
}

/* A value of a column of numbers, as an integer where it can be one. NULL: as it is. */
static json_t *made_number(const json_t *value, bool whole)
{
    const char *text = json_string_value(value);
    double real = json_real_value(value);
    if (!text)
        return whole && json_is_real(value) && fabs(real) < 0x1p53 ? json_integer((json_int_t)real)
                                                                   : NULL;
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    return errno ? json_real(strtod(text, NULL)) : json_integer(number);
}

/* Numbers of 64 bits are texts before 25.8 unless a setting says otherwise, and who may only read
 * may not set one. */
static void make_numbers(const json_t *meta, const json_t *data)
{
    for (size_t row = 0; row < json_array_size(data); ++row)
        for (size_t i = 0; i < json_array_size(meta); ++i) {
            json_t *cells = json_array_get(data, row);
            json_t *number = NULL;
            if (has_type(meta, i, "Int") || has_type(meta, i, "Float"))
                number = made_number(json_array_get(cells, i), has_type(meta, i, "Int"));
            if (number)
                (void)json_array_set_new(cells, i, number);
        }
}

/* A sum of 2^63 or more is no integer to jansson, and from 25.8 on no text. */
static json_t *read_answer(const char *answer)
{
    json_error_t error;
    json_t *all = json_loads(answer, 0, &error);
    return !all && json_error_code(&error) == json_error_numeric_overflow
               ? json_loads(answer, JSON_DECODE_INT_AS_REAL, NULL)
               : all;
}

static int print_answer(const struct options *options, const struct url *url, const char *answer)
{
    json_t *all = read_answer(answer);
    const json_t *meta = json_object_get(all, "meta");
    const json_t *data = json_object_get(all, "data");
    int status;
    if (json_is_array(meta) && json_is_array(data))
        make_numbers(meta, data);
    if (!json_is_array(meta) || !json_is_array(data))
        status = say_fail(EXIT_USAGE, "%s gave an answer that is none", url->shown);
    else if (options->json)
        status = print_json(options, url, meta, data);
    else if (json_array_size(data) == 0)
        status = printf("nothing\n") < 0 ? EXIT_USAGE : EXIT_FINE;
    else
        status = print_table(meta, data);
    json_decref(all);
    return status;
}

/* The question. */

static char *with_format(char *query)
{
    static const char format[] = "\nFORMAT JSONCompact";
    size_t length = strlen(query);
    query = memory_grown(query, length + sizeof format, 1);
    memcpy(query + length, format, sizeof format);
    return query;
}

/* A question may be anybody's file, and is to change nothing. Who may only read may not set that,
 * and need not. NULL when a sentence has been said. */
static const char *only_reading(struct server *server)
{
    const char *answer = server_ask(server, "",
                                    "SELECT value FROM system.settings WHERE name = 'readonly' "
                                    "FORMAT TabSeparated");
    if (!answer)
        say("%s", server->error);
    return !answer ? NULL : strtoul(answer, NULL, 10) ? "" : "&readonly=1";
}

/* The number that a query gives, which is freed. -1 when a sentence has been said. */
static long ask_number(struct server *server, const char *settings, char *query)
{
    const char *answer = query ? server_ask(server, settings, query) : NULL;
    if (query && !answer)
        say("%s", server->error);
    free(query);
    return answer ? strtol(answer, NULL, 10) : -1;
}

/* How many whole runs two options choose together, or one. -1 when a sentence has been said. */
static long count_runs(struct server *server, const char *settings,
                       const struct question_runs *runs, const struct question_runs *also)
{
    return ask_number(server, settings, question_count_runs(runs, also));
}

/* No runs for a word that was mistyped must not look like nothing to tell. */
static int check_chosen(struct server *server, const char *settings, const char *option,
                        const struct question_runs *runs)
{
    long count = runs->count ? count_runs(server, settings, runs, NULL) : 1;
    if (count == 0)
        return say_fail(EXIT_USAGE, "--%s %s%s chooses no run that is loaded completely", option,
                        runs->words[0], runs->count > 1 ? " and what goes with it" : "");
    return count < 0 ? EXIT_USAGE : EXIT_FINE;
}

static int check_by(struct server *server, const char *settings, const struct question_words *words)
{
    long count = words->by ? ask_number(server, settings, question_count_labelled(words)) : 1;
    if (count == 0)
        return say_fail(EXIT_USAGE, "--by %s: none of the runs has this label", words->by);
    return count < 0 ? EXIT_USAGE : EXIT_FINE;
}

static int check_runs(struct server *server, const char *settings, const struct options *options)
{
    const struct question_words *words = &options->words;
    int status = check_chosen(server, settings, "before", &words->before);
    if (status == EXIT_FINE)
        status = check_chosen(server, settings, "after", &words->after);
    /* Of runs that are not all loaded 'runs' tells as well. */
    if (status == EXIT_FINE && strcmp(options->question, "runs") != 0)
        status = check_chosen(server, settings, "where", &words->runs);
    if (status == EXIT_FINE)
        status = check_by(server, settings, words);
    if (status != EXIT_FINE || !words->before.count || !words->after.count)
        return status;
    long both = count_runs(server, settings, &words->before, &words->after);
    if (both > 0)
        return say_fail(EXIT_USAGE,
                        "--before and --after both choose %s, so nothing tells them apart",
                        show_things((uint64_t)both, "run").text);
    return both < 0 ? EXIT_USAGE : EXIT_FINE;
}

static int ask(const struct options *options, const char *query)
{
    struct url url;
    struct tables_there there;
    if (url_read(options->url, &url) != EXIT_FINE || server_begin() != EXIT_FINE)
        return EXIT_USAGE;
    struct server server = server_open(&url);
    int status = tables_find(&server, &there);
    const char *settings = status == EXIT_FINE ? only_reading(&server) : NULL;
    if (status == EXIT_FINE)
        status = settings ? check_runs(&server, settings, options) : EXIT_USAGE;
    if (status == EXIT_FINE) {
        const char *answer = server_ask(&server, settings, query);
        status =
            answer ? print_answer(options, &url, answer) : say_fail(EXIT_USAGE, "%s", server.error);
    }
    server_close(&server);
    return status;
}

static int run(const struct options *options)
{
    if (options->words.from >= options->words.to)
        return say_fail(EXIT_USAGE, "there is no time between --from and --to: --to is not later");
    if (question_folder(options->folder) != EXIT_FINE)
        return EXIT_USAGE;
    if (!options->question)
        return question_list(options->folder);
    char *text = question_read(options->folder, options->question);
    char *query = text ? question_fill(options->question, text, &options->words) : NULL;
    int status = query ? EXIT_FINE : EXIT_USAGE;
    if (query && options->show_sql)
        status = puts(query) < 0 ? EXIT_USAGE : EXIT_FINE;
    else if (query && !options->url)
        status =
            say_fail(EXIT_USAGE, "no server was named: rtl fleet --url URL %s", options->question);
    else if (query) {
        query = with_format(query);
        status = ask(options, query);
    }
    free(query);
    free(text);
    return status;
}

int cmd_fleet(int argc, char **argv)
{
    static const char doc[] =
        "Asks a database server that has the traces of many hosts ('rtl export --to clickhouse')."
        "\vWithout a QUESTION those that there are are listed. Each is a file of SQL, which runs "
        "in the "
        "server; --sql-dir names a folder with others, or with changed ones. Runs that are not "
        "loaded "
        "completely are left out, but for those that 'runs' lists.\n\n"
        "Examples:\n"
        "  rtl fleet --url http://db:8123/gpus runs\n"
        "  rtl fleet --url http://db:8123/gpus regressions --before build=41 --after build=42\n"
        "  rtl fleet --url http://db:8123/gpus hosts --from 2026-11-27 --to 2026-11-28";
    const struct argp argp = {
        .options = option_list, .parser = parse_option, .args_doc = "[QUESTION]", .doc = doc};
    struct options options = {.words = {.to = UINT64_MAX}};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0)
        status = run(&options);
    free((void *)options.words.runs.words);
    free((void *)options.words.before.words);
    free((void *)options.words.after.words);
    return status;
}
