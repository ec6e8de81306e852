#include "fleet/tables.h"

#include "common/command.h"
#include "common/say.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOW_SINCE   1816u
#define CODEC_SINCE 1911u
#define TTL_SINCE   1911u
/* LowCardinality was on trial before. */
#define LOW_TRIED_UNTIL 1900u
/* A server of 26.2 gathers insertions unless it is told not to. */
#define ASYNC_SINCE 2111u

/* What a column's values are like: mostly the one before, a little more than it, or far below what
 * the type can hold. docs/fleet.md has what that comes to. */
#define STEADY "ZSTD(1)"
#define RISING "Delta, ZSTD(1)"
#define SMALL  "T64, ZSTD(1)"

#define OF_ANY                                                                                     \
    {"day", COLUMN_DATE, NULL}, {"run", COLUMN_U64, STEADY}, {"block", COLUMN_U32, STEADY},        \
        {"process", COLUMN_U32, STEADY}, {"host", COLUMN_TEXT, NULL},                              \
    {                                                                                              \
        "rank", COLUMN_TEXT, NULL                                                                  \
    }

static const struct column runs[] = {OF_ANY,
                                     {"title", COLUMN_TEXT, NULL},
                                     {"command", COLUMN_TEXT, NULL},
                                     {"trace", COLUMN_TEXT, NULL},
                                     {"creator", COLUMN_TEXT, NULL},
                                     {"mode", COLUMN_TEXT, NULL},
                                     {"pid", COLUMN_U32, NULL},
                                     {"boot", COLUMN_TEXT, NULL},
                                     {"uptime", COLUMN_U64, NULL},
                                     {"start", COLUMN_U64, NULL},
                                     {"begin", COLUMN_U64, NULL},
                                     {"end", COLUMN_U64, NULL},
                                     {"kernels", COLUMN_U64, NULL},
                                     {"lost", COLUMN_U64, NULL},
                                     {"sample", COLUMN_U32, NULL},
                                     {"finished", COLUMN_U8, NULL},
                                     {"complete", COLUMN_U8, NULL},
                                     {"loaded", COLUMN_TIME, NULL},
                                     {"label_keys", COLUMN_TEXTS, NULL},
                                     {"label_values", COLUMN_TEXTS, NULL}};

static const struct column kernels[] = {OF_ANY,
                                        {"gpu", COLUMN_U16, STEADY},
                                        {"queue", COLUMN_U32, SMALL},
                                        {"stream", COLUMN_U32, STEADY},
                                        {"name", COLUMN_TEXT, STEADY},
                                        {"start", COLUMN_U64, RISING},
                                        {"duration", COLUMN_U64, SMALL},
                                        {"graph", COLUMN_U32, STEADY},
                                        {"generation", COLUMN_U32, STEADY},
                                        {"launch", COLUMN_U32, STEADY},
                                        {"node", COLUMN_U32, RISING},
                                        {"call", COLUMN_U64, RISING}};

static const struct column stats[] = {OF_ANY,
                                      {"gpu", COLUMN_U16, STEADY},
                                      {"device", COLUMN_TEXT, STEADY},
                                      {"name", COLUMN_TEXT, STEADY},
                                      {"minute", COLUMN_TIME, RISING},
                                      {"count", COLUMN_U64, SMALL},
                                      {"sum", COLUMN_U64, SMALL},
                                      {"min", COLUMN_U64, SMALL},
                                      {"max", COLUMN_U64, SMALL},
                                      {"bins", COLUMN_U16S, STEADY},
                                      {"counts", COLUMN_U32S, STEADY}};

static const struct column gpus[] = {OF_ANY,
                                     {"gpu", COLUMN_U16, NULL},
                                     {"device", COLUMN_TEXT, NULL},
                                     {"uuid", COLUMN_TEXT, NULL},
                                     {"product", COLUMN_TEXT, NULL},
                                     {"minute", COLUMN_TIME, RISING},
                                     {"busy", COLUMN_U64, NULL},
                                     {"span", COLUMN_U64, NULL}};

static const struct column launches[] = {OF_ANY,
                                         {"graph", COLUMN_U32, STEADY},
                                         {"generation", COLUMN_U32, STEADY},
                                         {"launch", COLUMN_U32, RISING},
                                         {"thread", COLUMN_U32, STEADY},
                                         {"time", COLUMN_U64, RISING},
                                         {"start", COLUMN_U64, RISING},
                                         {"end", COLUMN_U64, RISING},
                                         {"kernels", COLUMN_U64, STEADY},
                                         {"expected", COLUMN_U64, STEADY},
                                         {"unseen", COLUMN_U64, STEADY}};

