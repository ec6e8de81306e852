/**
 * Threads of our own in a program that is not ours.
 */
#ifndef RTL_COMMON_THREAD_H
#define RTL_COMMON_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/** pthread_create of a thread that has all signals blocked, so that the program's handlers never
 * run on it; the caller's mask is as before. `attributes` NULL: the usual ones. 0, or an errno. Any
 * thread. */
static inline int rtl_thread_start(pthread_t *thread, const pthread_attr_t *attributes,
                                   void *(*work)(void *), void *argument)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, attributes, work, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

#endif
