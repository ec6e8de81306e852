/* rtl collect: the collector for a program that was started without rtl trace (librtl starts it).
 */
#include "collect/collect.h"
#include "collect/output.h"
#include "collect/session_lock.h"
#include "collect/stale_sessions.h"
#include "common/clock.h"
#include "common/command.h"
#include "common/limits.h"
#include "common/parse.h"
#include "common/private.h"
#include "common/say.h"
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long a session may be without any ring before it is given up, and without a living process
 * before it is over (a process may just be starting another). */
#define FIRST_RING_NS 10000000000u
#define LAST_RING_NS  200000000u

#define MOST_TAKEN 64u /* names that others take first */

struct options {
    const char *session, *output;
    uint32_t pid;
};

static const struct argp_option option_list[] = {
    {"session", 's', "FOLDER", 0, "the session to collect", 0},
    {"output", 'o', "FILE", 0, "the trace; default: RTL_OUTPUT, or trace-%p.db", 0},
    {"pid", 'p', "PID", 0, "the process that %p stands for; default: the session's first", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 's':
        options->session = value;
        return 0;
    case 'o':
        options->output = value;
        return 0;
    case 'p':
        options->pid = (uint32_t)strtoul(value, NULL, 10);
        return 0;
    case ARGP_KEY_ARG:
        return say_fail(EINVAL, "rtl collect takes no argument like '%s'", value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int check_session(const char *session)
{
    uint32_t version = 0;
    int known = rtl_ring_dir_check(session, &version);
    if (known == 1)
        return 0;
    if (known == 0)
        return say_fail(EXIT_USAGE,
                        "session %s was made by another build of librtl (wire version %" PRIu32
                        ", this rtl has %u): use the rtl that belongs to it",
                        session, version, RTL_WIRE_VERSION);
    return say_fail(EXIT_USAGE, "there is no session at %s: %s", session, rtl_private_why(errno));
}

/* A session of its own, so that neither a terminal nor the program's group reaches the collector.
 * Descriptors that the program left open are not ours. */
static int detach(void)
{
    (void)close_range(3, ~0U, 0);
    if (setsid() >= 0)
        return 0;
    pid_t pid = fork();
    if (pid > 0)
        _exit(EXIT_FINE);
    return pid < 0 || setsid() < 0
               ? say_fail(EXIT_USAGE, "no process could be made: %s", say_errno(errno))
               : 0;
}

static void silence(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int descriptor = 0; null >= 0 && descriptor <= 2; ++descriptor)
        (void)dup2(null, descriptor);
    if (null > 2)
        (void)close(null);
}

/* Other recorders may want the same name: whoever sees it free has not got it yet. NULL with `path`
 * "" if that is too long, else it cannot be made, for which `error` has the reason. */
static struct rtl_writer *open_free(const char *wanted, char *path, size_t size, char *error,
                                    size_t error_size)
{
    const struct rtl_writer_options how = {.command = NULL, .replace = false};
    struct rtl_writer *writer = NULL;
    bool was_taken = true;
    for (unsigned i = 0; i < MOST_TAKEN && !writer && was_taken; ++i) {
        (void)snprintf(path, size, "%s", wanted);
        if (rtl_output_free_name(path, size) < 0) {
            path[0] = '\0';
            return NULL;
        }
        writer = rtl_writer_open(path, &how, error, error_size);
        was_taken = access(path, F_OK) == 0;
    }
    return writer;
}

/* Makes the trace; a file that exists is never touched, the next free name is taken and said. */
static struct rtl_writer *open_output(const struct options *options, char *path, size_t size,
                                      bool *renamed)
{
    char error[1024] = "";
    char wanted[PATH_MAX];
    const char *pattern = options->output ? options->output : secure_getenv("RTL_OUTPUT");
    if (!pattern || !pattern[0])
        pattern = "trace-%p.db";
    path[0] = '\0';
    struct rtl_writer *writer = NULL;
    if (rtl_output_expand(pattern, options->pid, wanted, sizeof wanted) == 0)
        writer = open_free(wanted, path, size, error, sizeof error);
    if (path[0] == '\0')
        say("the output's name '%s' is too long", pattern);
    else if (!writer)
        say("%s", error);
    *renamed = writer && strcmp(path, wanted) != 0;
    return writer;
}

static void note_renamed(struct rtl_collector *collector, const char *path)
{
    char sentence[PATH_MAX + 96];
    (void)snprintf(sentence, sizeof sentence,
                   "the output's name was taken, so the trace was written to %s", path);
    say("%s", sentence);
    rtl_collector_note(collector, sentence);
}

static bool over(struct rtl_collector *collector, uint64_t started, uint64_t *quiet_since)
{
    struct rtl_collector_status status;
    uint64_t now = rtl_now();
    rtl_collector_status(collector, &status);
    if (status.processes == 0)
        return now - started > FIRST_RING_NS;
    if (status.open > 0 || status.alive > 0)
        *quiet_since = now;
    return now - *quiet_since > LAST_RING_NS;
}

static void collect(struct rtl_collector *collector)
{
    sigset_t enders;
    (void)sigemptyset(&enders);
    (void)sigaddset(&enders, SIGTERM);
    (void)sigaddset(&enders, SIGINT);
    (void)sigaddset(&enders, SIGHUP);
    (void)pthread_sigmask(SIG_SETMASK, &enders, NULL);
    uint64_t started = rtl_now();
    uint64_t quiet_since = started;
    int signal;
    do {
        unsigned wait_ms = rtl_collector_round(collector);
        struct timespec wait = {.tv_nsec = (long)wait_ms * 1000000};
        signal = sigtimedwait(&enders, NULL, &wait);
    } while (signal < 0 && !over(collector, started, &quiet_since));
}

static int run(const struct options *options)
{
    char path[PATH_MAX];
    char error[1024];
    bool renamed = false;
    struct rtl_writer *writer = open_output(options, path, sizeof path, &renamed);
    if (!writer)
        return EXIT_USAGE;
    struct rtl_collector *collector = rtl_collector_new(options->session, writer, NULL, NULL);
    if (!collector) {
        (void)rtl_writer_close(writer, -1, error, sizeof error);
        return say_fail(EXIT_USAGE, "memory is short");
    }
    rtl_collector_look(collector);
    rtl_ring_dir_leave_trace(options->session, path);
    if (renamed)
        note_renamed(collector, path);
    silence();
    collect(collector);
    rtl_collector_end(collector);
    return rtl_writer_close(writer, -1, error, sizeof error) == 0 ? EXIT_FINE : EXIT_DIFFERENT;
}

int cmd_collect(int argc, char **argv)
{
    static const char doc[] = "Collects the rings of a session into a trace. librtl starts this by "
                              "itself for programs that run without rtl trace.";
    static const struct argp argp = {option_list, parse_option, NULL, doc, NULL, NULL, NULL};
    struct options options = {.pid = (uint32_t)getppid()};
    limits_raise();
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (!options.session)
        return say_fail(EXIT_USAGE, "no session was named: rtl collect --session FOLDER -o FILE");
    int failed = check_session(options.session);
    if (!failed)
        failed = detach();
    if (failed)
        return failed;
    (void)rtl_ring_dir_lock(options.session); /* until this process ends */
    (void)rtl_stale_sessions_remove();
    int status = run(&options);
    rtl_ring_dir_remove(options.session);
    return status;
}