static const struct column collectives[] = {OF_ANY,
                                            {"number", COLUMN_U32, RISING},
                                            {"name", COLUMN_TEXT, STEADY},
                                            {"start", COLUMN_U64, RISING},
                                            {"duration", COLUMN_U64, SMALL}};

static const struct column losses[] = {OF_ANY,
                                       {"queue", COLUMN_U32, NULL},
                                       {"reason", COLUMN_TEXT, NULL},
                                       {"count", COLUMN_U64, NULL}};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define BY_RUN      "cityHash64(run)"
#define BY_BLOCK    "cityHash64(run, block)"

const struct table_shape tables[TABLES] = {
    {"rtl_runs", "run, process", BY_RUN, runs, COUNT(runs)},
    {"rtl_kernels", "run, process, gpu, start", BY_BLOCK, kernels, COUNT(kernels)},
    {"rtl_kernel_stats", "name, minute, run, process, gpu", BY_BLOCK, stats, COUNT(stats)},
    {"rtl_gpus", "minute, run, process, gpu", BY_RUN, gpus, COUNT(gpus)},
    {"rtl_launches", "run, process, graph, launch", BY_RUN, launches, COUNT(launches)},
    {"rtl_collectives", "run, process, number", BY_RUN, collectives, COUNT(collectives)},
    {"rtl_losses", "run, process, queue", BY_RUN, losses, COUNT(losses)}};

/* What a server is. */

static int say_failure(const struct server *server)
{
    return say_fail(EXIT_USAGE, "%s", server->error);
}

static int ask_version(struct server *server, struct tables_there *there)
{
    const char *answer = server_ask(server, "", "SELECT version()");
    char *end = NULL;
    if (!answer)
        return say_failure(server);
    unsigned long major = strtoul(answer, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 100;
    if (!isdigit((unsigned char)answer[0]) || minor > 99 || major > 9999)
        return say_fail(EXIT_USAGE, "%s answers, but is no ClickHouse", server->url->shown);
    there->release = (unsigned)(100 * major + minor);
    there->low = there->release >= LOW_SINCE;
    (void)snprintf(there->version, sizeof there->version, "%.*s", (int)strcspn(answer, "\n"),
                   answer);
    return EXIT_FINE;
}

const char *tables_settings(const struct tables_there *there)
{
    if (there->low && there->release < LOW_TRIED_UNTIL)
        return "&insert_distributed_sync=1&allow_experimental_low_cardinality_type=1";
    return there->release < ASYNC_SINCE ? "&insert_distributed_sync=1"
                                        : "&insert_distributed_sync=1&async_insert=0";
}

/* As the server reckons, whose midnight it is. */
bool tables_forget(struct server *server, const struct tables_there *there, uint16_t day,
                   unsigned *days, bool *gone)
{
    *days = 0;
    *gone = false;
    if (there->release < TTL_SINCE)
        return true;
    const char *answer = server_askf(
        server,
        "SELECT min(days), toDateTime(toDate(%u) + min(days)) <= now() FROM (SELECT "
        "toUInt16OrZero(extract(engine_full, ' TTL day \\\\+ toIntervalDay\\\\(([0-9]+)\\\\)')) AS "
        "days FROM system.tables WHERE database = currentDatabase() AND name LIKE 'rtl\\\\_%%') "
        "WHERE days > 0 FORMAT TabSeparated",
        (unsigned)day);
    char *end = NULL;
    if (!answer)
        return false;
    *days = (unsigned)strtoul(answer, &end, 10);
    *gone = *days > 0 && strtoul(end, NULL, 10) > 0;
    return true;
}

/* Versions of tables. */

/* Of a database without any: no table, or no row. */
static int check_version(struct server *server, struct tables_there *there, bool *found)
{
    const char *answer = server_ask(server, "",
                                    "SELECT toString(min(version)), toString(max(version)), "
                                    "max(cluster), count() FROM rtl_version FORMAT TabSeparated");
    char cluster[sizeof there->cluster] = "";
    unsigned long least = 0;
    unsigned long most = 0;
    unsigned long count = 0;
    *found = false;
    if (!answer)
        return server->code == SERVER_UNKNOWN_TABLE ? EXIT_FINE : say_failure(server);
    const char *fields[4] = {answer, "", "", ""};
    for (size_t i = 1; i < COUNT(fields); ++i) {
        const char *tab = strchr(fields[i - 1], '\t');
        fields[i] = tab ? tab + 1 : "";
    }
    least = strtoul(fields[0], NULL, 10);
    most = strtoul(fields[1], NULL, 10);
    count = strtoul(fields[3], NULL, 10);
    (void)snprintf(cluster, sizeof cluster, "%.*s", (int)strcspn(fields[2], "\t"), fields[2]);
    if (count == 0)
        return EXIT_FINE;
    if (least != TABLES_VERSION || most != TABLES_VERSION)
        return say_fail(EXIT_USAGE,
                        "%s has RTL's tables of version %lu, and this rtl writes and "
                        "reads version %u: another database takes them",
                        server->url->shown, least != TABLES_VERSION ? least : most, TABLES_VERSION);
    memcpy(there->cluster, cluster, sizeof cluster);
    *found = true;
    return EXIT_FINE;
}

/* Whether a line of `names` is this one. */
static bool is_listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    while (*names) {
        size_t line = strcspn(names, "\n");
        if (line == length && strncmp(names, name, length) == 0)
            return true;
        names += names[line] ? line + 1 : line;
    }
    return false;
}

