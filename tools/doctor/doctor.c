/* rtl doctor: what this machine has for recording, and what to do about each problem. */
#include "common/command.h"
#include "common/limits.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/paths.h"
#include "common/plain.h"
#include "common/probe.h"
#include "common/say.h"
#include "common/show.h"
#include "common/softgpu.h"
#include "doctor/releases.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOST_FINDINGS 64u

/* A ring takes 64 MiB unless told otherwise, and no more than a quarter of what is free. */
#define SHM_ENOUGH (UINT64_C(256) << 20)

enum state { FINE, HINT, PROBLEM };

static const char *const state_names[] = {"ok", "note", "problem"};

struct finding {
    enum state state;
    const char *topic;
    char text[512];
    const char *advice; /* "" if nothing is to be done */
};

struct report {
    struct finding findings[MOST_FINDINGS];
    unsigned count;
    bool driver, library, softgpu; /* usable */
    bool real_gpu, soft_gpu;       /* a runtime came up and has a GPU */
};

static void find(struct report *report, enum state state, const char *topic, const char *advice,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

static void find(struct report *report, enum state state, const char *topic, const char *advice,
                 const char *format, ...)
{
    va_list arguments;
    if (report->count == MOST_FINDINGS)
        return;
    struct finding *finding = &report->findings[report->count++];
    finding->state = state;
    finding->topic = topic;
    finding->advice = advice;
    va_start(arguments, format);
    (void)vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

static void look_at_driver(struct report *report)
{
    report->driver = access("/dev/kfd", R_OK | W_OK) == 0;
    if (report->driver)
        find(report, FINE, "driver", "", "/dev/kfd can be opened");
    else if (errno == EACCES)
        find(report, PROBLEM, "driver",
             "join the group that owns /dev/kfd (render or video), then log in again",
             "/dev/kfd is there and may not be opened");
    else if (access("/dev/dxg", R_OK | W_OK) == 0)
        find(report, FINE, "driver", "",
             "/dev/dxg can be opened: a GPU of the Windows around this");
    else
        find(report, HINT, "driver",
             "record on the software GPU (--gpu soft), or load the amdgpu driver",
             "no /dev/kfd: no AMD GPU, or no driver for it");
}

/* Whether it speaks this rtl's wire version is settled when it meets a session; the versions of the
 * release tell most mixtures apart before. */
static void look_at_library(struct report *report)
{
    char path[PATH_MAX];
    const char *(*version)(void) = NULL;
    if (!paths_library("librtl.so", path, sizeof path)) {
        find(report, PROBLEM, "librtl", "build or install it together with rtl",
             "librtl.so is not in the library folder that belongs to this rtl");
        return;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        find(report, PROBLEM, "librtl", "build or install it anew", "%s cannot be loaded: %s", path,
             dlerror()); // NOLINT(concurrency-mt-unsafe): rtl has one thread
        return;
    }
    void *symbol = dlsym(library, "rtlVersion");
    memcpy((void *)&version, (const void *)&symbol, sizeof version);
    if (!version || strcmp(version(), RTL_VERSION) != 0) {
        find(report, PROBLEM, "librtl", "install rtl and librtl.so from one build",
             "%s is of version %s, this rtl is %s", path, version ? version() : "unknown",
             RTL_VERSION);
        return;
    }
    report->library = true;
    find(report, FINE, "librtl", "", "%s, version %s as this rtl", path, version());
    const char *cut = paths_cut(path);
    if (cut)
        find(report, PROBLEM, "librtl", "install it in a folder without that",
             "%s has '%c' in its path, where the GPU runtime or the dynamic linker ends a name: "
             "nothing can be recorded",
             path, *cut);
}

/* Which release a library is, and whether RTL has been run on it. */
static void report_release(struct report *report, const char *topic, enum release_library library,
                           const char *path)
{
    static const char *const names[] = {[RELEASE_HIP] = "HIP", [RELEASE_ROCr] = "ROCr"};
    static const char advice[] = "see what rtl check says of a first recording";
    struct release release = release_of(library, path);
    if (release.major == 0)
        find(report, HINT, topic, advice, "the name of %s does not tell its release", path);
    else if (release.rocm)
        find(report, FINE, topic, "", "%s %u.%u (ROCm %s): this RTL has been run on it",
             names[library], release.major, release.minor, release.rocm);
    else
        find(report, HINT, topic, advice, "%s %u.%u: this RTL has not been run on it",
             names[library], release.major, release.minor);
}

/* What each generation of intercept queues means for RTL_QUEUE=intercept. */
static const struct {
    const char *name, *text, *advice;
    enum state state;
} generations[] = {
    {"G1", "hand over one packet a call: RTL_QUEUE=intercept records all modes", "", FINE},
    {"G3", "hand over batches: RTL_QUEUE=intercept records all modes", "", FINE},
    {"G2", "overflow their staging buffer: RTL_QUEUE=intercept is refused in full mode",
     "leave RTL_QUEUE alone, or mend the runtime with "
     "patches/0001-intercept-queue-staging-buffer.patch of RTL's sources",
     HINT},
    {"unstaged", "read past their ring: RTL_QUEUE=intercept is refused in full mode",
     "leave RTL_QUEUE alone, or mend the runtime with "
     "patches/0002-intercept-queue-batch-across-the-wrap.patch of RTL's sources",
     HINT},
    {"unknown", "are not of a kind that RTL knows: RTL_QUEUE=intercept is refused",
     "leave RTL_QUEUE alone", HINT},
};

static void report_generation(struct report *report, const struct probe *probe, const char *topic)
{
    for (size_t i = 0; i < sizeof generations / sizeof generations[0]; ++i)
        if (strcmp(generations[i].name, probe->generation) == 0)
            find(report, generations[i].state, topic, generations[i].advice,
                 "intercept queues (%s, by probe) %s", generations[i].name, generations[i].text);
}

/* What librtl.so would meet: whether it is loaded at all, the API tables, the intercept queues. */
static void report_tool(struct report *report, const struct probe *probe, const char *topic)
{
    char path[PATH_MAX];
    if (!paths_library("librtlprobe.so", path, sizeof path) || strchr(path, ' '))
        return;
    if (!probe->tool) {
        find(report, PROBLEM, topic,
             "set ROCPROFILER_REGISTER_ENABLED=0: with it, some runtimes load tools otherwise",
             "the runtime does not load tools by HSA_TOOLS_LIB: nothing would be recorded");
        return;
    }
    if (probe->missing[0]) {
        find(report, PROBLEM, topic, "use a runtime from ROCm 5.2 on",
             "API tables of %u and %u bytes have no %s, which RTL cannot do without",
             probe->core_table, probe->ext_table, probe->missing);
        return;
    }
    find(report, FINE, topic, "", "API tables of %u (core) and %u (AMD's) bytes, as RTL knows them",
         probe->core_table, probe->ext_table);
    report_generation(report, probe, topic);
}

/* What a runtime is, and the GPUs it has. True if it has one. */
static bool report_probe(struct report *report, const struct probe *probe, const char *topic)
{
    if (!probe->runtime[0]) {
        find(report, PROBLEM, topic, "install ROCm's runtime (Debian: libhsa-runtime64-1)",
             "there is no libhsa-runtime64.so.1 on the library path");
        return false;
    }
    if (!probe->ran) {
        find(report, PROBLEM, topic,
             probe_limit()[0] ? "lift the limit: ulimit -v unlimited" : "run rocminfo to see why",
             "%s crashed or hung when started%s", probe->runtime, probe_limit());
        return false;
    }
    if (probe->hsa_major < 0) {
        find(report, HINT, topic, "see the driver above; the software GPU needs none",
             "%s is there and does not start: %s", probe->runtime, probe->failure);
        report_release(report, topic, RELEASE_ROCr, probe->runtime);
        return false;
    }
    find(report, FINE, topic, "", "%s, HSA %d.%d", probe->runtime, probe->hsa_major,
         probe->hsa_minor);
    report_release(report, topic, RELEASE_ROCr, probe->runtime);
    report_tool(report, probe, topic);
    for (unsigned i = 0; i < probe->gpus; ++i)
        find(report, FINE, topic, "", "GPU %u: %s", i, probe->gpu[i]);
    bool counts = probe->gpus > 0 && probe->counters[0];
    if (counts &&
        (strcmp(probe->generation, "G2") == 0 || strcmp(probe->generation, "unstaged") == 0))
        find(report, HINT, topic,
             "use rtl trace --metrics with --mode standard --counting kernel, or mend the runtime "
             "(patches/README.md of RTL's sources)",
             "hardware counters by %s, but not in full mode: they need intercept queues there",
             probe->counters);
    else if (counts)
        find(report, FINE, topic, "", "hardware counters (rtl trace --metrics) by %s",
             probe->counters);
    else if (probe->gpus > 0)
        find(report, HINT, topic,
             "install AMD's aqlprofile (libhsa-amd-aqlprofile64.so) beside the runtime",
             "no hardware counters: the runtime has not found AMD's library for them");
    if (probe->gpus == 0)
        find(report, HINT, topic, "see the driver above; the software GPU needs none",
             "the runtime has no GPU");
    return probe->gpus > 0;
}

static void look_at_runtime(struct report *report)
{
    struct probe probe;
    char folder[PATH_MAX] = "";
    bool built = paths_softgpu(folder, sizeof folder);
    bool led = softgpu_is_led();
    probe_run(NULL, &probe);
    bool gpu = report_probe(report, &probe, "runtime");
    if (led)
        find(report, HINT, "runtime", "unset LD_PRELOAD to use a real GPU",
             "LD_PRELOAD leads to the software GPU");
    report->real_gpu = gpu && !led;
    if (probe.hip[0]) {
        find(report, FINE, "hip", "", "%s", probe.hip);
        report_release(report, "hip", RELEASE_HIP, probe.hip);
    } else {
        find(report, HINT, "hip", "install it for HIP programs (Debian: libamdhip64-5)",
             "there is no libamdhip64 on the library path");
    }
    if (probe.registers[0])
        find(report, FINE, "registration", "", "%s", probe.registers);
    if (!built) {
        find(report, HINT, "software GPU", "build or install it to record without a GPU",
             "softgpu is not in the library folder that belongs to this rtl");
        return;
    }
    probe_run(folder, &probe);
    report->soft_gpu = report_probe(report, &probe, "software GPU");
}

struct variable {
    const char *name;
    enum state state;
    const char *advice;
    const char *harmless; /* a value that is none of this, NULL: there is none */
};

/* Variables by which other tools come between a program and its GPU. */
static const struct variable variables[] = {
    {"HSA_TOOLS_LIB", HINT,
     "rtl trace puts librtl.so behind these tools; unset it if they are not wanted", NULL},
    {"LD_PRELOAD", HINT, "unset it if what is preloaded is a profiler", NULL},
    {"ROCP_TOOL_LIB", PROBLEM, "unset it: two profilers would time the same kernels", NULL},
    {"ROCPROFILER_METRICS_PATH", HINT, "unset it if rocprofiler is not wanted", NULL},
    {"ROCPROFILER_LOAD_TOOL", PROBLEM, "unset it: two profilers would time the same kernels", NULL},
    {"ROCP_HSA_INTERCEPT", PROBLEM, "unset it: two profilers would time the same kernels", NULL},
    {"DEBUG_CLR_DIRECT_DOORBELL", PROBLEM,
     "unset it: HIP would write the doorbell past every profiler", "0"},
    {"DEBUG_HIP_GRAPH_PM4", PROBLEM,
     "unset it: kernels of graphs would have no packets that a profiler can time", "0"},
    {"HSA_ENABLE_DTIF", HINT, "unset it: the runtime then looks for another library than its own",
     NULL},
    {"RTL_BUFFER", HINT, "unset it if kernels are lost for want of room", NULL},
    {"RTL_POOL", HINT, "unset it if kernels are lost for want of completion signals", NULL},
    {"RTL_START", HINT, "unset it if recording is to begin with the program", "on"},
    {"RTL_PRELOAD", HINT, "unset it if host calls are to be recorded", NULL},
    {"RTL_SESSION", HINT, "unset it: it belongs to a recording that goes on or has ended", NULL},
    {"RTL_REPORT", HINT, "unset it: it belongs to a recording that goes on or has ended", NULL},
};

static void look_at_environment(struct report *report)
{
    unsigned before = report->count;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; ++i) {
        const char *value = secure_getenv(variables[i].name);
        bool harmless = value && variables[i].harmless && strcmp(value, variables[i].harmless) == 0;
        if (value && value[0] && !harmless)
            find(report, variables[i].state, "environment", variables[i].advice, "%s=%s",
                 variables[i].name, value);
    }
    const char *enabled = secure_getenv("ROCPROFILER_REGISTER_ENABLED");
    const char *tools = secure_getenv("ROCPROFILER_REGISTER_LIBRARY");
    if (tools && tools[0] && !(enabled && strcmp(enabled, "0") == 0))
        find(report, PROBLEM, "environment",
             "set ROCPROFILER_REGISTER_ENABLED=0, else HSA_TOOLS_LIB is not read",
             "ROCPROFILER_REGISTER_LIBRARY=%s", tools);
    if (report->count == before)
        find(report, FINE, "environment", "", "no other tool is asked for");
}

static void look_at_memory(struct report *report)
{
    struct statvfs space;
    if (statvfs("/dev/shm", &space) != 0) {
        find(report, HINT, "shared memory", "mount a tmpfs at /dev/shm",
             "there is no /dev/shm: rings are kept in /tmp, which may be slower");
        return;
    }
    uint64_t left = (uint64_t)space.f_bavail * space.f_frsize;
    if (left < SHM_ENOUGH)
        find(report, PROBLEM, "shared memory",
             "make /dev/shm larger (docker run --shm-size=1g), else kernels may be lost",
             "/dev/shm has %s left", show_bytes(left).text);
    else
        find(report, FINE, "shared memory", "", "/dev/shm has %s left", show_bytes(left).text);
}

static const struct {
    const char *name, *what;
} modes[] = {
    {"lite", "single dispatches without a completion signal of their own"},
    {"standard", "all single dispatches; batches, such as graph replays, are left out"},
    {"hip", "as standard, and the host calls of HIP"},
    {"full", "every kernel, those of replayed graphs included, and the host calls of HIP"},
};

static const char *ways(const struct report *report)
{
    if (!report->library || (!report->real_gpu && !report->soft_gpu))
        return "not possible here";
    if (report->real_gpu)
        return report->soft_gpu ? "on the GPU, or with --gpu soft" : "on the GPU";
    return "with --gpu soft";
}

static void show_text(const struct report *report)
{
    for (unsigned i = 0; i < report->count; ++i) {
        const struct finding *finding = &report->findings[i];
        (void)printf("  ");
        show_styled(stdout,
                    finding->state == PROBLEM ? SHOW_BAD
                    : finding->state == FINE  ? SHOW_GOOD
                                              : SHOW_BOLD,
                    state_names[finding->state]);
        (void)printf("%*s  %s: %s\n", (int)(7 - strlen(state_names[finding->state])), "",
                     finding->topic, plain(finding->text));
        if (finding->advice[0])
            (void)printf("           what to do: %s\n", plain(finding->advice));
    }
    (void)printf("\nmodes, %s:\n", ways(report));
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i)
        (void)printf("  %-8s  %s\n", modes[i].name, modes[i].what);
}

