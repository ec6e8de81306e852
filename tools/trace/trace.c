/* rtl trace: runs a program and records its kernels. */
#include "analysis/metrics.h"
#include "collect/collect.h"
#include "collect/hold.h"
#include "collect/left.h"
#include "collect/output.h"
#include "collect/sweep.h"
#include "common/child.h"
#include "common/clock.h"
#include "common/command.h"
#include "common/duration.h"
#include "common/limits.h"
#include "common/output.h"
#include "common/parse.h"
#include "common/paths.h"
#include "common/say.h"
#include "common/show.h"
#include "ring/files.h"
#include "ring/report.h"
#include "ring/ring.h"
#include "store/file.h"
#include "trace/passes.h"

#include <ctype.h>
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

/* What librtl takes as RTL_BUFFER. */
#define LEAST_BUFFER (UINT64_C(64) << 10)
#define MOST_BUFFER  (UINT64_C(1) << 30)

enum gpu { GPU_AUTO, GPU_SOFT, GPU_REAL };

struct options {
    const char *mode;
    const char *output; /* pattern */
    bool replace, quiet;
    enum gpu gpu;
    uint64_t buffer;
    const char *delay, *duration; /* as they were given */
    bool starts_off;
    const char *metric_names; /* as they were given, NULL: none */
    struct metrics metrics;
    const char *counting;
    bool list;
    char **program;
};

static const char *const modes[] = {"lite", "standard", "hip", "full"};

enum {
    KEY_GPU = 256,
    KEY_BUFFER,
    KEY_DELAY,
    KEY_DURATION,
    KEY_START_OFF,
    KEY_METRICS,
    KEY_COUNTING,
    KEY_ATTACH = 'p'
};

static const struct argp_option option_list[] = {
    {"mode", 'm', "MODE", 0, "what is recorded: lite, standard, hip or full (the default)", 0},
    {"output", 'o', "FILE", 0,
     "the trace, trace.db by default; %p is the program's process id, %h the host, %r the rank", 0},
    {"force", 'f', NULL, 0, "replace FILE if it exists", 0},
    {"gpu", KEY_GPU, "WHICH", 0,
     "real, soft (the software GPU) or auto (the default: what the environment leads to)", 0},
    {"buffer", KEY_BUFFER, "SIZE", 0, "size of the ring between each process and rtl, such as 64M",
     0},
    {"delay", KEY_DELAY, "TIME", 0,
     "begin to record so long after the GPU runtime is up: 2.5 (seconds), 500ms, 3m", 0},
    {"duration", KEY_DURATION, "TIME", 0, "stop recording so long after it began", 0},
    {"start-off", KEY_START_OFF, NULL, 0,
     "record nothing before the program (rtlStart) or rtl ctl starts it", 0},
    {"metrics", KEY_METRICS, "NAME,...", 0,
     "read the hardware counters that these metrics need; the program is run again for those that "
     "do not fit; list tells which metrics and counters there are",
     0},
    {"counting", KEY_COUNTING, "HOW", 0,
     "range (the default): at the begin and end of ranges, while kernels run as they like; "
     "kernel: for each kernel, one at a time",
     0},
    {"quiet", 'q', NULL, 0, "no progress and no summary", 0},
    /* Other tools have these: they are refused with what to do instead. */
    {"pid", KEY_ATTACH, "PID", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 0},
    {"attach", KEY_ATTACH, "PID", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 0},
    {0},
};

static const char doc[] =
    "Runs PROGRAM and records every kernel that it and its children run on an AMD GPU."
    "\vThe exit status is that of PROGRAM; if it dies by a signal, so does rtl. 126 and 127 mean "
    "that "
    "PROGRAM could not be run, 2 that rtl could not begin.\n\n"
    "Examples:\n"
    "  rtl trace -- python3 decode.py\n"
    "  rtl trace -m standard -o run.db -- ./program --its-option\n"
    "  rtl trace --gpu soft -- ./program\n"
    "  rtl trace --metrics l2_hit,fetch_bytes -- ./program\n"
    "  mpirun -n 4 rtl trace -o run-%r.db -- ./program";