static int check_table(const struct server *server, const char *names, const char *name,
                       const char *ending)
{
    char whole[64];
    (void)snprintf(whole, sizeof whole, "%s%s", name, ending);
    return is_listed(names, whole)
               ? EXIT_FINE
               : say_fail(EXIT_USAGE,
                          "%s has lost the table %s: drop the others of RTL too, or take another "
                          "database, and load all traces again",
                          server->url->shown, whole);
}

/* Made again, one that was dropped would have no rows of runs that are loaded completely. */
static int check_missing(struct server *server, const struct tables_there *there)
{
    const char *names = server_ask(server, "",
                                   "SELECT name FROM system.tables WHERE database = "
                                   "currentDatabase() FORMAT TabSeparatedRaw");
    int status = EXIT_FINE;
    if (!names)
        return say_failure(server);
    for (size_t i = 0; i < TABLES && status == EXIT_FINE; ++i) {
        status = check_table(server, names, tables[i].name, "");
        if (status == EXIT_FINE && there->cluster[0])
            status = check_table(server, names, tables[i].name, "_local");
    }
    return status;
}

/* Where there is no version there are no runs: it is written before the first one. */
static int check_new(struct server *server)
{
    const char *answer =
        server_ask(server, "",
                   "SELECT sum(rows) FROM system.parts WHERE active AND database = "
                   "currentDatabase() AND table IN ('rtl_runs', 'rtl_runs_local')");
    if (!answer)
        return say_failure(server);
    return strtoul(answer, NULL, 10) ? check_table(server, "", "rtl_version", "") : EXIT_FINE;
}

int tables_find(struct server *server, struct tables_there *there)
{
    bool found = false;
    *there = (struct tables_there){0};
    int status = ask_version(server, there);
    if (status == EXIT_FINE)
        status = check_version(server, there, &found);
    if (status == EXIT_FINE && !found)
        status = check_new(server);
    if (status == EXIT_FINE && !found)
        return say_fail(EXIT_USAGE,
                        "%s has no tables of RTL: 'rtl export --to clickhouse' makes them",
                        server->url->shown);
    return status == EXIT_FINE ? check_missing(server, there) : status;
}

/* Making them. */

struct making {
    struct server *server;
    const struct tables_there *there;
    const struct tables_wish *wish;
    char on_cluster[160]; /* " ON CLUSTER …", or "" */
    char query[4096];
    size_t used;
};

static void put(struct making *making, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct making *making, const char *format, ...)
{
    size_t room = sizeof making->query - making->used;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start */
    int length = vsnprintf(making->query + making->used, room, format, arguments);
    va_end(arguments);
    making->used += length > 0 && (size_t)length < room ? (size_t)length : 0;
}

static int execute(struct making *making)
{
    const char *settings = tables_settings(making->there);
    making->used = 0;
    return server_ask(making->server, settings, making->query) ? EXIT_FINE
                                                               : say_failure(making->server);
}

static void put_columns(struct making *making, const struct table_shape *table)
{
    for (size_t i = 0; i < table->count; ++i) {
        const struct column *column = &table->columns[i];
        put(making, "%s`%s` %s", i ? ", " : "", column->name,
            block_type(column->type, making->there->low));
        if (column->codec && making->there->release >= CODEC_SINCE)
            put(making, " CODEC(%s)", column->codec);
    }
}

static int make_table(struct making *making, const struct table_shape *table, const char *ending)
{
    put(making, "CREATE TABLE IF NOT EXISTS %s%s%s (", table->name, ending, making->on_cluster);
    put_columns(making, table);
    put(making, ") ENGINE = MergeTree() PARTITION BY day ORDER BY (%s)", table->order);
    if (making->wish->ttl_days)
        put(making, " TTL day + INTERVAL %u DAY", making->wish->ttl_days);
    put(making, " SETTINGS index_granularity = 8192");
    return execute(making);
}

