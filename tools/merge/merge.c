/* rtl merge: several traces become one. */
#include "store/merge.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/output.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/written.h"
#include "merge/hosts.h"
#include "store/beside.h"
#include "store/file.h"
#include "store/merge_state.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Progress is shown so often. */
#define PROGRESS_NS 100000000u

struct options {
    const char *name; /* of the new trace */
    struct rtl_merge_input *inputs;
    size_t count;
    const char *align;
    struct hosts hosts;
    bool force, resume, json;
    bool found;       /* what another merge has begun */
    bool shown;       /* progress is */
    uint64_t next_ns; /* when it is shown again */
    struct output output;
    char farewell[PATH_MAX + 256];
};

static bool same_file(const char *a, const char *b)
{
    struct stat x;
    struct stat y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Opening tells what is wrong with an input better than copying it could. */
static int check_inputs(const struct options *options)
{
    for (size_t i = 0; i < options->count; ++i) {
        const char *path = options->inputs[i].path;
        rtl_trace_t *trace = open_trace(path);
        if (!trace)
            return EXIT_USAGE;
        rtlTraceClose(trace);
        for (size_t j = 0; j < i; ++j)
            if (same_file(path, options->inputs[j].path))
                return say_fail(EXIT_USAGE, "%s and %s are one file", options->inputs[j].path,
                                path);
    }
    return EXIT_FINE;
}

/* The file that is made. */

/* What is there of a merge that was ended: whether to go on with it. */
static int check_partial(const struct options *options, const char *path, bool *there)
{
    enum rtl_merge_file what = rtl_merge_file_at(path);
    *there = what == RTL_MERGE_FILE_UNFINISHED || what == RTL_MERGE_FILE_TRACE;
    if (what == RTL_MERGE_FILE_TRACE && !options->resume)
        return say_fail(EXIT_USAGE,
                        "'%s' is a trace, which a merge was about to give its name: --resume does",
                        path);
    if (what == RTL_MERGE_FILE_OTHER)
        return say_fail(EXIT_USAGE, "'%s' is in the way: it is not a merge of yours that was ended",
                        path);
    if (!*there || options->resume)
        return EXIT_FINE;
    if (!options->force)
        return say_fail(EXIT_USAGE,
                        "'%s' is of a merge that has not ended: --resume goes on with it, -f "
                        "begins anew",
                        path);
    int lock = rtl_merge_lock(path);
    if (lock < 0)
        return say_fail(EXIT_USAGE, "'%s' is written by another rtl merge", path);
    rtl_file_remove(path);
    (void)close(lock);
    *there = false;
    return EXIT_FINE;
}

/* What is made stays from now on, which is said. */
static void leave_it(struct options *options)
{
    (void)snprintf(options->farewell, sizeof options->farewell,
                   "%srtl: '%s' is kept: 'rtl merge --resume' goes on with it\n",
                   show_terminal(stderr) ? "\033[K" : "", options->output.path);
    options->output.farewell = options->farewell;
    options->output.stays = true;
}

/* An empty trace, unless there is one that has been begun. */
static int make_trace(struct options *options)
{
    char error[512] = "";
    bool there = false;
    char why[RTL_BESIDE_WHY];
    const char *path = options->output.path;
    bool lasting = output_is_file(&options->output);
    int status = lasting ? check_partial(options, path, &there) : EXIT_FINE;
    if (status != EXIT_FINE)
        return status;
    if (there && !rtl_beside_is_own(path, why, sizeof why))
        return say_fail(EXIT_USAGE, "'%s' is not read: %s", path, why);
    if (!there && rtl_merge_create(path, error, sizeof error) != 0)
        return say_fail(EXIT_USAGE, "%s", error);
    if (there)
        leave_it(options);
    options->found = there;
    options->output.stays = there;
    return EXIT_FINE;
}

/* Begins the output and makes it a trace that holds nothing. */
static int begin(struct options *options)
{
    const char **inputs = memory_new(options->count, sizeof(const char *));
    for (size_t i = 0; i < options->count; ++i)
        inputs[i] = options->inputs[i].path;
    const struct output_rules rules = {.kind = OUTPUT_TRACE,
                                       .force = options->force,
                                       .partial = true,
                                       .inputs = inputs,
                                       .input_count = options->count};
    int status = output_begin(&options->output, options->name, &rules);
    free(inputs);
    return status == EXIT_FINE ? make_trace(options) : status;
}

/* Progress. */

static void draw_progress(struct options *options, size_t taken, size_t of)
{
    static const char bar[] = "########################################";
    enum { WIDTH = sizeof bar - 1 };
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (!options->shown || (ns < options->next_ns && taken + 1 < of))
        return;
    options->next_ns = ns + PROGRESS_NS;
    (void)fprintf(stderr, "\033[Krtl: [%-*.*s] ", WIDTH, (int)(WIDTH * taken / of), bar);
    if (taken + 1 < of)
        (void)fprintf(stderr, "%zu of %s\r", taken, show_things(of - 1, "trace").text);
    else
        (void)fprintf(stderr, "statistics\r");
}

/* From the first trace on that is in, what there is stays. */
static void progress(void *context, size_t taken, size_t of)
{
    struct options *options = context;
    if (taken && output_is_file(&options->output))
        leave_it(options);
    draw_progress(options, taken, of);
}

static int align(void *context, struct rtl_merge_input *inputs, size_t count, char *error,
                 size_t error_size)
{
    struct options *options = context;
    return hosts_align(&options->hosts, inputs, count, error, error_size);
}

/* What fits. */
static void tell_what(const struct rtl_merge_input *input)
{
    if (input->collectives)
        (void)printf("%s", show_things(input->collectives, "collective").text);
    if (input->collectives && input->exchanges)
        (void)printf(" and ");
    if (input->exchanges)
        (void)printf("%s of messages", show_things(input->exchanges, "exchange").text);
}

/* Why it is worse than messages and collectives are. */
static void tell_beyond(const struct rtl_merge_input *input)
{
    uint64_t at[2];
    if (!rtl_merge_goes_beyond(input, at))
        return;
    (void)printf(", most of that because its recording");
    if (at[0])
        (void)printf(" begins %s before the first of them", show_duration((double)at[0]).text);
    if (at[0] && at[1])
        (void)printf(" and");
    if (at[1])
        (void)printf(" goes on for %s after the last of them", show_duration((double)at[1]).text);
}

static void tell_aligned(const struct rtl_merge_input *input)
{
    (void)printf("another host: moved by %s so that ", show_duration((double)input->shift).text);
    tell_what(input);
    (void)printf(" fit, right within %s as long as it recorded",
                 show_duration((double)input->error).text);
    tell_beyond(input);
    (void)printf("; its clock drifts by %.3f +- %.3f ppm%s, and its time of day was off by %s",
                 input->clock_drift / 1000, input->clock_drift_error / 1000,
                 input->changes ? ", which changed meanwhile" : "",
                 show_duration((double)-input->corrected).text);
    if (input->unaligned)
        (void)printf("; but %s", input->unaligned);
}

static void tell_clock(const struct rtl_merge_input *input)
{
    switch (input->clock) {
    case RTL_MERGE_REFERENCE:
        (void)printf("its clock is the new trace's");
        break;
    case RTL_MERGE_SAME_BOOT:
        (void)printf("the same host and clock: exact");
        break;
    case RTL_MERGE_SAME_HOST:
        (void)printf("the same host by its name and time of day: taken for one clock");
        break;
    case RTL_MERGE_TIME_OF_DAY:
        (void)printf(
            "another host: moved by %s so that the times of day agree, which is as good as "
            "the hosts' clocks (this one's moved by %s meanwhile)",
            show_duration((double)input->shift).text, show_duration((double)input->drift).text);
        if (input->unaligned)
            (void)printf("; nothing tells more: %s", input->unaligned);
        break;
    case RTL_MERGE_COLLECTIVES:
    case RTL_MERGE_EXCHANGES:
    case RTL_MERGE_BOTH:
        tell_aligned(input);
        break;
    }
}

static void show_text(const struct options *options)
{
    for (size_t i = 0; i < options->count && !written_to_none(); ++i) {
        const struct rtl_merge_input *input = &options->inputs[i];
        (void)printf("%s, host %s: ", plain(input->path),
                     input->host[0] ? plain(input->host) : "unknown");
        if (input->processes > 1)
            (void)printf("processes %" PRIu32 " to %" PRIu32 "; ", input->process,
                         input->process + input->processes - 1);
        else if (input->processes == 1)
            (void)printf("process %" PRIu32 "; ", input->process);
        else
            (void)printf("no processes; ");
        tell_clock(input);
        (void)putchar('\n');
    }
}

static const char *const clock_names[] = {"reference",   "same-boot", "same-host", "time-of-day",
                                          "collectives", "exchanges", "both"};

static json_t *input_json(const struct rtl_merge_input *input)
{
    bool aligned = input->clock >= RTL_MERGE_COLLECTIVES;
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:s, s:I, s:o, s:o}", "file", open_text(input->path),
                  "host", open_text(input->host), "first_process",
                  input->processes ? open_id(input->process) : json_null(), "processes",
                  open_id(input->processes), "clock", clock_names[input->clock], "shift_ns",
                  (json_int_t)input->shift, "drift_ns", open_number(input->drift), "left_out",
                  open_text(input->left_out));
    (void)json_object_set_new(object, "error_ns",
                              aligned ? open_number(input->error) : json_null());
    (void)json_object_set_new(object, "error_between_ns",
                              aligned ? open_number(input->error_between) : json_null());
    (void)json_object_set_new(object, "clock_drift_ppm",
                              aligned ? json_real(input->clock_drift / 1000) : json_null());
    (void)json_object_set_new(object, "clock_drift_error_ppm",
                              aligned ? json_real(input->clock_drift_error / 1000) : json_null());
    (void)json_object_set_new(object, "clock_drift_changes",
                              aligned ? json_boolean(input->changes) : json_null());
    (void)json_object_set_new(object, "collectives",
                              input->collectives ? open_number(input->collectives) : json_null());
    (void)json_object_set_new(object, "exchanges",
                              input->exchanges ? open_number(input->exchanges) : json_null());
    (void)json_object_set_new(object, "time_of_day_off_ns",
                              aligned ? json_integer(-(json_int_t)input->corrected) : json_null());
    (void)json_object_set_new(object, "unaligned",
                              input->unaligned ? json_string(input->unaligned) : json_null());
    return object;
}

