/* Numbers and what they are of, in words. */
#include "../common/check.h"
#include "common/sentence.h"
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

/* Limits of processes differ; names with digits in them are other names. */
const char *Show_SentencesThatDifferInNumbersAlone(void)
{
    CHECK(rtl_compare_but_numbers("is 30273 KiB, or 7", "is 5 KiB, or 123") == 0);
    CHECK(rtl_compare_but_numbers("-n, is 12)", "-n, is 9)") == 0);
    CHECK(rtl_compare_but_numbers("is 5 KiB", "is 5 MiB") != 0);
    CHECK(rtl_compare_but_numbers("kernel_1", "kernel_2") != 0);
    CHECK(rtl_compare_but_numbers("at 0x7f01", "at 0x7f02") != 0);
    CHECK(rtl_compare_but_numbers("is 5", "is 5 KiB") < 0);
    /* An order, for sorting: what is the same as one number is on the same side of all others. */
    CHECK(rtl_compare_but_numbers("is 3", "is 4x") < 0 &&
          rtl_compare_but_numbers("is 5", "is 4x") < 0);
    CHECK(rtl_compare_but_numbers("is 4x", "is 3") > 0 &&
          rtl_compare_but_numbers("is ", "is 3") < 0);
    return NULL;
}
