#include "common/limits.h"

#include "common/command.h"
#include "common/say.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_KIB 128u /* rtl needs some 80 of them, and more with a large environment */
#define RING_KIB  328u /* of the file of the smallest ring */

enum { FILES = 1, LIMITS = 5 };

static const __rlimit_resource_t raised[LIMITS] = {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_AS,
                                                   RLIMIT_DATA, RLIMIT_CPU};
static struct rlimit before[LIMITS];
static bool known[LIMITS]; /* and raised */
static struct sigaction on_long_file;
static bool done;
static struct rlimit stack_before;
static bool stack_raised;

void limits_raise(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < LIMITS; ++i) {
        if (getrlimit(raised[i], &before[i]) != 0 || before[i].rlim_cur == before[i].rlim_max)
            continue;
        const struct rlimit whole = {before[i].rlim_max, before[i].rlim_max};
        known[i] = setrlimit(raised[i], &whole) == 0;
    }
    done = sigaction(SIGXFSZ, &ignore, &on_long_file) == 0;
}

int limits_check_stack(void)
{
    const rlim_t least = (rlim_t)STACK_KIB << 10;
    if (getrlimit(RLIMIT_STACK, &stack_before) != 0 || stack_before.rlim_cur >= least)
        return 0;
    const struct rlimit whole = {stack_before.rlim_max, stack_before.rlim_max};
    stack_raised = stack_before.rlim_max >= least && setrlimit(RLIMIT_STACK, &whole) == 0;
    if (stack_raised)
        return 0;
    return say_fail(EXIT_USAGE,
                    "the limit of the stack (RLIMIT_STACK, ulimit -s) is %llu KiB, and rtl needs "
                    "%u KiB",
                    (unsigned long long)stack_before.rlim_cur >> 10, STACK_KIB);
}

/* As many copies of one that is open. */
static bool can_open(unsigned files)
{
    int copies[LIMITS_FILES_OF_RECORDING];
    unsigned made = 0;
    while (made < files && (copies[made] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        made++;
    for (unsigned i = 0; i < made; i++)
        (void)close(copies[i]);
    return made == files;
}

int limits_check_files(unsigned needed)
{
    struct rlimit limit;
    if (can_open(needed) || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    const struct rlimit whole = {limit.rlim_max, limit.rlim_max};
    if (limit.rlim_cur != limit.rlim_max && setrlimit(RLIMIT_NOFILE, &whole) == 0) {
        before[FILES] = limit;
        known[FILES] = true;
        if (can_open(needed))
            return 0;
    }
    return say_fail(EXIT_USAGE,
                    "the limit of open files (RLIMIT_NOFILE, ulimit -n) is %llu, and rtl needs %u "
                    "more than are open already",
                    (unsigned long long)limit.rlim_max, needed);
}

int limits_check_recording(void)
{
    const rlim_t least = (rlim_t)RING_KIB << 10;
    struct rlimit limit;
    int failed = limits_check_files(LIMITS_FILES_OF_RECORDING);
    if (failed || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_max >= least)
        return failed;
    return say_fail(EXIT_USAGE,
                    "the limit of the size of files (RLIMIT_FSIZE, ulimit -f) is %llu KiB, and "
                    "recording needs %u KiB",
                    (unsigned long long)limit.rlim_max >> 10, RING_KIB);
}

void limits_restore(void)
{
    if (stack_raised)
        (void)setrlimit(RLIMIT_STACK, &stack_before);
    for (size_t i = 0; i < LIMITS; ++i)
        if (known[i])
            (void)setrlimit(raised[i], &before[i]);
    if (done)
        (void)sigaction(SIGXFSZ, &on_long_file, NULL);
}
