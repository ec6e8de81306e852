/* rtl demo: a decode loop through a replayed HIP graph, on the software GPU, recorded and proven.
 */
#include "common/child.h"
#include "common/command.h"
#include "common/folder.h"
#include "common/parse.h"
#include "common/paths.h"
#include "common/plain.h"
#include "common/say.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOW_KERNELS 12u

#define MOST_TOKENS 1000000u

struct demo {
    const char *keep;   /* where the trace is left, NULL: nowhere */
    const char *tokens; /* passed on to the program, NULL: its default */
    char folder[FOLDER_SIZE];
    char trace[PATH_MAX], truth[PATH_MAX];
    char self[PATH_MAX], program[PATH_MAX], plugin[PATH_MAX];
};

static const struct argp_option option_list[] = {
    {"keep", 'k', "FILE", 0,
     "leave the trace in FILE (which is replaced), not in a folder for temporary files", 0},
    {"tokens", 't', "COUNT", 0, "tokens to decode, 400 by default", 0},
    {0},
};

/* What the program takes. */
static int take_tokens(struct demo *demo, const char *value)
{
    unsigned count = 0;
    if (parse_count("tokens", value, &count) != 0)
        return EINVAL;
    if (count == 0 || count > MOST_TOKENS)
        return say_fail(EINVAL, "'%s' is no number of --tokens: it is from 1 to %u", value,
                        MOST_TOKENS);
    demo->tokens = value;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct demo *demo = state->input;
    switch (key) {
    case 'k':
        demo->keep = value;
        return 0;
    case 't':
        return take_tokens(demo, value);
    case ARGP_KEY_ARG:
        return say_fail(EINVAL, "rtl demo takes no argument like '%s'", value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int find_parts(struct demo *demo)
{
    if (!paths_self(demo->self, sizeof demo->self) ||
        !paths_beside("rtl-demo-decode", demo->program, sizeof demo->program))
        return say_fail(EXIT_USAGE, "rtl-demo-decode is not beside this rtl: build it (it needs "
                                    "hipcc)");
    if (!paths_library("softgpu/decode_plugin.so", demo->plugin, sizeof demo->plugin))
        return say_fail(EXIT_USAGE, "softgpu/decode_plugin.so is not in the library folder that "
                                    "belongs to this rtl: build or install it");
    return 0;
}

static int make_folder(struct demo *demo)
{
    if (folder_make("rtl-demo", demo->folder, sizeof demo->folder) != 0)
        return EXIT_USAGE;
    (void)snprintf(demo->truth, sizeof demo->truth, "%s/truth", demo->folder);
    if (demo->keep)
        (void)snprintf(demo->trace, sizeof demo->trace, "%s", demo->keep);
    else
        (void)snprintf(demo->trace, sizeof demo->trace, "%s/trace.db", demo->folder);
    return 0;
}

static _Noreturn void become_trace(struct demo *demo)
{
    char **environment = child_environment(environ, "SOFTGPU_TRUTH", demo->truth);
    environment =
        environment ? child_environment(environment, "SOFTGPU_PLUGINS", demo->plugin) : NULL;
    static char words[][12] = {"trace", "-q",   "-f", "-m", "full",
                               "--gpu", "soft", "-o", "--", "--tokens"};
    char *arguments[] = {demo->self,
                         words[0],
                         words[1],
                         words[2],
                         words[3],
                         words[4],
                         words[5],
                         words[6],
                         words[7],
                         demo->trace,
                         words[8],
                         demo->program,
                         demo->tokens ? words[9] : NULL,
                         (char *)(uintptr_t)demo->tokens,
                         NULL};
    if (environment)
        (void)execve(demo->self, arguments, environment);
    _exit(EXIT_NOT_EXECUTABLE);
}

/* 0 if the program ended well. */
static int record(struct demo *demo)
{
    (void)printf("recording rtl-demo-decode on the software GPU, in full mode\n\n");
    (void)fflush(stdout);
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        become_trace(demo);
    if (pid < 0)
        return say_fail(EXIT_USAGE, "no process could be made: %s", say_errno(errno));
    /* ^C reaches the program and rtl trace, which end in order. */
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGINT, &ignore, NULL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        return say_fail(EXIT_DIFFERENT, "the demo died by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == EXIT_USAGE) /* rtl trace has said why it could not begin */
        return EXIT_USAGE;
    if (WEXITSTATUS(status) != 0)
        return say_fail(EXIT_DIFFERENT, "the demo ended with status %d", WEXITSTATUS(status));
    return 0;
}

static int show(const struct demo *demo)
{
    const char *truth = demo->truth;
    (void)putchar('\n');
    int status = summary_show(demo->trace, SHOW_KERNELS, stdout);
    if (status != EXIT_FINE)
        return status;
    (void)putchar('\n');
    return check_show(demo->trace, &truth, 1, false);
}

/* A trace that was shown stays where that said it is. */
static void clean(const struct demo *demo, bool shown)
{
    (void)unlink(demo->truth);
    if (!demo->keep && !shown)
        (void)unlink(demo->trace);
    (void)rmdir(demo->folder); /* if it is empty */
}

int cmd_demo(int argc, char **argv)
{
    static const char doc[] =
        "Records a small decode loop, one step captured into a HIP graph and replayed for each "
        "token, on "
        "the software GPU; shows the summary; compares the trace with what the software GPU "
        "executed."
        "\vExamples:\n  rtl demo\n  rtl demo --keep demo.db && rtl info demo.db";
    static const struct argp argp = {option_list, parse_option, NULL, doc, NULL, NULL, NULL};
    struct demo demo = {0};
    if (parse(&argp, argc, argv, 0, &demo) != 0)
        return EXIT_USAGE;
    int status = find_parts(&demo);
    if (!status)
        status = make_folder(&demo);
    if (status)
        return status;
    status = record(&demo);
    bool shown = status == EXIT_FINE;
    if (shown)
        status = show(&demo);
    clean(&demo, shown);
    if (shown)
        (void)printf("\nthe trace is in %s\n", plain(demo.trace));
    return status;
}
