#include "common/limits.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

enum { LIMITS = 5 };

static const __rlimit_resource_t raised[LIMITS] = {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_AS,
                                                   RLIMIT_DATA, RLIMIT_CPU};
static struct rlimit before[LIMITS];
static bool known[LIMITS]; /* and raised */
static struct sigaction on_long_file;
static bool done;

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

void limits_restore(void)
{
    for (size_t i = 0; i < LIMITS; ++i)
        if (known[i])
            (void)setrlimit(raised[i], &before[i]);
    if (done)
        (void)sigaction(SIGXFSZ, &on_long_file, NULL);
}
