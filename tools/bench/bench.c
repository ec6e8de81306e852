/* rtl bench: what a profiler costs here, and whether anything is missing. */
#include "bench/bench.h"

#include "common/command.h"
#include "common/duration.h"
#include "common/folder.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/output.h"
#include "common/parse.h"
#include "common/paths.h"
#include "common/process.h"
#include "common/say.h"
#include "common/show.h"
#include "common/softgpu.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 9u
#define LIMIT  UINT64_C(300000000000)

static const char *const workloads[] = {"eager",      "long",   "streams", "graph-64", "graph-512",
                                        "graph-4096", "copies", "threads", "decode"};

enum { WORKLOADS = sizeof workloads / sizeof workloads[0] };

struct options {
    struct bench bench;
    struct bench_gates gates;
    bool json, quiet, force;
    const char *html;
    struct output page;
};

enum { KEY_GPU = 256, KEY_GATE, KEY_HTML, KEY_LIMIT };

static const struct argp_option option_list[] = {
    {"workload", 'w', "NAME", 0,
     "eager, long, streams, graph-64, graph-512, graph-4096, copies, threads or decode; several "
     "times or a list with commas (all of them by default)",
     0},
    {"tool", 't', "TOOL", 0,
     "lite, standard, hip or full (RTL's modes), with /intercept for the other way into queues, "
     "all of these, a list of them with commas, or "
     "name=NAME,env=NAME=VALUE,command=COMMAND,count=COMMAND; several times (lite, standard, hip, "
     "full and full/intercept by default)",
     0},
    {"rounds", 'r', "COUNT", 0, "how often each is run, 9 by default", 0},
    {"kernels", 'k', "COUNT", 0, "how many kernels a workload submits, about", 0},
    {"gpu", KEY_GPU, "WHICH", 0,
     "real, soft (the software GPU) or auto (the default: what the environment leads to)", 0},
    {"gate", KEY_GATE, "LIMITS", 0,
     "fail beyond these: overhead=3%,lost=0,bytes=10,skipped=0,startup=5ms,finish=100ms,memory=48M",
     0},
    {"html", KEY_HTML, "FILE", 0,
     "write a page with pictures to FILE; one that rtl bench has made is replaced", 0},
    {"force", 'f', NULL, 0, "replace the FILE of --html whatever it is", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {"limit", KEY_LIMIT, "TIME", 0, "end a run that takes longer, 5m by default", 0},
    {"quiet", 'q', NULL, 0, "no progress", 0},
    {0},
};

static const char doc[] =
    "Measures what profilers cost, whether they see every kernel, and how much they write: RTL's "
    "modes and others, on workloads of its own or with PROGRAM, in interleaved rounds."
    "\vThe exit status is 1 if a limit of --gate was not kept or a tool's run failed, and 2 if "
    "nothing could be measured. In COMMAND, which a shell runs, {program} is the workload and "
    "{out} "
    "where the tool writes to; the command after count= prints how many kernels {out} has.\n\n"
    "Examples:\n"
    "  rtl bench --gpu soft -w eager,graph-512 -t full\n"
    "  rtl bench -t full --gate overhead=3%,lost=0,bytes=10 -- ./program\n"
    "  rtl bench -t full -t 'name=other,command=prof -o {out} -- {program}' --html bench.html";

struct bench_case *bench_case_of(const struct bench *bench, unsigned workload, unsigned tool)
{
    return &bench->cases[workload * bench->tool_count + tool];
}

static int add_workload(void *context, char *name)
{
    struct bench *bench = context;
    for (unsigned i = 0; i < bench->workload_count; ++i)
        if (strcmp(bench->workloads[i], name) == 0)
            return say_fail(EINVAL, "the workload '%s' was named twice", name);
    for (unsigned i = 0; i < WORKLOADS; ++i)
        if (strcmp(workloads[i], name) == 0) {
            bench->workloads[bench->workload_count++] = workloads[i];
            return 0;
        }
    return say_fail(EINVAL,
                    "there is no workload '%s': it is eager, long, streams, graph-64, graph-512, "
                    "graph-4096, copies, threads or decode",
                    name);
}

static int parse_kernels(const char *text, unsigned *kernels)
{
    if (parse_count("kernels", text, kernels) != 0)
        return EINVAL;
    if (*kernels == 0)
        return say_fail(EINVAL, "'%s' is no number of --kernels: it is at least 1", text);
    return 0;
}

static int parse_rounds(const char *text, unsigned *rounds)
{
    if (parse_count("rounds", text, rounds) != 0)
        return EINVAL;
    if (*rounds == 0 || *rounds > BENCH_MOST_ROUNDS)
        return say_fail(EINVAL, "'%s' is no number of --rounds: it is from 1 to %u", text,
                        BENCH_MOST_ROUNDS);
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    struct bench *bench = &options->bench;
    switch (key) {
    case 'w':
        return parse_list("workload", value, "eager,graph-512", add_workload, bench);
    case 't':
        return bench_tools_add(bench, value) ? EINVAL : 0;
    case 'r':
        return parse_rounds(value, &bench->rounds);
    case 'k':
        return parse_kernels(value, &bench->kernels);
    case 'j':
        options->json = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case KEY_GPU:
        return gpu_parse(value, &bench->gpu);
    case KEY_GATE:
        return bench_gate_read(&options->gates, value) ? EINVAL : 0;
    case KEY_HTML:
        options->html = value;
        return 0;
    case 'f':
        options->force = true;
        return 0;
    case KEY_LIMIT:
        if (!rtl_duration_read(value, &bench->limit_ns) || bench->limit_ns == 0)
            return say_fail(EINVAL, "'%s' is no time for --limit: it is such as 2s or 5m", value);
        return 0;
    case ARGP_KEY_ARG:
        bench->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Decides on the GPU, and finds the software GPU where it is that. */
static int choose_gpu(struct bench *bench)
{
    bool built = paths_softgpu(bench->soft, sizeof bench->soft);
    bool led = softgpu_is_led();
    if (bench->gpu == GPU_REAL && led)
        return say_fail(EXIT_USAGE,
                        "LD_PRELOAD leads to the software GPU: unset it for --gpu real");
    if (bench->gpu == GPU_AUTO)
        bench->gpu = led ? GPU_SOFT : GPU_REAL;
    if (bench->gpu == GPU_REAL && access("/dev/kfd", R_OK | W_OK) != 0)
        return say_fail(EXIT_USAGE,
                        "/dev/kfd cannot be opened (%s): measure on the software GPU "
                        "with --gpu soft",
                        say_errno(errno));
    if (bench->gpu == GPU_SOFT && !built)
        return say_fail(EXIT_USAGE,
                        "the software GPU (softgpu/libsoftgpu.so) is not in the library folder "
                        "that belongs to this rtl: build or install it");
    return 0;
}

static int find_work(struct bench *bench)
{
    if (!paths_beside("rtl-bench-work", bench->work, sizeof bench->work))
        return say_fail(EXIT_USAGE, "rtl-bench-work is not beside this rtl: build it (it needs "
                                    "hipcc), or measure a program of your own");
    if (bench->gpu == GPU_SOFT &&
        !paths_library("softgpu/bench_plugin.so", bench->plugin, sizeof bench->plugin))
        return say_fail(EXIT_USAGE, "softgpu/bench_plugin.so is not in the library folder that "
                                    "belongs to this rtl: build or install it");
    return 0;
}

static int prepare(struct bench *bench)
{
    char program[PATH_MAX];
    int status = choose_gpu(bench);
    if (status)
        return status;
    if (!paths_self(bench->self, sizeof bench->self))
        return say_fail(EXIT_USAGE, "where this rtl is cannot be told");
    if (bench->tool_count == 1)
        bench_tools_default(bench);
    if (!bench->program) {
        if (bench->workload_count == 0)
            for (unsigned i = 0; i < WORKLOADS; ++i)
                bench->workloads[bench->workload_count++] = workloads[i];
        return find_work(bench);
    }
    if (bench->workload_count > 0 || bench->kernels > 0)
        return say_fail(EXIT_USAGE, "%s is for the workloads of rtl bench, and '%s' is a program",
                        bench->kernels > 0 ? "--kernels" : "--workload", bench->program[0]);
    bench->workloads[bench->workload_count++] = bench->program[0];
    status = paths_program(bench->program[0], program, sizeof program);
    if (status == EXIT_NOT_FOUND)
        return say_fail(EXIT_USAGE, "there is no program '%s'", bench->program[0]);
    if (status)
        return say_fail(EXIT_USAGE, "'%s' may not be executed", bench->program[0]);
    return 0;
}

static void progress(const struct options *options, unsigned round, unsigned workload,
                     unsigned tool)
{
    const struct bench *bench = &options->bench;
    if (options->quiet || !show_terminal(stderr))
        return;
    (void)fputs("\033[K", stderr);
    if (round < bench->rounds)
        (void)fprintf(stderr, "round %u of %u: %s, %s\r", round + 1, bench->rounds,
                      bench->program ? "the program" : bench->workloads[workload],
                      bench->tools[tool].memory ? "another profiler" : bench->tools[tool].name);
    (void)fflush(stderr);
}

/* A workload that does not do alone cannot be compared with; and what it reads is in memory then.
 */
static int try_alone(struct bench *bench)
{
    struct bench_run run;
    char text[512];
    int signal;
    for (unsigned workload = 0; workload < bench->workload_count; ++workload) {
        if (bench_run(bench, workload, &bench->tools[0], &run) != 0)
            return EXIT_USAGE;
        if (process_stopped(&signal))
            return EXIT_USAGE;
        if (run.outcome != BENCH_FINE)
            return say_fail(EXIT_USAGE, "%s does not do without a tool: it %s",
                            bench->workloads[workload],
                            bench_outcome_text(&run, text, sizeof text));
    }
    return 0;
}

/* The order turns with the rounds, and so does its direction. */
static unsigned turned(unsigned place, unsigned round, unsigned count)
{
    unsigned step = round % 2 ? count - 1 - place : place;
    return (step + round / 2) % count;
}

static int run_round(struct options *options, unsigned round)
{
    struct bench *bench = &options->bench;
    int signal;
    for (unsigned workload = 0; workload < bench->workload_count; ++workload)
        for (unsigned place = 0; place < bench->tool_count; ++place) {
            unsigned tool = turned(place, round, bench->tool_count);
            struct bench_case *is = bench_case_of(bench, workload, tool);
            progress(options, round, workload, tool);
            if (bench_run(bench, workload, &bench->tools[tool], &is->runs[round]) != 0 ||
                process_stopped(&signal))
                return EXIT_USAGE;
        }
    return 0;
}

static int measure(struct options *options)
{
    struct bench *bench = &options->bench;
    size_t count = (size_t)bench->workload_count * bench->tool_count;
    bench->cases = memory_new(count, sizeof *bench->cases);
    for (size_t i = 0; i < count; ++i) {
        bench->cases[i].runs = memory_new(bench->rounds, sizeof *bench->cases[i].runs);
        for (unsigned round = 0; round < bench->rounds; ++round)
            bench->cases[i].runs[round].outcome = BENCH_NOT_RUN;
    }
    int status = try_alone(bench);
    for (unsigned round = 0; status == 0 && round < bench->rounds; ++round)
        status = run_round(options, round);
    progress(options, bench->rounds, 0, 0);
    for (unsigned workload = 0; workload < bench->workload_count; ++workload)
        for (unsigned tool = 0; tool < bench->tool_count; ++tool)
            bench_settle(bench_case_of(bench, workload, tool), bench_case_of(bench, workload, 0),
                         bench->rounds);
    return status;
}

/* Before anything is measured, so that it tells whether the page can be written. */
static int begin_html(struct options *options)
{
    const char *program = options->bench.program ? options->bench.program[0] : NULL;
    const struct output_rules rules = {.kind = OUTPUT_STREAM,
                                       .force = options->force,
                                       .own = BENCH_PAGE,
                                       .inputs = &program,
                                       .input_count = program ? 1 : 0};
    return output_begin(&options->page, options->html, &rules);
}

static int write_html(struct options *options)
{
    int fd = dup(options->page.fd);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    int failed = file ? bench_html(&options->bench, file) : -1;
    if (!file && fd >= 0)
        (void)close(fd);
    if (file && fclose(file) != 0)
        failed = -1;
    if (!failed)
        return output_commit(&options->page);
    return say_fail(EXIT_USAGE, "'%s' could not be written: %s", options->html, say_errno(errno));
}

/* Everything was measured: says what was found. */
static int tell(struct options *options)
{
    const struct bench *bench = &options->bench;
    char sentence[1024];
    unsigned failed = bench_gate_judge(bench, &options->gates, sentence, sizeof sentence);
    int status = failed > 0 ? EXIT_DIFFERENT : EXIT_FINE;
    if (options->html && write_html(options) != 0)
        status = EXIT_USAGE;
    if (options->json)
        status = open_print_json(bench_json(bench, failed, sentence), status);
    else
        bench_show(bench, stdout);
    if (failed > 1)
        say("%s (and %u more)", sentence, failed - 1);
    else if (failed == 1)
        say("%s", sentence);
    return status;
}

static void clean(struct bench *bench)
{
    size_t count = (size_t)bench->workload_count * bench->tool_count;
    for (size_t i = 0; bench->cases && i < count; ++i)
        free(bench->cases[i].runs);
    free(bench->cases);
    bench_tools_free(bench);
}

static int run(struct options *options)
{
    struct bench *bench = &options->bench;
    int signal;
    int status = prepare(bench);
    if (!status && options->html)
        status = begin_html(options);
    if (!status)
        status = folder_make("rtl-bench", bench->folder, sizeof bench->folder);
    if (status) {
        output_drop(&options->page);
        return status;
    }
    process_begin();
    status = measure(options);
    folder_remove(bench->folder);
    if (process_stopped(&signal))
        status = 128 + signal;
    else if (!status)
        status = tell(options);
    output_drop(&options->page);
    return status;
}

int cmd_bench(int argc, char **argv)
{
    static const struct argp argp = {
        option_list, parse_option, "[--] [PROGRAM [ARGUMENT...]]", doc, NULL, NULL, NULL};
    struct options options = {
        .bench = {
            .tools = {{.name = "none"}}, .tool_count = 1, .rounds = ROUNDS, .limit_ns = LIMIT}};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, ARGP_IN_ORDER, &options) == 0)
        status = run(&options);
    clean(&options.bench);
    return status;
}
