#include "../../common/check.h"
#include "common/stamp.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICKS_PER_NS 2.5
#define WIDTH        60u /* ticks of a reading */
#define WHILE_NS     UINT64_C(30000000)
#define SLACK_NS     2000u /* between a stamp and the clock: far more than a line may be off */
#define THREADS      4u
#define START_UP_NS  6000000u /* of a program, from when it loads the library */
#define TRIES        8u       /* a reading may be loose: one of so many is not */

/* A machine whose counter runs at a rate of the test's. */
static struct {
    double ns, ticks;
    double ticks_per_ns;
} machine;

static struct rtl_stamp_scale scale;
static struct rtl_stamp_line line;

static void set_up(void)
{
    machine.ns = 5e12;
    machine.ticks = 7e11;
    machine.ticks_per_ns = TICKS_PER_NS;
    memset(&scale, 0, sizeof scale);
    memset(&line, 0, sizeof line);
}

static void pass(double ns)
{
    machine.ns += ns;
    machine.ticks += ns * machine.ticks_per_ns;
}

static struct rtl_stamp_reading reading_of(uint64_t width)
{
    uint64_t middle = (uint64_t)machine.ticks;
    return (struct rtl_stamp_reading){
        .before = middle - width / 2, .ns = (uint64_t)machine.ns, .after = middle + width / 2};
}

/* As rtl_stamp does it. */
static uint64_t stamp(void)
{
    uint64_t since = (uint64_t)machine.ticks - line.ticks;
    if (since < line.window)
        return line.ns + (since * line.rate >> 32);
    struct rtl_stamp_reading reading = reading_of(WIDTH);
    if (rtl_stamp_is_tight(&scale, &reading))
        rtl_stamp_learn(&scale, &reading);
    return rtl_stamp_take(&line, &scale, &reading);
}

static double off(uint64_t stamped)
{
    return (double)stamped - machine.ns;
}

static bool is_near(uint64_t stamped, double ns)
{
    return off(stamped) <= ns && off(stamped) >= -ns;
}

static double rate_of(void)
{
    return (double)atomic_load(&scale.rate) / 4294967296.0;
}

/* Stamps at odd times for `ns`; NULL if each was near the clock and none before the last. */
static const char *stamps_are_right(double ns)
{
    uint64_t last = 0;
    for (double end = machine.ns + ns; machine.ns < end; pass(731.0)) {
        uint64_t now = stamp();
        CHECK(now >= last);
        CHECK(is_near(now, 20));
        last = now;
    }
    return NULL;
}

const char *Stamp_RateIsLearnt(void)
{
    set_up();
    CHECK_DONE(stamps_are_right(2e6));
    CHECK(atomic_load(&scale.rate) == 0); /* too early */
    CHECK_DONE(stamps_are_right(50e6));
    CHECK(rate_of() > 0.39999 && rate_of() < 0.40001);
    CHECK(line.window > 0);
    return NULL;
}

/* Somebody else had the processor for 3 ms, right behind the reading of the clock. */
const char *Stamp_FirstReadingIsNotTrusted(void)
{
    set_up();
    struct rtl_stamp_reading first = reading_of(WIDTH);
    pass(3e6);
    first.after = (uint64_t)machine.ticks;
    CHECK(!rtl_stamp_is_tight(&scale, &first));
    CHECK(rtl_stamp_take(&line, &scale, &first) == first.ns);
    CHECK_DONE(stamps_are_right(50e6));
    CHECK(rate_of() > 0.39999 && rate_of() < 0.40001);
    return NULL;
}

/* The clock is slewed as much as adjtimex allows: the counter seems faster, and slower. */
const char *Stamp_FollowsASlewedClock(void)
{
    set_up();
    CHECK_DONE(stamps_are_right(50e6));
    machine.ticks_per_ns = TICKS_PER_NS * 1.0005;
    uint64_t last = 0;
    for (unsigned i = 0; i < 200000; i++, pass(731.0)) {
        uint64_t now = stamp();
        CHECK(now >= last && is_near(now, 600));
        last = now;
    }
    machine.ticks_per_ns = TICKS_PER_NS * 0.9995;
    for (unsigned i = 0; i < 200000; i++, pass(731.0)) {
        uint64_t now = stamp();
        CHECK(now >= last && is_near(now, 1100));
        last = now;
    }
    return NULL;
}

