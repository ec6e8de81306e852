/* A signal's times, put there while a device puts its own: each instruction of ours is stepped
 * through, and the device acts between any two of them. Not under ThreadSanitizer, whose own
 * instructions it would interrupt. */
#include "../common/check.h"
#include "fake_signals.h"
#include "intercept/pending.h"

#if defined __x86_64__ && !defined __SANITIZE_THREAD__

#include <signal.h>
#include <x86intrin.h>

#define TRAP  0x100u /* in the flags register: trap behind each instruction */
#define OURS  5u     /* when the packet that was followed began and ended */
#define THEIR 1000u  /* the device's time as the first instruction is done */
#define MOST  5000u  /* instructions, of any build */
#define LATER UINT32_MAX

/* What a device writes, and behind which instruction of ours; LATER: when all is done. */
struct device {
    uint64_t *start, *end;
    uint32_t begins, ends;
};

static struct device device;
static volatile uint32_t steps;

static void act(uint32_t step, uint64_t time)
{
    if (device.begins == step)
        __atomic_store_n(device.start, time, __ATOMIC_RELAXED);
    if (device.ends == step)
        __atomic_store_n(device.end, time + 1, __ATOMIC_RELAXED);
}

static void on_step(int number)
{
    (void)number;
    steps = steps + 1;
    act(steps, THEIR + steps);
}

static void put_step_by_step(uint64_t handle, const struct rtl_kernel_facts *facts)
{
    steps = 0;
    __writeeflags(__readeflags() | TRAP);
    rtl_signal_put_times(handle, facts);
    __writeeflags(__readeflags() & ~(unsigned long long)TRAP);
    act(LATER, THEIR + MOST);
}

/* `theirs`, `ours`: whether an SDMA engine made the copy. */
static const char *put_against(bool theirs, bool ours, uint32_t begins, uint32_t ends)
{
    uint64_t handle = fake_signal(2);
    struct rtl_shared_signal *shared = rtl_shared_signal(handle);
    struct rtl_kernel_facts facts = {.start = OURS, .end = OURS + 1, .flags = RTL_RECORD_COPY};
    if (ours)
        facts.flags |= RTL_RECORD_SDMA;
    device = (struct device){
        .start = theirs ? &shared->sdma_start : &shared->signal.start_ts,
        .end = theirs ? &shared->sdma_end : &shared->signal.end_ts,
        .begins = begins,
        .ends = ends,
    };
    put_step_by_step(handle, &facts);
    CHECK(steps > 2 && steps < MOST);
    facts = (struct rtl_kernel_facts){.flags = RTL_RECORD_COPY};
    rtl_signal_times(handle, &facts);
    CHECK(facts.start >= OURS && facts.end > facts.start);
    return NULL;
}

/* Between any two instructions both of the device's times, or one, and the other in front or behind
 * all. */
static const char *put_against_all(bool theirs, bool ours)
{
    CHECK_DONE(put_against(theirs, ours, LATER, LATER));
    for (uint32_t step = 1, last = steps; step <= last; step++) {
        CHECK_DONE(put_against(theirs, ours, step, step));
        CHECK_DONE(put_against(theirs, ours, 1, step));
        CHECK_DONE(put_against(theirs, ours, step, LATER));
    }
    return NULL;
}

const char *Times_ADevicePutsItsOwnMeanwhile(void)
{
    struct sigaction before;
    struct sigaction stepping = {.sa_handler = on_step};
    CHECK(sigaction(SIGTRAP, &stepping, &before) == 0);
    CHECK_DONE(put_against_all(true, true));
    CHECK_DONE(put_against_all(true, false));
    CHECK_DONE(put_against_all(false, false));
    CHECK(sigaction(SIGTRAP, &before, NULL) == 0);
    return NULL;
}

#else

const char *Times_ADevicePutsItsOwnMeanwhile(void)
{
    return NULL;
}

#endif
