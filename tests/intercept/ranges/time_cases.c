/* Random work of a range, against one flag for each nanosecond. */
#include "../../common/check.h"
#include "common/range_time.h"

#include <stdlib.h>
#include <string.h>

#define SPAN 400u
#define MOST 40u

struct flags {
    unsigned kernels[SPAN], copies[SPAN];
};

static int by_start(const void *left, const void *right)
{
    const struct rtl_range_work *a = left;
    const struct rtl_range_work *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % below;
}

static unsigned make(unsigned *seed, struct rtl_range_work *work)
{
    unsigned count = draw(seed, MOST);
    for (unsigned i = 0; i < count; i++) {
        work[i].start = 1 + draw(seed, SPAN - 60);
        work[i].end = work[i].start + draw(seed, 60);
        work[i].copy = draw(seed, 3) == 0;
        work[i].bytes = work[i].copy ? draw(seed, 1000) : 0;
    }
    qsort(work, count, sizeof *work, by_start);
    return count;
}

static const char *check_one(unsigned *seed)
{
    struct rtl_range_work work[MOST];
    struct rtl_range_time time = {0};
    struct rtl_range_time want = {0};
    struct flags flags = {0};
    uint64_t open = draw(seed, SPAN);
    uint64_t close = open + draw(seed, SPAN);
    unsigned count = make(seed, work);
    uint64_t under = 0;
    for (unsigned i = 0; i < count; i++) {
        rtl_range_time_add(&time, open, close, &work[i]);
        for (uint64_t at = work[i].start; at < work[i].end; at++)
            (work[i].copy ? flags.copies : flags.kernels)[at]++;
        want.copies += work[i].copy;
        want.kernels += !work[i].copy;
        want.copy_bytes += work[i].bytes;
        want.last = work[i].end > want.last ? work[i].end : want.last;
    }
    for (uint64_t at = 0; at < SPAN; at++) {
        unsigned any = flags.kernels[at] + flags.copies[at];
        want.kernel_ns += flags.kernels[at];
        want.copy_ns += flags.copies[at];
        want.busy += flags.kernels[at] > 0;
        want.overlap += flags.kernels[at] > 1;
        want.copying += flags.copies[at] > 0;
        want.active += any > 0;
        want.within += any > 0 && at >= open && at < close;
        under += flags.kernels[at] > 0 && flags.copies[at] > 0;
    }
    CHECK(time.kernels == want.kernels);
    CHECK(time.copies == want.copies);
    CHECK(time.copy_bytes == want.copy_bytes);
    CHECK(time.kernel_ns == want.kernel_ns);
    CHECK(time.copy_ns == want.copy_ns);
    CHECK(time.busy == want.busy);
    CHECK(time.overlap == want.overlap);
    CHECK(time.copying == want.copying);
    CHECK(time.active == want.active);
    CHECK(time.within == want.within);
    CHECK(time.first == (count > 0 ? work[0].start : 0));
    CHECK(time.last == want.last);
    CHECK(rtl_range_time_copied_under(&time) == under);
    CHECK(rtl_range_time_idle(&time, close - open) == close - open - want.within);
    return NULL;
}

const char *RangeTime_IsThatOfFlags(void)
{
    unsigned seed = 7;
    for (unsigned i = 0; i < 20000; i++)
        CHECK_DONE(check_one(&seed));
    return NULL;
}

/* Nobody took the time of a copy: it counts, and takes none. */
const char *RangeTime_CopiesWithoutTimes(void)
{
    struct rtl_range_time time = {0};
    const struct rtl_range_work kernel = {.start = 100, .end = 130};
    const struct rtl_range_work copy = {.bytes = 5, .copy = true};
    rtl_range_time_add(&time, 90, 0, &kernel);
    rtl_range_time_add(&time, 90, 0, &copy);
    CHECK(time.copies == 1);
    CHECK(time.copy_bytes == 5);
    CHECK(time.copying == 0);
    CHECK(time.active == 30);
    CHECK(time.within == 30);
    CHECK(time.first == 100);
    return NULL;
}
