#include "common/allowance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of all, and of data with stacks, which the kernel counts apart: a little too much. */
static uint64_t taken(int resource)
{
    char text[128];
    unsigned long all = 0;
    unsigned long data = 0;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        (void)close(file);
    text[length > 0 ? length : 0] = '\0';
    if (sscanf(text, "%lu %*u %*u %*u %*u %lu", &all, &data) != 2)
        return 0;
    return (uint64_t)(resource == RLIMIT_AS ? all : data) * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct rtl_allowance rtl_allowance(int resource)
{
    struct rtl_allowance allowance = {resource, UINT64_MAX, UINT64_MAX};
    struct rlimit limit;
    int saved = errno;
    int failed =
        resource == RLIMIT_AS ? getrlimit(RLIMIT_AS, &limit) : getrlimit(RLIMIT_DATA, &limit);
    if (failed == 0 && limit.rlim_cur != RLIM_INFINITY) {
        uint64_t used = taken(resource);
        allowance.limit = limit.rlim_cur;
        allowance.left = used < limit.rlim_cur ? limit.rlim_cur - used : 0;
    }
    errno = saved;
    return allowance;
}

struct rtl_allowance rtl_allowance_least(void)
{
    struct rtl_allowance addresses = rtl_allowance(RLIMIT_AS);
    struct rtl_allowance data = rtl_allowance(RLIMIT_DATA);
    return data.left < addresses.left ? data : addresses;
}

const char *rtl_allowance_name(int resource)
{
    return resource == RLIMIT_DATA ? "RLIMIT_DATA, ulimit -d" : "RLIMIT_AS, ulimit -v";
}
