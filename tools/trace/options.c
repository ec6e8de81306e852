#include "trace/options.h"

#include "common/command.h"
#include "common/duration.h"
#include "common/elsewhere.h"
#include "common/parse.h"
#include "common/regexp.h"
#include "common/say.h"
#include "ring/ring.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What librtl takes as RTL_BUFFER. */
#define LEAST_BUFFER (UINT64_C(64) << 10)
#define MOST_BUFFER  (UINT64_C(1) << 30)

static const char *const modes[] = {"lite", "standard", "hip", "full"};

/* What the classic tool calls its mode of that kind. */
static const char other_name[] = "default";
static const char other_mode[] = "standard";

enum {
    KEY_GPU = 256,
    KEY_BUFFER,
    KEY_DELAY,
    KEY_DURATION,
    KEY_START_OFF,
    KEY_METRICS,
    KEY_COUNTING,
    KEY_KERNEL,
    KEY_SYNC,
};

static const struct argp_option option_list[] = {
    {"mode", 'm', "MODE", 0, "what is recorded: lite, standard, hip or full (the default)", 0},
    {"output", 'o', "FILE", 0,
     "the trace, trace.db by default (trace-%r.db as one of several ranks); %p is the program's "
     "process id, %h the host, %r the rank",
     0},
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
    {"kernel", KEY_KERNEL, "PATTERN", 0,
     "with --counting kernel: count only kernels whose names match this extended regular "
     "expression; all are recorded",
     0},
    {"sync", KEY_SYNC, "HOST[:PORT]|mpi", 0,
     "compare this machine's clock with that of HOST, where an rtl trace with the same --sync "
     "answers, or (mpi, in each rank) with that of rank 0 over the program's MPI, so that rtl "
     "merge can put traces of several hosts onto one clock",
     0},
    {"quiet", 'q', NULL, 0, "no progress and no summary", 0},
    {"verbose", 'v', NULL, 0, "say which settings of HIP are switched off for the program", 0},
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
    "  mpirun -n 4 rtl trace -o run-%r.db -- ./program\n"
    "  srun rtl trace --sync head -- ./program";

/* A mode by one of its names; NULL: there is none. */
static const char *find_mode(const char *name)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i)
        if (strcmp(name, modes[i]) == 0)
            return modes[i];
    return strcmp(name, other_name) == 0 ? other_mode : NULL;
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

static int parse_kernel(const char *text, const char **kernel)
{
    regex_t pattern;
    char why[1200];
    if (*kernel)
        return say_fail(EXIT_USAGE, "--kernel is given twice: 'a|b' is a pattern for both");
    int error = rtl_regexp_compile(&pattern, text, why, sizeof why);
    if (error)
        return say_fail(EXIT_USAGE, "--kernel: %s", error == EINVAL ? why : "memory is short");
    regfree(&pattern);
    *kernel = text;
    return 0;
}

static int parse_sync(const char *text, struct trace_options *options)
{
    if (parse_once("sync", text, &options->sync))
        return EXIT_USAGE;
    options->sync_mpi = strcmp(text, "mpi") == 0;
    if (options->sync_mpi)
        return 0;
    if (strncmp(text, "mpi:", 4) == 0)
        return say_fail(EXIT_USAGE,
                        "--sync mpi is the program's MPI, which has no port, and not a host: give "
                        "one of that name by its address, not '%s'",
                        text);
    if (rtl_sync_address_read(text, &options->responder))
        return 0;
    return say_fail(EXIT_USAGE,
                    "'%s' is no host for --sync: it is HOST or HOST:PORT, such as node1 or "
                    "[fe80::1]:24615, or mpi",
                    text);
}

static int parse_metrics(const char *text, struct trace_options *options)
{
    options->list = strcmp(text, "list") == 0;
    options->metric_names = text;
    return options->list ? 0 : metrics_parse(&options->metrics, text);
}

/* Attaching is done by an option of other tools, or by a command. */
int cmd_attach(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return say_fail(EXIT_USAGE, "there is no 'attach' here: %s",
                    elsewhere_option("rtl trace", "--attach"));
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct trace_options *options = state->input;
    switch (key) {
    case 'm':
        if (!(options->mode = find_mode(value)))
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
    case 'v':
        options->verbose = true;
        return 0;
    case KEY_GPU:
        return gpu_parse(value, &options->gpu);
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
    case KEY_KERNEL:
        return parse_kernel(value, &options->kernel) ? EINVAL : 0;
    case KEY_SYNC:
        return parse_sync(value, options) ? EINVAL : 0;
    case ARGP_KEY_ARG:
        options->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int trace_options_parse(int argc, char **argv, struct trace_options *options)
{
    static const struct argp argp = {
        option_list, parse_option, "[--] PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};
    *options = (struct trace_options){.mode = "full"};
    return parse(&argp, argc, argv, ARGP_IN_ORDER, options);
}

size_t trace_options_ring(const struct trace_options *options)
{
    const char *setting = secure_getenv("RTL_BUFFER");
    uint64_t bytes = options->buffer;
    if (bytes == 0 && setting)
        read_size(setting, &bytes);
    return bytes >= LEAST_BUFFER ? (size_t)bytes : RTL_RING_BYTES;
}
