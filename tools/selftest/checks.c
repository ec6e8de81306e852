/* Comparisons, one by one. */
#include "selftest/selftest.h"

#include "common/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const selftest_modes[] = {"lite", "standard", "hip", "full"};
const char *const selftest_ways[] = {"interpose", "intercept"};

const char *const selftest_aspects[] = {
    [ASPECT_RAN] = "ran",       [ASPECT_RESULTS] = "results", [ASPECT_KERNELS] = "kernels",
    [ASPECT_NAMES] = "names",   [ASPECT_ORDER] = "order",     [ASPECT_EVENTS] = "events",
    [ASPECT_COPIES] = "copies", [ASPECT_CALLS] = "calls",     [ASPECT_STREAMS] = "streams",
    [ASPECT_GRAPHS] = "graphs", [ASPECT_ACCOUNT] = "account",
};

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        memory_is_short();
    return copy;
}

void check_text(struct recording *is, enum aspect aspect, const char *what, const char *expected,
                const char *seen, bool right)
{
    if ((is->check_count & (is->check_count - 1)) == 0)
        is->checks =
            memory_grown(is->checks, is->check_count ? 2 * is->check_count : 1, sizeof *is->checks);
    is->checks[is->check_count++] = (struct check){.aspect = aspect,
                                                   .right = right,
                                                   .what = copy_of(what),
                                                   .expected = copy_of(expected),
                                                   .seen = copy_of(seen)};
    is->red += !right;
}

void check_number(struct recording *is, enum aspect aspect, const char *what, uint64_t least,
                  uint64_t most, uint64_t seen)
{
    char expected[64];
    char number[32];
    if (least == most)
        (void)snprintf(expected, sizeof expected, "%" PRIu64, least);
    else if (most == UINT64_MAX)
        (void)snprintf(expected, sizeof expected, "%" PRIu64 " or more", least);
    else
        (void)snprintf(expected, sizeof expected, "%" PRIu64 " to %" PRIu64, least, most);
    (void)snprintf(number, sizeof number, "%" PRIu64, seen);
    check_text(is, aspect, what, expected, number, seen >= least && seen <= most);
}

int check_aspect(const struct recording *is, enum aspect aspect)
{
    int state = -1;
    for (size_t i = 0; i < is->check_count; ++i)
        if (is->checks[i].aspect == aspect)
            state = is->checks[i].right && state != 0;
    return state;
}

void checks_free(struct recording *is)
{
    for (size_t i = 0; i < is->check_count; ++i) {
        free(is->checks[i].what);
        free(is->checks[i].expected);
        free(is->checks[i].seen);
    }
    free(is->checks);
    known_free(&is->known);
}
