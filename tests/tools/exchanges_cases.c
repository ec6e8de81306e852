/* Clocks of two hosts by packets, against what was planted: delays that differ with the direction,
 * jitter, losses, clocks that drift and that are slewed. */
#include "merge/exchanges.h"
#include "sync/burst.h"

#include "../common/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A host's clock: at true time `turn` its rate changes. Rates are ns a second too fast. */
struct clock {
    const char *boot;
    uint64_t offset, turn;
    double rate, later;
};

/* How far ahead of true time it is. */
static int64_t ahead(const struct clock *clock, uint64_t time)
{
    uint64_t before = time < clock->turn ? time : clock->turn;
    return (int64_t)clock->offset + (int64_t)(clock->rate * (double)before / 1e9) +
           (int64_t)(clock->later * (double)(time - before) / 1e9);
}

static uint64_t reads(const struct clock *clock, uint64_t time)
{
    return time + (uint64_t)ahead(clock, time);
}

/* Least times to the responder and back, and jitter, which is mostly small and now and then not. */
struct network {
    uint64_t there, back, jitter;
    unsigned lost; /* of a hundred */
};

static uint64_t jitter(const struct network *network)
{
    return below(1 + network->jitter) >> below(8);
}

static bool make(const struct network *network, const struct clock *own, const struct clock *peer,
                 uint64_t *time, struct rtl_exchange *made)
{
    uint64_t sent = *time;
    uint64_t received = sent + network->there + jitter(network);
    uint64_t answered = received + 200 + below(3000);
    uint64_t returned = answered + network->back + jitter(network);
    *time = returned + 1000;
    *made = (struct rtl_exchange){.sent = reads(own, sent),
                                  .received = reads(peer, received),
                                  .answered = reads(peer, answered),
                                  .returned = reads(own, returned)};
    (void)snprintf(made->peer_boot, sizeof made->peer_boot, "%s", peer->boot);
    return below(100) >= network->lost;
}

/* As rtl trace --sync: bursts of eight, of which it keeps one or two. */
static void ask(struct exchanges *host, const struct network *network, const struct clock *own,
                const struct clock *peer, uint64_t begin, uint64_t end)
{
    uint64_t gap = 1000000000;
    for (uint64_t at = begin + below(300000000); at <= end; at += gap) {
        struct rtl_burst burst = {0};
        struct rtl_exchange made;
        uint64_t time = at;
        for (int i = 0; i < 8; i++)
            if (make(network, own, peer, &time, &made))
                rtl_burst_add(&burst, &made);
        host->list = realloc(host->list, (host->count + 2) * sizeof *host->list);
        host->count += rtl_burst_kept(&burst, host->list + host->count);
        gap = gap < 8000000000 ? 2 * gap : 10000000000;
    }
}

enum way { OTHER_ASKED, REFERENCE_ASKED, BOTH_ASKED_A_THIRD, WAYS };

struct planted {
    struct clock reference, other, third;
    struct network one, two;
    uint64_t begin, end; /* true time */
    enum way way;
};

static void plant(struct planted *planted, unsigned trial, bool slewed)
{
    struct clock *clocks[] = {&planted->reference, &planted->other, &planted->third};
    static const char *const boots[] = {"boot-reference", "boot-other", "boot-third"};
    struct network *networks[] = {&planted->one, &planted->two};
    planted->begin = UINT64_C(1000000000) + below(UINT64_C(1) << 40);
    planted->end = planted->begin + (UINT64_C(1) << (slewed ? 33 + below(6) : 28 + below(12)));
    planted->way = (enum way)(trial % WAYS);
    for (int i = 0; i < 3; i++) {
        double rate = (double)below(100001) - 50000; /* 50 ppm */
        *clocks[i] = (struct clock){boots[i], below(UINT64_C(1) << (10 + below(42))),
                                    UINT64_MAX / 2, rate, rate};
        if (slewed) {
            clocks[i]->turn = planted->begin + below(planted->end - planted->begin);
            clocks[i]->later = rate + (double)below(100001) - 50000;
        }
    }
    for (int i = 0; i < 2; i++)
        *networks[i] = (struct network){1000 + below(200000), 1000 + below(200000),
                                        below(UINT64_C(1) << (8 + below(15))),
                                        (unsigned)below(trial % 5 ? 20 : 80)};
}