static bool known_mode(const char *mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i)
        if (strcmp(mode, modes[i]) == 0)
            return true;
    return false;
}

static int parse_gpu(const char *text, enum gpu *gpu)
{
    static const char *const names[] = {"auto", "soft", "real"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (strcmp(text, names[i]) == 0) {
            *gpu = (enum gpu)i;
            return 0;
        }
    }
    return say_fail(EXIT_USAGE, "there is no GPU called '%s' for --gpu: it is auto, soft or real",
                    text);
}

/* A number with an optional unit of K, M or G; what is none, or too much, leaves *bytes. */
static void read_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    bool number_only =
        isdigit((unsigned char)text[0]) && errno == 0 && (!*end || (unit && !end[1]));
    if (number_only && number <= MOST_BUFFER >> shift)
        *bytes = (uint64_t)number << shift;
}

static int parse_size(const char *text, uint64_t *bytes)
{
    read_size(text, bytes);
    if (*bytes < LEAST_BUFFER)
        return say_fail(EXIT_USAGE,
                        "'%s' is no size for --buffer: it is between 64K and 1G, such as 64M",
                        text);
    return 0;
}

static int parse_time(const char *option, const char *text, const char **time)
{
    uint64_t ns;
    if (!rtl_duration_read(text, &ns))
        return say_fail(EXIT_USAGE, "'%s' is no time for %s: it is such as 2.5, 2s or 500ms", text,
                        option);
    *time = text;
    return 0;
}

static int parse_counting(const char *text, const char **counting)
{
    *counting = text;
    if (strcmp(text, "kernel") == 0 || strcmp(text, "range") == 0)
        return 0;
    return say_fail(EXIT_USAGE, "'%s' is no way of --counting: it is kernel or range", text);
}

static int parse_metrics(const char *text, struct options *options)
{
    options->list = strcmp(text, "list") == 0;
    options->metric_names = text;
    return options->list ? 0 : metrics_parse(&options->metrics, text);
}

static int say_no_attach(void)
{
    return say_fail(
        EXIT_USAGE,
        "a process that runs cannot be attached to: start the program under rtl trace "
        "--start-off (or with RTL_START=off), and then rtl ctl start -p PID whenever it "
        "is to be recorded");
}

