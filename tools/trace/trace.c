/* rtl trace: runs a program and records its kernels. */
#include "collect/collect.h"
#include "collect/output.h"
#include "collect/session_lock.h"
#include "collect/stale_sessions.h"
#include "common/boot.h"
#include "common/child.h"
#include "common/clock.h"
#include "common/command.h"
#include "common/limits.h"
#include "common/output.h"
#include "common/plain.h"
#include "common/rank.h"
#include "common/say.h"
#include "common/show.h"
#include "common/user_tasks.h"
#include "mpi/found.h"
#include "ring/files.h"
#include "ring/report.h"
#include "ring/ring.h"
#include "store/file.h"
#include "sync/sync.h"
#include "trace/passes.h"
#include "trace/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PROGRESS_NS  500000000u
#define SHOW_KERNELS 10u
#define DAEMON_NS    UINT64_C(1000000000) /* that a process without a ring is waited for */

/* The command line as a user would read it. */
static void join(char **words, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (; *words && used + 1 < size; ++words) {
        int length = snprintf(text + used, size - used, "%s%s", used ? " " : "", *words);
        if (length < 0)
            return;
        used += (size_t)length;
    }
}

struct recording {
    const struct trace_options *options;
    const struct target *target;
    char session[256];
    struct rtl_report_end report; /* for processes that do not reach the session */
    char output[PATH_MAX];
    struct child child;
    struct rtl_writer *writer;
    struct rtl_collector *collector; /* of this pass */
    struct rtl_sync *sync;           /* NULL: no other host's clock is asked for */
    unsigned pass;                   /* from 0 */
    bool stopped;                    /* it was asked to stop */
    bool terminal;                   /* a progress line is shown */
    bool line;                       /* it is on the screen now */
    uint64_t progress_at, progress_kernels;
};

/* The cursor waits at the line's beginning, so that what the program prints goes over it; only what
 * is right of the cursor is ever ours to erase. */
static void clear_line(struct recording *recording)
{
    if (recording->line)
        (void)fputs("\033[K", stderr);
    recording->line = false;
}

static void collector_says(void *context, const char *sentence)
{
    clear_line(context);
    say("%s", sentence);
}

static void show_progress(struct recording *recording, const char *waiting)
{
    uint64_t now = rtl_now();
    if (!recording->terminal || now < recording->progress_at)
        return;
    struct rtl_collector_status status;
    rtl_collector_status(recording->collector, &status);
    double seconds = (double)(now - recording->progress_at + PROGRESS_NS) / 1e9;
    double rate = (double)(status.kernels - recording->progress_kernels) / seconds;
    (void)fprintf(stderr, "\033[Krtl: %s, %s, %s lost%s\r",
                  show_things(status.kernels, "kernel").text, show_rate(rate).text,
                  show_count(status.lost).text, waiting);
    (void)fflush(stderr);
    recording->line = true;
    recording->progress_at = now + PROGRESS_NS;
    recording->progress_kernels = status.kernels;
}

/* What was found out about another host's clock. */
static void take_clocks(struct recording *recording)
{
    struct rtl_exchange exchange;
    char sentence[RTL_SYNC_SENTENCE];
    while (recording->sync && rtl_sync_take(recording->sync, &exchange))
        rtl_writer_exchange(recording->writer, &exchange);
    while (recording->sync && rtl_sync_told(recording->sync, sentence)) {
        collector_says(recording, sentence);
        rtl_collector_note(recording->collector, sentence);
    }
}

static void take_exchange(void *context, const struct rtl_exchange *exchange)
{
    rtl_writer_exchange(context, exchange);
}

/* What the program's processes have found out over MPI: once they have ended. */
static void take_mpi_clocks(struct recording *recording)
{
    static const char none[] = "--sync mpi: no clocks were compared over MPI: no process of the "
                               "program has come out of an "
                               "MPI_Init that librtlmpi.so stands in front of, or it has said why";
    if (!recording->options->sync_mpi ||
        rtl_mpi_found_take(recording->session, take_exchange, recording->writer) > 0)
        return;
    collector_says(recording, none);
    rtl_collector_note(recording->collector, none);
}

static void wait_for_more(struct recording *recording)
{
    take_clocks(recording);
    unsigned wait_ms = rtl_collector_round(recording->collector);
    child_wait(&recording->child, wait_ms, rtl_collector_descriptor(recording->collector));
}

static void follow_program(struct recording *recording)
{
    while (!recording->child.ended) {
        wait_for_more(recording);
        show_progress(recording, "");
    }
}

/* A program that makes itself a daemon ends at once, and what goes on has no ring yet. */
static bool may_come(const struct recording *recording, uint64_t ended)
{
    uint32_t pid;
    return rtl_now() - ended < DAEMON_NS && rtl_collector_left(recording->collector, &pid) > 0;
}

