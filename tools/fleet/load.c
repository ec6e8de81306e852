#include "fleet/load.h"

#include "common/clock.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "common/show.h"
#include "fleet/others.h"
#include "fleet/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNELS_A_BLOCK (1u << 19)
#define ROWS_A_BLOCK    (1u << 16)
#define WAIT_MOST_MS    2000u

struct load {
    const struct load_options *options;
    struct url *urls;
    struct server *servers;
    char **labels; /* as they were given, sorted */
    struct tables_there there;
    unsigned jobs;
    uint64_t deadline; /* CLOCK_MONOTONIC, until which something may go wrong */
    unsigned wait_ms;
    struct run run;
    struct lock *lock;
    struct fill fills[TABLES];
    uint64_t rows, sent_rows, sent_bytes;
    bool gone; /* the server */
};

enum outcome {
    DONE,
    ALL_THERE,
    AGAIN, /* what went wrong may go right the next time */
    FAILED /* a sentence has been said */
};

/* Failures. */

static uint64_t patience_ns(const struct load *load)
{
    const struct load_options *options = load->options;
    return UINT64_C(1000000000) * (options->has_patience ? options->patience : LOAD_PATIENCE);
}

/* The time that is allowed begins anew where something went right. */
static void went_right(struct load *load)
{
    load->deadline = rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns(load);
    load->wait_ms = 50;
}

static enum outcome went_wrong(struct load *load, enum server_failed failed, const char *why)
{
    if (failed == SERVER_NEVER || rtl_clock_ns(CLOCK_MONOTONIC) >= load->deadline) {
        say("%s", why);
        load->gone = true;
        return FAILED;
    }
    (void)usleep(1000 * load->wait_ms);
    load->wait_ms = load->wait_ms < WAIT_MOST_MS / 2 ? 2 * load->wait_ms : WAIT_MOST_MS;
    return AGAIN;
}

static enum outcome server_failed(struct load *load)
{
    return went_wrong(load, load->servers[0].failed, load->servers[0].error);
}

/* What is on the server. */

/* Queries, by their ids, of somebody who has had a lock before and is gone: they may still write.
 */
static enum outcome await_queries(struct load *load, const char *pattern)
{
    char from[192] = "system.processes";
    if (load->there.cluster[0])
        (void)snprintf(from, sizeof from, "cluster('%s', system, processes)", load->there.cluster);
    for (;;) {
        const char *answer =
            server_askf(&load->servers[0],
                        "SELECT count() FROM %s WHERE initial_query_id LIKE '%s'", from, pattern);
        if (!answer)
            return server_failed(load);
        if (strtoul(answer, NULL, 10) == 0)
            return DONE;
        if (rtl_clock_ns(CLOCK_MONOTONIC) >= load->deadline)
            return went_wrong(load, SERVER_LATER,
                              "an insertion of an earlier load does not end on the server");
        rtl_nap(50000000);
    }
}

static enum outcome read_blocks(struct load *load, const struct table_shape *table,
                                struct block_rows *list)
{
    const char *answer = server_askf(&load->servers[0],
                                     "SELECT block, count() FROM %s WHERE run = %" PRIu64
                                     " GROUP BY block ORDER BY block FORMAT TabSeparated",
                                     table->name, load->run.id);
    if (!answer)
        return server_failed(load);
    list->count = 0;
    if (list->room)
        memset(list->rows, 0, list->room * sizeof *list->rows);
    while (*answer) {
        char *end;
        unsigned long block = strtoul(answer, &end, 10);
        unsigned long long rows = strtoull(end, &end, 10);
        if (*end != '\n' || block > UINT32_MAX)
            return went_wrong(load, SERVER_NEVER, "the server's answer is none");
        block_rows_set(list, block, rows);
        answer = end + 1;
    }
    return DONE;
}

static void say_wrong(const struct load *load, const struct table_shape *table, size_t block)
{
    say("%s: %s has other rows of block %zu of run %" PRIu64
        " than %s makes: 'ALTER TABLE %s%s DELETE WHERE run = %" PRIu64 "' takes them out",
        load->urls[0].shown, table->name, block, load->run.id, load->run.path, table->name,
        load->there.cluster[0] ? "_local" : "", load->run.id);
}

/* Labels as the table has them, for a comparison. */
static void write_labels(const struct labels *labels, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < labels->count && used < size; ++i)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", i ? "\t" : "",
                                 labels->keys[i], labels->values[i]);
}

