/* Clocks of two hosts by collectives that both ran, against what was planted. */
#include "merge/clocks.h"

#include "../common/check.h"

#include <math.h>
#include <stdlib.h>

static const struct clocks_span no_span = {1, 0};
static uint64_t state;

/* SplitMix64 (Steele, Lea and Flood 2014), below `most`. */
static uint64_t below(uint64_t most)
{
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (z ^ (z >> 31)) % most;
}

struct planted {
    uint64_t begin;
    int64_t offset;
    double drift; /* ns a second */
    uint64_t transfer;
};

/* What is to be added to the other host's times at a true time. */
static int64_t difference(const struct planted *planted, uint64_t time)
{
    return planted->offset + (int64_t)(planted->drift * (double)(time - planted->begin) / 1e9);
}

/* Both hosts come to a collective within 2 ms, and leave it some us after the later one. */
static void make(const struct planted *planted, uint64_t time, struct clocks_bound *bound)
{
    uint64_t here = time + below(2000000);
    uint64_t there = time + below(2000000);
    uint64_t both = here > there ? here : there;
    uint64_t here_end = both + planted->transfer + below(5000);
    uint64_t there_end = both + planted->transfer + below(5000);
    uint64_t start = there - (uint64_t)difference(planted, there);
    uint64_t end = there_end - (uint64_t)difference(planted, there_end);
    *bound = (struct clocks_bound){here_end, (int64_t)(here - end), (int64_t)(here_end - start)};
}

static const char *try(const struct planted *planted, size_t count, uint64_t apart)
{
    struct clocks_bound *bounds = calloc(count, sizeof *bounds);
    struct clocks clocks;
    CHECK(bounds);
    for (size_t i = 0; i < count; i++)
        make(planted, planted->begin + i * apart, &bounds[i]);
    CHECK(clocks_find(bounds, count, &no_span, &clocks));
    CHECK(clocks.drift_least <= planted->drift && planted->drift <= clocks.drift_most);
    for (size_t i = 0; i < count; i++) {
        int64_t off = clocks.shift - difference(planted, bounds[i].at);
        CHECK((uint64_t)llabs(off) <= clocks.error);
    }
    /* It says no more than it has to: half of the drift, and what a collective leaves open. */
    double span = (double)((count - 1) * apart) / 1e9;
    if (count >= 100)
        CHECK((double)clocks.error < fabs(planted->drift) * span / 2 + 100000);
    free(bounds);
    return NULL;
}

const char *Clocks_ErrorIsRightInRandomTrials(void)
{
    for (unsigned trial = 0; trial < 200; trial++) {
        state = trial;
        const struct planted planted = {
            .begin = UINT64_C(1000000000) + below(UINT64_C(1) << 45),
            .offset = (int64_t)below(UINT64_C(1) << (10 + below(34))) - (1 << 20),
            .drift = (double)below(100001) - 50000, /* 50 ppm */
            .transfer = 1000 + below(20000),
        };
        CHECK_DONE(try(&planted, 3 + below(trial % 4 ? 300 : 2000), 3000000 + below(50000000)));
    }
    return NULL;
}

/* Collectives that do not belong together fit no clock. */
const char *Clocks_OthersDoNotFit(void)
{
    const struct planted planted = {UINT64_C(1) << 40, 5000000, 50000, 10000};
    struct clocks_bound bounds[100];
    struct clocks clocks;
    state = 1;
    for (size_t i = 0; i < 100; i++)
        make(&planted, planted.begin + i * 10000000, &bounds[i]);
    CHECK(clocks_find(bounds, 100, &no_span, &clocks));
    bounds[50].least += 3000000;
    bounds[50].most += 3000000;
    CHECK(!clocks_find(bounds, 100, &no_span, &clocks));
    CHECK(!clocks_find(bounds, 0, &no_span, &clocks));
    return NULL;
}