static void note_left(struct recording *recording)
{
    char sentence[128];
    uint32_t pid = 0;
    unsigned left = rtl_collector_left(recording->collector, &pid);
    if (left == 0)
        return;
    (void)snprintf(sentence, sizeof sentence,
                   "%u process%s of the program went on when the recording ended (pid %" PRIu32
                   "%s): what came then is not recorded",
                   left, left > 1 ? "es" : "", pid, left > 1 ? " and others" : "");
    rtl_collector_note(recording->collector, sentence);
}

/* Other processes of the job may outlive the program. */
static void follow_others(struct recording *recording)
{
    struct rtl_collector_status status;
    uint64_t ended = rtl_now();
    bool told = false;
    recording->child.asked_to_stop = false;
    for (;;) {
        rtl_collector_look(recording->collector);
        rtl_collector_status(recording->collector, &status);
        if (recording->child.asked_to_stop || (status.open == 0 && !may_come(recording, ended)))
            return;
        if (!told && recording->terminal && status.open > 0) {
            uint32_t pid = 0;
            (void)rtl_collector_open_pids(recording->collector, &pid, 1);
            clear_line(recording);
            say("the program has ended, waiting for %u of its processes (first: %" PRIu32
                "); ^C ends the trace now",
                status.open, pid);
        }
        told = told || status.open > 0;
        wait_for_more(recording);
        show_progress(recording, " (waiting)");
    }
}

static void note_if_nothing(struct recording *recording)
{
    struct rtl_collector_status status;
    char sentence[PATH_MAX + 96];
    rtl_collector_conclude(recording->collector);
    rtl_collector_status(recording->collector, &status);
    if (status.processes + status.unrecorded + status.unstarted > 0)
        return; /* those that were not recorded have said why */
    (void)snprintf(sentence, sizeof sentence,
                   "no GPU runtime was loaded by %s, or it did not come up, or librtl.so could not "
                   "join it: no "
                   "process was recorded",
                   recording->options->program[0]);
    rtl_collector_note(recording->collector, sentence);
}

static const char *output_pattern(const struct trace_options *options)
{
    const char *pattern = options->output ? options->output : secure_getenv("RTL_OUTPUT");
    if (options->output)
        return pattern;
    if (pattern && pattern[0])
        return pattern;
    /* Of several that a launcher started each has one: they may share the folder. */
    return rtl_rank_is_of_several() ? "trace-%r.db" : "trace.db";
}

/* Finds the output's name, and makes the file before the program runs. */
static int open_output(struct recording *recording)
{
    const struct trace_options *options = recording->options;
    char command[4096];
    char error[1024] = "";
    const char *pattern = output_pattern(options);
    if (rtl_output_expand(pattern, (uint32_t)recording->child.pid, recording->output,
                          sizeof recording->output) != 0)
        return say_fail(EXIT_USAGE, "the output's name '%s' is too long", pattern);
    if (!recording->output[0])
        return say_fail(EXIT_USAGE, "-o: the output's name is empty");
    if (output_check_dash(recording->output) != EXIT_FINE)
        return EXIT_USAGE;
    bool there = false;
    if (rtl_file_check(recording->output, &there, error, sizeof error) != 0)
        return say_fail(EXIT_USAGE, "%s", error);
    if (there && !options->replace)
        return say_fail(EXIT_USAGE, "%s exists: choose another name with -o, or replace it with -f",
                        recording->output);
    join(options->program, command, sizeof command);
    struct rtl_writer_options how = {.command = command, .replace = options->replace, .keep = true};
    recording->writer = rtl_writer_open(recording->output, &how, error, sizeof error);
    if (!recording->writer)
        return say_fail(EXIT_USAGE, "%s", error);
    return 0;
}

static int open_recording(struct recording *recording)
{
    int failed = recording->writer ? 0 : open_output(recording);
    if (failed)
        return failed;
    recording->collector =
        rtl_collector_new(recording->session, recording->writer, collector_says, recording);
    recording->progress_at = rtl_now() + PROGRESS_NS;
    recording->progress_kernels = rtl_writer_kernels(recording->writer);
    if (!recording->collector)
        return say_fail(EXIT_USAGE, "memory is short");
    rtl_collector_provide(recording->collector, trace_options_ring(recording->options));
    rtl_collector_listen(recording->collector, &recording->report);
    rtl_collector_watch(recording->collector);
    rtl_ring_dir_leave_trace(recording->session, recording->output);
    return 0;
}

/* A program that could not be run leaves no trace file, and the one that was to be replaced; but
 * what earlier passes have recorded stays. */
static void discard(struct recording *recording)
{
    char error[1024];
    rtl_collector_drop(recording->collector);
    recording->collector = NULL;
    if (!recording->writer || recording->pass > 0)
        return;
    if (rtl_writer_discard(recording->writer, error, sizeof error) != 0)
        say("%s", error);
    recording->writer = NULL;
}