/* As they are given, in a sentence. */
static void show_labels(const char *texts, size_t length, char *shown, size_t size)
{
    size_t used = 0;
    (void)snprintf(shown, size, "%s", "no label");
    for (size_t i = 0; i < length && used + 3 < size; ++i) {
        shown[used++] = texts[i] == '\t' ? ',' : texts[i];
        if (texts[i] == '\t')
            shown[used++] = ' ';
        shown[used] = 0;
    }
}

static enum outcome other_labels(const struct run *run, const char *there, size_t length,
                                 const char *given)
{
    char has[2048];
    char wants[2048];
    show_labels(there, length, has, sizeof has);
    show_labels(given, strlen(given), wants, sizeof wants);
    say("%s is there as a run with %s, not %s: its labels stay as they are", run->path, has, wants);
    return FAILED;
}

/* A run has one sampling, and one set of labels. */
static enum outcome check_run(struct load *load, bool *any, bool *complete)
{
    struct run *run = &load->run;
    char labels[2048];
    const char *answer = server_askf(
        &load->servers[0],
        "SELECT count(), max(complete), any(sample), "
        "any(arrayStringConcat(arrayMap((k, v) -> concat(k, '=', v), label_keys, label_values), "
        "'\t')) FROM rtl_runs WHERE run = %" PRIu64 " FORMAT TabSeparatedRaw",
        run->id);
    if (!answer)
        return server_failed(load);
    char *end;
    *any = strtoul(answer, &end, 10) > 0;
    *complete = strtoul(end, &end, 10) > 0;
    unsigned long sample = strtoul(end, &end, 10);
    if (!*any)
        return DONE;
    const char *there = *end == '\t' ? end + 1 : end;
    size_t length = strcspn(there, "\n");
    write_labels(&run->labels, labels, sizeof labels);
    if (sample != run->sample) {
        say("%s is there as a run with --sample %lu: it stays as it is", run->path, sample);
        return FAILED;
    }
    if (run->labels.count && (strlen(labels) != length || strncmp(there, labels, length) != 0))
        return other_labels(run, there, length, labels);
    return DONE;
}

/* What the server would forget at once would be missing in the end, and be sent again and again. */
static enum outcome check_age(struct load *load)
{
    uint64_t begin = run_time(&load->run, load->run.info.start);
    unsigned days;
    bool gone;
    if (!tables_forget(&load->servers[0], &load->there, run_day(begin), &days, &gone))
        return server_failed(load);
    if (!gone)
        return DONE;
    say("%s is of %.10s, and %s forgets rows after %s", load->run.path, show_date(begin).text,
        load->urls[0].shown, show_things(days, "day").text);
    return FAILED;
}

/* A pass: what is not there is sent. */

static void begin_fills(struct load *load, struct sender *sender)
{
    for (size_t i = 0; i < TABLES; ++i) {
        struct fill *fill = &load->fills[i];
        fill->table = &tables[i];
        fill->names = &load->run.names;
        fill->sender = sender;
        fill->most = i == TABLE_KERNELS ? KERNELS_A_BLOCK : ROWS_A_BLOCK;
        fill->made.count = 0;
        fill->failed = false;
        fill->wrong = 0;
        block_free(fill->block);
        fill->block = NULL;
    }
}

static rtl_status_t fill_all(struct load *load)
{
    struct run *run = &load->run;
    struct fill *fills = load->fills;
    rtl_status_t status = rows_kernels(run, fills);
    if (status == RTL_OK)
        status = rows_launches(run, &fills[TABLE_LAUNCHES]);
    if (status == RTL_OK)
        status = rows_collectives(run, &fills[TABLE_COLLECTIVES]);
    if (status == RTL_OK)
        status = rows_losses(run, &fills[TABLE_LOSSES]);
    for (size_t i = TABLE_KERNELS; status == RTL_OK && i < TABLES; ++i)
        (void)fill_end(&fills[i]);
    return status;
}

/* Those of the run itself: block 0 says that it has begun, block 1 that it is whole. */
static enum outcome send_run(struct load *load, bool complete)
{
    struct fill *fill = &load->fills[TABLE_RUNS];
    struct sent sent;
    struct sender *sender = send_begin(&load->urls[0], &load->there, load->run.id, 1, load->lock);
    begin_fills(load, sender);
    fill->there.count = 0;
    if (complete)
        block_rows_set(&fill->made, 0, 1);
    rtl_status_t status = rows_runs(&load->run, complete, fill);
    if (status == RTL_OK)
        (void)fill_end(fill);
    send_end(sender, &sent);
    if (status != RTL_OK) {
        (void)open_failed(load->run.trace, load->run.path);
        return FAILED;
    }
    return sent.failed == SERVER_FINE ? DONE : went_wrong(load, sent.failed, sent.error);
}

