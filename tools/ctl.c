/*
 * rtl ctl: starts and stops the recording of programs that run.
 *
 * A request is a word in the head of a process's ring; the process's worker takes it and sets it
 * back. No signal is sent and nothing in the program waits. Processes that begin later in the
 * session, and later images of a process that was named, find it in the session's folder
 * (ring/files.h).
 *
 * Root may do so for other users' programs. What these users can write to is not trusted: rings are
 * read and written with system calls, so that nobody can cut one short under a mapping, and a ring
 * of somebody's speaks for processes of the same user alone.
 */
#include "collect/session_lock.h"
#include "common/clock.h"
#include "common/command.h"
#include "common/duration.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/private.h"
#include "common/say.h"
#include "common/table.h"
#include "ctl_record.h"
#include "ctl_steps.h"
#include "ring/files.h"
#include "ring/maker.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS  2000u
#define LOOK_NS      100000000u           /* between looks at who is left */
#define MOST_WAIT_NS UINT64_C(1000000000) /* between counts of steps */

enum action { ACTION_NONE, ACTION_START, ACTION_STOP, ACTION_STATUS };

struct options {
    enum action action;
    const char *session;
    uint32_t pid;      /* 0: not named */
    uint64_t duration; /* ns, 0: not given */
    unsigned steps;    /* 0: not given */
    bool record;       /* start, for a time that is an argument */
    const char *time;  /* which was taken */
    bool json;
};

/* A session's folder. */
struct place {
    char path[PATH_MAX];
    int folder;
    uid_t owner;
    bool collected;
    uint32_t recorder; /* the rtl trace that collects it, 0: it is not known */
};

/* A process that is being recorded. */
struct target {
    int file;                       /* its ring */
    struct rtl_ring_header *header; /* a copy of the ring's */
    char session[PATH_MAX];
    struct rtl_ring_maker maker;
    uint32_t named; /* the pid in its name */
    uint32_t pid;
    bool collected;
};

struct targets {
    struct target *items;
    unsigned count;
    unsigned sessions; /* that they are in */
    /* That of the recorder whose pid was asked for, "": it is none's. */
    char of_recorder[PATH_MAX];
};

static const struct argp_option option_list[] = {
    {"pid", 'p', "PID", 0, "the process", 0},
    {"duration", 'd', "TIME", 0, "start: wait so long (2.5, 2s, 500ms), then stop", 0},
    {"steps", 's', "COUNT", 0,
     "start: wait for so many steps, as rtl steps finds them in the trace meanwhile, then stop; "
     "with --duration no longer than that",
     0},
    {"json", 'j', NULL, 0, "status: write JSON", 0},
    {0},
};

/* `text` was given as `what`. */
static int parse_pid(const char *text, const char *what, uint32_t *pid)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number == 0 || number > INT_MAX)
        return say_fail(EXIT_USAGE, "'%s' is no process id%s", text, what);
    *pid = (uint32_t)number;
    return 0;
}

static error_t parse_action(const char *text, struct options *options)
{
    static const char *const names[] = {
        [ACTION_START] = "start", [ACTION_STOP] = "stop", [ACTION_STATUS] = "status"};
    for (unsigned i = ACTION_START; i <= ACTION_STATUS; ++i) {
        if (strcmp(text, names[i]) == 0) {
            options->action = (enum action)i;
            return 0;
        }
    }
    options->record = strcmp(text, "record") == 0;
    if (options->record) {
        options->action = ACTION_START;
        return 0;
    }
    return say_fail(EINVAL, "'%s' is nothing to do: it is start, stop, record or status", text);
}

static error_t parse_duration(struct options *options, const char *text, const char *of)
{
    if (options->duration)
        return say_fail(EINVAL, "the time for %s is given twice", of);
    if (!rtl_duration_read(text, &options->duration) || options->duration == 0)
        return say_fail(EINVAL, "'%s' is no time for %s: it is such as 2.5, 2s or 500ms", text, of);
    return 0;
}

