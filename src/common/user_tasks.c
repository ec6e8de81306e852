#include "common/user_tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOW 4096u /* what systems set of themselves is above */

/* Threads of a process, if it is this user's. */
static unsigned long tasks_of(int folder, const char *process)
{
    char name[300];
    struct stat status;
    if (!isdigit((unsigned char)*process) || fstatat(folder, process, &status, 0) != 0 ||
        status.st_uid != getuid())
        return 0;
    (void)snprintf(name, sizeof name, "%s/task", process);
    return fstatat(folder, name, &status, 0) == 0 && status.st_nlink > 2 ? status.st_nlink - 2 : 1;
}

static unsigned long tasks(void)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    unsigned long count = 0;
    if (folder == NULL)
        return 0;
    while ((entry = readdir(folder)) != NULL) // NOLINT(concurrency-mt-unsafe): own stream
        count += tasks_of(dirfd(folder), entry->d_name);
    closedir(folder);
    return count;
}

bool rtl_user_tasks_are_few(struct rtl_user_tasks *result)
{
    struct rlimit limit;
    int saved = errno;
    bool few = geteuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur < LOW;
    if (few)
        *result = (struct rtl_user_tasks){.limit = limit.rlim_cur, .taken = tasks()};
    errno = saved;
    return few;
}
