#include "view/job.h"

#include "common/command.h"
#include "common/folder.h"
#include "common/say.h"
#include "common/written.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void *job_share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* A file without a name, where temporary files are. -1 with errno. */
static int nameless(void)
{
    FILE *file = folder_file();
    int copy = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 3) : -1;
    if (file)
        (void)fclose(file);
    return copy;
}

static void close_files(const struct job_process *process)
{
    if (process->output >= 0)
        (void)close(process->output);
    if (process->errors >= 0)
        (void)close(process->errors);
}

/* In the child. */
static _Noreturn void work(const struct job *job, const struct job_process *process)
{
    sigset_t none;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    (void)dup2(process->output, STDOUT_FILENO);
    if (process->errors >= 0)
        (void)dup2(process->errors, STDERR_FILENO);
    _exit(written(job->work(job->context)));
}

/* `ended` is the read end of a pipe whose other end the process has open as long as it is there. */
static bool begin(const struct job *job, struct job_process *process)
{
    int pipes[2];
    *process = (struct job_process){.output = nameless(), .errors = job->said ? nameless() : -1};
    if (process->output < 0 || (job->said && process->errors < 0) || pipe2(pipes, O_CLOEXEC) != 0)
        return false;
    process->pid = fork();
    if (process->pid == 0)
        work(job, process);
    int error = errno;
    (void)close(pipes[1]);
    process->ended = pipes[0];
    if (process->pid > 0)
        return true;
    (void)close(pipes[0]);
    errno = error;
    return false;
}

/* True when it has ended, false when nobody wants it any more. */
static bool wait_for(const struct job *job, const struct job_process *process)
{
    struct pollfd events[] = {{.fd = process->ended, .events = POLLIN},
                              {.fd = job->client, .events = POLLRDHUP},
                              {.fd = job->signals, .events = POLLIN}};
    for (;;) {
        if (poll(events, sizeof events / sizeof events[0], -1) < 0 && errno != EINTR)
            return false;
        if (events[0].revents)
            return true;
        if (events[1].revents || events[2].revents)
            return false;
    }
}

/* Its first line, without what all lines begin with. */
static void read_errors(const struct job *job, int errors)
{
    static const char begin[] = "rtl: ";
    ssize_t size = pread(errors, job->said, job->said_size - 1, 0);
    job->said[size > 0 ? size : 0] = '\0';
    job->said[strcspn(job->said, "\n")] = '\0';
    if (strncmp(job->said, begin, strlen(begin)) == 0)
        memmove(job->said, job->said + strlen(begin), strlen(job->said + strlen(begin)) + 1);
    if (!job->said[0])
        (void)snprintf(job->said, job->said_size, "what was asked for could not be made");
}

static void tell(const struct job *job, int error)
{
    if (job->said)
        (void)snprintf(job->said, job->said_size, "no process could be made: %s", say_errno(error));
    else
        say("no process could be made: %s", say_errno(error));
}

/* One that was killed, for want of memory say, has said nothing. */
static void tell_killed(const struct job *job, int signal)
{
    if (job->said)
        (void)snprintf(job->said, job->said_size, "what makes it was ended by signal %d", signal);
    else
        say("the process that was to make the page was ended by signal %d%s", signal,
            signal == SIGKILL ? ": somebody killed it, or memory was short" : "");
}

bool job_begin(const struct job *job, struct job_process *process)
{
    if (begin(job, process))
        return true;
    tell(job, errno);
    close_files(process);
    return false;
}

enum job_end job_end(const struct job *job, struct job_process *process, bool wanted, int *file,
                     int *status)
{
    int ended = 0;
    *file = -1;
    if (!wanted)
        (void)kill(process->pid, SIGKILL);
    while (waitpid(process->pid, &ended, 0) < 0 && errno == EINTR)
        ;
    (void)close(process->ended);
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : EXIT_USAGE;
    if (wanted && *status == EXIT_FINE) {
        *file = process->output;
        process->output = -1;
    } else if (wanted && WIFSIGNALED(ended)) {
        tell_killed(job, WTERMSIG(ended));
    } else if (wanted && job->said) {
        read_errors(job, process->errors);
    }
    close_files(process);
    return !wanted ? JOB_GIVEN_UP : *file < 0 ? JOB_FAILED : JOB_DONE;
}

enum job_end job_do(const struct job *job, int *file, int *status)
{
    struct job_process process;
    *file = -1;
    *status = EXIT_USAGE;
    if (!job_begin(job, &process))
        return JOB_FAILED;
    return job_end(job, &process, wait_for(job, &process), file, status);
}
