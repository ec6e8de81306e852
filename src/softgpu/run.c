/*
 * softgpu-run: runs a program on the software GPU, and prints truth logs.
 *
 * It sets LD_PRELOAD to the software GPU's front and the SOFTGPU_* variables that its options stand
 * for, then becomes the program.
 */
#include "common/disarm.h"
#include "common/private.h"
#include "softgpu/pmc_blocks.h"
#include "softgpu/truth.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRONT_NAME "libsoftgpu.so"

/* Keys of options without a short form. */
enum {
    KEY_COPY = 256,
    KEY_SEED,
    KEY_READ_AHEAD,
    KEY_DELAY,
    KEY_REORDER,
    KEY_WIDTH,
    KEY_DEBUG,
    KEY_COUNTERS,
    KEY_COUNTERS_FAULT
};

/* An option that is nothing but an environment variable. */
typedef struct variable {
    int key;
    const char *name;
    const char *fixed; /* value of a switch; NULL: the option's argument */
} variable_t;

static const variable_t variables[] = {
    {'n', "SOFTGPU_DEVICES", NULL},
    {'d', "SOFTGPU_DURATION", NULL},
    {KEY_COPY, "SOFTGPU_COPY", NULL},
    {KEY_SEED, "SOFTGPU_SEED", NULL},
    {KEY_COUNTERS, "SOFTGPU_COUNTERS", NULL},
    {KEY_COUNTERS_FAULT, "SOFTGPU_COUNTERS_FAULT", NULL},
    {KEY_READ_AHEAD, "SOFTGPU_READ_AHEAD", "1"},
    {KEY_DELAY, "SOFTGPU_DELAY", NULL},
    {KEY_REORDER, "SOFTGPU_REORDER", NULL},
    {KEY_WIDTH, "SOFTGPU_WIDTH", NULL},
    {KEY_DEBUG, "SOFTGPU_DEBUG", "1"},
};

static const struct argp_option options[] = {
    {"devices", 'n', "N", 0, "Number of GPUs, 1 to 16", 1},
    {"truth", 't', "FILE", 0,
     "Log what is executed into FILE (%p: process id); without PROGRAM, print FILE as text", 1},
    {"duration", 'd', "SPEC", 0, "Kernel durations: NS, PATTERN=NS,..., or @SCHEDULE-FILE", 2},
    {"copy", KEY_COPY, "NS[:GB/S]", 0, "Duration of copies: latency and rate", 2},
    {"seed", KEY_SEED, "N", 0, "Another draw of jitter and outliers", 2},
    {"width", KEY_WIDTH, "N", 0, "Kernels of one queue that may overlap", 2},
    {"counters", KEY_COUNTERS, "RULES", 0,
     "What kernels add to the performance counters: PATTERN KEY=NUMBER...;..., or @FILE", 2},
    {"plugin", 'p', "FILE", 0, "Host implementations of kernels; may be given several times", 3},
    {"read-ahead", KEY_READ_AHEAD, NULL, 0, "Execute packets before their doorbell rings", 4},
    {"delay", KEY_DELAY, "NS[:SEED]", 0, "Delay completions at random, up to NS", 4},
    {"reorder", KEY_REORDER, "SEED", 0, "Serve the queues in random order", 4},
    {"counters-fault", KEY_COUNTERS_FAULT, "LIST", 0,
     "Counters that misbehave: absent, slots=N, slots=BLOCK:N, invalid=BLOCK:EVENT, hang=BLOCK", 4},
    {"debug", KEY_DEBUG, NULL, 0, "Tell on stderr what the device does", 5},
    {0},
};

typedef struct arguments {
    const char *truth;
    char **program; /* PROGRAM and its arguments, NULL without */
} arguments_t;

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
    char line[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is the line above
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    rtl_disarm(line, length < 0 ? 0 : strlen(line));
    (void)fprintf(stderr, "softgpu-run: %s\n", length < 0 ? format : line);
}

static void fail(const char *what, const char *why)
{
    complain("%s: %s", what, why);
    exit(EXIT_FAILURE); // NOLINT(concurrency-mt-unsafe): one thread
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) { // NOLINT(concurrency-mt-unsafe): one thread
        fail(name, strerrordesc_np(errno));
    }
}

/* Puts `value` before or behind what a variable with a colon list holds. */
static void extend(const char *name, const char *value, bool before)
{
    const char *old = secure_getenv(name);
    char *list = NULL;
    if (old == NULL || old[0] == '\0') {
        set(name, value);
        return;
    }
    if (asprintf(&list, "%s:%s", before ? value : old, before ? old : value) < 0) {
        fail(name, "out of memory");
    }
    set(name, list);
    free(list);
}

static bool set_variable(int key, const char *argument)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        if (variables[i].key == key) {
            set(variables[i].name, variables[i].fixed != NULL ? variables[i].fixed : argument);
            return true;
        }
    }
    return false;
}

