/**
 * Threads of RTL's in the program, and whether one more would take one that the program may need.
 */
#ifndef RTL_INTERCEPT_BASE_TASKS_H
#define RTL_INTERCEPT_BASE_TASKS_H

#include <pthread.h>
#include <stdbool.h>

/** False if the user may have few threads (RLIMIT_NPROC) and all but a few of them are there. Looks
 * at all processes where the limit is low, and makes no system call but one else. Keeps errno. */
bool rtl_tasks_left(void);

/** A thread of RTL's. All zeros before its first start. */
struct rtl_task {
    pthread_t thread;
    void *stack;  /**< which stays: for the next start */
    bool charged; /**< with the addresses that libc sets aside for a thread that allocates */
};

/** What a thread of RTL's does with malloc and free, and what it calls. Where it is the first time
 * that a thread does so, glibc sets 64 MiB of addresses aside for it, whatever it needs. */
enum rtl_task_memory { RTL_TASK_ALLOCATES, RTL_TASK_DOES_NOT_ALLOCATE };

/** Starts a thread that has all signals blocked, so that the program's handlers never run on it,
 * and a stack of 1 MiB from rtl_pages. It has not been started before, or was joined. 0, ENOMEM
 * (RTL's share included, see pages.h), or EAGAIN: the program may have no more threads. */
int rtl_task_start(struct rtl_task *task, enum rtl_task_memory memory, void *(*work)(void *));

#endif
