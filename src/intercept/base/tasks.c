#include "intercept/base/tasks.h"

#include "common/pages.h"
#include "common/thread.h"
#include "common/user_tasks.h"

#include <errno.h>

#define STACK ((size_t)1 << 20)  /* bytes, whatever the limit of the program's is (RLIMIT_STACK) */
#define ARENA ((size_t)64 << 20) /* bytes of addresses: HEAP_MAX_SIZE of glibc's malloc */

bool rtl_tasks_left(void)
{
    struct rtl_user_tasks tasks;
    return !rtl_user_tasks_are_few(&tasks) || tasks.taken + RTL_TASKS_LEFT < tasks.limit;
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