static size_t ask_all(const struct planted *planted, struct exchanges *reference,
                      struct exchanges *other, struct clocks_bound **bounds, bool *fits)
{
    *reference = (struct exchanges){.boot = planted->reference.boot};
    /* The times of day agree within some ms. */
    *other = (struct exchanges){.boot = planted->other.boot,
                                .shift = ahead(&planted->reference, planted->begin) -
                                         ahead(&planted->other, planted->begin) +
                                         (int64_t)below(10000000) - 5000000};
    if (planted->way == OTHER_ASKED)
        ask(other, &planted->one, &planted->other, &planted->reference, planted->begin,
            planted->end);
    if (planted->way == REFERENCE_ASKED)
        ask(reference, &planted->one, &planted->reference, &planted->other, planted->begin,
            planted->end);
    if (planted->way == BOTH_ASKED_A_THIRD) {
        ask(other, &planted->one, &planted->other, &planted->third, planted->begin, planted->end);
        ask(reference, &planted->two, &planted->reference, &planted->third, planted->begin,
            planted->end);
    }
    return exchanges_bounds(reference, other, bounds, fits);
}

/* What is to be added to the other host's times, at the true time at which the reference's clock
 * reads so. */
static int64_t difference(const struct planted *planted, const struct exchanges *other,
                          uint64_t read)
{
    uint64_t time = read - (uint64_t)ahead(&planted->reference, planted->begin);
    time = read - (uint64_t)ahead(&planted->reference, time);
    return ahead(&planted->reference, time) - ahead(&planted->other, time) - other->shift;
}

static const char *look(const struct planted *planted, const struct exchanges *other,
                        const struct clocks_bound *bounds, size_t count,
                        const struct clocks *clocks)
{
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t true_one = difference(planted, other, bounds[i].at);
        CHECK(bounds[i].least - 2000 <= true_one && true_one <= bounds[i].most + 2000);
        first = bounds[i].at < first ? bounds[i].at : first;
        last = bounds[i].at > last ? bounds[i].at : last;
    }
    for (uint64_t i = 0; i <= 100; i++) {
        int64_t off = clocks->shift - difference(planted, other, first + (last - first) / 100 * i);
        CHECK((uint64_t)llabs(off) <= clocks->error);
    }
    return NULL;
}

/* The other host records longer than packets are exchanged, on both sides. */
struct recorded {
    uint64_t from, to; /* true time */
    struct clocks_span span;
};

static void record(const struct planted *planted, const struct exchanges *other,
                   struct recorded *recorded)
{
    uint64_t most = 2 * (planted->end - planted->begin);
    recorded->from = planted->begin - below(most < 900000000 ? most : 900000000);
    recorded->to = planted->end + below(most);
    recorded->span =
        (struct clocks_span){reads(&planted->other, recorded->from) + (uint64_t)other->shift,
                             reads(&planted->other, recorded->to) + (uint64_t)other->shift};
}

static const char *look_at_ends(const struct planted *planted, const struct exchanges *other,
                                const struct recorded *recorded, const struct clocks *clocks)
{
    const uint64_t ends[] = {recorded->from, recorded->to};
    for (int i = 0; i < 2; i++) {
        int64_t true_one =
            ahead(&planted->reference, ends[i]) - ahead(&planted->other, ends[i]) - other->shift;
        CHECK((uint64_t)llabs(clocks->shift - true_one) <= clocks->error);
    }
    CHECK(clocks->between <= clocks->error);
    return NULL;
}