static uint64_t rows_made(const struct load *load)
{
    uint64_t rows = 0;
    for (size_t i = TABLE_KERNELS; i < TABLES; ++i)
        for (size_t k = 0; k < load->fills[i].made.count; ++k)
            rows += load->fills[i].made.rows[k];
    return rows;
}

static enum outcome send_rows(struct load *load)
{
    struct sent sent;
    struct sender *sender =
        send_begin(&load->urls[0], &load->there, load->run.id, load->jobs, load->lock);
    begin_fills(load, sender);
    rtl_status_t status = fill_all(load);
    send_end(sender, &sent);
    load->rows = rows_made(load);
    load->sent_rows += sent.rows;
    load->sent_bytes += sent.bytes;
    if (sent.rows)
        went_right(load);
    if (status != RTL_OK) {
        (void)open_failed(load->run.trace, load->run.path);
        return FAILED;
    }
    for (size_t i = TABLE_KERNELS; i < TABLES; ++i)
        if (load->fills[i].wrong) {
            say_wrong(load, &tables[i], (size_t)load->fills[i].wrong - 1);
            return FAILED;
        }
    return sent.failed == SERVER_FINE ? DONE : went_wrong(load, sent.failed, sent.error);
}

static enum outcome read_there(struct load *load)
{
    enum outcome outcome = DONE;
    for (size_t i = TABLE_KERNELS; i < TABLES && outcome == DONE; ++i)
        outcome = read_blocks(load, &tables[i], &load->fills[i].there);
    return outcome;
}

/* Whether the server has what was made, and nothing else. A block that is not there after all (the
 * server lost it when its machine went down) is sent again. */
static enum outcome verify(struct load *load)
{
    enum outcome outcome = read_there(load);
    for (size_t i = TABLE_KERNELS; i < TABLES && outcome == DONE; ++i) {
        const struct block_rows *there = &load->fills[i].there;
        const struct block_rows *made = &load->fills[i].made;
        for (size_t k = 0; k < there->count || k < made->count; ++k) {
            uint64_t has = k < there->count ? there->rows[k] : 0;
            uint64_t needs = k < made->count ? made->rows[k] : 0;
            if (has == needs)
                continue;
            if (has == 0)
                return went_wrong(load, SERVER_LATER, "the server does not have what it has taken");
            say_wrong(load, &tables[i], k);
            return FAILED;
        }
    }
    return outcome;
}

/* Beginning. */

#define LISTED 64u

/* The runs that are to be taken out, as SQL has them. */
static void list_runs(const struct others *others, char *list, size_t size)
{
    size_t used = (size_t)snprintf(list, size, "%s", others->count > 1 ? "IN (" : "= ");
    for (size_t i = 0; i < others->count && i < LISTED; ++i)
        used += (size_t)snprintf(list + used, size - used, "%s%" PRIu64, i ? ", " : "",
                                 others->runs[i]);
    (void)snprintf(list + used, size - used, "%s", others->count > 1 ? ")" : "");
}

static const char *taken_out(size_t runs)
{
    if (runs > LISTED)
        return "64 of them";
    return runs > 1 ? "them" : "that run";
}

static void say_others(const struct load *load, const struct others *others)
{
    const struct run *run = &load->run;
    bool cluster = load->there.cluster[0];
    char more[64] = "";
    char list[24 * LISTED];
    list_runs(others, list, sizeof list);
    if (others->count > 1)
        (void)snprintf(more, sizeof more, ", as others are in %zu more run%s", others->count - 1,
                       others->count > 2 ? "s" : "");
    say("%s: process %" PRIu32 " of host %s is in run %" PRIu64 " of %s too, which is %s%s: its "
        "kernels would count twice; 'ALTER TABLE rtl_runs%s DELETE WHERE run %s'%s takes %s out",
        run->path, run->processes[others->place].pid, run->told[others->place].host_name,
        others->runs[0], others->trace,
        others->whole ? "loaded" : "being loaded, or was left half loaded", more,
        cluster ? "_local" : "", list, cluster ? " on each shard" : "", taken_out(others->count));
}

/* Whether a process of the run is in another one, too. */
static enum outcome check_others(struct load *load)
{
    struct others others;
    enum others_outcome found = others_find(&load->servers[0], &load->run, &others);
    if (found == OTHERS_FOUND)
        say_others(load, &others);
    free(others.runs);
    if (found == OTHERS_FAILED)
        return server_failed(load);
    return found == OTHERS_FOUND ? FAILED : DONE;
}

