/* A signal's times, put there while a device puts its own: each instruction of ours is stepped
 * through, and the device acts between any two of them. */
#include "../../common/check.h"
#include "fake_signals.h"
#include "intercept/queue/pending.h"
#include "stepping.h"

#ifdef STEPPING

#define OURS  5u    /* when the packet that was followed began and ended */
#define THEIR 1000u /* the device's time as the first instruction is done */
#define MOST  5000u /* instructions, of any build */
#define LATER UINT32_MAX

/* What is put, and what a device writes, and behind which instruction of ours; LATER: when all is
 * done. */
struct put {
    uint64_t handle;
    struct rtl_kernel_facts facts;
    uint64_t *start, *end;
    uint32_t begins, ends;
};

static void act(const struct put *put, uint32_t step, uint64_t time)
{
    if (put->begins == step)
        __atomic_store_n(put->start, time, __ATOMIC_RELAXED);
    if (put->ends == step)
        __atomic_store_n(put->end, time + 1, __ATOMIC_RELAXED);
}

static bool act_between(void *put, uint32_t step)
{
    act(put, step, THEIR + step);
    return true;
}

static void put_times(void *context)
{
    const struct put *put = context;
    rtl_signal_put_times(put->handle, &put->facts);
}

/* `theirs`, `ours`: whether an SDMA engine made the copy. */
static const char *put_against(bool theirs, bool ours, uint32_t begins, uint32_t ends,
                               uint32_t *steps)
{
    uint64_t handle = fake_signal(2);
    struct rtl_shared_signal *shared = rtl_shared_signal(handle);
    struct rtl_kernel_facts facts = {.flags = RTL_RECORD_COPY};
    struct put put = {
        .handle = handle,
        .facts = {.start = OURS, .end = OURS + 1, .flags = RTL_RECORD_COPY},
        .start = theirs ? &shared->sdma_start : &shared->signal.start_ts,
        .end = theirs ? &shared->sdma_end : &shared->signal.end_ts,
        .begins = begins,
        .ends = ends,
    };
    if (ours)
        put.facts.flags |= RTL_RECORD_SDMA;
    *steps = stepping_run(put_times, &put, act_between);
    CHECK(*steps > 2 && *steps < MOST);
    act(&put, LATER, THEIR + MOST);
    rtl_signal_times(handle, &facts);
    CHECK(facts.start >= OURS && facts.end > facts.start);
    return NULL;
}

/* Between any two instructions both of the device's times, or one, and the other in front or behind
 * all. */
static const char *put_against_all(bool theirs, bool ours)
{
    uint32_t steps;
    CHECK_DONE(put_against(theirs, ours, LATER, LATER, &steps));
    for (uint32_t step = 1, last = steps; step <= last; step++) {
        CHECK_DONE(put_against(theirs, ours, step, step, &steps));
        CHECK_DONE(put_against(theirs, ours, 1, step, &steps));
        CHECK_DONE(put_against(theirs, ours, step, LATER, &steps));
    }
    return NULL;
}

const char *Times_ADevicePutsItsOwnMeanwhile(void)
{
    CHECK_DONE(put_against_all(true, true));
    CHECK_DONE(put_against_all(true, false));
    CHECK_DONE(put_against_all(false, false));
    return NULL;
}

#else

const char *Times_ADevicePutsItsOwnMeanwhile(void)
{
    return NULL;
}

#endif
