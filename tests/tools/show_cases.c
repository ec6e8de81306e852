/* Numbers and what they are of, in words. */
#include "../common/check.h"
#include "common/show.h"

#include <string.h>

static const char *things(uint64_t count, const char *thing, const char *wanted)
{
    const struct shown shown = show_things(count, thing);
    return strcmp(shown.text, wanted) == 0 ? NULL : check_failed(wanted, 0, shown.text);
}

static const char *duration(double ns, const char *wanted)
{
    const struct shown shown = show_duration(ns);
    return strcmp(shown.text, wanted) == 0 ? NULL : check_failed(wanted, 0, shown.text);
}

const char *Show_Things(void)
{
    CHECK_DONE(things(0, "kernel", "0 kernels"));
    CHECK_DONE(things(1, "kernel", "1 kernel"));
    CHECK_DONE(things(2, "copy", "2 copies"));
    CHECK_DONE(things(1234567, "process", "1 234 567 processes"));
    CHECK_DONE(things(3, "launch", "3 launches"));
    CHECK_DONE(things(3, "delay", "3 delays"));
    CHECK_DONE(
        things(UINT64_MAX, "interleaved round", "18 446 744 073 709 551 615 interleaved rounds"));
    return NULL;
}

const char *Show_Durations(void)
{
    CHECK_DONE(duration(0, "0 ns"));
    CHECK_DONE(duration(1234, "1.234 us"));
    CHECK_DONE(duration(-1234, "-1.234 us"));
    CHECK_DONE(duration(9e11, "15.00 min"));
    CHECK_DONE(duration(9e13, "25.00 h"));
    CHECK_DONE(duration(-1.728e15, "-20.00 d"));
    return NULL;
}