static int make_distributed(struct making *making, const struct table_shape *table)
{
    put(making,
        "CREATE TABLE IF NOT EXISTS %s%s AS %s_local ENGINE = Distributed('%s', '%s', "
        "%s_local, %s)",
        table->name, making->on_cluster, table->name, making->wish->cluster,
        making->server->url->database, table->name, table->shard);
    return execute(making);
}

static int make_all(struct making *making)
{
    const char *cluster = making->wish->cluster;
    int status = EXIT_FINE;
    for (size_t i = 0; i < TABLES && status == EXIT_FINE; ++i) {
        status = make_table(making, &tables[i], cluster ? "_local" : "");
        if (status == EXIT_FINE && cluster)
            status = make_distributed(making, &tables[i]);
    }
    if (status == EXIT_FINE) {
        put(making, "CREATE TABLE IF NOT EXISTS rtl_lock%s (text String) ENGINE = Null",
            making->on_cluster);
        status = execute(making);
    }
    if (status == EXIT_FINE) {
        put(making,
            "CREATE TABLE IF NOT EXISTS rtl_version%s (version UInt32, cluster String) "
            "ENGINE = MergeTree() ORDER BY version",
            making->on_cluster);
        status = execute(making);
    }
    return status;
}

static int check_wish(const struct server *server, const struct tables_wish *wish,
                      const struct tables_there *there)
{
    if (wish->ttl_days && there->release < TTL_SINCE)
        return say_fail(EXIT_USAGE,
                        "--ttl: %s is ClickHouse %s, which forgets nothing by itself (19.11 does); "
                        "ALTER TABLE … DROP PARTITION drops a day",
                        server->url->shown, there->version);
    return EXIT_FINE;
}

/* CREATE TABLE IF NOT EXISTS leaves the time as it is. */
static int check_ttl(struct server *server, const struct tables_wish *wish,
                     const struct tables_there *there)
{
    char wanted[32];
    if (!wish->ttl_days)
        return EXIT_FINE;
    const char *answer =
        server_askf(server,
                    "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND "
                    "name = 'rtl_kernels%s' FORMAT TabSeparatedRaw",
                    there->cluster[0] ? "_local" : "");
    if (!answer)
        return say_failure(server);
    (void)snprintf(wanted, sizeof wanted, "toIntervalDay(%u)", wish->ttl_days);
    if (strstr(answer, wanted))
        return EXIT_FINE;
    return say_fail(EXIT_USAGE,
                    "--ttl %u: %s has RTL's tables already, which keep rows for %s; ALTER TABLE … "
                    "MODIFY TTL changes that",
                    wish->ttl_days, server->url->shown,
                    strstr(answer, " TTL ") ? "another time" : "good");
}

static int make_on(struct server *server, bool alone, const struct tables_wish *wish,
                   struct tables_there *there)
{
    struct making making = {.server = server, .there = there, .wish = wish};
    bool found = false;
    *there = (struct tables_there){0};
    int status = ask_version(server, there);
    if (status == EXIT_FINE)
        status = check_version(server, there, &found);
    if (status != EXIT_FINE)
        return status;
    if (found && wish->cluster && strcmp(wish->cluster, there->cluster) != 0)
        return say_fail(EXIT_USAGE, "--cluster %s: %s has RTL's tables already, %s%s",
                        wish->cluster, server->url->shown,
                        there->cluster[0] ? "of cluster " : "of no cluster", there->cluster);
    status = found ? check_missing(server, there) : check_new(server);
    if (status == EXIT_FINE)
        status = check_wish(server, wish, there);
    if (status == EXIT_FINE && found)
        return check_ttl(server, wish, there);
    if (wish->cluster && alone)
        (void)snprintf(making.on_cluster, sizeof making.on_cluster, " ON CLUSTER `%s`",
                       wish->cluster);
    if (status == EXIT_FINE)
        status = make_all(&making);
    if (status != EXIT_FINE)
        return status;
    (void)snprintf(there->cluster, sizeof there->cluster, "%s", wish->cluster ? wish->cluster : "");
    put(&making, "INSERT INTO rtl_version (version, cluster) VALUES (%u, '%s')", TABLES_VERSION,
        there->cluster);
    return execute(&making);
}

/* The first one last: when it has its version, all have their tables. */
int tables_make(struct server *servers, size_t count, const struct tables_wish *wish,
                struct tables_there *there)
{
    int status = EXIT_FINE;
    for (size_t i = count; i-- > 0 && status == EXIT_FINE;)
        status = make_on(&servers[i], count == 1, wish, there);
    return status;
}
