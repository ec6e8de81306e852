#include "common/limits.h"

#include "common/command.h"
#include "common/say.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#define STACK_KIB 128u /* rtl needs some 80 of them, and more with a large environment */

enum { LIMITS = 5 };

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
