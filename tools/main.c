/* rtl: finds the subcommand. */
#include "common/clock.h"
#include "common/command.h"
#include "common/elsewhere.h"
#include "common/foreign.h"
#include "common/limits.h"
#include "common/paths.h"
#include "common/say.h"
#include "common/written.h"

#include <argp.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *does; /* NULL: not listed */
};

static const struct command commands[] = {
    {"trace", cmd_trace, "run a program and record its kernels"},
    {"ctl", cmd_ctl, "start and stop the recording of a program that runs"},
    {"summary", cmd_summary, "where the time of a trace went"},
    {"steps", cmd_steps, "what a step costs, a token say, and why the GPU was idle in it"},
    {"ranks", cmd_ranks, "which rank of a job is the slowest, and who waits for it"},
    {"idle", cmd_idle, "why nothing ran on a GPU: what the host did meanwhile"},
    {"graph", cmd_graph, "graphs and their replays: which nodes, which launches, what changed"},
    {"ranges", cmd_ranges, "what each range of the program cost the GPU"},
    {"memory", cmd_memory, "what the program allocated, the peak, and who holds it"},
    {"timeline", cmd_timeline, "when each queue was busy, and with what"},
    {"report", cmd_report, "one page about a trace, to send to a colleague"},
    {"diff", cmd_diff, "what got slower or faster from one trace to another"},
    {"info", cmd_info, "what a trace is about: processes, GPUs, queues, clocks"},
    {"check", cmd_check, "prove that a trace is complete"},
    {"sql", cmd_sql, "ask a trace in SQL"},
    {"view", cmd_view, "show a trace in a browser"},
    {"export", cmd_export, "write a trace in the formats of other tools"},
    {"import", cmd_import, "make a trace of a recording of rocmProfileData"},
    {"fleet", cmd_fleet, "ask a database server that has the traces of many hosts"},
    {"merge", cmd_merge, "make one trace of several: ranks, hosts"},
    {"index", cmd_index, "add statistics to a trace of an earlier version"},
    {"doctor", cmd_doctor, "what this machine has, and what to do about problems"},
    {"bench", cmd_bench, "what profilers cost here, and whether they see everything"},
    {"demo", cmd_demo, "record a small decode loop on the software GPU"},
    {"attach", cmd_attach, NULL},
    {"collect", cmd_collect, NULL},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; ++i)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int print_help(void)
{
    (void)printf("RTL %s: a profiler for AMD GPUs that sees every kernel, those of replayed HIP "
                 "graphs included.\n\n"
                 "Usage: rtl COMMAND [OPTION...]\n\n"
                 "Commands:\n",
                 RTL_VERSION);
    for (size_t i = 0; i < COMMANDS; ++i)
        if (commands[i].does)
            (void)printf("  %-8s  %s\n", commands[i].name, commands[i].does);
    (void)printf("\n"
                 "Examples:\n"
                 "  rtl trace -- ./program        record into trace.db, then show the summary\n"
                 "  rtl check trace.db            is every kernel in it?\n"
                 "  rtl help trace                the options of a command\n");
    return EXIT_FINE;
}

static int print_version(void)
{
    (void)printf("rtl %s\n", RTL_VERSION);
    return EXIT_FINE;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name);
    size_t end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

/* A command by a name that is near, NULL if none is. */
static const struct command *find_nearest(const char *name)
{
    const struct command *nearest = NULL;
    unsigned best = 3;
    for (size_t i = 0; i < COMMANDS; ++i) {
        unsigned distance = say_distance(name, commands[i].name);
        if (commands[i].does && distance < best) {
            best = distance;
            nearest = &commands[i];
        }
    }
    return nearest;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || ends_with(name, ".db");
}

/* A trace, or a program to be recorded, where a command is wanted. 0: it is neither. */
static int say_file(const char *name)
{
    char path[PATH_MAX];
    if (ends_with(name, ".db"))
        return say_fail(EXIT_USAGE,
                        "'%s' is no command: 'rtl summary %s' shows a trace, and rtl "
                        "--help has what else there is",
                        name, name);
    if (foreign_say(name))
        return EXIT_USAGE;
    if (paths_program(name, path, sizeof path) == EXIT_FINE)
        return say_fail(EXIT_USAGE, "'%s' is no command: 'rtl trace -- %s' records a program", name,
                        name);
    return 0;
}

static int unknown(const char *name)
{
    if (!name[0])
        return say_fail(EXIT_USAGE, "the command is empty, see rtl --help");
    const char *here = elsewhere_command(name);
    if (here)
        return say_fail(EXIT_USAGE, "there is no command '%s': it is 'rtl %s' here", name, here);
    const struct command *nearest = is_path(name) ? NULL : find_nearest(name);
    if (nearest)
        return say_fail(EXIT_USAGE, "there is no command '%s', did you mean '%s'?", name,
                        nearest->name);
    int said = say_file(name);
    return said ? said : say_fail(EXIT_USAGE, "there is no command '%s', see rtl --help", name);
}

/* Other tools take options of a recording without a command before them. */
static int unknown_option(const char *name)
{
    const char *here = elsewhere_option("rtl trace", name);
    if (here)
        return say_fail(EXIT_USAGE, "rtl trace records a program, and there is no '%.*s': %s",
                        (int)strcspn(name, "="), name, here);
    return say_fail(EXIT_USAGE,
                    "unknown option '%s', see rtl --help: options follow a command, such "
                    "as 'rtl trace'",
                    name);
}

/* argp names the program by argv[0], so a subcommand is given "rtl NAME". */
static int run(const struct command *command, int argc, char **argv)
{
    static char full_name[32];
    (void)snprintf(full_name, sizeof full_name, "rtl %s", command->name);
    argv[0] = full_name;
    int failed = limits_check_stack();
    if (!failed)
        failed = limits_check_files(LIMITS_FILES);
    return failed ? failed : command->run(argc, argv);
}

static int help(int argc, char **argv)
{
    static char option[] = "--help";
    char *arguments[] = {NULL, option, NULL};
    if (argc < 2)
        return print_help();
    if (argc > 2)
        return say_fail(EXIT_USAGE, "one command at a time: '%s' is a second one", argv[2]);
    const struct command *command = find(argv[1]);
    return command ? run(command, 2, arguments) : unknown(argv[1]);
}

/* JSON without what found no memory would look whole. */
static void *json_memory(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        exit(say_fail(EXIT_USAGE, "memory is short")); // NOLINT(concurrency-mt-unsafe): one thread
    return memory;
}

/* What rtl opens must not take the place of a standard descriptor that is closed: what is meant for
 * that would go there. Writing to it fails all the same, and a program that is started gets it
 * closed. */
static void hold_descriptors(void)
{
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        (void)close(descriptor);
}

/* argp ends the program itself after --help. */
static void end_of_argp(void)
{
    int status = written(EXIT_FINE);
    if (status != EXIT_FINE)
        _exit(status);
}

static int choose(int argc, char **argv)
{
    if (argc < 2) {
        (void)print_help();
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "-?") == 0)
        return print_help();
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return print_version();
    if (strcmp(name, "help") == 0)
        return help(argc - 1, argv + 1);
    if (name[0] == '-')
        return unknown_option(name);
    const struct command *command = find(name);
    return command ? run(command, argc - 1, argv + 1) : unknown(name);
}

int main(int argc, char **argv)
{
    hold_descriptors();
    (void)rtl_clock_begin();
    json_set_alloc_funcs(json_memory, free);
    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = "rtl " RTL_VERSION;
    (void)atexit(end_of_argp);
    return written(choose(argc, argv));
}
