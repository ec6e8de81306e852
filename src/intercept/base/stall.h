/**
 * A worker that gets no processor, in the shape of the library that the tests make
 * (RTL_TEST_STALL_NS): in front of each round, or, where the environment names a place
 * (RTL_TEST_STALL), for good as soon as it comes there. Elsewhere this does nothing.
 */
#ifndef RTL_INTERCEPT_BASE_STALL_H
#define RTL_INTERCEPT_BASE_STALL_H

#ifdef RTL_TEST_STALL_NS
#include "common/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/** By the worker, in front of a round. */
static inline void rtl_stall_round(void)
{
    if (secure_getenv("RTL_TEST_STALL") == NULL)
        rtl_nap(RTL_TEST_STALL_NS);
}

/** By whoever comes to a place in which the worker can lose its processor. */
static inline void rtl_stall_at(const char *place)
{
    const char *wanted = secure_getenv("RTL_TEST_STALL");
    char name[16] = "";
    (void)prctl(PR_GET_NAME, name);
    while (wanted != NULL && strcmp(wanted, place) == 0 && strcmp(name, "rtl-worker") == 0)
        rtl_nap(RTL_TEST_STALL_NS);
}
#else
static inline void rtl_stall_round(void)
{
}

static inline void rtl_stall_at(const char *place)
{
    (void)place;
}
#endif

#endif
