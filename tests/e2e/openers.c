/*
 * openers COUNT FILE: so many processes, one after the other, each of which opens the file and is
 * over.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_once(const char *path)
{
    int status = 1;
    pid_t pid = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): thousands a second
    if (pid == 0)
        _exit(open(path, O_RDONLY | O_CLOEXEC) < 0); // NOLINT(clang-analyzer-unix.Vfork)
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : 1;
}

int main(int argc, char **argv)
{
    unsigned long count = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    for (unsigned long i = 0; i < count; i++) {
        if (open_once(argv[2]) == 0)
            continue;
        (void)fprintf(stderr, "openers: %s could not be opened\n", argv[2]);
        return 1;
    }
    return 0;
}
