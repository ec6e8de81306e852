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

#define LOW   4096u              /* what systems set of themselves is above */
#define STACK ((size_t)1 << 20)  /* bytes, whatever the limit of the program's is (RLIMIT_STACK) */
#define ARENA ((size_t)64 << 20) /* bytes of addresses: HEAP_MAX_SIZE of glibc's malloc */
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

/* With a page at its low end that nobody may touch. To the C library a thread and memory that are
 * missing are the same. */
static bool has_stack(struct rtl_task *task)
{
    if (task->stack == NULL) {
        task->stack = rtl_pages(STACK);
        if (task->stack != NULL)
            (void)mprotect(task->stack, RTL_PAGE, PROT_NONE);
    }
    return task->stack != NULL;
}

static bool has_addresses(struct rtl_task *task, enum rtl_task_memory memory)
{
    if (memory == RTL_TASK_ALLOCATES && !task->charged)
        task->charged = rtl_pages_charge(ARENA);
    return memory == RTL_TASK_DOES_NOT_ALLOCATE || task->charged;
}

int rtl_task_start(struct rtl_task *task, enum rtl_task_memory memory, void *(*work)(void *))
{
    pthread_attr_t attributes;
    if (!has_addresses(task, memory) || !has_stack(task))
        return ENOMEM;
    pthread_attr_init(&attributes);
    (void)pthread_attr_setstack(&attributes, task->stack, STACK);
    int error = rtl_thread_start(&task->thread, &attributes, work, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}
