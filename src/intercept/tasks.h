/**
 * Whether a thread more would take one that the program may need.
 */
#ifndef RTL_INTERCEPT_TASKS_H
#define RTL_INTERCEPT_TASKS_H

#include <stdbool.h>

/** False if the user may have few threads (RLIMIT_NPROC) and all but a few of them are there. Looks
 * at all processes where the limit is low, and makes no system call but one else. Keeps errno. */
bool rtl_tasks_left(void);

#endif