/* A time where a process or a session is wanted. 0: it is none. */
static error_t say_time(const struct options *options, const char *text)
{
    uint64_t duration;
    if (!rtl_duration_read(text, &duration) || access(text, F_OK) == 0)
        return 0;
    if (!options->record)
        return say_fail(EINVAL,
                        "'%s' is a time, and no process or session: rtl ctl record %s, or rtl ctl "
                        "start --duration %s",
                        text, text, text);
    return say_fail(EINVAL, "'%s' is a time, and comes first: rtl ctl record %s %s", text, text,
                    options->time);
}

/* Digits are a process; a session's folder that is called so is written with a ./ before. */
static error_t parse_whose(struct options *options, const char *text)
{
    if (!text[0])
        return say_fail(EINVAL, "the session's name is empty");
    if (text[strspn(text, "0123456789")] == '\0') {
        if (options->pid)
            return say_fail(EINVAL, "one process at a time: '%s' is a second one", text);
        return parse_pid(text, "", &options->pid) ? EINVAL : 0;
    }
    if (options->session)
        return say_fail(EINVAL, "one session at a time: '%s' is a second one", text);
    if (say_time(options, text) != 0)
        return EINVAL;
    options->session = text;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'p':
        if (options->pid)
            return say_fail(EINVAL, "one process at a time: '%s' is a second one", value);
        return parse_pid(value, " for --pid", &options->pid) ? EINVAL : 0;
    case 'd':
        return parse_duration(options, value, "--duration");
    case 's':
        if (options->steps)
            return say_fail(EINVAL, "--steps is given twice");
        if (parse_count("steps", value, &options->steps) != 0)
            return EINVAL;
        return options->steps ? 0 : say_fail(EINVAL, "--steps is 1 at least");
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->action == ACTION_NONE)
            return parse_action(value, options);
        if (options->record && !options->time) {
            options->time = value;
            return parse_duration(options, value, "record");
        }
        return parse_whose(options, value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- finding ---- */

static void forget(struct target *target)
{
    free(target->header);
    (void)close(target->file);
}

static void forget_all(struct targets *targets)
{
    for (unsigned i = 0; i < targets->count; ++i)
        forget(&targets->items[i]);
    free(targets->items);
    *targets = (struct targets){0};
}

/* Where the process has another ring already, the later one counts: it has executed something that
 * may not have told it yet. */
static bool superseded(struct targets *targets, const struct target *target)
{
    for (unsigned i = 0; i < targets->count; ++i) {
        struct target *other = &targets->items[i];
        if (other->pid != target->pid || other->header->space != target->header->space ||
            strcmp(other->session, target->session) != 0)
            continue;
        if (other->header->made_ns > target->header->made_ns)
            return true;
        forget(other);
        *other = targets->items[--targets->count];
        return false;
    }
    return false;
}

static void end_short_of_memory(void)
{
    say("memory is short");
    exit(EXIT_USAGE); // NOLINT(concurrency-mt-unsafe): there is one thread
}

/* errno is that of something that could not be opened: where a limit is the reason, not all
 * processes are known. */
static void mind_files(const char *path)
{
    if (errno != EMFILE && errno != ENFILE)
        return;
    say("not all processes can be looked at, %s could not be opened: %s", path, say_errno(errno));
    exit(EXIT_USAGE); // NOLINT(concurrency-mt-unsafe): there is one thread
}

static void add(struct targets *targets, const struct target *target)
{
    struct target *items = reallocarray(targets->items, targets->count + 1, sizeof *items);
    if (!items)
        end_short_of_memory();
    targets->items = items;
    items[targets->count++] = *target;
}

static bool is_process_of(uint32_t pid, uid_t owner)
{
    char path[32];
    struct stat status;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    return stat(path, &status) == 0 && status.st_uid == owner;
}

/* What a ring says of a process is to be believed of its user's own. */
static bool is_of(const struct rtl_ring_maker *maker, uid_t owner)
{
    return owner == geteuid() || (maker->seen && is_process_of(maker->pid, owner));
}

static bool is_over(struct target *target)
{
    const struct rtl_ring ring = {.header = target->header};
    return target->header->pid != target->named || rtl_ring_closed(&ring) ||
           rtl_ring_replaced(&ring) ||
           !rtl_ring_maker_lives(target->header, &target->maker, target->file);
}

/* `pid` 0: whoever made it. */
static void add_ring(struct targets *targets, const struct place *place, const char *name,
                     uint32_t pid)
{
    struct target target = {.collected = place->collected};
    if (sscanf(name, "ring.%" SCNu32 ".", &target.named) != 1)
        return;
    (void)snprintf(target.session, sizeof target.session, "%s", place->path);
    target.file = rtl_private_file_of(place->folder, name, O_RDWR, place->owner);
    if (target.file < 0) {
        mind_files(place->path);
        return;
    }
    target.header = malloc(sizeof *target.header);
    if (!target.header)
        end_short_of_memory();
    int known = rtl_ring_read_header(target.file, target.header);
    if (known == 0)
        target.maker = rtl_ring_find_maker(target.header, target.file);
    target.pid = target.maker.pid;
    if (known != 0 || (pid != 0 && pid != target.pid) || is_over(&target) ||
        !is_of(&target.maker, place->owner) || superseded(targets, &target))
        forget(&target);
    else
        add(targets, &target);
}

/* Finds the processes of a session; `pid` 0: all. */
static void add_rings(struct targets *targets, const struct place *place, uint32_t pid)
{
    int again = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again >= 0 ? fdopendir(again) : NULL;
    unsigned before = targets->count;
    struct dirent *entry;
    if (!folder) {
        mind_files(place->path);
        return;
    }
    while ((entry = readdir(folder)) != NULL) // NOLINT(concurrency-mt-unsafe): own stream
        add_ring(targets, place, entry->d_name, pid);
    (void)closedir(folder);
    targets->sessions += targets->count > before;
}

/* What a session says of its recorder holds while that lives, and is the user's whose session it
 * is. */
static uint32_t recorder_of(int file, uid_t owner)
{
    struct rtl_ring_dir_facts facts;
    if (!rtl_ring_dir_facts(file, &facts) || !facts.by_maker || facts.maker_start == 0)
        return 0;
    uint64_t start = rtl_process_facts(facts.maker).start;
    bool lives = start != 0 && start != RTL_START_UNKNOWN &&
                 rtl_process_same_start(start, facts.maker_start);
    return lives && is_process_of(facts.maker, owner) ? facts.maker : 0;
}

/* As rtl_ring_dir_check, of a session that root may open for another user too. */
static int look_at(struct place *place, uint32_t *version)
{
    char text[128];
    int file = rtl_private_file_of(place->folder, "session", O_RDONLY, place->owner);
    if (file < 0) {
        mind_files(place->path);
        return -1;
    }
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    place->collected = rtl_ring_dir_is_collected(file);
    place->recorder = recorder_of(file, place->owner);
    (void)close(file);
    return rtl_ring_dir_read(text, version);
}

static int add_session(struct targets *targets, const char *session, uint32_t pid,
                       uint32_t *version)
{
    struct place place;
    (void)snprintf(place.path, sizeof place.path, "%s", session);
    place.folder = rtl_private_folder_of(session, &place.owner);
    if (place.folder < 0) {
        mind_files(session);
        return -1;
    }
    errno = EPERM;
    bool allowed = place.owner == geteuid() || geteuid() == 0;
    int known = allowed ? look_at(&place, version) : -1;
    int error = errno;
    if (known == 1)
        add_rings(targets, &place, pid);
    if (known == 1 && pid != 0 && pid == place.recorder)
        (void)snprintf(targets->of_recorder, sizeof targets->of_recorder, "%s", session);
    (void)close(place.folder);
    errno = error;
    return known;
}

/* The folders of sessions are those that rtl_ring_dir_create makes. */
static void add_sessions_in(struct targets *targets, const char *place, uint32_t pid)
{
    DIR *folder = opendir(place);
    struct dirent *entry;
    uint32_t version;
    if (!folder) {
        mind_files(place);
        return;
    }
    while ((entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        char session[PATH_MAX];
        int length = snprintf(session, sizeof session, "%s/%s", place, entry->d_name);
        if (strncmp(entry->d_name, "rtl.", 4) == 0 && length < (int)sizeof session)
            (void)add_session(targets, session, pid, &version);
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

static int find_in(struct targets *targets, const char *session, uint32_t pid)
{
    uint32_t version = 0;
    int known = add_session(targets, session, pid, &version);
    if (known == 1)
        return 0;
    if (known == 0)
        return say_fail(EXIT_USAGE,
                        "session %s was made by another build of rtl (wire version %" PRIu32
                        ", this one has %u): use that one's rtl ctl",
                        session, version, RTL_WIRE_VERSION);
    return say_fail(EXIT_USAGE, "there is no session at %s: %s", session, rtl_private_why(errno));
}

static int look_for(const struct options *options, struct targets *targets)
{
    if (options->session)
        return find_in(targets, options->session, options->pid);
    find_all(targets, options->pid);
    return 0;
}

static int say_no_process(const struct options *options)
{
    bool digits = options->record && options->time[strspn(options->time, "0123456789")] == '\0';
    if (digits) /* the pid, say */
        return say_fail(EXIT_DIFFERENT,
                        "process %" PRIu32 " is not being recorded, or belongs to another user; "
                        "the time comes first: rtl ctl record TIME PID",
                        options->pid);
    return say_fail(EXIT_DIFFERENT,
                    "process %" PRIu32
                    " is not being recorded, or belongs to another user: start a program under "
                    "rtl trace --start-off (or with RTL_START=off) to record it later",
                    options->pid);
}

/* Where the time was forgotten the pid is in its place, and would be so many seconds. */
static bool is_pid_for_time(const struct options *options, const struct targets *targets)
{
    if (!options->record || options->time[strspn(options->time, "0123456789")])
        return false;
    unsigned long number = strtoul(options->time, NULL, 10);
    bool found = false;
    for (unsigned i = 0; i < targets->count; ++i)
        found = found || targets->items[i].pid == number;
    return found;
}

static int find(const struct options *options, struct targets *targets)
{
    int failed = look_for(options, targets);
    if (failed)
        return failed;
    if (is_pid_for_time(options, targets))
        return say_fail(EXIT_USAGE,
                        "%s is the pid of a process that is being recorded, and the time is "
                        "missing: rtl ctl record TIME %s (%ss, if so many seconds are meant)",
                        options->time, options->time, options->time);
    if (targets->count > 0)
        return 0;
    if (options->pid)
        return say_no_process(options);
    if (options->session)
        return say_fail(EXIT_DIFFERENT,
                        "no process of session %s is being recorded: none has started a GPU "
                        "runtime yet, or they have ended",
                        options->session);
    return options->action == ACTION_STATUS
               ? 0
               : say_fail(EXIT_DIFFERENT, "no process is being recorded");
}

/* The pid may be that of an rtl trace, which a shell has as $!: then all that it records is meant,
 * as if its session was named. */
static int take_recorder(struct options *options)
{
    static char session[PATH_MAX];
    struct targets targets = {0};
    int failed = options->pid ? look_for(options, &targets) : 0;
    if (!failed && targets.count == 0 && targets.of_recorder[0]) {
        (void)snprintf(session, sizeof session, "%s", targets.of_recorder);
        options->session = session;
        options->pid = 0;
    }
    forget_all(&targets);
    return failed;
}

/* ---- start and stop ---- */

/* The worker, which takes requests, is there from the first queue on. */
static bool has_queues(const struct target *target)
{
    return atomic_load(&target->header->queues) > 0;
}

/* What cannot be read any more has nobody who takes anything. */
static bool taken(const struct target *target)
{
    uint32_t request = RTL_RING_REQUEST_NONE;
    return pread(target->file, &request, sizeof request,
                 offsetof(struct rtl_ring_header, request)) != sizeof request ||
           request == RTL_RING_REQUEST_NONE;
}

static bool all_taken(const struct targets *targets)
{
    for (unsigned i = 0; i < targets->count; ++i)
        if (has_queues(&targets->items[i]) && !taken(&targets->items[i]))
            return false;
    return true;
}

static void send_request(const struct targets *targets, enum action action)
{
    uint32_t word = action == ACTION_START ? RTL_RING_REQUEST_START : RTL_RING_REQUEST_STOP;
    for (unsigned i = 0; i < targets->count; ++i)
        if (pwrite(targets->items[i].file, &word, sizeof word,
                   offsetof(struct rtl_ring_header, request)) != sizeof word)
            say("process %" PRIu32 " cannot be told: %s", targets->items[i].pid, say_errno(errno));
}

/* For processes to come. Before the rings are looked for again: who makes one after that finds it.
 */
static void leave(const struct target *target, enum rtl_ring_request request, bool for_all)
{
    uid_t owner;
    int folder = rtl_private_folder_of(target->session, &owner);
    uint32_t pid = for_all ? 0 : target->named;
    if (folder < 0 || rtl_ring_request_leave(folder, request, pid, target->header->space,
                                             for_all ? 0 : target->header->process_start) != 0)
        say("session %s cannot be told of processes to come: %s", target->session,
            say_errno(errno));
    if (folder >= 0)
        (void)close(folder);
}

static void leave_all(const struct options *options, const struct targets *targets)
{
    enum rtl_ring_request request =
        options->action == ACTION_START ? RTL_RING_REQUEST_START : RTL_RING_REQUEST_STOP;
    unsigned count = options->pid ? targets->count : targets->count > 0;
    for (unsigned i = 0; i < count; ++i)
        leave(&targets->items[i], request, options->pid == 0);
}

/* After the patience: what has become of the request for a process. */
static int tell_untaken(struct target *target, const char *what)
{
    if (taken(target) || rtl_ring_read_header(target->file, target->header) != 0)
        return EXIT_FINE;
    if (!has_queues(target))
        say("process %" PRIu32 " has no queue yet: it will %s recording when it makes one",
            target->pid, what);
    else if (!is_over(target))
        return say_fail(EXIT_DIFFERENT,
                        "process %" PRIu32
                        " has not answered for 2 s: it will %s recording as soon as it can",
                        target->pid, what);
    return EXIT_FINE;
}

static int say_not_collected(const struct target *target)
{
    return say_fail(EXIT_DIFFERENT,
                    "process %" PRIu32 " is not collected: its recorder has ended, so nothing "
                    "that it records would be in a trace",
                    target->pid);
}

static bool all_collected(const struct targets *targets)
{
    for (unsigned i = 0; i < targets->count; ++i)
        if (!targets->items[i].collected)
            return say_not_collected(&targets->items[i]) == EXIT_FINE;
    return true;
}

static int change(struct targets *targets, enum action action)
{
    const char *what = action == ACTION_START ? "start" : "stop";
    const struct timespec step = {.tv_nsec = 1000000};
    int status = EXIT_FINE;
    send_request(targets, action);
    for (unsigned ms = 0; ms < PATIENCE_MS && !all_taken(targets); ++ms)
        (void)nanosleep(&step, NULL);
    for (unsigned i = 0; i < targets->count; ++i) {
        int told = tell_untaken(&targets->items[i], what);
        status = told ? told : status;
    }
    return status;
}

/* Whether the process does what it is to do, with no other request on its way. */
static bool is_so_already(const struct target *target, enum action action)
{
    bool stopped = atomic_load(&target->header->stopped);
    return taken(target) && stopped == (action == ACTION_STOP);
}

/* Where that is so of all, it is told: a window would stop them in the end. */
static void tell_already(const struct options *options, const struct targets *targets)
{
    const char *state = options->action == ACTION_START ? "recording" : "stopped";
    const char *end = options->duration || options->steps ? ", and will be stopped in the end" : "";
    for (unsigned i = 0; i < targets->count; ++i)
        if (!is_so_already(&targets->items[i], options->action))
            return;
    if (targets->count == 1)
        say("process %" PRIu32 " is %s already%s", targets->items[0].pid, state, end);
    else
        say("all %u processes are %s already%s", targets->count, state, end);
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
    if (!target->collected)
        return "not collected";
    return atomic_load(&target->header->stopped) ? "stopped" : "recording";
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
    if (targets->count == 0) {
        (void)puts("no process is being recorded");
        return EXIT_FINE;
    }
    struct table *table = table_new("rlrrrrl");
    for (unsigned i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (unsigned i = 0; i < targets->count; ++i) {
        const struct target *target = &targets->items[i];
        struct sums sums = sums_of(target->header);
        number_cell(table, target->pid);
        table_cell(table, state_of(target));
        number_cell(table, sums.seen);
        number_cell(table, sums.recorded);
        number_cell(table, sums.skipped);
        number_cell(table, sums.lost);
        table_cell(table, target->session);
    }
    table_print(table, stdout);
    return EXIT_FINE;
}

static json_t *json_status(const struct targets *targets)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < targets->count; ++i) {
        const struct target *target = &targets->items[i];
        struct sums sums = sums_of(target->header);
        json_t *object = json_pack(
            "{s:I, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "pid", (json_int_t)target->pid, "state",
            state_of(target), "collected", target->collected, "seen", open_number(sums.seen),
            "recorded", open_number(sums.recorded), "skipped", open_number(sums.skipped), "lost",
            open_number(sums.lost), "session", open_text(target->session));
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* Interrupted, it is over. */
static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static bool all_over(const struct targets *targets)
{
    for (unsigned i = 0; i < targets->count; ++i)
        if (!is_over(&targets->items[i]))
            return false;
    return true;
}

/* What --duration and --steps wait for. */
struct window {
    uint64_t until;       /* UINT64_MAX: no end */
    unsigned steps;       /* 0: they do not count */
    char trace[PATH_MAX]; /* of the session, with steps */
    uint64_t before;      /* steps that were there when it began */
    uint64_t look_at;     /* when they are counted next */
};

static uint64_t processor_time(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Counting takes a tenth of a processor at most, but for one count a second. */
static bool has_steps(struct window *window, uint64_t now)
{
    if (window->steps == 0 || now < window->look_at)
        return false;
    uint64_t spent = processor_time();
    uint64_t count = ctl_steps_count(window->trace);
    uint64_t wait = 9 * (processor_time() - spent);
    window->look_at = rtl_now() + (wait < MOST_WAIT_NS ? wait : MOST_WAIT_NS);
    return count >= window->before + window->steps;
}

/* A signal ends the wait and not the command, which then stops the recording. False if nobody is
 * left to be stopped. */
static bool wait_for(const struct targets *targets, struct window *window)
{
    const struct sigaction action = {.sa_handler = interrupt};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    for (uint64_t now = rtl_now(); now < window->until && !has_steps(window, now) && !interrupted;
         now = rtl_now()) {
        uint64_t part = window->until - now < LOOK_NS ? window->until - now : LOOK_NS;
        const struct timespec time = {0, (long)part};
        if (nanosleep(&time, NULL) != 0)
            break;
        if (all_over(targets))
            return false;
    }
    return true;
}

/* Before the recording starts. */
static int begin_window(const struct options *options, const struct targets *targets,
                        struct window *window)
{
    uint64_t now = rtl_now();
    *window = (struct window){.until = UINT64_MAX, .steps = options->steps};
    if (options->duration && options->duration < UINT64_MAX - now)
        window->until = now + options->duration;
    if (options->steps == 0)
        return EXIT_FINE;
    if (targets->sessions > 1)
        return say_fail(EXIT_USAGE, "--steps is for one session: name it (rtl ctl status lists "
                                    "them)");
    int failed = ctl_steps_trace(targets->items[0].session, window->trace, sizeof window->trace);
    if (failed == EXIT_FINE)
        window->before = ctl_steps_count(window->trace);
    return failed;
}

/* Leaves what is to be for processes that begin later, and asks those that are there. */
static int ask(const struct options *options, struct targets *targets)
{
    leave_all(options, targets);
    forget_all(targets);
    int failed = find(options, targets);
    return failed ? failed : change(targets, options->action);
}

/* The processes have been stopped: waits for what they recorded, and tells of it where that is what
 * was asked for. */
static void end_recording(const struct options *options, const struct targets *targets,
                          uint64_t since, uint64_t before)
{
    char path[PATH_MAX];
    if (targets->count == 0 || !ctl_record_trace(targets->items[0].session, path, sizeof path))
        return;
    ctl_record_wait(path, since, targets->count);
    uint64_t after = options->record ? ctl_record_kernels(path) : 0;
    if (options->record)
        ctl_record_tell(path, after > before ? after - before : 0);
}

/* What is in the trace when it begins. */
static uint64_t stored_before(const struct options *options, const struct targets *targets)
{
    char path[PATH_MAX];
    bool known = options->record && targets->count > 0 &&
                 ctl_record_trace(targets->items[0].session, path, sizeof path);
    return known ? ctl_record_kernels(path) : 0;
}

static int run(const struct options *options, struct targets *targets)
{
    if (options->action == ACTION_STATUS)
        return options->json ? open_print_json(json_status(targets), EXIT_FINE) : show(targets);
    if (targets->sessions > 1 && !options->pid && !options->session)
        return say_fail(EXIT_USAGE,
                        "%u recordings are under way: name a process or a session "
                        "(rtl ctl status lists them)",
                        targets->sessions);
    if (options->action == ACTION_START && !all_collected(targets))
        return EXIT_DIFFERENT;
    tell_already(options, targets);
    bool waits = options->duration || options->steps;
    uint64_t before = stored_before(options, targets);
    struct window window;
    int failed = waits ? begin_window(options, targets, &window) : EXIT_FINE;
    if (failed == EXIT_FINE)
        failed = ask(options, targets);
    if (failed || !waits)
        return failed;
    struct options stop = *options;
    stop.action = ACTION_STOP;
    if (!wait_for(targets, &window)) {
        say("what was recorded has ended before the %s",
            options->steps ? "steps were there" : "time was over");
        return options->steps ? EXIT_DIFFERENT : EXIT_FINE;
    }
    uint64_t since = rtl_now();
    forget_all(targets);
    failed = find(&stop, targets);
    if (failed == EXIT_FINE)
        failed = ask(&stop, targets);
    if (failed == EXIT_FINE)
        end_recording(&stop, targets, since, before);
    return failed;
}

/* A ring takes a descriptor. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int cmd_ctl(int argc, char **argv)
{
    static const char doc[] =
        "Starts and stops the recording of programs that run under rtl trace, or records "
        "themselves; status lists them."
        "\vWithout PID and SESSION, it is the only recording under way. SESSION is a folder that "
        "status names; digits alone are a PID, of a process or of the rtl trace that records. "
        "Kernels that a program submits while it is stopped "
        "are counted as left "
        "out; the trace notes the times.\n\n"
        "Examples:\n"
        "  rtl trace --start-off -- ./program &\n"
        "  rtl ctl record 10s\n"
        "  rtl ctl start --steps 200\n"
        "  rtl ctl stop 4711\n"
        "  rtl ctl status --json";
    static const struct argp argp = {
        option_list, parse_option, "start|stop|status|record TIME [PID] [SESSION]", doc, NULL,
        NULL,        NULL};
    struct options options = {0};
    struct targets targets = {0};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (options.action == ACTION_NONE)
        return say_fail(EXIT_USAGE, "nothing to do was named: rtl ctl start|stop|status|record "
                                    "TIME [PID] [SESSION]");
    if (options.record && !options.time)
        return say_fail(EXIT_USAGE, "no time was named: rtl ctl record TIME [PID] [SESSION]");
    if (options.json && options.action != ACTION_STATUS)
        return say_fail(EXIT_USAGE, "--json is for status");
    if (options.duration && options.action != ACTION_START)
        return say_fail(EXIT_USAGE, "--duration is for start");
    if (options.steps && options.action != ACTION_START)
        return say_fail(EXIT_USAGE, "--steps is for start");
    allow_many_files();
    int status = take_recorder(&options);
    if (status == 0)
        status = find(&options, &targets);
    if (status == 0)
        status = run(&options, &targets);
    forget_all(&targets);
    return status;
}
