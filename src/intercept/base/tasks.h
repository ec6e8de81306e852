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

/** Starts a thread that has all signals blocked, so that the program's handlers never run on it,
 * and a stack of its own size. 0, ENOMEM, or EAGAIN: the program may have no more threads. */
int rtl_task_start(pthread_t *thread, void *(*work)(void *));

#endif