static json_t *json_report(const struct report *report)
{
    json_t *findings = json_array();
    json_t *possible = json_array();
    bool usable = report->library && (report->real_gpu || report->soft_gpu);
    for (unsigned i = 0; i < report->count; ++i) {
        const struct finding *finding = &report->findings[i];
        (void)json_array_append_new(
            findings, json_pack("{s:s, s:s, s:o, s:o}", "topic", finding->topic, "state",
                                state_names[finding->state], "finding", open_text(finding->text),
                                "advice", open_text(finding->advice)));
    }
    for (size_t i = 0; usable && i < sizeof modes / sizeof modes[0]; ++i)
        (void)json_array_append_new(possible, json_string(modes[i].name));
    return json_pack("{s:s, s:b, s:b, s:o, s:o}", "version", RTL_VERSION, "real_gpu",
                     (int)report->real_gpu, "soft_gpu", (int)report->soft_gpu, "modes", possible,
                     "findings", findings);
}

struct options {
    bool probe, selftest;
    const char *of_selftest; /* an option that is for that alone, NULL: none */
    struct selftest_request request;
};

enum { KEY_PROBE = 256, KEY_SELFTEST, KEY_GPU };

static const struct argp_option option_list[] = {
    {"json", 'j', NULL, 0, "write JSON", 0},
    {"selftest", KEY_SELFTEST, NULL, 0,
     "record a program that knows what it does, in every mode, compare, and write a report", 0},
    {"output", 'o', "FILE", 0, "with --selftest: the report, rtl-selftest.json by default", 0},
    {"force", 'f', NULL, 0, "with --selftest: replace FILE, whatever it is", 0},
    {"gpu", KEY_GPU, "WHICH", 0,
     "with --selftest: real, soft (the software GPU) or auto (the default: what the environment "
     "leads to)",
     0},
    {"probe", KEY_PROBE, NULL, OPTION_HIDDEN, "", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'j':
        options->request.json = true;
        return 0;
    case KEY_SELFTEST:
        options->selftest = true;
        return 0;
    case 'o':
        options->of_selftest = "--output";
        options->request.output = value;
        return 0;
    case 'f':
        options->of_selftest = "--force";
        options->request.force = true;
        return 0;
    case KEY_GPU:
        options->of_selftest = "--gpu";
        return gpu_parse(value, &options->request.gpu);
    case KEY_PROBE:
        options->probe = true;
        return 0;
    case ARGP_KEY_ARG:
        return say_fail(EINVAL, "rtl doctor takes no argument like '%s'", value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_doctor(int argc, char **argv)
{
    static const char doc[] = "Tells what this machine has for recording, what stands in the way, "
                              "and what to do about it."
                              "\vThe exit status is 0 if recording is possible here, on a GPU or "
                              "on the software GPU, else 1.\n\n"
                              "Examples:\n"
                              "  rtl doctor\n"
                              "  rtl doctor --json\n"
                              "  rtl doctor --selftest\n"
                              "  rtl doctor --selftest --gpu soft -o report.json";
    static const struct argp argp = {option_list, parse_option, NULL, doc, NULL, NULL, NULL};
    struct options options = {0};
    static struct report report;
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (options.probe)
        return probe_answer();
    if (options.of_selftest && !options.selftest)
        return say_fail(EXIT_USAGE, "%s goes with --selftest", options.of_selftest);
    limits_raise();
    int failed = limits_check_recording();
    if (failed)
        return failed;
    look_at_driver(&report);
    look_at_library(&report);
    look_at_runtime(&report);
    look_at_environment(&report);
    look_at_memory(&report);
    if (options.selftest)
        return selftest_show(&options.request, json_report(&report));
    bool usable = report.library && (report.real_gpu || report.soft_gpu);
    int status = usable ? EXIT_FINE : EXIT_DIFFERENT;
    if (options.request.json)
        return open_print_json(json_report(&report), status);
    (void)printf("rtl %s\n", RTL_VERSION);
    show_text(&report);
    return status;
}
