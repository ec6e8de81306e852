#include "common/allowance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of all, or of data, as the kernel counts them for the two limits. */
static uint64_t taken(int resource)
{
    char text[8192]; /* the groups of the user come first */
    const char *name = resource == RLIMIT_AS ? "\nVmSize:" : "\nVmData:";
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        (void)close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *at = strstr(text, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
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