/* One drift: it is found, and the error is no more than what drift and delays make of it. */
static const char *try_steady(unsigned trial, unsigned *found)
{
    struct planted planted;
    struct exchanges reference;
    struct exchanges other;
    struct clocks_bound *bounds;
    struct clocks clocks;
    bool fits;
    state = trial;
    plant(&planted, trial, false);
    size_t count = ask_all(&planted, &reference, &other, &bounds, &fits);
    CHECK(fits);
    if (count) {
        double drift = planted.reference.rate - planted.other.rate;
        double span = (double)(planted.end - planted.begin) / 1e9;
        double delays = (double)(planted.one.there + planted.one.back + planted.one.jitter +
                                 planted.two.there + planted.two.back + planted.two.jitter);
        CHECK(clocks_find(bounds, count, &no_span, &clocks) && clocks.steady);
        uint64_t alone = clocks.error;
        CHECK(clocks.between == alone && clocks.before == 0 && clocks.after == 0);
        CHECK_DONE(look(&planted, &other, bounds, count, &clocks));
        CHECK(clocks.drift_least <= drift + 10 && drift - 10 <= clocks.drift_most);
        if (span > 60 && count > 10)
            CHECK((double)clocks.error < fabs(drift) * span / 2 + 3 * delays + 10000);
        struct recorded recorded;
        record(&planted, &other, &recorded);
        CHECK(clocks_find(bounds, count, &recorded.span, &clocks) && clocks.steady);
        CHECK_DONE(look(&planted, &other, bounds, count, &clocks));
        CHECK_DONE(look_at_ends(&planted, &other, &recorded, &clocks));
        CHECK(clocks.between == alone);
        span = (double)(recorded.to - recorded.from) / 1e9;
        if (span > 180 && count > 10)
            CHECK((double)clocks.error < fabs(drift) * span / 2 + 15 * delays + 50000);
        ++*found;
    }
    free(bounds);
    free(reference.list);
    free(other.list);
    return NULL;
}

const char *Exchanges_ErrorIsRightInRandomTrials(void)
{
    unsigned found = 0;
    for (unsigned trial = 0; trial < 200; trial++)
        CHECK_DONE(try_steady(trial, &found));
    CHECK(found > 150); /* elsewhere all packets were lost */
    return NULL;
}

/* A clock whose rate changes in the middle fits no one drift, or does: the error is right anyhow.
 */
static const char *try_slewed(unsigned trial, unsigned *changed)
{
    struct planted planted;
    struct exchanges reference;
    struct exchanges other;
    struct clocks_bound *bounds;
    struct clocks clocks;
    bool fits;
    state = trial + 1000;
    plant(&planted, trial, true);
    /* By a third host: a change that its packets do not show is none that anybody could know. */
    planted.way = trial % 2 ? OTHER_ASKED : REFERENCE_ASKED;
    planted.one.lost = planted.two.lost = 5;
    size_t count = ask_all(&planted, &reference, &other, &bounds, &fits);
    CHECK(fits);
    if (count && !clocks_find(bounds, count, &no_span, &clocks)) {
        CHECK(clocks_follow(bounds, count, &no_span, &clocks) && !clocks.steady);
        CHECK_DONE(look(&planted, &other, bounds, count, &clocks));
        struct recorded recorded;
        record(&planted, &other, &recorded);
        CHECK(clocks_follow(bounds, count, &recorded.span, &clocks));
        CHECK_DONE(look(&planted, &other, bounds, count, &clocks));
        CHECK_DONE(look_at_ends(&planted, &other, &recorded, &clocks));
        ++*changed;
    }
    free(bounds);
    free(reference.list);
    free(other.list);
    return NULL;
}

const char *Exchanges_ErrorIsRightWhereTheDriftChanges(void)
{
    unsigned changed = 0;
    for (unsigned trial = 0; trial < 200; trial++)
        CHECK_DONE(try_slewed(trial, &changed));
    CHECK(changed > 50);
    return NULL;
}

/* Exchanges with hosts that the other one never asked tell nothing. */
const char *Exchanges_OfNoCommonResponder(void)
{
    struct rtl_exchange one = {.sent = 1000, .received = 2000, .answered = 2001, .returned = 1100};
    struct rtl_exchange two = one;
    (void)snprintf(one.peer_boot, sizeof one.peer_boot, "boot-a");
    (void)snprintf(two.peer_boot, sizeof two.peer_boot, "boot-b");
    const struct exchanges reference = {.boot = "boot-1", .list = &one, .count = 1};
    const struct exchanges other = {.boot = "boot-2", .list = &two, .count = 1};
    struct clocks_bound *bounds;
    bool fits;
    CHECK(exchanges_bounds(&reference, &other, &bounds, &fits) == 0 && fits && !bounds);
    return NULL;
}