static int show_json(const struct options *options)
{
    json_t *list = json_array();
    for (size_t i = 0; i < options->count; ++i)
        (void)json_array_append_new(list, input_json(&options->inputs[i]));
    return open_print_json(
        json_pack("{s:o, s:o}", "file", open_text(options->name), "traces", list), EXIT_FINE);
}

static int merge(struct options *options)
{
    char error[2048] = "";
    char command[4096];
    char how[64];
    int used = snprintf(command, sizeof command, "rtl merge %s", options->name);
    for (size_t i = 0; i < options->count && used > 0 && (size_t)used < sizeof command; ++i)
        used +=
            snprintf(command + used, sizeof command - (size_t)used, " %s", options->inputs[i].path);
    (void)snprintf(how, sizeof how, "--align %s", options->align ? options->align : "auto");
    struct rtl_merge plan = {.path = options->output.path,
                             .command = command,
                             .options = how,
                             .inputs = options->inputs,
                             .count = options->count,
                             .align = align,
                             .context = options,
                             .progress = progress};
    options->shown = show_terminal(stderr);
    int result = rtl_merge(&plan, error, sizeof error);
    if (options->shown)
        (void)fputs("\033[K", stderr);
    if (plan.before)
        say("%s had been taken in before", show_things(plan.before, "trace").text);
    if (result == 0)
        return EXIT_FINE;
    if (!plan.can_go_on && plan.before == 0 && !options->found)
        options->output.stays = false;
    if (options->output.stays && plan.can_go_on)
        return say_fail(EXIT_USAGE, "%s; '%s' is kept: 'rtl merge --resume' goes on with it", error,
                        options->output.path);
    return say_fail(EXIT_USAGE, "%s", error);
}