/* How long until the next look: ever longer, so that hundreds do not keep the server busy, and not
 * for all the same. */
static void nap_of(unsigned looks)
{
    uint64_t most = UINT64_C(20000000) << (looks < 5 ? looks : 5);
    rtl_nap(most / 2 + rtl_clock_ns(CLOCK_MONOTONIC) % 1000 * (most / 2000));
}

/* Runs are begun one after the other, so that of those that have a process in common the second one
 * sees the first. However many are before it, somebody's turn ends soon: it is only waited in vain
 * if that does not happen. */
static enum outcome take_turn(struct load *load, struct lock **turn)
{
    char before[64] = "";
    enum lock_outcome outcome = LOCK_OTHERS;
    for (unsigned looks = 0; outcome == LOCK_OTHERS; ++looks) {
        const char *owner = lock_owner(&load->servers[0], LOCK_OF_BEGINNING);
        if (!owner)
            return server_failed(load);
        if (!*owner)
            outcome = lock_take(&load->servers[0], tables_settings(&load->there), LOCK_OF_BEGINNING,
                                turn);
        else if (strncmp(owner, before, sizeof before - 1) != 0) {
            (void)snprintf(before, sizeof before, "%s", owner);
            went_right(load);
        } else if (rtl_clock_ns(CLOCK_MONOTONIC) >= load->deadline)
            return went_wrong(load, SERVER_LATER,
                              "somebody else begins to load a run all the time");
        if (outcome == LOCK_OTHERS)
            nap_of(looks);
    }
    return outcome == LOCK_TAKEN ? DONE : server_failed(load);
}

static enum outcome begin_run(struct load *load)
{
    struct lock *turn = NULL;
    enum outcome outcome = take_turn(load, &turn);
    if (outcome == DONE)
        outcome = await_queries(load, "rtl-load-%-rtl_runs-0");
    if (outcome == DONE)
        outcome = check_others(load);
    if (outcome == DONE)
        outcome = send_run(load, false);
    lock_give_back(turn);
    return outcome;
}

static enum outcome locked_pass(struct load *load)
{
    bool any = false;
    bool complete = false;
    char own[64];
    (void)snprintf(own, sizeof own, "rtl-load-%" PRIu64 "-%%", load->run.id);
    enum outcome outcome = await_queries(load, own);
    if (outcome == DONE)
        outcome = check_run(load, &any, &complete);
    if (outcome == DONE && complete)
        return ALL_THERE;
    if (outcome == DONE)
        outcome = check_age(load);
    if (outcome == DONE)
        outcome = any ? check_others(load) : begin_run(load);
    if (outcome == DONE)
        outcome = read_there(load);
    if (outcome == DONE)
        outcome = send_rows(load);
    if (outcome == DONE)
        outcome = verify(load);
    /* Whoever began without this one's knowing, over another server, say, has been seen by now, or
     * will see this run when it gets here. */
    if (outcome == DONE)
        outcome = check_others(load);
    if (outcome == DONE)
        outcome = send_run(load, true);
    return outcome;
}

static enum outcome pass(struct load *load)
{
    const char *settings = tables_settings(&load->there);
    switch (lock_take(&load->servers[0], settings, load->run.id, &load->lock)) {
    case LOCK_OTHERS: {
        enum outcome outcome =
            went_wrong(load, SERVER_LATER, "the run is being loaded by somebody else");
        load->gone = false;
        return outcome;
    }
    case LOCK_FAILED:
        return server_failed(load);
    default:
        break;
    }
    enum outcome outcome = locked_pass(load);
    lock_give_back(load->lock);
    load->lock = NULL;
    return outcome;
}

static enum outcome load_run(struct load *load)
{
    enum outcome outcome;
    went_right(load);
    do
        outcome = pass(load);
    while (outcome == AGAIN);
    return outcome;
}

/* What was done. */

static void tell(const struct load *load, enum outcome outcome)
{
    const struct run *run = &load->run;
    if (outcome == ALL_THERE)
        (void)printf("%s: run %" PRIu64 " is all there already\n", run->path, run->id);
    else
        (void)printf("%s: run %" PRIu64 ", %s; %s sent, in %s\n", run->path, run->id,
                     show_things(load->rows, "row").text, show_count(load->sent_rows).text,
                     show_bytes(load->sent_bytes).text);
}

