#include "common/process.h"

#include "common/child.h"
#include "common/clock.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_READ (4L << 20)
#define PATIENCE  UINT64_C(10000000000) /* ns */

/* The signal that asked rtl to end. */
static volatile sig_atomic_t stopped_by;

static void stop(int signal)
{
    stopped_by = signal;
}

void process_begin(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const struct sigaction action = {.sa_handler = stop};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i)
        (void)sigaction(signals[i], &action, NULL);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

bool process_stopped(int *signal)
{
    *signal = stopped_by;
    return stopped_by != 0;
}

static void redirect(const char *path, int flags, int to)
{
    int file = open(path, flags, 0600);
    if (file >= 0)
        (void)dup2(file, to);
}

static _Noreturn void become(char *const *words, char **environment, const char *output,
                             const char *errors)
{
    (void)setpgid(0, 0);
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(errors, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    (void)execvpe(words[0], words, environment);
    (void)dprintf(STDERR_FILENO, "%s could not be run: %s\n", words[0], say_errno(errno));
    _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* Until the process has ended, or must. */
static void await(pid_t pid, uint64_t limit_ns, struct process *process)
{
    struct pollfd ready = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    while (ready.fd >= 0 && !stopped_by) {
        uint64_t passed = rtl_clock_ns(CLOCK_MONOTONIC) - process->spawned;
        if (passed >= limit_ns) {
            process->hung = true;
            break;
        }
        uint64_t left_ms = (limit_ns - passed) / 1000000u + 1;
        if (poll(&ready, 1, left_ms > INT_MAX ? INT_MAX : (int)left_ms) > 0)
            break;
    }
    process->ended = rtl_clock_ns(CLOCK_MONOTONIC);
    if (process->hung || stopped_by)
        (void)kill(-pid, SIGKILL);
    if (ready.fd >= 0)
        (void)close(ready.fd);
}

/* Kills the children that this process has. False if they cannot be told. */
static bool kill_children(void)
{
    FILE *file = fopen("/proc/thread-self/children", "r");
    char text[64];
    if (!file)
        return false;
    while (fscanf(file, "%63s", text) == 1) // NOLINT(cert-err34-c): Linux wrote it
        (void)kill((pid_t)strtol(text, NULL, 10), SIGKILL);
    (void)fclose(file);
    return true;
}

/* What the process has left behind, such as a collector that still writes: it is waited for, for a
 * while. rtl is who gets orphans. */
static void wait_for_rest(bool at_once)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    uint64_t end = rtl_clock_ns(CLOCK_MONOTONIC) + (at_once ? 0 : PATIENCE);
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 || errno == EINTR) {
        if (pid > 0)
            continue;
        bool late = stopped_by || rtl_clock_ns(CLOCK_MONOTONIC) >= end;
        if (late && !kill_children())
            return;
        (void)nanosleep(&nap, NULL);
    }
}

int process_run(char *const *words, char **environment, const char *output, const char *errors,
                uint64_t limit_ns, struct process *process)
{
    struct rusage usage = {0};
    *process = (struct process){.spawned = rtl_clock_ns(CLOCK_MONOTONIC)};
    pid_t pid = fork();
    if (pid == 0)
        become(words, environment, output, errors);
    if (pid < 0)
        return -1;
    (void)setpgid(pid, pid);
    await(pid, limit_ns, process);
    while (wait4(pid, &process->status, 0, &usage) < 0 && errno == EINTR)
        ;
    process->peak = (uint64_t)usage.ru_maxrss << 10;
    wait_for_rest(process->hung);
    return 0;
}

char *process_read(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    (void)fseek(file, 0, SEEK_END);
    long size = ftell(file);
    long from = size > MOST_READ ? size - MOST_READ : 0;
    (void)fseek(file, from, SEEK_SET);
    size_t length = size > from ? (size_t)(size - from) : 0;
    char *text = memory_new(length + 1, 1);
    length = fread(text, 1, length, file);
    for (size_t i = 0; i < length; ++i)
        if (text[i] == '\0')
            text[i] = '?';
    (void)fclose(file);
    return text;
}

char **process_environment(void)
{
    static const char *const foreign[] = {"HSA_TOOLS_LIB", "RTL_SESSION", "RTL_REPORT",
                                          "RTL_MODE",      "RTL_OUTPUT",  "RTL_QUEUE"};
    char **environment = child_environment(environ, foreign[0], NULL);
    if (!environment)
        memory_is_short();
    for (size_t i = 1; i < sizeof foreign / sizeof foreign[0]; ++i)
        process_set(&environment, foreign[i], NULL);
    return environment;
}

void process_set(char ***environment, const char *name, const char *value)
{
    char **next = child_environment(*environment, name, value);
    if (!next)
        memory_is_short();
    child_environment_free(*environment);
    *environment = next;
}

void process_set_first(char ***environment, const char *name, const char *first)
{
    const char *before = secure_getenv(name);
    char list[3 * PATH_MAX];
    (void)snprintf(list, sizeof list, "%s%s%s", first, before && before[0] ? ":" : "",
                   before ? before : "");
    process_set(environment, name, list);
}