static int close_recording(struct recording *recording)
{
    char error[1024] = "";
    int failed = rtl_writer_close(recording->writer, child_trace_status(&recording->child), error,
                                  sizeof error);
    recording->writer = NULL;
    if (!failed && error[0])
        say("%s", error);
    return failed ? say_fail(-1, "the trace is not whole: %s", error) : 0;
}

static int say_not_made(const struct recording *recording, int error)
{
    return say_fail(EXIT_USAGE, "no process could be made for %s: %s", recording->target->path,
                    say_errno(error));
}

static int say_not_run(const struct recording *recording, int error)
{
    if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE)
        return say_not_made(recording, error);
    return say_fail(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE,
                    "%s could not be run: %s", recording->target->path, say_errno(error));
}

/* Starts the child, or lets go the one that waits, and records it to its end. -1 when the program
 * ran, else rtl's exit status. */
static int record(struct recording *recording, char **environment, bool waits)
{
    struct child *child = &recording->child;
    int failed = open_recording(recording);
    if (failed) {
        if (waits)
            child_cancel(child);
        discard(recording);
        return failed;
    }
    int error = waits ? child_go(child)
                      : child_start(child, recording->target->path, recording->options->program,
                                    environment);
    if (error) {
        discard(recording);
        return say_not_run(recording, error);
    }
    rtl_collector_program(recording->collector, (uint32_t)child->pid);
    rtl_writer_begun(recording->writer);
    if (recording->pass == 0)
        (void)rtl_stale_sessions_remove(); /* the program does not wait for it */
    follow_program(recording);
    recording->stopped = recording->child.asked_to_stop;
    follow_others(recording);
    recording->stopped = recording->stopped || recording->child.asked_to_stop;
    clear_line(recording);
    if (recording->sync)
        rtl_sync_now(recording->sync);
    take_clocks(recording);
    take_mpi_clocks(recording);
    note_if_nothing(recording);
    note_left(recording);
    rtl_collector_end(recording->collector);
    recording->collector = NULL;
    return -1;
}

static int run_pass(struct recording *recording)
{
    const struct trace_options *options = recording->options;
    char **environment = target_environment(options, recording->target, recording->session,
                                            recording->report.address, recording->pass);
    bool waits = !recording->writer && rtl_output_names_pid(output_pattern(options));
    int result = EXIT_USAGE;
    if (!environment)
        say("memory is short");
    else if (waits && child_fork(&recording->child, recording->target->path, options->program,
                                 environment) != 0)
        result = say_not_made(recording, errno);
    else
        result = record(recording, environment, waits);
    child_environment_free(environment);
    return result;
}

/* Passes. */

/* Whether the program has ended so that it makes sense to run it again. */
static bool went_well(const struct recording *recording)
{
    return child_trace_status(&recording->child) == EXIT_FINE && !recording->stopped;
}

static void say_pass(const struct recording *recording, unsigned count)
{
    char counters[1024];
    if (!recording->options->quiet &&
        passes_counters(recording->output, recording->pass, counters, sizeof counters))
        say("pass %u of %u: %s", recording->pass + 1, count, counters);
}

static void say_uncounted(const struct passes *passes, const char *kernel)
{
    if (kernel && passes->unmatched)
        say("--kernel '%s' is in the name of none of %s: names are demangled, as rtl summary has "
            "them",
            plain(kernel), show_things(passes->unmatched, "kernel").text);
    else if (passes->refused)
        say("%s hardware counters were read: %s", passes->count ? "not everywhere" : "no",
            passes->why[0] ? passes->why : "this GPU or its runtime has none");
    else if (passes->unreached)
        say("hardware counters were not read everywhere: %s",
            passes->why[0] ? passes->why : "RTL can put no packets into some queues");
    else if (!passes->asked)
        say("no hardware counters were read: no process of the program used a GPU");
}

/* A launcher's slot takes one MPI_Init. */
static void say_of_rank(const struct recording *recording)
{
    if (!recording->options->quiet && rtl_rank_is_of_several())
        say("the program runs once a pass: one that calls MPI_Init cannot run again where a "
            "launcher has started it; run the job once for each set of --metrics that takes one "
            "pass");
}

/* After a pass: whether there is another one, which is then the one to be made. */
static bool next_pass(struct recording *recording)
{
    struct passes passes;
    if (metrics_counted(&recording->options->metrics) == 0 ||
        !passes_read(recording->output, &passes))
        return false;
    if (recording->pass == 0) {
        say_uncounted(&passes, recording->options->kernel);
        if (passes.unmatched)
            return false;
        if (passes.count > 1) {
            say_pass(recording, passes.count);
            say_of_rank(recording);
        }
    }
    if (recording->pass + 1 >= passes.count)
        return false;
    if (!went_well(recording)) {
        say("the program %s: of %u passes %u %s made",
            recording->stopped ? "was stopped" : "has not ended well", passes.count,
            recording->pass + 1, recording->pass ? "are" : "is");
        return false;
    }
    recording->pass++;
    say_pass(recording, passes.count);
    return true;
}

