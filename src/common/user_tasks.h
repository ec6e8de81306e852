/**
 * Processes and threads of a user who may have few (RLIMIT_NPROC, ulimit -u).
 */
#ifndef RTL_COMMON_USER_TASKS_H
#define RTL_COMMON_USER_TASKS_H

#include <stdbool.h>

/** So many are left to a program before RTL makes a thread in it: its runtime makes some, and
 * others as they are needed. */
#define RTL_TASKS_LEFT 16u

struct rtl_user_tasks {
    unsigned long limit; /**< processes and threads that the user may have */
    unsigned long taken; /**< that there are */
};

/** False where the user may have many, or as many as there can be: root, or from 4096 on, below
 * which no system sets a limit of itself. Else looks at all processes. Any thread; keeps errno. */
bool rtl_user_tasks_are_few(struct rtl_user_tasks *tasks);

#endif