/* The third host's clock was set between two exchanges of the one host. */
const char *Exchanges_ThatContradictEachOther(void)
{
    struct rtl_exchange here[2] = {
        {.sent = 1000000, .received = 5000000, .answered = 5001000, .returned = 1020000},
        {.sent = 2000000, .received = 9000000, .answered = 9001000, .returned = 2020000}};
    struct rtl_exchange there = here[0];
    for (int i = 0; i < 2; i++)
        (void)snprintf(here[i].peer_boot, sizeof here[i].peer_boot, "boot-3");
    (void)snprintf(there.peer_boot, sizeof there.peer_boot, "boot-3");
    const struct exchanges reference = {.boot = "boot-1", .list = here, .count = 2};
    const struct exchanges other = {.boot = "boot-2", .list = &there, .count = 1};
    struct clocks_bound *bounds;
    bool fits;
    CHECK(exchanges_bounds(&reference, &other, &bounds, &fits) == 0 && !fits);
    return NULL;
}

/* By hand: 1 ms ahead, 10 us there and 30 us back. What is possible is from -30 to +10 us beside
 * it, and packets of a third host add up. */
const char *Exchanges_ByHand(void)
{
    struct rtl_exchange one = {.sent = UINT64_C(1) << 40,
                               .received = (UINT64_C(1) << 40) + 1010000,
                               .answered = (UINT64_C(1) << 40) + 1010000,
                               .returned = (UINT64_C(1) << 40) + 40000};
    (void)snprintf(one.peer_boot, sizeof one.peer_boot, "boot-1");
    struct rtl_exchange copy = one;
    const struct exchanges reference = {.boot = "boot-1"};
    const struct exchanges other = {.boot = "boot-2", .list = &one, .count = 1, .shift = 1000};
    struct clocks_bound *bounds;
    bool fits;
    CHECK(exchanges_bounds(&reference, &other, &bounds, &fits) == 1 && fits);
    CHECK(bounds[0].at == one.received);
    CHECK(bounds[0].least == 970000 - 1000 && bounds[0].most == 1010000 - 1000);
    free(bounds);
    const struct exchanges asked = {.boot = "boot-3", .list = &copy, .count = 1};
    CHECK(exchanges_bounds(&asked, &other, &bounds, &fits) == 2 && fits);
    for (int i = 0; i < 2; i++) {
        CHECK(bounds[i].least <= -41000 && bounds[i].least >= -41000 - 3 * CLOCKS_SLACK);
        CHECK(bounds[i].most >= 39000 && bounds[i].most <= 39000 + 3 * CLOCKS_SLACK);
    }
    free(bounds);
    return NULL;
}

/* Numbers that a damaged trace may have: something is found or not, within the time of a test. */
const char *Exchanges_OfAnyNumbers(void)
{
    static const char *const boots[] = {"boot-1", "boot-2", "boot-3", ""};
    static struct rtl_exchange lists[2][400];
    state = 7;
    for (unsigned trial = 0; trial < 60; trial++) {
        struct exchanges hosts[2];
        for (int i = 0; i < 2; i++) {
            hosts[i] = (struct exchanges){.boot = boots[i],
                                          .list = lists[i],
                                          .count = below(trial % 3 ? 20 : 400),
                                          .shift = i ? (int64_t)below(UINT64_MAX) : 0};
            for (size_t k = 0; k < hosts[i].count; k++) {
                unsigned bits = (unsigned)below(64);
                lists[i][k] = (struct rtl_exchange){.sent = below(UINT64_MAX) >> bits,
                                                    .received = below(UINT64_MAX) >> below(64),
                                                    .answered = below(UINT64_MAX) >> below(64),
                                                    .returned = below(UINT64_MAX) >> bits};
                (void)snprintf(lists[i][k].peer_boot, sizeof lists[i][k].peer_boot, "%s",
                               boots[below(trial % 2 ? 4 : 3)]);
            }
        }
        struct clocks_bound *bounds;
        struct clocks clocks;
        bool fits;
        size_t count = exchanges_bounds(&hosts[0], &hosts[1], &bounds, &fits);
        CHECK((count == 0) == (bounds == NULL));
        const struct clocks_span span = {below(UINT64_MAX) >> below(64),
                                         below(UINT64_MAX) >> below(64)};
        (void)clocks_find(bounds, count, &span, &clocks);
        (void)clocks_follow(bounds, count, &span, &clocks);
        free(bounds);
    }
    return NULL;
}