/* One collective tells the difference at its own time, and no drift. */
const char *Clocks_OneCollective(void)
{
    const struct clocks_bound bound = {UINT64_C(1) << 40, 1000, 5000};
    struct clocks clocks;
    CHECK(clocks_find(&bound, 1, &no_span, &clocks));
    CHECK(clocks.shift == 3000);
    CHECK(clocks.error >= 2000 + CLOCKS_SLACK && clocks.error <= 2000 + CLOCKS_SLACK + 2);
    CHECK(clocks.drift_least == -CLOCKS_DRIFT && clocks.drift_most == CLOCKS_DRIFT);
    return NULL;
}

static bool near(uint64_t number, uint64_t right)
{
    return number >= right && number <= right + 50000;
}

/* By hand: two exact bounds 10 s apart leave 1 us, which is the GPUs', and so 200 ns a second, for
 * the 100 s after them. */
const char *Clocks_RecordingGoesOn(void)
{
    const uint64_t begin = UINT64_C(1) << 40;
    const uint64_t second = 1000000000;
    const struct clocks_bound bounds[] = {{begin, 7000, 7000}, {begin + 10 * second, 7000, 7000}};
    const struct clocks_span after = {begin + 2 * second - 7000, begin + 110 * second - 7000};
    const struct clocks_span before = {begin - 20 * second - 7000, begin + 2 * second};
    const struct clocks_span within = {begin + second, begin + 2 * second};
    struct clocks clocks;
    CHECK(clocks_find(bounds, 2, &after, &clocks));
    CHECK(clocks.shift == 7000 && clocks.error >= 21000 && clocks.error <= 21010);
    CHECK(clocks.between >= 1000 && clocks.between <= 1002);
    CHECK(clocks.before == 0 && near(clocks.after, 100 * second));
    CHECK(clocks_find(bounds, 2, &before, &clocks));
    CHECK(clocks.error >= 5000 && clocks.error <= 5010);
    CHECK(near(clocks.before, 20 * second) && clocks.after == 0);
    CHECK(clocks_find(bounds, 2, &within, &clocks));
    CHECK(clocks.error == clocks.between && clocks.before == 0 && clocks.after == 0);
    return NULL;
}

/* A drift that changed may change again: 500 ppm for the time outside. */
const char *Clocks_RecordingGoesOnWhereTheDriftChanges(void)
{
    const uint64_t begin = UINT64_C(1) << 40;
    const uint64_t second = 1000000000;
    const struct clocks_bound bounds[] = {
        {begin, 0, 0}, {begin + 5 * second, 1000000, 1000000}, {begin + 10 * second, 0, 0}};
    const struct clocks_span span = {begin - 3 * second, begin + 110 * second};
    struct clocks clocks;
    CHECK(!clocks_find(bounds, 3, &span, &clocks));
    CHECK(clocks_follow(bounds, 3, &span, &clocks));
    CHECK(clocks.error >= 50001000 && clocks.error <= 50001000 + 50000);
    CHECK(clocks.before >= 3 * second && clocks.before <= 3 * second + 1600000);
    CHECK(clocks.after >= 100 * second && clocks.after <= 100 * second + 51000000);
    return NULL;
}

/* The other host's clock may be behind the reference's 0. */
const char *Clocks_RecordingBeganBeforeTheReference(void)
{
    const uint64_t second = 1000000000;
    const struct clocks_bound bounds[] = {{1000, -7000, -7000}, {10 * second, -7000, -7000}};
    const struct clocks_span span = {0, 5 * second};
    const struct clocks_span wrapped = {0 - 5 * second, 5 * second};
    struct clocks clocks;
    CHECK(clocks_find(bounds, 2, &span, &clocks));
    CHECK(clocks.error <= 1010 && clocks.before >= 8000 && clocks.before <= 10000);
    CHECK(clocks_find(bounds, 2, &wrapped, &clocks));
    CHECK(clocks.error >= 2000 && clocks.error <= 2010 && near(clocks.before, 5 * second));
    return NULL;
}
