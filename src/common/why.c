#include "common/why.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* The limit that has to do with the error; false: none has, or it is off. */
static bool limit_behind(int number, struct rlimit *limit)
{
    int failed = number == EMFILE  ? getrlimit(RLIMIT_NOFILE, limit)
                 : number == EFBIG ? getrlimit(RLIMIT_FSIZE, limit)
                                   : -1;
    return failed == 0 && limit->rlim_cur != RLIM_INFINITY;
}

const char *rtl_why(int number, char text[RTL_WHY_SIZE])
{
    int saved = errno;
    struct rlimit limit;
    const char *meaning = strerrordesc_np(number);
    bool limited = limit_behind(number, &limit);
    errno = saved;
    if (meaning == NULL)
        return "unknown error";
    if (!limited)
        return meaning;
    if (number == EMFILE)
        (void)snprintf(text, RTL_WHY_SIZE, "%s (RLIMIT_NOFILE, ulimit -n, is %llu)", meaning,
                       (unsigned long long)limit.rlim_cur);
    else
        (void)snprintf(text, RTL_WHY_SIZE, "%s (RLIMIT_FSIZE, ulimit -f, is %llu KiB)", meaning,
                       (unsigned long long)limit.rlim_cur / 1024);
    return text;
}
