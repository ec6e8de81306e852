/*
 * outcome FILE PROGRAM ARGS: runs the program and writes how it ended into FILE, as the kernel
 * tells it: `exit 7` or `signal 11`. A shell cannot tell the status 139 from a segmentation fault.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int complain(const char *what)
{
    (void)fprintf(stderr, "outcome: %s: %s\n", what,
                  strerror(errno)); // NOLINT(concurrency-mt-unsafe): one thread
    return 2;
}

int main(int argc, char **argv)
{
    int status;
    if (argc < 3) {
        (void)fprintf(stderr, "outcome FILE PROGRAM ARGS\n");
        return 2;
    }
    pid_t child = fork();
    if (child < 0)
        return complain("fork");
    if (child == 0) {
        (void)execvp(argv[2], argv + 2);
        (void)complain(argv[2]);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return complain("waitpid");
    }
    FILE *file = fopen(argv[1], "we");
    if (!file)
        return complain(argv[1]);
    if (WIFSIGNALED(status))
        (void)fprintf(file, "signal %d\n", WTERMSIG(status));
    else
        (void)fprintf(file, "exit %d\n", WEXITSTATUS(status));
    return fclose(file) == 0 ? 0 : complain(argv[1]);
}