int cmd_attach(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return say_no_attach();
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'm':
        options->mode = value;
        if (!known_mode(value))
            return say_fail(EINVAL, "there is no mode '%s': it is lite, standard, hip or full",
                            value);
        return 0;
    case 'o':
        options->output = value;
        return 0;
    case 'f':
        options->replace = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case KEY_ATTACH:
        return say_no_attach() ? EINVAL : 0;
    case KEY_GPU:
        return parse_gpu(value, &options->gpu) ? EINVAL : 0;
    case KEY_BUFFER:
        return parse_size(value, &options->buffer) ? EINVAL : 0;
    case KEY_DELAY:
        return parse_time("--delay", value, &options->delay) ? EINVAL : 0;
    case KEY_DURATION:
        return parse_time("--duration", value, &options->duration) ? EINVAL : 0;
    case KEY_START_OFF:
        options->starts_off = true;
        return 0;
    case KEY_METRICS:
        return parse_metrics(value, options) ? EINVAL : 0;
    case KEY_COUNTING:
        return parse_counting(value, &options->counting) ? EINVAL : 0;
    case ARGP_KEY_ARG:
        options->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int need_real_gpu(void)
{
    if (access("/dev/kfd", R_OK | W_OK) == 0)
        return 0;
    if (errno == EACCES)
        return say_fail(
            EXIT_USAGE,
            "/dev/kfd may not be opened: join the group that owns it (render or video), "
            "or record on the software GPU with --gpu soft");
    return say_fail(EXIT_USAGE, "this machine has no AMD GPU (no /dev/kfd): record on the software "
                                "GPU with --gpu soft");
}

/* Decides on the GPU. `soft` gets the folder of the software GPU where the child must be led to
 * it. */
static int choose_gpu(enum gpu gpu, char *soft, size_t size)
{
    char folder[PATH_MAX] = "";
    bool built = paths_library("softgpu", folder, sizeof folder);
    bool led = paths_lead_to_softgpu(secure_getenv("LD_LIBRARY_PATH"), folder);
    if (gpu == GPU_REAL && led)
        return say_fail(EXIT_USAGE, "LD_LIBRARY_PATH leads to the software GPU: unset it for "
                                    "--gpu real");
    if (gpu == GPU_REAL || (gpu == GPU_AUTO && !led))
        return need_real_gpu();
    if (gpu == GPU_AUTO)
        return 0;
    char thunk[PATH_MAX + 32];
    (void)snprintf(thunk, sizeof thunk, "%s/libhsakmt.so.1", folder);
    if (!built || access(thunk, R_OK) != 0)
        return say_fail(EXIT_USAGE,
                        "the software GPU (softgpu/libhsakmt.so.1) is not in the library "
                        "folder that belongs to this rtl: build or install it");
    (void)snprintf(soft, size, "%s", folder);
    return 0;
}

/* Whether a path, of `length` bytes, is that of a librtl.so. */
static bool is_librtl(const char *path, size_t length)
{
    const char *name = memrchr(path, '/', length);
    name = name ? name + 1 : path;
    return (size_t)(path + length - name) == strlen("librtl.so") &&
           strncmp(name, "librtl.so", strlen("librtl.so")) == 0;
}

/* The tools that are already asked for, then ours: only the last one sees what the program does and
 * not what the others make of it. An older librtl in the list gives way. */
static void tools_list(const char *librtl, char *list, size_t size)
{
    const char *before = secure_getenv("HSA_TOOLS_LIB");
    size_t used = 0;
    list[0] = '\0';
    while (before && *before) {
        size_t length = strcspn(before, " ");
        if (length > 0 && !is_librtl(before, length) && used + length + 2 < size)
            used += (size_t)snprintf(list + used, size - used, "%.*s ", (int)length, before);
        before += length + (before[length] == ' ');
    }
    (void)snprintf(list + used, size - used, "%s", librtl);
}

/* Counting needs packets of ours in the queues, and the maximum of kernels needs each one's. */
static int check_metrics(const struct options *options)
{
    const struct metrics *metrics = &options->metrics;
    const char *queue = secure_getenv("RTL_QUEUE");
    bool of_ranges = !options->counting || strcmp(options->counting, "range") == 0;
    if (options->counting && !options->metric_names)
        return say_fail(EXIT_USAGE, "--counting says how counters are read, and --metrics names "
                                    "none");
    if (metrics_counted(metrics) == 0)
        return 0;
    if (queue && queue[0] && strcmp(queue, "intercept") != 0 && strcmp(queue, "auto") != 0)
        return say_fail(EXIT_USAGE,
                        "hardware counters (--metrics) need RTL_QUEUE=intercept, and the "
                        "environment has RTL_QUEUE=%s",
                        queue);
    if (of_ranges && strcmp(options->mode, "full") != 0)
        return say_fail(EXIT_USAGE,
                        "hardware counters of ranges (--metrics) need --mode full, or use "
                        "--counting kernel");
    for (size_t i = 0; of_ranges && i < metrics->count; ++i)
        if (rtl_metric_is_counted(metrics->list[i]) && metrics->list[i]->rule == RTL_RULE_MAX)
            return say_fail(EXIT_USAGE,
                            "%s is the maximum of kernels, which needs --counting kernel",
                            metrics->list[i]->name);
    return 0;
}

static bool with_calls(const char *mode)
{
    return strcmp(mode, "hip") == 0 || strcmp(mode, "full") == 0;
}

/* What is preloaded: librtl.so in front, for host calls, then what the environment already asks for
 * without an older librtl. Empty where the mode or RTL_PRELOAD=off leaves host calls out. */
static int preload_list(const char *mode, const char *librtl, char *list, size_t size)
{
    const char *setting = secure_getenv("RTL_PRELOAD");
    const char *before = secure_getenv("LD_PRELOAD");
    list[0] = '\0';
    if (setting && setting[0] && strcmp(setting, "on") != 0 && strcmp(setting, "off") != 0)
        return say_fail(EXIT_USAGE, "RTL_PRELOAD=%s is neither on nor off", setting);
    if (!with_calls(mode) || (setting && strcmp(setting, "off") == 0))
        return 0;
    if (strpbrk(librtl, " :")) {
        say("%s cannot be preloaded, because its path has a blank or a colon: no host calls are "
            "recorded",
            librtl);
        return 0;
    }
    size_t used = (size_t)snprintf(list, size, "%s", librtl);
    for (const char *word; before && *(word = before + strspn(before, " :"));) {
        size_t length = strcspn(word, " :");
        if (!is_librtl(word, length) && used + length + 2 < size)
            used += (size_t)snprintf(list + used, size - used, ":%.*s", (int)length, word);
        before = word + length;
    }
    return 0;
}

/* AddressSanitizer ends a program that has anything in front of its library, unless it is told not
 * to. */
static void sanitizer_options(char *options, size_t size)
{
    const char *before = secure_getenv("ASAN_OPTIONS");
    (void)snprintf(options, size, "verify_asan_link_order=0:%s", before ? before : "");
}

struct variable {
    const char *name, *value;
};

/* The child's environment, a copy of ours with what it needs for the recording. */
static char **make_environment(const struct options *options, const char *session,
                               const char *report, const char *librtl, const char *preload,
                               const char *soft, unsigned pass)
{
    char tools[2 * PATH_MAX];
    char libraries[2 * PATH_MAX];
    char buffer[24];
    char number[24];
    char sanitizer[4096];
    const char *old_libraries = secure_getenv("LD_LIBRARY_PATH");
    bool keep = old_libraries && old_libraries[0];
    tools_list(librtl, tools, sizeof tools);
    (void)snprintf(libraries, sizeof libraries, "%s%s%s", soft, keep ? ":" : "",
                   keep ? old_libraries : "");
    (void)snprintf(buffer, sizeof buffer, "%" PRIu64, options->buffer);
    sanitizer_options(sanitizer, sizeof sanitizer);
    (void)snprintf(number, sizeof number, "%u", pass);
    bool counted = metrics_counted(&options->metrics) > 0;
    const struct variable variables[] = {
        {"HSA_TOOLS_LIB", tools},
        {"HSA_TOOLS_REPORT_LOAD_FAILURE", "1"},
        {"LD_PRELOAD", preload[0] ? preload : NULL},
        {"ASAN_OPTIONS", preload[0] ? sanitizer : NULL},
        {"RTL_SESSION", session},
        {"RTL_REPORT", report},
        {"RTL_MODE", options->mode},
        {"RTL_BUFFER", options->buffer ? buffer : NULL},
        {"RTL_DELAY", options->delay},
        {"RTL_DURATION", options->duration},
        {"RTL_START", options->starts_off ? "off" : NULL},
        {"RTL_METRICS", counted ? options->metric_names : NULL},
        {"RTL_COUNTING", counted ? options->counting : NULL},
        {"RTL_PASS", counted ? number : NULL},
        {"LD_LIBRARY_PATH", soft[0] ? libraries : NULL},
    };
    char **environment = environ;
    for (size_t i = 0; environment && i < sizeof variables / sizeof variables[0]; ++i) {
        if (!variables[i].value)
            continue;
        char **next = child_environment(environment, variables[i].name, variables[i].value);
        if (environment != environ)
            child_environment_free(environment);
        environment = next;
    }
    return environment;
}

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
    const struct options *options;
    const char *path, *librtl, *preload, *soft; /* what is run, and with what */
    char session[256];
    struct rtl_report_end report; /* for processes that do not reach the session */
    char output[PATH_MAX];
    struct child child;
    struct rtl_writer *writer;
    struct rtl_collector *collector; /* of this pass */
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

static void follow_program(struct recording *recording)
{
    while (!recording->child.ended) {
        child_wait(&recording->child, rtl_collector_round(recording->collector));
        show_progress(recording, "");
    }
}

/* A program that makes itself a daemon ends at once, and what goes on has no ring yet. */
static bool may_come(const struct recording *recording, uint64_t ended)
{
    uint32_t pid;
    return rtl_now() - ended < DAEMON_NS && rtl_left_count(recording->session, &pid) > 0;
}

static void note_left(struct recording *recording)
{
    char sentence[128];
    uint32_t pid = 0;
    unsigned left = rtl_left_count(recording->session, &pid);
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
        child_wait(&recording->child, rtl_collector_round(recording->collector));
        show_progress(recording, " (waiting)");
    }
}

