#include "trace/target.h"

#include "analysis/metrics_names.h"
#include "common/child.h"
#include "common/command.h"
#include "common/paths.h"
#include "common/probe.h"
#include "common/say.h"
#include "common/softgpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LIBRTLMPI "librtlmpi.so"

/* Other tools part them by spaces. */
static bool is_metric(const struct trace_options *options, const char *word)
{
    struct metrics_elsewhere elsewhere;
    return options->metric_names &&
           (rtl_metric_find(word) || metrics_named_elsewhere(word, &elsewhere));
}

/* As other tools take it behind -f, which is --force here. */
static bool is_format(const char *word)
{
    static const char *const formats[] = {"csv", "json", "pftrace", "rocpd", "rpd"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i)
        if (strcasecmp(word, formats[i]) == 0)
            return true;
    return false;
}

static int find_program(const struct trace_options *options, char *path, size_t size)
{
    const char *program = options->program[0];
    int status = paths_program(program, path, size);
    if (status == EXIT_NOT_FOUND && is_metric(options, program))
        return say_fail(status, "there is no program '%s': commas part the names of --metrics",
                        program);
    if (status == EXIT_NOT_FOUND && is_format(program))
        return say_fail(status,
                        "there is no program '%s': rtl trace makes a trace, and 'rtl export FILE "
                        "-F %s' files of other formats of it",
                        program, program);
    if (status == EXIT_NOT_FOUND)
        return say_fail(status, "there is no program '%s'", program);
    if (status == EXIT_NOT_EXECUTABLE)
        return say_fail(status, "'%s' may not be executed", program);
    return 0;
}

/* A GPU may be there by another way than the driver's own file (WSL has /dev/dxg): then the runtime
 * is asked, which takes a while. */
static bool runtime_has_gpu(void)
{
    struct probe probe;
    probe_run(NULL, &probe);
    return probe.gpus > 0;
}

static int need_real_gpu(void)
{
    if (access("/dev/kfd", R_OK | W_OK) == 0)
        return 0;
    bool denied = errno == EACCES;
    if (runtime_has_gpu())
        return 0;
    if (denied)
        return say_fail(
            EXIT_USAGE,
            "/dev/kfd may not be opened: join the group that owns it (render or video), "
            "or record on the software GPU with --gpu soft");
    return say_fail(EXIT_USAGE, "this machine has no AMD GPU (no /dev/kfd, and the runtime has "
                                "none): record on the software GPU with --gpu soft");
}

/* Decides on the GPU. `soft` gets the folder of the software GPU where the child must be led to
 * it. */
static int choose_gpu(enum gpu gpu, char *soft, size_t size)
{
    bool led = softgpu_is_led();
    if (gpu == GPU_REAL && led)
        return say_fail(EXIT_USAGE, "LD_PRELOAD leads to the software GPU: unset it for "
                                    "--gpu real");
    if (gpu == GPU_REAL || (gpu == GPU_AUTO && !led))
        return need_real_gpu();
    if (gpu == GPU_AUTO)
        return 0;
    if (!paths_softgpu(soft, size))
        return say_fail(EXIT_USAGE,
                        "the software GPU (softgpu/libsoftgpu.so) is not in the library "
                        "folder that belongs to this rtl: build or install it");
    return 0;
}

/* Whether a path, of `length` bytes, is that of a library of RTL's. */
static bool is_own(const char *path, size_t length, const char *library)
{
    const char *name = memrchr(path, '/', length);
    name = name ? name + 1 : path;
    return (size_t)(path + length - name) == strlen(library) &&
           strncmp(name, library, strlen(library)) == 0;
}

