#include "common/allowance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of all, or of data, as the kernel counts them for the two limits; all that there is, where nobody
 * can tell (no descriptor is left). */
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
    return at != NULL ? strtoull(at + strlen(name), NULL, 10) * 1024 : UINT64_MAX;
}

uint64_t rtl_allowance_limit(int resource)
{
    struct rlimit limit;
    int failed =
        resource == RLIMIT_AS ? getrlimit(RLIMIT_AS, &limit) : getrlimit(RLIMIT_DATA, &limit);
    return failed != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

struct rtl_allowance rtl_allowance(int resource)
{
    int saved = errno;
    struct rtl_allowance allowance = {resource, rtl_allowance_limit(resource), UINT64_MAX};
    if (allowance.limit != UINT64_MAX) {
        uint64_t used = taken(resource);
        allowance.left = used < allowance.limit ? allowance.limit - used : 0;
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
