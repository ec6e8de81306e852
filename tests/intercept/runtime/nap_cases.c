#include "../../common/check.h"
#include "common/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>

#define NAP_NS   UINT64_C(900000000)
#define EVERY_US 10000
#define TRIES    3

static void ring(int number)
{
    (void)number;
}

/* A handler ends the nap, and the system call fails for it. */
const char *Nap_KeepsErrnoWhenASignalEndsIt(void)
{
    struct sigaction action = {.sa_handler = ring};
    struct sigaction before;
    const struct itimerval often = {{.tv_usec = EVERY_US}, {.tv_usec = EVERY_US}};
    const struct itimerval never = {.it_value = {0}};
    bool ended_early = false;
    CHECK(sigaction(SIGALRM, &action, &before) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    errno = EDOM;
    for (int i = 0; i < TRIES && !ended_early; i++) {
        uint64_t begin = rtl_now();
        rtl_nap(NAP_NS);
        ended_early = rtl_now() - begin < NAP_NS;
    }
    CHECK(errno == EDOM);
    CHECK(ended_early);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(sigaction(SIGALRM, &before, NULL) == 0);
    return NULL;
}
