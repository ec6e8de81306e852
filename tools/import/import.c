/* rtl import: makes a trace of a file of RPD, so that old recordings can be looked at. */
#include "common/command.h"
#include "common/output.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/written.h"
#include "import/rpd.h"
#include "store/digest.h"
#include "store/sqlite_path.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

struct options {
    const char *path, *output;
    bool force;
};

static const struct argp_option option_list[] = {
    {"output", 'o', "FILE", 0, "where to (default: trace.db)", 0},
    {"force", 'f', NULL, 0, "replace a trace that exists", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'o':
        options->output = value;
        return 0;
    case 'f':
        options->force = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path)
            return say_fail(EINVAL, "one file at a time: '%s' is a second one", value);
        options->path = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

struct import {
    const struct options *options;
    struct output output;
    struct rtl_writer *writer;
};

static struct import import;

static struct rtl_writer *open_writer(const char *command)
{
    const struct rtl_writer_options how = {.command = command, .replace = true};
    const struct options *options = import.options;
    const struct output_rules rules = {
        .kind = OUTPUT_TRACE, .force = options->force, .inputs = &options->path, .input_count = 1};
    char error[512] = "";
    if (output_begin(&import.output, options->output, &rules) != EXIT_FINE)
        return NULL;
    import.writer = rtl_writer_open(import.output.path, &how, error, sizeof error);
    if (!import.writer)
        say("%s", error);
    return import.writer;
}

/* The trace was recorded when its events were, and where they were; the writer says: now, here. No
 * journal on disk: it would be opened by its name, and a file that is not whole gets no name. */
static int set_times(const struct rpd_result *result)
{
    sqlite3 *db = NULL;
    char *sql = sqlite3_mprintf("PRAGMA journal_mode=MEMORY;"
                                "UPDATE meta SET value = %lld WHERE key = 'start';"
                                "UPDATE meta SET value = %lld WHERE key = 'end';"
                                "UPDATE meta SET value = %Q WHERE key = 'host';"
                                "DELETE FROM meta WHERE key = 'boot';"
                                "BEGIN",
                                (long long)result->start, (long long)result->end, result->host);
    bool done =
        sql && rtl_sqlite_open(import.output.path, &db, SQLITE_OPEN_READWRITE) == SQLITE_OK &&
        sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && rtl_digest_store(db) == SQLITE_OK &&
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    int status = done ? EXIT_FINE
                      : say_fail(EXIT_USAGE, "'%s' could not be written: %s",
                                 import.options->output, sqlite3_errmsg(db));
    sqlite3_free(sql);
    (void)sqlite3_close(db);
    return status;
}

static void left_out(uint64_t count, const char *what, const char *whose)
{
    if (count)
        say("left out: %s of %s", show_things(count, what).text, whose);
}

static void tell(const struct options *options, const struct rpd_result *result)
{
    if (!written_to_none())
        (void)printf("%s: %s, %s, %s, %s (RPD %d)\n", plain(options->output),
                     show_things(result->kernels, "kernel").text,
                     show_things(result->copies, "copy").text,
                     show_things(result->calls, "host call").text,
                     show_things(result->ranges, "range").text, result->version);
    if (result->calls)
        say("left out: the arguments of host calls");
    left_out(result->graphs, "launch", "graphs; their kernels are there");
    left_out(result->monitors, "row", "rocpd_monitor");
    left_out(result->counters, "row", "rocpd_counter");
    left_out(result->frames, "row", "rocpd_stackframe");
}

static int run(void)
{
    struct rpd_result result;
    char error[512] = "";
    int status = rpd_import(import.options->path, open_writer, &result);
    if (import.writer && rtl_writer_close(import.writer, -1, error, sizeof error) != 0 &&
        status == EXIT_FINE)
        status = say_fail(EXIT_USAGE, "%s", error);
    if (status == EXIT_FINE)
        status = set_times(&result);
    if (status == EXIT_FINE)
        status = output_commit(&import.output);
    output_drop(&import.output);
    if (status == EXIT_FINE)
        tell(import.options, &result);
    return status;
}

int cmd_import(int argc, char **argv)
{
    static const char doc[] =
        "Makes a trace of a recording of rocmProfileData (RPD, schema versions up to 3), for all "
        "commands of rtl."
        "\vWhat a trace has no place for is said.\n\n"
        "Examples:\n"
        "  rtl import old.rpd -o old.db && rtl summary old.db";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    static struct options options;
    options.output = "trace.db";
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (!options.path)
        return say_fail(EXIT_USAGE, "no file was named: rtl import FILE -o TRACE");
    if (!options.path[0])
        return say_fail(EXIT_USAGE, "the file's name is empty");
    if (!options.output[0])
        return say_fail(EXIT_USAGE, "-o: the output's name is empty");
    import.options = &options;
    return run();
}
