#include "intercept/base/tasks.h"

#include "common/pages.h"
#include "common/thread.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOW   4096u             /* what systems set of themselves is above */
#define STACK ((size_t)1 << 20) /* bytes, whatever the limit of the program's is (RLIMIT_STACK) */
#define LEFT  16u /* for the program: its runtime makes some, and others as they are needed */

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

bool rtl_tasks_left(void)
{
    struct rlimit limit;
    int saved = errno;
    bool left = geteuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur >= LOW ||
                tasks() + LEFT < limit.rlim_cur;
    errno = saved;
    return left;
}

/* To the C library a thread and memory that are missing are the same. */
static int look_for_stack(void)
{
    void *memory = rtl_pages(STACK);
    if (memory == NULL)
        return ENOMEM;
    (void)munmap(memory, STACK);
    return 0;
}

int rtl_task_start(pthread_t *thread, void *(*work)(void *))
{
    pthread_attr_t attributes;
    int error = look_for_stack();
    if (error != 0)
        return error;
    pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK);
    error = rtl_thread_start(thread, &attributes, work, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}
