#include "common/child.h"

#include "common/command.h"
#include "common/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* What rtl takes by descriptor: the end of the child, and everything that a user may send to rtl
 * and means for the program. Faults stay what they are. */
static void fill_signals(sigset_t *set)
{
    static const int never[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    (void)sigfillset(set);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; ++i)
        (void)sigdelset(set, never[i]);
}

/* In the child: waits for the word. */
static void await_word(int go)
{
    char word;
    ssize_t got;
    do
        got = read(go, &word, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(EXIT_USAGE);
}

/* The child becomes the program, or says why not. */
static _Noreturn void become(const struct child *child, int failed, const char *path, char **argv,
                             char **environment)
{
    (void)sigaction(SIGCHLD, &child->on_child, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &child->mask, NULL);
    limits_restore();
    (void)execvpe(path, argv, environment);
    int error = errno;
    if (write(failed, &error, sizeof error) != (ssize_t)sizeof error)
        _exit(EXIT_NOT_EXECUTABLE);
    _exit(EXIT_NOT_FOUND);
}

int child_prepare(struct child *child)
{
    sigset_t set;
    memset(child, 0, sizeof *child);
    fill_signals(&set);
    (void)pthread_sigmask(SIG_BLOCK, &set, &child->mask);
    /* With SIGCHLD ignored, as some launchers leave it, the child's status would be thrown away. */
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    (void)sigaction(SIGCHLD, &standard, &child->on_child);
    child->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return child->signals < 0 ? -1 : 0;
}

int child_fork(struct child *child, const char *path, char **argv, char **environment)
{
    int go[2];
    int failed[2];
    child->ended = false;
    child->asked_to_stop = false;
    if (pipe2(go, O_CLOEXEC) != 0)
        return -1;
    if (pipe2(failed, O_CLOEXEC) != 0) {
        (void)close(go[0]);
        (void)close(go[1]);
        return -1;
    }
    child->pid = fork();
    if (child->pid == 0) {
        (void)close(go[1]); /* so that the end of rtl ends the wait */
        await_word(go[0]);
        become(child, failed[1], path, argv, environment);
    }
    int error = errno;
    (void)close(go[0]);
    (void)close(failed[1]);
    child->go = go[1];
    child->failed = failed[0];
    errno = error;
    return child->pid < 0 ? -1 : 0;
}

static void reap(struct child *child)
{
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        ;
    child->ended = true;
}

/* Why the child has not become the program, 0 if it has; it is gone then. */
static int read_failure(struct child *child)
{
    int error = 0;
    ssize_t got;
    do
        got = read(child->failed, &error, sizeof error);
    while (got < 0 && errno == EINTR);
    (void)close(child->failed);
    if (got != (ssize_t)sizeof error)
        return 0;
    reap(child);
    return error;
}

int child_go(struct child *child)
{
    /* A child that is gone already has an end to be waited for, as any other. */
    (void)!write(child->go, "g", 1);
    (void)close(child->go);
    return read_failure(child);
}

/* By vfork: a copy of rtl's tables of pages, and of each page that it writes to meanwhile, would
 * take longer than all the rest. All signals are blocked, and the child calls what only asks the
 * system. */
int child_start(struct child *child, const char *path, char **argv, char **environment)
{
    int failed[2];
    child->ended = false;
    child->asked_to_stop = false;
    if (pipe2(failed, O_CLOEXEC) != 0)
        return errno;
    pid_t pid = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): see above
    if (pid == 0)
        become(child, failed[1], path, argv, environment); // NOLINT(clang-analyzer-unix.Vfork)
    int error = errno;
    (void)close(failed[1]);
    child->pid = pid;
    child->failed = failed[0];
    if (pid > 0)
        return read_failure(child);
    (void)close(failed[0]);
    return error;
}

void child_cancel(struct child *child)
{
    (void)close(child->go);
    (void)close(child->failed);
    reap(child);
}

/* Stops as the child stopped, so that the shell sees its job stopped. In an orphaned process group
 * Linux ignores this, as it does for any program. */
static void stop_alike(int signal)
{
    sigset_t set;
    sigset_t before;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, signal);
    (void)raise(signal);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, &before);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void look_after(struct child *child)
{
    int status;
    while (!child->ended && waitpid(child->pid, &status, WNOHANG | WUNTRACED) == child->pid) {
        if (WIFSTOPPED(status)) {
            int signal = WSTOPSIG(status);
            if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
                stop_alike(signal);
            continue;
        }
        child->status = status;
        child->ended = true;
    }
}

static bool asks_to_stop(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/* What the terminal sends reaches the child's whole group without us, and what the child sends to
 * its group it has already got. What comes from rtl itself is SIGXFSZ, or SIGPIPE, for a file of
 * rtl's. */
static void pass_on(const struct child *child, const struct signalfd_siginfo *info)
{
    int signal = (int)info->ssi_signo;
    if (child->ended || info->ssi_code == SI_KERNEL || (pid_t)info->ssi_pid == child->pid ||
        (pid_t)info->ssi_pid == getpid() || signal == SIGPIPE || signal == SIGWINCH)
        return;
    if (info->ssi_code == SI_QUEUE) {
        union sigval value = {.sival_ptr = (void *)(uintptr_t)info->ssi_ptr};
        (void)sigqueue(child->pid, signal, value);
        return;
    }
    (void)kill(child->pid, signal);
}

void child_wait(struct child *child, unsigned wait_ms, int other)
{
    struct pollfd ready[] = {{.fd = child->signals, .events = POLLIN},
                             {.fd = other, .events = POLLIN}};
    if (poll(ready, 2, (int)wait_ms) <= 0 || !ready[0].revents)
        return;
    struct signalfd_siginfo info;
    while (read(child->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            look_after(child);
            continue;
        }
        if (asks_to_stop((int)info.ssi_signo))
            child->asked_to_stop = true;
        pass_on(child, &info);
    }
}

int child_end_alike(const struct child *child)
{
    if (WIFEXITED(child->status))
        return WEXITSTATUS(child->status);
    int signal = WTERMSIG(child->status);
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    struct sigaction action = {.sa_handler = SIG_DFL};
    (void)sigaction(signal, &action, NULL);
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, signal);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    (void)fflush(NULL);
    (void)kill(getpid(), signal);
    return 128 + signal;
}

int child_trace_status(const struct child *child)
{
    return WIFEXITED(child->status) ? WEXITSTATUS(child->status) : 256 + WTERMSIG(child->status);
}

void child_environment_free(char **environment)
{
    for (char **variable = environment; variable && *variable; ++variable)
        free(*variable);
    free(environment);
}

char **child_environment(char **environment, const char *name, const char *value)
{
    size_t count = 0;
    size_t length = strlen(name);
    while (environment[count])
        ++count;
    char **copy = calloc(count + 2, sizeof *copy);
    size_t used = 0;
    bool whole = copy != NULL;
    for (size_t i = 0; whole && i < count; ++i) {
        if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=')
            continue;
        copy[used] = strdup(environment[i]);
        whole = copy[used++] != NULL;
    }
    if (whole && value && asprintf(&copy[used], "%s=%s", name, value) < 0) {
        copy[used] = NULL;
        whole = false;
    }
    if (whole)
        return copy;
    child_environment_free(copy);
    return NULL;
}