static void note_if_nothing(struct recording *recording)
{
    struct rtl_collector_status status;
    char sentence[PATH_MAX + 96];
    rtl_collector_take_starts(recording->collector);
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

static const char *output_pattern(const struct options *options)
{
    const char *pattern = options->output ? options->output : secure_getenv("RTL_OUTPUT");
    if (options->output)
        return pattern;
    return pattern && pattern[0] ? pattern : "trace.db";
}

/* Finds the output's name, and makes the file before the program runs. */
static int open_output(struct recording *recording)
{
    const struct options *options = recording->options;
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

/* What librtl will take in the child. */
static size_t ring_bytes(const struct options *options)
{
    const char *setting = secure_getenv("RTL_BUFFER");
    uint64_t bytes = options->buffer;
    if (bytes == 0 && setting)
        read_size(setting, &bytes);
    return bytes >= LEAST_BUFFER ? (size_t)bytes : RTL_RING_BYTES;
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
    rtl_collector_provide(recording->collector, ring_bytes(recording->options));
    rtl_collector_listen(recording->collector, &recording->report);
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
    return failed ? say_fail(-1, "the trace is not whole: %s", error) : 0;
}

static int say_not_made(const struct recording *recording, int error)
{
    struct rlimit files;
    if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &files) == 0)
        return say_fail(EXIT_USAGE,
                        "no process could be made for %s: %s (RLIMIT_NOFILE, ulimit -n, is %llu)",
                        recording->path, say_errno(error), (unsigned long long)files.rlim_cur);
    return say_fail(EXIT_USAGE, "no process could be made for %s: %s", recording->path,
                    say_errno(error));
}

