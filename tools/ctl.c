/*
 * rtl ctl: starts and stops the recording of programs that run.
 *
 * A wish is a word in the head of a process's ring; the process's worker takes it and sets it back.
 * No signal is sent and nothing in the program waits.
 */
#include "command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/table.h"
#include "ring/ring.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 2000u

enum action { ACTION_NONE, ACTION_START, ACTION_STOP, ACTION_STATUS };

struct options {
    enum action action;
    const char *session;
    uint32_t pid; /* 0: not named */
    bool json;
};

/* A process that is being recorded. */
struct target {
    struct rtl_ring ring;
    char session[PATH_MAX];
    uint32_t pid;
};

struct targets {
    struct target *items;
    unsigned count;
    unsigned sessions; /* that they are in */
};

static const struct argp_option option_list[] = {
    {"pid", 'p', "PID", 0, "the process", 0},
    {"json", 'j', NULL, 0, "status: write JSON", 0},
    {0},
};

static int parse_pid(const char *text, uint32_t *pid)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number == 0 || number > INT_MAX)
        return say_fail(EXIT_USAGE, "'%s' is no process id for --pid", text);
    *pid = (uint32_t)number;
    return 0;
}

static int parse_action(const char *text, enum action *action)
{
    static const char *const names[] = {
        [ACTION_START] = "start", [ACTION_STOP] = "stop", [ACTION_STATUS] = "status"};
    for (unsigned i = ACTION_START; i <= ACTION_STATUS; ++i) {
        if (strcmp(text, names[i]) == 0) {
            *action = (enum action)i;
            return 0;
        }
    }
    return say_fail(EXIT_USAGE, "'%s' is nothing to do: it is start, stop or status", text);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'p':
        return parse_pid(value, &options->pid) ? EINVAL : 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->action == ACTION_NONE)
            return parse_action(value, &options->action) ? EINVAL : 0;
        if (options->session)
            return say_fail(EINVAL, "one session at a time: '%s' is a second one", value);
        options->session = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- finding ---- */

/* Where the process has another ring already, the later one counts: it has executed something that
 * may not have told it yet. */
static bool superseded(struct targets *targets, const struct target *target)
{
    for (unsigned i = 0; i < targets->count; ++i) {
        struct target *other = &targets->items[i];
        if (other->pid != target->pid || strcmp(other->session, target->session) != 0)
            continue;
        if (other->ring.header->made_ns > target->ring.header->made_ns)
            return true;
        rtl_ring_unmap(&other->ring);
        *other = targets->items[--targets->count];
        return false;
    }
    return false;
}

static void add(struct targets *targets, const struct target *target)
{
    struct target *items = reallocarray(targets->items, targets->count + 1, sizeof *items);
    if (!items) {
        say("memory is short");
        exit(EXIT_USAGE); // NOLINT(concurrency-mt-unsafe): there is one thread
    }
    targets->items = items;
    items[targets->count++] = *target;
}

static void add_ring(struct targets *targets, const char *session, const char *name)
{
    char path[PATH_MAX + 300];
    char library[32];
    uint32_t version;
    struct target target = {0};
    if (sscanf(name, "ring.%" SCNu32 ".", &target.pid) != 1)
        return;
    (void)snprintf(path, sizeof path, "%s/%s", session, name);
    (void)snprintf(target.session, sizeof target.session, "%s", session);
    if (rtl_ring_open(&target.ring, path, &version, library) != 0)
        return;
    if (rtl_ring_closed(&target.ring) || rtl_ring_replaced(&target.ring) ||
        !rtl_ring_process_alive(&target.ring) || superseded(targets, &target))
        rtl_ring_unmap(&target.ring);
    else
        add(targets, &target);
}

/* Finds the processes of a session; `pid` 0: all. */
static void add_session(struct targets *targets, const char *session, uint32_t pid)
{
    DIR *folder = opendir(session);
    unsigned before = targets->count;
    struct dirent *entry;
    char wanted[32];
    int length = snprintf(wanted, sizeof wanted, "ring.%" PRIu32 ".", pid);
    if (!folder)
        return;
    while ((entry = readdir(folder)) != NULL) // NOLINT(concurrency-mt-unsafe): own stream
        if (pid == 0 || strncmp(entry->d_name, wanted, (size_t)length) == 0)
            add_ring(targets, session, entry->d_name);
    (void)closedir(folder);
    targets->sessions += targets->count > before;
}

