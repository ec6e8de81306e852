/* A trace against what the program knew. What is asked of each mode is what docs/howto.md says that
 * it records. */
#include "selftest/selftest.h"

#include "analysis/account.h"
#include "selftest/kernels.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A copy of so many bytes is made by the device, wherever the memory is. */
#define LARGE_COPY (UINT64_C(1) << 20)

/* Events and kernels are timed by the same clock, which HIP and RTL turn into ns each by itself. */
#define CLOCK_SHARE 0.005
#define CLOCK_NS    2000.0
/* What is between an event and the kernel beside it, where nothing holds it up: of several events
 * one has to come that close. */
#define BETWEEN_SHARE 0.02
#define BETWEEN_NS    500000.0

struct comparison {
    struct recording *is;
    const struct known *known;
    sqlite3 *db;
    bool calls;  /* the mode records host calls */
    bool single; /* and every kernel that is dispatched alone */
    bool every;  /* and every other */
    uint64_t eager, replayed;
};

/* What a statement of one number says; 0 where it cannot be asked, which is red. */
static uint64_t ask(struct comparison *c, const char *format, ...)
{
    va_list arguments;
    uint64_t value = 0;
    sqlite3_stmt *statement = NULL;
    va_start(arguments, format);
    char *text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    bool fine = text && sqlite3_prepare_v2(c->db, text, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    if (fine)
        value = (uint64_t)sqlite3_column_int64(statement, 0);
    else
        check_text(c->is, ASPECT_ACCOUNT, "the trace can be read", "yes", sqlite3_errmsg(c->db),
                   false);
    (void)sqlite3_finalize(statement);
    sqlite3_free(text);
    return value;
}

static uint64_t sum_of(const struct comparison *c, unsigned word)
{
    uint64_t sum = 0;
    for (const struct known_line *line = NULL; (line = known_next(c->known, "kernel", line));)
        sum += known_number(line, word);
    return sum;
}

static void compare_kernels(struct comparison *c)
{
    uint64_t missing = 0;
    for (const struct known_line *line = NULL; (line = known_next(c->known, "kernel", line));) {
        uint64_t eager = known_number(line, 1);
        uint64_t all = eager + known_number(line, 2);
        uint64_t seen = ask(c, "SELECT count(*) FROM kernels WHERE name = %Q", line->word[0]);
        uint64_t least = c->every ? all : c->single ? eager : 0;
        check_number(c->is, ASPECT_KERNELS, line->word[0], least, all, seen);
        missing += all > seen ? all - seen : 0;
    }
    c->is->kernels = ask(c, "SELECT count(*) FROM kernels");
    c->is->skipped = ask(c, "SELECT coalesce(sum(skipped), 0) FROM ledger WHERE what = 'kernels'");
    if (c->every)
        check_number(c->is, ASPECT_ACCOUNT, "kernels left out", 0, 0, c->is->skipped);
    else
        check_number(c->is, ASPECT_ACCOUNT, "kernels left out, by the ledger", missing, UINT64_MAX,
                     c->is->skipped);
}

/* A text of one column of all rows. The caller frees it with sqlite3_free. */
static char *list(struct comparison *c, const char *statement)
{
    sqlite3_stmt *rows = NULL;
    sqlite3_str *text = sqlite3_str_new(c->db);
    if (sqlite3_prepare_v2(c->db, statement, -1, &rows, NULL) == SQLITE_OK)
        while (sqlite3_step(rows) == SQLITE_ROW)
            sqlite3_str_appendall(text, (const char *)sqlite3_column_text(rows, 0));
    (void)sqlite3_finalize(rows);
    return sqlite3_str_finish(text);
}

static bool knows_kernel(const struct known *known, const char *name)
{
    for (const struct known_line *line = NULL; (line = known_next(known, "kernel", line));)
        if (strcmp(line->word[0], name) == 0)
            return true;
    return false;
}

static void compare_names(struct comparison *c)
{
    uint64_t strange = 0;
    char text[256] = "none";
    char *names = list(c, "SELECT DISTINCT name || ' ' FROM kernels "
                          "WHERE name LIKE '" SELFTEST_PREFIX "%'");
    char *rest = names;
    for (char *name; rest && (name = strsep(&rest, " "));)
        if (*name && !knows_kernel(c->known, name) && strange++ == 0)
            (void)snprintf(text, sizeof text, "%s", name);
    sqlite3_free(names);
    check_text(c->is, ASPECT_NAMES, "kernels of the program that it does not know", "none", text,
               strange == 0);
    check_number(c->is, ASPECT_NAMES, "kernels without a name", 0, 0,
                 ask(c, "SELECT count(*) FROM kernels WHERE symbol IS NULL"));
}

/* Whether the trace has all kernels of a name, as far as the mode lets expect that. */
static bool has_all(struct comparison *c, const char *pattern, uint64_t wanted)
{
    return c->single ||
           ask(c, "SELECT count(*) FROM kernels WHERE name LIKE %Q", pattern) == wanted;
}

static void compare_order(struct comparison *c)
{
    const struct known_line *line = known_next(c->known, "order", NULL);
    const char *wanted = line ? line->word[0] : "";
    if (!line || !has_all(c, SELFTEST_PREFIX "order__", strlen(wanted)))
        return;
    char *seen = list(c, "SELECT substr(name, -1) FROM kernels WHERE name LIKE '" SELFTEST_PREFIX
                         "order__' ORDER BY start");
    check_text(c->is, ASPECT_ORDER, "kernels of a stream by their start", wanted, seen ? seen : "",
               seen && strcmp(seen, wanted) == 0);
    sqlite3_free(seen);
    check_number(c->is, ASPECT_ORDER, "kernels that begin before the one before has ended", 0, 0,
                 ask(c, "SELECT count(*) FROM (SELECT start, lag(end) OVER (ORDER BY start) AS "
                        "before FROM kernels WHERE name LIKE '" SELFTEST_PREFIX "order__') "
                        "WHERE start < before"));
}

/* From the start of the first to the end of the last of `count` kernels between events. */
static double span_of(struct comparison *c, uint64_t first, uint64_t count)
{
    return (double)ask(c,
                       "SELECT coalesce(max(end) - min(start), 0) FROM (SELECT start, end FROM "
                       "kernels WHERE name = '" SELFTEST_PREFIX
                       "timed' ORDER BY start LIMIT %lld OFFSET %lld)",
                       (long long)count, (long long)first);
}

static void compare_events(struct comparison *c)
{
    uint64_t first = 0;
    double closest = -1;
    double allowed = 0;
    char what[64];
    for (const struct known_line *line = NULL; (line = known_next(c->known, "event", line));)
        first += known_number(line, 1);
    if (!has_all(c, SELFTEST_PREFIX "timed", first))
        return;
    first = 0;
    for (const struct known_line *line = NULL; (line = known_next(c->known, "event", line));) {
        double elapsed = (double)known_number(line, 0);
        uint64_t count = known_number(line, 1);
        double span = span_of(c, first, count);
        double least = span * (1 - CLOCK_SHARE) - CLOCK_NS;
        (void)snprintf(what, sizeof what, "ns around kernels %" PRIu64 " to %" PRIu64, first,
                       first + count - 1);
        check_number(c->is, ASPECT_EVENTS, what, least > 0 ? (uint64_t)least : 0, UINT64_MAX,
                     known_number(line, 0));
        if (closest < 0 || elapsed - span < closest) {
            closest = elapsed - span;
            allowed = span * BETWEEN_SHARE + BETWEEN_NS;
        }
        first += count;
    }
    check_number(c->is, ASPECT_EVENTS, "ns more than the kernels, of the closest events", 0,
                 (uint64_t)allowed, closest > 0 ? (uint64_t)closest : 0);
}

/* Names of a direction: to the program, in the table of copies, and to HIP. */
static const struct {
    const char *known, *kind, *hip;
} directions[] = {
    {"h2d", "host-to-device", "hipMemcpyHostToDevice"},
    {"d2h", "device-to-host", "hipMemcpyDeviceToHost"},
    {"d2d", "device-to-device", "hipMemcpyDeviceToDevice"},
};

static void compare_copy(struct comparison *c, const struct known_line *line, const char *kind,
                         const char *hip)
{
    uint64_t bytes = known_number(line, 1);
    uint64_t count = known_number(line, 2);
    char what[96];
    (void)snprintf(what, sizeof what, "%s, %" PRIu64 " bytes, by an engine", kind, bytes);
    check_number(c->is, ASPECT_COPIES, what, 0, count,
                 ask(c, "SELECT count(*) FROM copies WHERE kind = %Q AND bytes = %lld", kind,
                     (long long)bytes));
    if (!c->calls)
        return;
    char *calls = sqlite3_mprintf("FROM api WHERE name = 'hipMemcpyAsync' AND args LIKE "
                                  "'%%sizeBytes=%lld,%%kind=%s,%%'",
                                  (long long)bytes, hip);
    (void)snprintf(what, sizeof what, "%s, %" PRIu64 " bytes, calls", kind, bytes);
    check_number(c->is, ASPECT_COPIES, what, count, count, ask(c, "SELECT count(*) %s", calls));
    (void)snprintf(what, sizeof what, "%s, %" PRIu64 " bytes, calls with a copy or kernel", kind,
                   bytes);
    if (bytes >= LARGE_COPY)
        check_number(c->is, ASPECT_COPIES, what, count, count,
                     ask(c,
                         "SELECT count(*) %s AND correlation IN (SELECT correlation FROM copies "
                         "UNION SELECT correlation FROM kernels WHERE name NOT LIKE "
                         "'" SELFTEST_PREFIX "%%')",
                         calls));
    sqlite3_free(calls);
}

static void compare_copies(struct comparison *c)
{
    if (!c->single)
        return;
    for (const struct known_line *line = NULL; (line = known_next(c->known, "copy", line));)
        for (size_t i = 0; i < sizeof directions / sizeof directions[0]; ++i)
            if (strcmp(line->word[0], directions[i].known) == 0)
                compare_copy(c, line, directions[i].kind, directions[i].hip);
}

static uint64_t linked_with(struct comparison *c, const char *call)
{
    return ask(c,
               "SELECT count(*) FROM kernels k JOIN api a ON a.process = k.process AND "
               "a.correlation = k.correlation WHERE k.name LIKE '" SELFTEST_PREFIX
               "%%' AND a.name = %Q",
               call);
}

static void compare_calls(struct comparison *c)
{
    if (!c->calls) {
        check_number(c->is, ASPECT_CALLS, "host calls, which the mode leaves out", 0, 0,
                     ask(c, "SELECT count(*) FROM api"));
        return;
    }
    for (const struct known_line *line = NULL; (line = known_next(c->known, "call", line));) {
        uint64_t count = known_number(line, 1);
        check_number(c->is, ASPECT_CALLS, line->word[0], count, count,
                     ask(c, "SELECT count(*) FROM api WHERE name = %Q", line->word[0]));
    }
    check_number(c->is, ASPECT_CALLS, "calls with an error", 0, 0,
                 ask(c, "SELECT count(*) FROM api WHERE error IS NOT NULL"));
    check_number(c->is, ASPECT_CALLS, "kernels of hipModuleLaunchKernel", c->eager, c->eager,
                 linked_with(c, "hipModuleLaunchKernel"));
    check_number(c->is, ASPECT_CALLS, "kernels of hipGraphLaunch", c->every ? c->replayed : 0,
                 c->replayed, linked_with(c, "hipGraphLaunch"));
    check_number(c->is, ASPECT_CALLS, "kernels that begin before their call", 0, 0,
                 ask(c, "SELECT count(*) FROM kernels k JOIN api a ON a.process = k.process AND "
                        "a.correlation = k.correlation WHERE k.start < a.start"));
}

/* How many sides there are, and that each has kernels of its own. */
static void compare_sides(struct comparison *c, const char *key, const char *prefix,
                          const char *column)
{
    const struct known_line *line = known_next(c->known, key, NULL);
    uint64_t count = line ? known_number(line, 0) : 0;
    char what[64];
    (void)snprintf(what, sizeof what, "%s of kernels %s_N", key, prefix);
    check_number(c->is, ASPECT_STREAMS, what, count, count,
                 ask(c,
                     "SELECT count(DISTINCT %s) FROM kernels k JOIN api a ON a.process = k.process "
                     "AND a.correlation = k.correlation WHERE k.name LIKE '" SELFTEST_PREFIX
                     "%s__'",
                     column, prefix));
    (void)snprintf(what, sizeof what, "kernels %s_N with several %s", prefix, key);
    check_number(c->is, ASPECT_STREAMS, what, 0, 0,
                 ask(c,
                     "SELECT count(*) FROM (SELECT 1 FROM kernels k JOIN api a ON a.process = "
                     "k.process AND a.correlation = k.correlation WHERE k.name LIKE "
                     "'" SELFTEST_PREFIX "%s__' GROUP BY k.name HAVING count(DISTINCT %s) > 1)",
                     prefix, column));
}

static void compare_streams(struct comparison *c)
{
    if (!c->calls)
        return;
    compare_sides(c, "streams", "stream", "k.stream");
    compare_sides(c, "threads", "thread", "a.thread");
}

static void check_graph(struct comparison *c, const struct known_line *line, const char *what,
                        uint64_t wanted, uint64_t seen)
{
    char text[128];
    (void)snprintf(text, sizeof text, "graph %s, generation %s: %s", line->word[0], line->word[1],
                   what);
    check_number(c->is, ASPECT_GRAPHS, text, wanted, wanted, seen);
}

/* HIP may have kernels of its own in a replay. */
static void compare_graph(struct comparison *c, const struct known_line *line)
{
    uint64_t launches = known_number(line, 2);
    char *of = sqlite3_mprintf("graph = %lld AND generation = %lld",
                               (long long)known_number(line, 0), (long long)known_number(line, 1));
    check_graph(c, line, "launches", launches,
                ask(c, "SELECT count(*) FROM graph_launches WHERE %s", of));
    check_graph(c, line, "launches with a kernel for each node", launches,
                ask(c,
                    "SELECT count(*) FROM (SELECT 1 FROM kernels WHERE %s AND name LIKE "
                    "'" SELFTEST_PREFIX "%%' GROUP BY launch HAVING count(*) = %lld)",
                    of, (long long)known_number(line, 3)));
    check_graph(c, line, "kernels without a sure node", 0,
                ask(c,
                    "SELECT count(*) FROM kernels WHERE %s AND name LIKE '" SELFTEST_PREFIX
                    "%%' AND (node IS NULL OR NOT certain)",
                    of));
    sqlite3_free(of);
}

static void compare_graphs(struct comparison *c)
{
    if (!c->every)
        return;
    for (const struct known_line *line = NULL; (line = known_next(c->known, "graph", line));)
        compare_graph(c, line);
    check_number(c->is, ASPECT_GRAPHS, "kernels of graphs", c->replayed, c->replayed,
                 ask(c, "SELECT count(*) FROM kernels WHERE graph IS NOT NULL AND name LIKE "
                        "'" SELFTEST_PREFIX "%%'"));
}

static void compare_verdict(struct comparison *c, const char *path)
{
    struct verdict verdict;
    char line[400] = "";
    rtl_trace_t *trace = NULL;
    bool read = rtlTraceOpen(path, &trace, line, sizeof line) == RTL_OK &&
                account_verdict(trace, &verdict) == RTL_OK;
    bool complete = read && verdict.complete;
    if (read)
        account_line(&verdict, line, sizeof line);
    rtlTraceClose(trace);
    check_text(c->is, ASPECT_ACCOUNT, "verdict", c->is->refused[0] ? "not complete" : "complete",
               line, c->is->refused[0] ? read && !complete : complete);
}

static void compare_queues(struct comparison *c)
{
    struct recording *is = c->is;
    is->passed = (unsigned)ask(c, "SELECT count(*) FROM queues WHERE way = 'pass'");
    is->followed =
        (unsigned)ask(c, "SELECT count(*) FROM queues WHERE way IN ('interpose', 'intercept')");
    if (is->refused[0]) {
        check_number(is, ASPECT_ACCOUNT, "kernels of queues that are not followed", 0, 0,
                     ask(c, "SELECT count(*) FROM kernels"));
        return;
    }
    check_number(is, ASPECT_ACCOUNT, "queues that are followed", 1, UINT64_MAX, is->followed);
    check_number(is, ASPECT_ACCOUNT, "queues that are not followed so", 0, 0,
                 ask(c, "SELECT count(*) FROM queues WHERE way NOT IN (%Q, 'copies')", is->way));
}

void compare_trace(struct recording *is, const char *path)
{
    char error[256] = "";
    struct comparison c = {.is = is,
                           .known = &is->known,
                           .calls = strcmp(is->mode, "hip") == 0 || strcmp(is->mode, "full") == 0,
                           .single = strcmp(is->mode, "lite") != 0,
                           .every = strcmp(is->mode, "full") == 0};
    is->traced = rtl_sql_open(path, &c.db, error, sizeof error) == RTL_OK;
    if (!is->traced) {
        check_text(is, ASPECT_ACCOUNT, "the trace can be read", "yes", error, false);
        return;
    }
    c.eager = sum_of(&c, 1);
    c.replayed = sum_of(&c, 2);
    compare_verdict(&c, path);
    compare_queues(&c);
    if (!is->refused[0]) {
        compare_kernels(&c);
        compare_names(&c);
        compare_order(&c);
        compare_events(&c);
        compare_copies(&c);
        compare_calls(&c);
        compare_streams(&c);
        compare_graphs(&c);
    }
    (void)sqlite3_close(c.db);
}
