/**
 * Forks of the program, and the runtime's locks.
 *
 * A child has one thread, and a lock that another one of its parent's held is held there for ever.
 * Without RTL those are the program's own threads; RTL has one that makes signals ahead of need,
 * and a child that makes one would wait for it. So nobody is in the runtime on RTL's behalf while
 * the process forks, as libc sees to for malloc.
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
