/*
 * For LD_PRELOAD: the clocks of a host that was started later, drift, and whose time of day is
 * wrong. SYNC_CLOCK is "BASE LATER DRIFT WRONG": at BASE of the machine's CLOCK_BOOTTIME (ns) this
 * one's shows LATER ns less, and DRIFT ns more with each second since; its CLOCK_REALTIME is WRONG
 * ns ahead of the machine's then, and drifts alike. CLOCK_MONOTONIC, by which Linux waits, stays.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS INT64_C(1000000000)

static int64_t base, later, drift, wrong;

__attribute__((constructor)) static void at_load(void)
{
    const char *text = getenv("SYNC_CLOCK"); // NOLINT(concurrency-mt-unsafe): at load
    if (text)
        (void)sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &base, &later, &drift,
                     &wrong);
}

static int64_t machine(clockid_t clock)
{
    struct timespec time = {0};
    (void)syscall(SYS_clock_gettime, clock, &time);
    return time.tv_sec * NS + time.tv_nsec;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (base == 0 || (clock != CLOCK_BOOTTIME && clock != CLOCK_REALTIME))
        return (int)syscall(SYS_clock_gettime, clock, time);
    int64_t up = machine(CLOCK_BOOTTIME);
    int64_t moved = (up - base) / 1000 * drift / 1000000;
    int64_t now = moved + (clock == CLOCK_BOOTTIME ? up - later : machine(clock) + wrong);
    time->tv_sec = now / NS;
    time->tv_nsec = now % NS;
    return 0;
}