static void add_plugin(const char *path)
{
    char whole[PATH_MAX];
    if (realpath(path, whole) == NULL || access(whole, R_OK) != 0) {
        fail(path, strerrordesc_np(errno));
    }
    extend("SOFTGPU_PLUGINS", whole, false);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments_t *arguments = state->input;
    if (key == 't') {
        arguments->truth = argument;
    } else if (key == 'p') {
        add_plugin(argument);
    } else if (key == ARGP_KEY_ARG) {
        arguments->program = &state->argv[state->next - 1];
        state->next = state->argc;
    } else if (key == ARGP_KEY_END && arguments->program == NULL && arguments->truth == NULL) {
        argp_error(state, "a PROGRAM is missing"); // NOLINT(concurrency-mt-unsafe): one thread
    } else if (!set_variable(key, argument)) {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const char *kind_name(softgpu_truth_kind_t kind)
{
    static const char *const names[] = {"?",     "kernel", "barrier", "vendor",
                                        "agent", "copy",   "error"};
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : names[0];
}

static void print_counts(const softgpu_truth_entry_t *entry)
{
    for (uint32_t i = 0; i < entry->count_count; i++) {
        const softgpu_truth_count_t *count = &entry->counts[i];
        const sg_pmc_event_t *event = sg_pmc_event(count->block, count->event);
        (void)printf(" %s=%" PRIu64, event != NULL ? event->name : "?", count->value);
    }
}

static void print_name(const char *name)
{
    char *copy = strdup(name);
    if (copy == NULL) {
        fail(name, "out of memory");
    }
    rtl_disarm(copy, strlen(copy));
    (void)printf(" %s", copy);
    free(copy);
}

static void print_entry(const softgpu_truth_entry_t *entry)
{
    (void)printf("%-7s pid=%" PRIu32 " gpu=%" PRIu32 " queue=%" PRIu32 " at=0x%" PRIx64
                 " index=%" PRIu64 " start=%" PRIu64 " end=%" PRIu64 " ns=%" PRIu64
                 " signal=0x%" PRIx64 " header=0x%04x",
                 kind_name(entry->kind), entry->pid, entry->gpu, entry->queue, entry->queue_address,
                 entry->index, entry->start_ns, entry->end_ns, entry->end_ns - entry->start_ns,
                 entry->signal, (unsigned)entry->header);
    if (entry->kind == SOFTGPU_TRUTH_KERNEL) {
        (void)printf(" grid=%" PRIu32 ",%" PRIu32 ",%" PRIu32 " block=%u,%u,%u kernarg=0x%" PRIx64
                     " object=0x%" PRIx64 " ticks=%" PRIu64 "..%" PRIu64,
                     entry->grid[0], entry->grid[1], entry->grid[2], (unsigned)entry->block[0],
                     (unsigned)entry->block[1], (unsigned)entry->block[2], entry->kernarg,
                     entry->kernel_object, entry->start_ticks, entry->end_ticks);
        print_counts(entry);
        print_name(entry->name);
    } else if (entry->kind == SOFTGPU_TRUTH_COPY) {
        (void)printf(" bytes=%" PRIu64 " src=0x%" PRIx64 " dst=0x%" PRIx64, entry->bytes,
                     entry->src, entry->dst);
    }
    (void)putchar('\n');
}

static int print_log(const char *path)
{
    char error[PATH_MAX + 128];
    softgpu_truth_t *truth = softgpu_truth_open(path, error, sizeof error);
    if (truth == NULL) {
        complain("%s", error);
        return EXIT_FAILURE;
    }
    softgpu_truth_entry_t entry;
    int more;
    while ((more = softgpu_truth_next(truth, &entry)) > 0) {
        print_entry(&entry);
    }
    if (more < 0) {
        complain("%s", softgpu_truth_error(truth));
    }
    softgpu_truth_close(truth);
    if (fflush(stdout) != 0) {
        fail("standard output", strerrordesc_np(errno));
    }
    return more < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static uid_t own_owner(void)
{
    struct stat status;
    return stat("/proc/self/exe", &status) == 0 ? status.st_uid : 0;
}

/* The software GPU's folder, beside this command as it is built or installed. */
static void find_library_folder(char folder[PATH_MAX])
{
    static const char *const places[] = {"../lib/softgpu", "../lib/x86_64-linux-gnu/softgpu",
                                         "../lib64/softgpu"};
    char self[PATH_MAX] = {0};
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
        fail("/proc/self/exe", strerrordesc_np(errno));
    }
    char *slash = strrchr(self, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char front[PATH_MAX * 2], whole[PATH_MAX];
        if (snprintf(front, sizeof front, "%s/%s", self, places[i]) < (int)sizeof front &&
            realpath(front, whole) != NULL &&
            snprintf(front, sizeof front, "%s/" FRONT_NAME, whole) < (int)sizeof front &&
            access(front, R_OK) == 0 && rtl_private_may_use(whole, own_owner())) {
            memcpy(folder, whole, PATH_MAX);
            return;
        }
    }
    fail(self, "the software GPU (../lib/softgpu/" FRONT_NAME ") is not beside this command");
}

/* Behind what is preloaded already. A path with a blank or a colon would be two to the dynamic
 * linker; a bare name it looks for among the libraries. */
static void preload(const char *folder)
{
    char *library = NULL;
    if (strpbrk(folder, " :;") != NULL) {
        extend("LD_LIBRARY_PATH", folder, true);
        extend("LD_PRELOAD", FRONT_NAME, false);
        return;
    }
    if (asprintf(&library, "%s/" FRONT_NAME, folder) < 0) {
        fail(FRONT_NAME, "out of memory");
    }
    extend("LD_PRELOAD", library, false);
    free(library);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "PROGRAM [ARG...]\n--truth FILE",
        "Runs PROGRAM on a GPU in software, under the unchanged ROCr and HIP.\v"
        "The options set the environment variables that docs/softgpu.md describes.",
        NULL,
        NULL,
        NULL};
    arguments_t arguments = {0};
    char folder[PATH_MAX];
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments) != 0) {
        return EXIT_FAILURE;
    }
    if (arguments.program == NULL) {
        return print_log(arguments.truth);
    }
    if (arguments.truth != NULL) {
        set("SOFTGPU_TRUTH", arguments.truth);
    }
    find_library_folder(folder);
    preload(folder);
    execvp(arguments.program[0], arguments.program);
    fail(arguments.program[0], strerrordesc_np(errno));
}