static int run(struct options *options)
{
    int status = check_inputs(options);
    if (status == EXIT_FINE)
        status = begin(options);
    if (status == EXIT_FINE)
        status = merge(options);
    if (status == EXIT_FINE)
        status = output_commit(&options->output);
    output_drop(&options->output);
    if (status != EXIT_FINE)
        return status;
    for (size_t i = 0; i < options->count; ++i)
        if (options->inputs[i].left_out[0])
            say("left out of %s, as this rtl does not know them: tables %s",
                options->inputs[i].path, options->inputs[i].left_out);
    if (options->json)
        return show_json(options);
    show_text(options);
    return EXIT_FINE;
}

enum { KEY_ALIGN = 256, KEY_RESUME };

static const struct argp_option option_list[] = {
    {"align", KEY_ALIGN, "HOW", 0,
     "how clocks of different hosts are put together: by times of day (time-of-day), by messages "
     "that rtl trace --sync exchanged (exchanges), by collectives that all ran (collectives), or "
     "auto, the default: by messages and collectives where they tell",
     0},
    {"output", 'o', "OUTPUT", 0, "the new trace, in the place of the first argument", 0},
    {"force", 'f', NULL, 0, "replace the trace OUTPUT if it exists", 0},
    {"resume", KEY_RESUME, NULL, 0,
     "go on with OUTPUT.partial, which a merge of the same traces has left that was ended; if "
     "there "
     "is none, begin",
     0},
    {"json", 'j', NULL, 0, "write what was done as JSON", 0},
    {0},
};