static bool is_librtl(const char *path, size_t length)
{
    return is_own(path, length, "librtl.so");
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
static int check_metrics(const struct trace_options *options)
{
    const struct metrics *metrics = &options->metrics;
    const char *queue = secure_getenv("RTL_QUEUE");
    bool of_ranges = !options->counting || strcmp(options->counting, "range") == 0;
    if (options->counting && !options->metric_names)
        return say_fail(EXIT_USAGE, "--counting says how counters are read, and --metrics names "
                                    "none");
    if (options->kernel && (of_ranges || metrics_counted(metrics) == 0))
        return say_fail(EXIT_USAGE,
                        "--kernel says which kernels are counted, which takes --metrics and "
                        "--counting kernel; all are recorded, and rtl summary --kernel shows some");
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

/* Before the program starts: of the runtime that is found here. One that only the program finds is
 * asked by librtl.so, and the trace says so. */
static int check_counters(const struct trace_options *options, const char *soft)
{
    struct probe probe;
    if (metrics_counted(&options->metrics) == 0 || strcmp(options->mode, "full") != 0)
        return 0;
    probe_run(soft[0] ? soft : NULL, &probe);
    if (strcmp(probe.generation, "G2") != 0 && strcmp(probe.generation, "unstaged") != 0)
        return 0;
    return say_fail(
        EXIT_USAGE,
        "hardware counters (--metrics) in full mode need this GPU runtime's intercept "
        "queue (%s), which loses packets of a batch that wraps: mend the runtime "
        "(patches/README.md of RTL's sources), or use --mode standard --counting kernel, "
        "which leave graphs out",
        probe.generation);
}

static bool with_calls(const char *mode)
{
    return strcmp(mode, "hip") == 0 || strcmp(mode, "full") == 0;
}

/* Adds what the environment already asks for, without older libraries of RTL's. */
static void append_before(char *list, size_t size)
{
    const char *before = secure_getenv("LD_PRELOAD");
    size_t used = strlen(list);
    for (const char *word; before && *(word = before + strspn(before, " :"));) {
        size_t length = strcspn(word, " :");
        if (!is_librtl(word, length) && !is_own(word, length, LIBRTLMPI) &&
            used + length + 2 < size)
            used += (size_t)snprintf(list + used, size - used, ":%.*s", (int)length, word);
        before = word + length;
    }
}

/* What is preloaded: librtl.so in front, for host calls, and what compares clocks over MPI, then
 * what the environment already asks for. Empty where the mode or RTL_PRELOAD=off leaves host calls
 * out, and MPI is not asked for. */
static int preload_list(const char *mode, struct target *target)
{
    const char *setting = secure_getenv("RTL_PRELOAD");
    if (setting && setting[0] && strcmp(setting, "on") != 0 && strcmp(setting, "off") != 0)
        return say_fail(EXIT_USAGE, "RTL_PRELOAD=%s is neither on nor off", setting);
    bool calls = with_calls(mode) && !(setting && strcmp(setting, "off") == 0);
    (void)snprintf(target->preload, sizeof target->preload, "%s%s%s", calls ? target->librtl : "",
                   calls && target->mpi[0] ? ":" : "", target->mpi);
    if (target->preload[0])
        append_before(target->preload, sizeof target->preload);
    return 0;
}

/* Programs open roctx by its name: RTL's libraries are found behind all that the environment has.
 */
static void find_roctx(char *folder, size_t size)
{
    if (!paths_library("roctx", folder, size) || paths_cut(folder))
        folder[0] = '\0';
}

static void library_list(const char *roctx, char *list, size_t size)
{
    const char *before = secure_getenv("LD_LIBRARY_PATH");
    bool any = before && before[0];
    (void)snprintf(list, size, "%s%s%s", any ? before : "", any ? ":" : "", roctx);
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

/* Settings of HIP that take packets and doorbells out of RTL's sight. Their value here is HIP's own
 * default in the releases that are known. */
static const struct {
    struct variable variable;
    const char *why;
} in_sight[] = {
    {{"DEBUG_HIP_GRAPH_PM4", "0"}, "each kernel of a graph's replay has a packet"},
    {{"DEBUG_CLR_DIRECT_DOORBELL", "0"}, "each doorbell passes librtl.so"},
};

#define IN_SIGHT (sizeof in_sight / sizeof *in_sight)

void target_say(void)
{
    for (size_t i = 0; i < IN_SIGHT; ++i) {
        const struct variable *variable = &in_sight[i].variable;
        const char *set = secure_getenv(variable->name);
        if (set)
            say("the environment has %s=%s, which stays; with %s, %s", variable->name, set,
                variable->value, in_sight[i].why);
        else
            say("sets %s=%s for the program, so that %s", variable->name, variable->value,
                in_sight[i].why);
    }
}

/* Adds a variable to an environment, which is ours at first. NULL when memory is short. */
static char **with(char **environment, const struct variable *variable)
{
    char **next = child_environment(environment, variable->name, variable->value);
    if (environment != environ)
        child_environment_free(environment);
    return next;
}

char **target_environment(const struct trace_options *options, const struct target *target,
                          const char *session, const char *report, unsigned pass)
{
    char tools[2 * PATH_MAX];
    char buffer[24];
    char number[24];
    char sanitizer[4096];
    char libraries[4 * PATH_MAX];
    library_list(target->roctx, libraries, sizeof libraries);
    tools_list(target->librtl, tools, sizeof tools);
    (void)snprintf(buffer, sizeof buffer, "%" PRIu64, options->buffer);
    sanitizer_options(sanitizer, sizeof sanitizer);
    (void)snprintf(number, sizeof number, "%u", pass);
    bool counted = metrics_counted(&options->metrics) > 0;
    const struct variable variables[] = {
        {"HSA_TOOLS_LIB", tools},
        {"HSA_TOOLS_REPORT_LOAD_FAILURE", "1"},
        {"LD_PRELOAD", target->preload[0] ? target->preload : NULL},
        {"LD_LIBRARY_PATH", target->roctx[0] ? libraries : NULL},
        {"ASAN_OPTIONS", target->preload[0] || target->soft[0] ? sanitizer : NULL},
        {"RTL_SESSION", session},
        {"RTL_REPORT", report},
        {"RTL_MODE", options->mode},
        {"RTL_BUFFER", options->buffer ? buffer : NULL},
        {"RTL_DELAY", options->delay},
        {"RTL_DURATION", options->duration},
        {"RTL_START", options->starts_off ? "off" : NULL},
        {"RTL_METRICS", counted ? options->metric_names : NULL},
        {"RTL_COUNTING", counted ? options->counting : NULL},
        {"RTL_METRICS_KERNEL", counted ? options->kernel : NULL},
        {"RTL_PASS", counted ? number : NULL},
        {"RTL_SYNC_MPI", target->mpi[0] ? "1" : NULL},
    };
    char **environment = environ;
    for (size_t i = 0; environment && i < sizeof variables / sizeof variables[0]; ++i)
        if (variables[i].value)
            environment = with(environment, &variables[i]);
    for (size_t i = 0; environment && i < IN_SIGHT; ++i)
        if (!secure_getenv(in_sight[i].variable.name))
            environment = with(environment, &in_sight[i].variable);
    return target->soft[0] ? softgpu_environment(environment, target->soft) : environment;
}

/* A library of RTL's that the runtime or the dynamic linker is told of by its path. */
static int find_library(const char *name, char *path, size_t size)
{
    if (!paths_library(name, path, size))
        return say_fail(EXIT_USAGE,
                        "%s is not in the library folder that belongs to this rtl: build or "
                        "install it",
                        name);
    const char *cut = paths_cut(path);
    if (cut) /* at the path that is left anybody might have a library */
        return say_fail(EXIT_USAGE,
                        "%s has '%c' in its path, where the GPU runtime or the dynamic linker ends "
                        "a name: install RTL in a folder without that",
                        path, *cut);
    return 0;
}

int target_find(const struct trace_options *options, struct target *target)
{
    int failed = find_program(options, target->path, sizeof target->path);
    if (!failed)
        failed = check_metrics(options);
    if (!failed)
        failed = choose_gpu(options->gpu, target->soft, sizeof target->soft);
    if (!failed)
        failed = check_counters(options, target->soft);
    if (failed)
        return failed;
    failed = find_library("librtl.so", target->librtl, sizeof target->librtl);
    if (!failed && options->sync_mpi)
        failed = find_library(LIBRTLMPI, target->mpi, sizeof target->mpi);
    if (failed)
        return failed;
    find_roctx(target->roctx, sizeof target->roctx);
    return preload_list(options->mode, target);
}