/* The folders of sessions are those that rtl_session_create makes. */
static void add_sessions_in(struct targets *targets, const char *place, uint32_t pid)
{
    DIR *folder = opendir(place);
    struct dirent *entry;
    uint32_t version;
    if (!folder)
        return;
    while ((entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        char session[PATH_MAX];
        int length = snprintf(session, sizeof session, "%s/%s", place, entry->d_name);
        if (strncmp(entry->d_name, "rtl.", 4) == 0 && length < (int)sizeof session &&
            rtl_session_check(session, &version) == 1)
            add_session(targets, session, pid);
    }
    (void)closedir(folder);
}

static void find_all(struct targets *targets, uint32_t pid)
{
    const char *temporary = secure_getenv("TMPDIR");
    add_sessions_in(targets, "/dev/shm", pid);
    if (temporary && strcmp(temporary, "/tmp") != 0)
        add_sessions_in(targets, temporary, pid);
    add_sessions_in(targets, "/tmp", pid);
}

static int check_session(const char *session)
{
    uint32_t version = 0;
    int known = rtl_session_check(session, &version);
    if (known == 1)
        return 0;
    if (known == 0)
        return say_fail(EXIT_USAGE,
                        "session %s was made by another build of rtl (wire version %" PRIu32
                        ", this one has %u): use that one's rtl ctl",
                        session, version, RTL_WIRE_VERSION);
    return say_fail(EXIT_USAGE, "there is no session at %s: %s", session, say_errno(errno));
}

static int find(const struct options *options, struct targets *targets)
{
    if (options->session) {
        int failed = check_session(options->session);
        if (failed)
            return failed;
        add_session(targets, options->session, options->pid);
    } else {
        find_all(targets, options->pid);
    }
    if (targets->count > 0)
        return 0;
    if (options->pid)
        return say_fail(EXIT_DIFFERENT,
                        "process %" PRIu32 " is not being recorded, or belongs to another user",
                        options->pid);
    if (options->session)
        return say_fail(EXIT_DIFFERENT, "no process of session %s is being recorded",
                        options->session);
    return options->action == ACTION_STATUS
               ? 0
               : say_fail(EXIT_DIFFERENT, "no process is being recorded");
}

/* ---- start and stop ---- */

/* The worker, which takes wishes, is there from the first queue on. */
static bool has_queues(const struct target *target)
{
    return atomic_load(&target->ring.header->queues) > 0;
}

static bool taken(const struct target *target)
{
    return atomic_load(&target->ring.header->wish) == RTL_RING_WISH_NONE;
}

static bool all_taken(const struct targets *targets)
{
    for (unsigned i = 0; i < targets->count; ++i)
        if (has_queues(&targets->items[i]) && !taken(&targets->items[i]))
            return false;
    return true;
}

static int change(const struct targets *targets, enum action action)
{
    const char *what = action == ACTION_START ? "start" : "stop";
    const struct timespec step = {.tv_nsec = 1000000};
    int status = EXIT_FINE;
    for (unsigned i = 0; i < targets->count; ++i)
        atomic_store(&targets->items[i].ring.header->wish,
                     action == ACTION_START ? RTL_RING_WISH_START : RTL_RING_WISH_STOP);
    for (unsigned ms = 0; ms < PATIENCE_MS && !all_taken(targets); ++ms)
        (void)nanosleep(&step, NULL);
    for (unsigned i = 0; i < targets->count; ++i) {
        const struct target *target = &targets->items[i];
        if (taken(target))
            continue;
        if (!has_queues(target))
            say("process %" PRIu32 " has no queue yet: it will %s recording when it makes one",
                target->pid, what);
        else if (rtl_ring_process_alive(&target->ring) && !rtl_ring_closed(&target->ring))
            status = say_fail(EXIT_DIFFERENT,
                              "process %" PRIu32
                              " has not answered for 2 s: it will %s recording as soon as it can",
                              target->pid, what);
    }
    return status;
}

/* ---- status ---- */

struct sums {
    uint64_t seen, recorded, skipped, lost;
};

static struct sums sums_of(const struct rtl_ring_header *header)
{
    struct sums sums = {0};
    uint32_t rows = atomic_load(&header->queues);
    for (uint32_t i = 0; i < rows && i < RTL_LEDGER_ROWS; ++i) {
        const struct rtl_wire_ledger *row = &header->ledger[i];
        sums.recorded += atomic_load(&row->recorded);
        sums.skipped += atomic_load(&row->skipped);
        for (unsigned reason = 0; reason < RTL_LOST_REASONS; ++reason)
            sums.lost += atomic_load(&row->lost[reason]);
        sums.seen += atomic_load(&row->seen);
    }
    return sums;
}

static const char *state_of(const struct target *target)
{
    return atomic_load(&target->ring.header->stopped) ? "stopped" : "recording";
}

static void number_cell(struct table *table, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    table_cell(table, text);
}

static int show(const struct targets *targets)
{
    static const char *const heading[] = {"process",  "state", "seen",   "recorded",
                                          "left out", "lost",  "session"};
    if (targets->count == 0)
        return puts("no process is being recorded") >= 0 ? EXIT_FINE : EXIT_USAGE;
    struct table *table = table_new("rlrrrrl");
    for (unsigned i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (unsigned i = 0; i < targets->count; ++i) {
        const struct target *target = &targets->items[i];
        struct sums sums = sums_of(target->ring.header);
        number_cell(table, target->pid);
        table_cell(table, state_of(target));
        number_cell(table, sums.seen);
        number_cell(table, sums.recorded);
        number_cell(table, sums.skipped);
        number_cell(table, sums.lost);
        table_cell(table, target->session);
    }
    table_print(table, stdout);
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_USAGE;
}

static json_t *json_status(const struct targets *targets)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < targets->count; ++i) {
        const struct target *target = &targets->items[i];
        struct sums sums = sums_of(target->ring.header);
        json_t *object =
            json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:o}", "pid", (json_int_t)target->pid,
                      "state", state_of(target), "seen", open_number(sums.seen), "recorded",
                      open_number(sums.recorded), "skipped", open_number(sums.skipped), "lost",
                      open_number(sums.lost), "session", open_text(target->session));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static int run(const struct options *options, const struct targets *targets)
{
    if (options->action == ACTION_STATUS)
        return options->json ? open_print_json(json_status(targets), EXIT_FINE) : show(targets);
    if (targets->sessions > 1 && !options->pid && !options->session)
        return say_fail(EXIT_USAGE,
                        "%u recordings are under way: name a process with -p, or a session "
                        "(rtl ctl status lists them)",
                        targets->sessions);
    return change(targets, options->action);
}

int cmd_ctl(int argc, char **argv)
{
    static const char doc[] =
        "Starts and stops the recording of programs that run under rtl trace, or records "
        "themselves; status lists them."
        "\vWithout PID and SESSION, it is the only recording under way. SESSION is a folder that "
        "status names. Kernels that a program submits while it is stopped are counted as left "
        "out; the trace notes the times.\n\n"
        "Examples:\n"
        "  rtl trace --start-off -- ./program &\n"
        "  rtl ctl start\n"
        "  rtl ctl stop -p 4711\n"
        "  rtl ctl status --json";
    static const struct argp argp = {
        option_list, parse_option, "start|stop|status [SESSION]", doc, NULL, NULL, NULL};
    struct options options = {0};
    struct targets targets = {0};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (options.action == ACTION_NONE)
        return say_fail(EXIT_USAGE, "nothing to do was named: rtl ctl start|stop|status [-p PID] "
                                    "[SESSION]");
    int status = find(&options, &targets);
    if (status == 0)
        status = run(&options, &targets);
    for (unsigned i = 0; i < targets.count; ++i)
        rtl_ring_unmap(&targets.items[i].ring);
    free(targets.items);
    return status;
}
