#include "common/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CLOCK_SOURCE  "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define FIRST_SPAN_NS UINT64_C(4000000) /* 100 ns of a reading are 25 millionths of it */
#define LOOSE         4u                /* times the tightest: somebody came between */
#define ONE           4294967296.0      /* in a rate */
#define MOST_CHANGE   1000u             /* of a rate, one part in so many */
#define MOST_AHEAD_NS 1000u             /* that a line may come out in front of the clock */

_Thread_local struct rtl_stamp_line rtl_stamp_line;

/* ---- the rate ---- */

/* The first one has nothing to be compared with: the thread may have been without a processor in
 * the middle of it, and a rate from there would be anything. */
bool rtl_stamp_is_tight(struct rtl_stamp_scale *scale, const struct rtl_stamp_reading *reading)
{
    uint64_t width = reading->after - reading->before;
    uint64_t tightest = atomic_load_explicit(&scale->tightest, memory_order_relaxed);
    if (tightest == 0 || width < tightest) /* another thread may write a wider one over it */
        atomic_store_explicit(&scale->tightest, width, memory_order_relaxed);
    return tightest != 0 && width <= LOOSE * tightest;
}

static uint64_t middle_of(const struct rtl_stamp_reading *reading)
{
    return reading->before + (reading->after - reading->before) / 2;
}

static void begin_scale(struct rtl_stamp_scale *scale, const struct rtl_stamp_reading *reading)
{
    atomic_store_explicit(&scale->rate, 0, memory_order_relaxed);
    scale->ticks = middle_of(reading);
    scale->ns = reading->ns;
    scale->span = 0;
}

static bool contradicts(uint64_t rate, uint64_t known)
{
    uint64_t apart = rate > known ? rate - known : known - rate;
    return known != 0 && apart > known / MOST_CHANGE;
}

/* Each rate is from at least twice the time of the one before: it becomes better all the time, and
 * that costs nothing. */
void rtl_stamp_learn(struct rtl_stamp_scale *scale, const struct rtl_stamp_reading *reading)
{
    uint64_t span = reading->ns - scale->ns;
    if (scale->ns == 0) {
        begin_scale(scale, reading);
        return;
    }
    if (span < FIRST_SPAN_NS || span < 2 * scale->span)
        return;
    double ticks = (double)(middle_of(reading) - scale->ticks);
    uint64_t rate = (uint64_t)((double)span / ticks * ONE);
    if (rate == 0 || contradicts(rate, atomic_load_explicit(&scale->rate, memory_order_relaxed))) {
        begin_scale(scale, reading);
        return;
    }
    scale->span = span;
    atomic_store_explicit(&scale->rate, rate, memory_order_relaxed);
}

/* ---- a thread's line ---- */

/* The latest that the line has said, or may have. */
static uint64_t end_of(const struct rtl_stamp_line *line)
{
    return line->ns + (line->window * line->rate >> 32);
}

/* A line that was a little fast has the next one begin where it has ended, and go so much slower
 * that it ends with the clock. */
static void begin_line(struct rtl_stamp_line *line, const struct rtl_stamp_reading *reading,
                       uint64_t rate, uint64_t ahead)
{
    uint64_t slower = (uint64_t)((double)rate * (double)ahead / (double)RTL_STAMP_WINDOW_NS);
    line->ticks = middle_of(reading);
    line->ns = reading->ns + ahead;
    line->window = (uint64_t)((double)RTL_STAMP_WINDOW_NS * ONE / (double)rate);
    line->rate = rate - slower;
}

uint64_t rtl_stamp_take(struct rtl_stamp_line *line, struct rtl_stamp_scale *scale,
                        const struct rtl_stamp_reading *reading)
{
    uint64_t end = end_of(line);
    uint64_t ahead = end > reading->ns ? end - reading->ns : 0;
    uint64_t rate = atomic_load_explicit(&scale->rate, memory_order_relaxed);
    if (ahead > MOST_AHEAD_NS) { /* not what a rate can do: the clock is right */
        *line = (struct rtl_stamp_line){0};
        return reading->ns;
    }
    if (rate == 0 || !rtl_stamp_is_tight(scale, reading))
        return reading->ns + ahead;
    begin_line(line, reading, rate, ahead);
    return line->ns;
}

/* ---- the process's ---- */

bool rtl_stamp_is_kept_by_counter(const char *path)
{
    char name[8] = "";
    int saved = errno;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, name, sizeof name - 1) : 0;
    if (file >= 0)
        (void)close(file);
    errno = saved;
    return size > 0 && strcmp(name, "tsc\n") == 0;
}

#if defined __x86_64__

static struct rtl_stamp_scale scale;
static atomic_flag learning = ATOMIC_FLAG_INIT;

static bool may_use_counter(void)
{
    static _Atomic int known; /* 0: not yet; else 1 + the answer */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        answer = 1 + rtl_stamp_is_kept_by_counter(CLOCK_SOURCE);
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

/* Who finds another at it leaves it to that one. */
static void learn(const struct rtl_stamp_reading *reading)
{
    if (!rtl_stamp_is_tight(&scale, reading) ||
        atomic_flag_test_and_set_explicit(&learning, memory_order_acquire))
        return;
    rtl_stamp_learn(&scale, reading);
    atomic_flag_clear_explicit(&learning, memory_order_release);
}

uint64_t rtl_stamp_by_reading(void)
{
    struct rtl_stamp_reading reading;
    if (!may_use_counter())
        return rtl_now();
    reading.before = __rdtsc();
    reading.ns = rtl_now();
    reading.after = __rdtsc();
    learn(&reading);
    return rtl_stamp_take(&rtl_stamp_line, &scale, &reading);
}

#else

uint64_t rtl_stamp_by_reading(void)
{
    return rtl_now();
}

#endif

/* The first reading is not trusted, and the rate is learnt from the second one on. */
void rtl_stamp_begin(void)
{
    (void)rtl_stamp_by_reading();
    (void)rtl_stamp_by_reading();
}
