#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_NAMESPACE UINT64_C(0xEFFFFFFA) /* TIME_NS_INIT_INO of linux/nsfs.h */
#define NS_PER_S        INT64_C(1000000000)

static _Atomic int64_t boottime_offset, monotonic_offset;

static uint64_t inode_of(const char *link)
{
    struct stat status;
    return stat(link, &status) == 0 ? status.st_ino : 0;
}

/* A line of /proc/PID/timens_offsets: the clock's name, seconds, ns. */
static bool read_offset(const char *text, const char *clock, int64_t *offset)
{
    const char *line = strstr(text, clock);
    int64_t seconds;
    int64_t ns;
    if (line == NULL || sscanf(line + strlen(clock), "%" SCNd64 " %" SCNd64, &seconds, &ns) != 2)
        return false;
    *offset = seconds * NS_PER_S + ns;
    return true;
}

static bool read_offsets(void)
{
    char text[256];
    int64_t boottime;
    int64_t monotonic;
    int file = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        (void)close(file);
    text[length > 0 ? length : 0] = '\0';
    if (!read_offset(text, "boottime", &boottime) || !read_offset(text, "monotonic", &monotonic))
        return false;
    atomic_store_explicit(&boottime_offset, boottime, memory_order_relaxed);
    atomic_store_explicit(&monotonic_offset, monotonic, memory_order_relaxed);
    return true;
}

/* The file tells of the namespace that children get. Linux before 5.6 has none. */
bool rtl_clock_begin(void)
{
    int saved = errno;
    uint64_t own = inode_of("/proc/self/ns/time");
    bool known = own == FIRST_NAMESPACE || (own == 0 && inode_of("/proc/self/ns/pid") != 0) ||
                 (own != 0 && own == inode_of("/proc/self/ns/time_for_children") && read_offsets());
    errno = saved;
    return known;
}

int64_t rtl_clock_offset(clockid_t clock)
{
    return atomic_load_explicit(clock == CLOCK_BOOTTIME ? &boottime_offset : &monotonic_offset,
                                memory_order_relaxed);
}

uint64_t rtl_clock_start_ticks(uint64_t start)
{
    int64_t per_second = sysconf(_SC_CLK_TCK);
    int64_t tick_ns = NS_PER_S / (per_second > 0 ? per_second : 100);
    return start - (uint64_t)(rtl_clock_offset(CLOCK_BOOTTIME) / tick_ns);
}

uint64_t rtl_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t rtl_now(void)
{
    return rtl_clock_ns(CLOCK_BOOTTIME) - (uint64_t)rtl_clock_offset(CLOCK_BOOTTIME);
}

void rtl_nap(uint64_t ns)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)ns};
    int saved = errno;
    (void)nanosleep(&time, NULL);
    errno = saved;
}

bool rtl_wait_until(bool (*done)(void *context), void *context, uint64_t deadline_ns,
                    uint64_t nap_ns)
{
    while (!done(context)) {
        if (rtl_clock_ns(CLOCK_MONOTONIC) > deadline_ns)
            return false;
        rtl_nap(nap_ns);
    }
    return true;
}
