#include "explore.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_MAX    30
#define FIRST_AND_LAST 2 /* calls of a place that fail at most, where not all do */

/* A call of the scenario without a fault. */
struct call {
    uint64_t stack, number;
};

/* Calls that came through the same stack. */
struct site {
    const struct call *calls;
    size_t count;
    bool failed; /* at least one of them did */
};

struct exploration {
    const char *name;
    fault_scenario scenario;
    void *context;
    enum fault_kind kind;
    struct call *calls;
    size_t call_count;
    struct site *sites;
    size_t site_count, runs;
};

static const char *const kind_names[] = {"memory", "file", "SQLite"};

static struct fault_plan current; /* for the handler */

static void hung(int signal)
{
    static const char sentence[] = "the scenario hangs after this call has failed:\n";
    (void)signal;
    (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
    fault_show(); /* NOLINT(bugprone-signal-handler): the end, one way or the other */
    _exit(98);
}

static void show_run(const struct exploration *it)
{
    (void)fprintf(stderr, "%s: %s call %" PRIu64 " of %zu fails (%" PRIu64 " in a row, error %d)\n",
                  it->name, kind_names[it->kind], current.at, it->call_count, current.calls,
                  current.error);
    fault_show();
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) /* NOLINT(concurrency-mt-unsafe): the stream is ours */
        count++;
    if (folder)
        (void)closedir(folder);
    return count;
}

static const char *run(struct exploration *it, const struct fault_plan *plan, bool stacks)
{
    unsigned before = descriptors();
    current = *plan;
    fault_begin(plan, stacks);
    (void)alarm(SECONDS_MAX);
    const char *failed = it->scenario(it->context, plan);
    fault_disarm();
    (void)alarm(0);
    it->runs++;
    if (failed)
        return failed;
    CHECK(fault_held() == 0);
    CHECK(descriptors() == before);
    return NULL;
}

static int by_stack(const void *left, const void *right)
{
    const struct call *a = left;
    const struct call *b = right;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void find_sites(struct exploration *it)
{
    for (size_t i = 0; i < it->call_count; i++) {
        if (i == 0 || it->calls[i].stack != it->calls[i - 1].stack)
            it->sites[it->site_count++].calls = &it->calls[i];
        it->sites[it->site_count - 1].count++;
    }
}

/* What the scenario asks for when nothing fails: the second time, when SQLite has what it keeps. */
static const char *learn(struct exploration *it)
{
    const struct fault_plan none = {.kind = it->kind};
    fault_begin(&none, false);
    CHECK_DONE(it->scenario(it->context, &none));
    CHECK_DONE(run(it, &none, true));
    it->call_count = fault_calls();
    CHECK(it->call_count > 0);
    it->calls = calloc(it->call_count, sizeof *it->calls);
    it->sites = calloc(it->call_count, sizeof *it->sites);
    CHECK(it->calls && it->sites);
    for (size_t i = 0; i < it->call_count; i++)
        it->calls[i] = (struct call){fault_stacks()[i], i + 1};
    qsort(it->calls, it->call_count, sizeof *it->calls, by_stack);
    find_sites(it);
    return NULL;
}

static void mark_failed(struct exploration *it, uint64_t stack)
{
    for (size_t i = 0; i < it->site_count; i++)
        if (it->sites[i].calls->stack == stack)
            it->sites[i].failed = true;
}

static const char *try_site(struct exploration *it, const struct site *site,
                            const struct fault_way *way)
{
    size_t count = site->count < way->most ? site->count : way->most;
    for (size_t i = 0; i < count; i++) {
        size_t place = count > 1 ? i * (site->count - 1) / (count - 1) : 0;
        const struct fault_plan plan = {.kind = it->kind,
                                        .at = site->calls[place].number,
                                        .calls = way->calls,
                                        .error = way->error};
        const char *failed = run(it, &plan, false);
        if (failed) {
            show_run(it);
            return failed;
        }
        mark_failed(it, fault_failed());
    }
    return NULL;
}

/* A run may take another way than the one without faults, because times have other lengths: then a
 * place is tried again by its other calls. */
static const char *try_missed(struct exploration *it, const struct fault_way *way)
{
    for (size_t i = 0; i < it->site_count; i++) {
        const struct site *site = &it->sites[i];
        for (unsigned tries = 0; tries < 20 && !site->failed; tries++) {
            const struct fault_way more = {way->error, way->calls, way->most + tries, 1};
            CHECK_DONE(try_site(it, site, &more));
        }
        CHECK(site->failed);
    }
    return NULL;
}

static const char *explore(struct exploration *it, const struct fault_way *ways, size_t count)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    bool all = getenv("FAULTS_ALL") != NULL;
    CHECK_DONE(learn(it));
    for (size_t way = 0; way < count; way++) {
        struct fault_way tried = ways[way];
        if (!all && tried.most > FIRST_AND_LAST)
            tried.most = FIRST_AND_LAST;
        for (size_t i = 0; i < it->site_count; i++)
            if (all || (i + way) % tried.every == 0)
                CHECK_DONE(try_site(it, &it->sites[i], &tried));
    }
    CHECK_DONE(try_missed(it, &ways[0]));
    (void)printf("%s: %zu %s calls from %zu places, %zu runs\n", it->name, it->call_count,
                 kind_names[it->kind], it->site_count, it->runs);
    return NULL;
}

const char *fault_explore(const char *name, fault_scenario scenario, void *context,
                          enum fault_kind kind, const struct fault_way *ways, size_t count)
{
    struct exploration it = {.name = name, .scenario = scenario, .context = context, .kind = kind};
    (void)signal(SIGALRM, hung);
    fault_stop_time();
    if (access("/dev/shm", W_OK) == 0)         /* thousands of files are made */
        (void)setenv("TMPDIR", "/dev/shm", 1); /* NOLINT(concurrency-mt-unsafe): one thread */
    const char *failed = explore(&it, ways, count);
    free(it.calls);
    free(it.sites);
    return failed;
}

const struct fault_way *fault_ways(enum fault_kind kind, size_t *count)
{
    static const struct fault_way memory[] = {{0, 1, 4, 1}, {0, FAULT_FOREVER, 1, 2}, {0, 3, 1, 4}};
    static const struct fault_way file[] = {
        {ENOSPC, 1, 3, 1}, {ENOSPC, FAULT_FOREVER, 1, 1}, {FAULT_SHORT, 1, 1, 1},
        {EIO, 1, 1, 2},    {EIO, FAULT_FOREVER, 1, 4},    {EDQUOT, 3, 1, 4},
        {EINTR, 1, 1, 2},
    };
    static const struct fault_way sqlite[] = {
        {SQLITE_FULL, 1, 1, 1},    {SQLITE_FULL, FAULT_FOREVER, 1, 2}, {SQLITE_IOERR, 2, 1, 4},
        {SQLITE_BUSY, 1, 1, 4},    {SQLITE_BUSY, FAULT_FOREVER, 1, 4}, {SQLITE_NOMEM, 1, 1, 4},
        {SQLITE_CORRUPT, 1, 1, 4},
    };
    static const struct {
        const struct fault_way *ways;
        size_t count;
    } all[] = {{memory, sizeof memory / sizeof *memory},
               {file, sizeof file / sizeof *file},
               {sqlite, sizeof sqlite / sizeof *sqlite}};
    *count = all[kind].count;
    return all[kind].ways;
}