/* Somebody came between: such a reading is a time, and nothing to go by. */
const char *Stamp_LooseReadingsAreNotGoneBy(void)
{
    set_up();
    CHECK_DONE(stamps_are_right(50e6));
    uint64_t rate = atomic_load(&scale.rate);
    pass(3e6);
    struct rtl_stamp_line before = line;
    struct rtl_stamp_reading loose = reading_of(100000);
    CHECK(!rtl_stamp_is_tight(&scale, &loose));
    CHECK(is_near(rtl_stamp_take(&line, &scale, &loose), 1));
    CHECK(memcmp(&line, &before, sizeof line) == 0 && atomic_load(&scale.rate) == rate);
    return NULL;
}

/* The clock goes on while the machine sleeps, the counter may not. */
const char *Stamp_SleepOfTheMachine(void)
{
    set_up();
    CHECK_DONE(stamps_are_right(50e6));
    machine.ns += 3600e9;
    pass(2e6); /* the line is over */
    CHECK(is_near(stamp(), 1));
    CHECK_DONE(stamps_are_right(500e6)); /* and the rate learnt anew */
    CHECK(rate_of() > 0.39999 && rate_of() < 0.40001);
    return NULL;
}

/* A counter that has begun again, or is another processor's. */
const char *Stamp_CounterThatLeapsBack(void)
{
    set_up();
    CHECK_DONE(stamps_are_right(50e6));
    pass(2e6);
    (void)stamp();
    pass(300e3); /* in the middle of a line */
    machine.ticks = 1000;
    CHECK(is_near(stamp(), 20));
    CHECK_DONE(stamps_are_right(500e6));
    return NULL;
}

/* A counter that runs faster than it did: what a line has said is taken back, or all stamps to come
 * would be too late. */
const char *Stamp_CounterThatChangesItsRate(void)
{
    set_up();
    CHECK_DONE(stamps_are_right(50e6));
    machine.ticks_per_ns = 2 * TICKS_PER_NS;
    pass(0.75e6);
    CHECK(is_near(stamp(), 600e3));
    for (unsigned i = 0; i < 1000000; i++, pass(731.0))
        (void)stamp();
    CHECK_DONE(stamps_are_right(50e6));
    CHECK(rate_of() > 0.19999 && rate_of() < 0.20001);
    return NULL;
}

static bool file_says(const char *text)
{
    char path[] = "/tmp/stamp_test.XXXXXX";
    int file = mkstemp(path);
    bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    errno = 0;
    bool says = rtl_stamp_is_kept_by_counter(path);
    bool kept = errno == 0;
    (void)close(file);
    (void)unlink(path);
    return written && kept && says;
}

const char *Stamp_OnlyWhereTheKernelTrustsTheCounter(void)
{
    CHECK(file_says("tsc\n"));
    CHECK(!file_says("tsc-early\n") && !file_says("kvm-clock\n") && !file_says("hpet\n"));
    CHECK(!file_says(""));
    errno = 0;
    CHECK(!rtl_stamp_is_kept_by_counter("/nonexistent/current_clocksource") && errno == 0);
    return NULL;
}

/* A program's first stamps need not read the clock each. */
const char *Stamp_RateIsKnownWhenItIsWanted(void)
{
    const char *source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    errno = ENOENT;
    rtl_stamp_begin();
    CHECK(errno == ENOENT);
    (void)usleep(START_UP_NS / 1000);
    for (unsigned i = 0; i < TRIES && rtl_stamp_line.window == 0; i++)
        (void)rtl_stamp();
    CHECK(rtl_stamp_line.window > 0 || !rtl_stamp_is_kept_by_counter(source));
    return NULL;
}

/* On this machine, whatever its clock goes by. */
static void *real_stamps(void *unused)
{
    (void)unused;
    uint64_t last = 0;
    uint64_t end = rtl_now() + WHILE_NS;
    for (uint64_t before = rtl_now(); before < end; before = rtl_now()) {
        uint64_t now = rtl_stamp();
        uint64_t after = rtl_now();
        if (now < last)
            return (char *)"a stamp before the last one";
        if (now + SLACK_NS < before || now > after + SLACK_NS)
            return (char *)"a stamp that is not between two readings";
        last = now;
    }
    return NULL;
}

const char *Stamp_AgreesWithTheClock(void)
{
    pthread_t threads[THREADS];
    const char *said = NULL;
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, real_stamps, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0);
        said = result != NULL ? result : said;
    }
    return said;
}