static int say_not_run(const struct recording *recording, int error)
{
    if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE)
        return say_not_made(recording, error);
    return say_fail(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE,
                    "%s could not be run: %s", recording->path, say_errno(error));
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
    int error = waits
                    ? child_go(child)
                    : child_start(child, recording->path, recording->options->program, environment);
    if (error) {
        discard(recording);
        return say_not_run(recording, error);
    }
    rtl_writer_begun(recording->writer);
    if (recording->pass == 0)
        (void)rtl_session_sweep(); /* the program does not wait for it */
    follow_program(recording);
    recording->stopped = recording->child.asked_to_stop;
    follow_others(recording);
    recording->stopped = recording->stopped || recording->child.asked_to_stop;
    clear_line(recording);
    note_if_nothing(recording);
    note_left(recording);
    rtl_collector_end(recording->collector);
    recording->collector = NULL;
    return -1;
}

static int run_pass(struct recording *recording)
{
    const struct options *options = recording->options;
    char **environment =
        make_environment(options, recording->session, recording->report.address, recording->librtl,
                         recording->preload, recording->soft, recording->pass);
    bool waits = !recording->writer && rtl_output_names_pid(output_pattern(options));
    int result = EXIT_USAGE;
    if (!environment)
        say("memory is short");
    else if (waits &&
             child_fork(&recording->child, recording->path, options->program, environment) != 0)
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

static void say_uncounted(const struct passes *passes)
{
    if (passes->refused)
        say("%s hardware counters were read: %s", passes->count ? "not everywhere" : "no",
            passes->why[0] ? passes->why : "this GPU or its runtime has none");
    else if (!passes->asked)
        say("no hardware counters were read: no process of the program used a GPU");
}

/* After a pass: whether there is another one, which is then the one to be made. */
static bool next_pass(struct recording *recording)
{
    struct passes passes;
    if (metrics_counted(&recording->options->metrics) == 0 ||
        !passes_read(recording->output, &passes))
        return false;
    if (recording->pass == 0) {
        say_uncounted(&passes);
        if (passes.count > 1)
            say_pass(recording, passes.count);
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

/* With a session and everything checked: -1 when the program ran, else rtl's exit status. */
static int run(struct recording *recording)
{
    int result;
    if (child_prepare(&recording->child) != 0)
        return say_fail(EXIT_USAGE, "no process could be watched: %s", say_errno(errno));
    do
        result = run_pass(recording);
    while (result < 0 && next_pass(recording));
    if (!recording->writer)
        return result;
    if (close_recording(recording) == 0 && !recording->options->quiet)
        (void)summary_show(recording->output, SHOW_KERNELS, stderr);
    return result;
}

static int find_program(const char *program, char *path, size_t size)
{
    int status = paths_program(program, path, size);
    if (status == EXIT_NOT_FOUND)
        return say_fail(status, "there is no program '%s'", program);
    if (status == EXIT_NOT_EXECUTABLE)
        return say_fail(status, "'%s' may not be executed", program);
    return 0;
}

/* Where an rtl trace has started this one: what is recorded here is missing there. */
static void tell_outer_trace(void)
{
    const char *session = secure_getenv("RTL_SESSION");
    const char *address = secure_getenv("RTL_REPORT");
    int file = session ? rtl_session_open(session, O_RDONLY) : -1;
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
    static const struct argp argp = {
        option_list, parse_option, "[--] PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};
    struct options options = {.mode = "full"};
    char path[PATH_MAX];
    char librtl[PATH_MAX];
    char soft[PATH_MAX] = "";
    char preload[2 * PATH_MAX];
    struct recording recording = {
        .options = &options, .path = path, .librtl = librtl, .preload = preload, .soft = soft};
    limits_raise();
    if (parse(&argp, argc, argv, ARGP_IN_ORDER, &options) != 0)
        return EXIT_USAGE;
    if (options.list)
        return metrics_show();
    if (!options.program)
        return say_fail(EXIT_USAGE, "no program was named: rtl trace [OPTION...] -- PROGRAM "
                                    "[ARGUMENT...]");
    int failed = find_program(options.program[0], path, sizeof path);
    if (!failed)
        failed = check_metrics(&options);
    if (!failed)
        failed = choose_gpu(options.gpu, soft, sizeof soft);
    if (failed)
        return failed;
    if (!paths_library("librtl.so", librtl, sizeof librtl))
        return say_fail(EXIT_USAGE, "librtl.so is not in the library folder that belongs to this "
                                    "rtl: build or install it");
    failed = preload_list(options.mode, librtl, preload, sizeof preload);
    if (failed)
        return failed;
    tell_outer_trace();
    char why[1024];
    if (rtl_session_create_for(recording.session, sizeof recording.session, ring_bytes(&options),
                               why, sizeof why) != 0)
        return say_fail(EXIT_USAGE, "no session could be made: %s", why);
    (void)rtl_session_hold(recording.session); /* until rtl ends */
    rtl_report_open(&recording.report);
    recording.terminal = !options.quiet && show_terminal(stderr);
    failed = run(&recording);
    rtl_report_close(&recording.report);
    rtl_session_remove(recording.session);
    return failed >= 0 ? failed : child_end_alike(&recording.child);
}
