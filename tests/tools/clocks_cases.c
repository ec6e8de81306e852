/* Clocks of two hosts by collectives that both ran, against what was planted. */
#include "merge/clocks.h"

#include "../common/check.h"

#include <math.h>
#include <stdlib.h>

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
    CHECK(clocks_find(bounds, count, &clocks));
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
    CHECK(clocks_find(bounds, 100, &clocks));
    bounds[50].least += 3000000;
    bounds[50].most += 3000000;
    CHECK(!clocks_find(bounds, 100, &clocks));
    CHECK(!clocks_find(bounds, 0, &clocks));
    return NULL;
}

/* One collective tells the difference at its own time, and no drift. */
const char *Clocks_OneCollective(void)
{
    const struct clocks_bound bound = {UINT64_C(1) << 40, 1000, 5000};
    struct clocks clocks;
    CHECK(clocks_find(&bound, 1, &clocks));
    CHECK(clocks.shift == 3000);
    CHECK(clocks.error >= 2000 + CLOCKS_SLACK && clocks.error <= 2000 + CLOCKS_SLACK + 2);
    CHECK(clocks.drift_least == -CLOCKS_DRIFT && clocks.drift_most == CLOCKS_DRIFT);
    return NULL;
}