static error_t parse_align(struct options *options, const char *value)
{
    if (parse_once("align", value, &options->align))
        return EINVAL;
    bool automatic = strcmp(value, "auto") == 0;
    options->hosts.exchanges = automatic || strcmp(value, "exchanges") == 0;
    options->hosts.collectives = automatic || strcmp(value, "collectives") == 0;
    options->hosts.required = !automatic;
    return options->hosts.exchanges || options->hosts.collectives ||
                   strcmp(value, "time-of-day") == 0
               ? 0
               : say_fail(EINVAL,
                          "--align is auto, exchanges, collectives or time-of-day, not '%s'",
                          value);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'o':
        if (options->name)
            return say_fail(EINVAL, "--output is given twice");
        options->name = value;
        return 0;
    case KEY_ALIGN:
        return parse_align(options, value);
    case 'f':
        options->force = true;
        return 0;
    case KEY_RESUME:
        options->resume = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        options->inputs =
            memory_grown(options->inputs, options->count + 1, sizeof *options->inputs);
        options->inputs[options->count++] = (struct rtl_merge_input){.path = value};
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Without --output the first argument is the new trace. */
static void take_output(struct options *options)
{
    if (options->name || options->count == 0)
        return;
    options->name = options->inputs[0].path;
    --options->count;
    memmove(options->inputs, options->inputs + 1, options->count * sizeof *options->inputs);
}

int cmd_merge(int argc, char **argv)
{
    static const char doc[] =
        "Makes one trace of several, such as those of the ranks and hosts of a job."
        "\vProcesses get new numbers; what else there is keeps its own. Traces of one host, "
        "between two starts of it, have one clock: nothing moves. The clock of the new trace is "
        "that of the host that has been up longest. Times of other hosts are moved so that the "
        "times of day agree, which is as exact as these were, and then so that messages that rtl "
        "trace --sync exchanged are answered after they were asked, and that no collective ends "
        "on any rank before all have begun it, as far as all ranks ran the same ones: how exact "
        "that is is told. The notes of the new trace (rtl info) tell it, too.\n\n"
        "A merge that is ended by a signal or for lack of space leaves OUTPUT.partial, with each "
        "trace that was taken in as a whole; --resume goes on with it.\n\n"
        "Examples:\n"
        "  rtl merge job.db rank0.db rank1.db\n"
        "  rtl merge -f job.db host*/trace.db && rtl summary job.db";
    static const struct argp argp = {option_list, parse_option, "[OUTPUT] FILE...", doc, NULL,
                                     NULL,        NULL};
    struct options options = {.hosts = {.exchanges = true, .collectives = true}};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    take_output(&options);
    if (!options.name)
        status = say_fail(EXIT_USAGE, "no file was named: rtl merge OUTPUT FILE...");
    else if (options.count == 0)
        status = say_fail(EXIT_USAGE, "no trace was named: rtl merge %s FILE...", options.name);
    else
        status = run(&options);
    free(options.inputs);
    return status;
}
