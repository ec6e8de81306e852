/*
 * closes HOW PROGRAM...: closes all descriptors, and becomes the program. HOW: `all` only that,
 * `daemon` as a daemon, whose parent has ended; `few N` keeps the standard ones and allows no more
 * than N.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int leave(void)
{
    if (fork() > 0)
        _exit(0);
    (void)setsid();
    if (fork() > 0)
        _exit(0);
    return chdir("/");
}

int main(int argc, char **argv)
{
    char **program = argv + 2;
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "few") == 0) {
        rlim_t most = strtoul(*program++, NULL, 10);
        const struct rlimit limit = {most, most};
        (void)close_range(3, ~0U, 0);
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            return 2;
    } else {
        if (strcmp(argv[1], "daemon") == 0 && leave() != 0)
            return 2;
        (void)close_range(0, ~0U, 0);
        if (open("/dev/null", O_RDWR) != 0 || dup(0) != 1 || dup(0) != 2)
            return 2;
    }
    execv(*program, program);
    return 2;
}
