/**
 * Forks of the program, and the runtime's locks.
 *
 * The child of a fork has only the thread that forked. A lock that another thread of the parent
 * held at that moment stays locked in the child for ever. RTL's worker calls the runtime to make
 * signals ahead of need; if it held one of the runtime's locks during a fork, a child that makes a
 * signal would hang. So while the process forks no thread is in the runtime for RTL's purposes, as
 * libc sees to for malloc.
 */
#ifndef RTL_INTERCEPT_BASE_FORKS_H
#define RTL_INTERCEPT_BASE_FORKS_H

/** Watches forks from now on, and calls `in_child` in each child. Once in a process. */
void rtl_forks_watch(void (*in_child)(void));

/** The calling thread is about to call a function of the runtime's that takes its locks, for RTL's
 * own purposes. Waits while another thread forks, 0.1 s at most. Any thread; keeps errno. */
void rtl_forks_enter(void);

/** It has returned. */
void rtl_forks_leave(void);

#endif