static void start_clocks(struct recording *recording)
{
    char boot[RTL_EXCHANGE_BOOT];
    if (!recording->options->sync || recording->options->sync_mpi)
        return;
    recording->sync = rtl_sync_start(&recording->options->responder, rtl_boot(boot, sizeof boot));
    if (!recording->sync)
        say("--sync: no thread could be made, so that the clocks of the hosts are not compared: %s",
            say_errno(errno));
}

/* With a session and everything checked: -1 when the program ran, else rtl's exit status. */
static int run(struct recording *recording)
{
    int result;
    if (child_prepare(&recording->child) != 0)
        return say_fail(EXIT_USAGE, "no process could be watched: %s", say_errno(errno));
    start_clocks(recording);
    do
        result = run_pass(recording);
    while (result < 0 && next_pass(recording));
    bool recorded = recording->writer != NULL;
    if (recorded && close_recording(recording) == 0 && !recording->options->quiet)
        (void)summary_show(recording->output, SHOW_KERNELS, stderr);
    rtl_sync_end(recording->sync, recorded);
    return result;
}

/* rtl is a process of the user's as well. Its program may run all the same. */
static void tell_few_tasks(void)
{
    struct rtl_user_tasks tasks;
    if (!rtl_user_tasks_are_few(&tasks) || tasks.taken + 1 + RTL_TASKS_LEFT < tasks.limit)
        return;
    say("this user may have %lu processes and threads (RLIMIT_NPROC, ulimit -u) and has %lu, rtl "
        "included: the program may fail that runs without rtl, and no kernels are recorded unless "
        "%u are left beside it",
        tasks.limit, tasks.taken, RTL_TASKS_LEFT);
}

/* Before the run, which a user who needs replays would have to make again. */
static void tell_uncounted_replays(const struct trace_options *options)
{
    const char *counting = options->counting;
    if (!options->quiet && metrics_counted(&options->metrics) > 0 && counting &&
        strcmp(counting, "kernel") == 0)
        say("--counting kernel leaves out kernels of graph replays; --counting range counts what "
            "a range's replays add up to");
}

/* Where an rtl trace has started this one: what is recorded here is missing there. */
static void tell_outer_trace(void)
{
    const char *session = secure_getenv("RTL_SESSION");
    const char *address = secure_getenv("RTL_REPORT");
    int file = session ? rtl_ring_dir_open(session, O_RDONLY) : -1;
    struct rtl_refusal refusal;
    char text[RTL_REFUSAL_TEXT];
    rtl_refusal_fill(&refusal, session ? session : "", 0, 0);
    refusal.why = RTL_REFUSED_NESTED;
    rtl_refusal_write(&refusal, text);
    if ((file < 0 || !rtl_refusal_leave(session, &refusal)) && address)
        (void)rtl_report_send(address, text);
    if (file >= 0)
        (void)close(file);
}

int cmd_trace(int argc, char **argv)
{
    struct trace_options options;
    static struct target target;
    struct recording recording = {.options = &options, .target = &target};
    limits_raise();
    int failed = limits_check_files(LIMITS_FILES_OF_RECORDING);
    if (failed)
        return failed;
    if (trace_options_parse(argc, argv, &options) != 0)
        return EXIT_USAGE;
    if (options.list)
        return metrics_show();
    if (!options.program)
        return say_fail(EXIT_USAGE, "no program was named: rtl trace [OPTION...] -- PROGRAM "
                                    "[ARGUMENT...]");
    if (options.starts_off && options.delay)
        return say_fail(EXIT_USAGE,
                        "--start-off and --delay do not go together: one waits for the program or "
                        "rtl ctl to start the recording, the other starts it by itself");
    failed = target_find(&options, &target);
    if (failed)
        return failed;
    tell_outer_trace();
    tell_few_tasks();
    tell_uncounted_replays(&options);
    if (options.verbose)
        target_say();
    char why[1024];
    if (rtl_ring_dir_create_for(recording.session, sizeof recording.session,
                                trace_options_ring(&options), why, sizeof why) != 0)
        return say_fail(EXIT_USAGE, "no session could be made: %s", why);
    (void)rtl_ring_dir_lock(recording.session); /* until rtl ends */
    rtl_report_open(&recording.report);
    recording.terminal = !options.quiet && show_terminal(stderr);
    failed = run(&recording);
    rtl_report_close(&recording.report);
    rtl_ring_dir_remove(recording.session);
    return failed >= 0 ? failed : child_end_alike(&recording.child);
}