static int load_one(struct load *load, const char *path)
{
    struct run *run = &load->run;
    struct labels labels = run->labels;
    *run = (struct run){.path = path,
                        .labels = labels,
                        .sample = load->options->sample ? load->options->sample : 1,
                        .trace = open_trace(path)};
    memset(load->fills, 0, sizeof load->fills);
    load->sent_rows = load->sent_bytes = 0;
    int status = run->trace ? run_begin(run) : EXIT_USAGE;
    if (status == EXIT_FINE) {
        enum outcome outcome = load_run(load);
        status = outcome == FAILED ? EXIT_USAGE : EXIT_FINE;
        if (status == EXIT_FINE)
            tell(load, outcome);
    }
    for (size_t i = 0; i < TABLES; ++i)
        fill_free(&load->fills[i]);
    run_free(run);
    rtlTraceClose(run->trace);
    return status;
}

/* Servers and labels. */

static int open_servers(struct load *load)
{
    const struct load_options *options = load->options;
    load->urls = memory_new(options->url_count, sizeof *load->urls);
    load->servers = memory_new(options->url_count, sizeof *load->servers);
    for (unsigned i = 0; i < options->url_count; ++i) {
        if (url_read(options->urls[i], &load->urls[i]) != EXIT_FINE)
            return EXIT_USAGE;
        load->servers[i] = server_open(&load->urls[i]);
    }
    const struct tables_wish wish = {.cluster = options->cluster, .ttl_days = options->ttl_days};
    int status = server_begin();
    return status == EXIT_FINE ? tables_make(load->servers, options->url_count, &wish, &load->there)
                               : status;
}

static int by_key(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Questions choose runs by these words, which a label could not be asked for by. */
static bool is_taken(const char *key)
{
    static const char *const words[] = {"run", "host", "rank", "trace", "from", "to"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (strcmp(key, words[i]) == 0)
            return true;
    return false;
}

/* Sorted, so that their order on the command line does not matter. */
static int take_labels(struct load *load, const struct load_options *options)
{
    struct labels *labels = &load->run.labels;
    char **texts = load->labels = memory_new(options->label_count, sizeof *texts);
    labels->keys = memory_new(options->label_count, sizeof *labels->keys);
    labels->values = memory_new(options->label_count, sizeof *labels->values);
    for (unsigned i = 0; i < options->label_count; ++i)
        texts[i] = strdup(options->labels[i]);
    qsort(texts, options->label_count, sizeof *texts, by_key);
    int status = EXIT_FINE;
    for (unsigned i = 0; i < options->label_count && status == EXIT_FINE; ++i) {
        char *value = strchr(texts[i], '=');
        if (!value || value == texts[i]) {
            status = say_fail(EXIT_USAGE, "--label is KEY=VALUE, not '%s'", texts[i]);
            break;
        }
        *value = 0;
        labels->keys[i] = texts[i];
        labels->values[i] = value + 1;
        if (is_taken(labels->keys[i]))
            status = say_fail(EXIT_USAGE,
                              "--label %s=%s: %s= stands for something else in questions, "
                              "choose another key",
                              labels->keys[i], labels->values[i], labels->keys[i]);
        else if (i && strcmp(labels->keys[i - 1], labels->keys[i]) == 0)
            status = say_fail(EXIT_USAGE, "--label %s is given twice", labels->keys[i]);
    }
    labels->count = options->label_count;
    return status;
}

static void close_all(struct load *load)
{
    struct labels *labels = &load->run.labels;
    for (unsigned i = 0; load->servers && i < load->options->url_count; ++i)
        server_close(&load->servers[i]);
    for (unsigned i = 0; load->labels && i < load->options->label_count; ++i)
        free(load->labels[i]);
    free(load->labels);
    free(load->servers);
    free(load->urls);
    free((void *)labels->keys);
    free((void *)labels->values);
}

int load_traces(const char *const *paths, unsigned count, const struct load_options *options)
{
    static struct load load;
    load = (struct load){.options = options, .jobs = options->jobs ? options->jobs : LOAD_JOBS};
    int status = take_labels(&load, options);
    if (status == EXIT_FINE)
        status = open_servers(&load);
    /* One that is refused is no reason to leave out those behind it; a server that is gone is. */
    bool ready = status == EXIT_FINE;
    for (unsigned i = 0; ready && i < count && !load.gone; ++i)
        if (load_one(&load, paths[i]) != EXIT_FINE)
            status = EXIT_USAGE;
    close_all(&load);
    return status;
}
