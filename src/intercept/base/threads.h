/**
 * The threads that appear in the trace: their ids, and what Linux calls them.
 *
 * A thread is met at its first record, looked at again when it ends, and what still runs when the
 * process ends once more; the collector looks in between, for those that do not get to their end.
 * The tid of a thread that has ended may come again: that is another thread, with an id of its own.
 */
#ifndef RTL_INTERCEPT_BASE_THREADS_H
#define RTL_INTERCEPT_BASE_THREADS_H

#include <stddef.h>
#include <stdint.h>

/** Meets the calling thread, whose tid that is, and reads its name: a system call, once for each
 * thread. Returns its id (rtl_thread_id). Lock-free; keeps errno. */
uint32_t rtl_threads_meet(uint32_t tid);

/** There is a ring now: tells what the process was started as. Once. */
void rtl_threads_begin(void);

/** Tells of those who have been met since. Called by the worker. */
void rtl_threads_look(void);

/** The command line of the process as it is now, without a NUL, and its length: 0 if it cannot be
 * read. */
size_t rtl_threads_title(char *text, size_t size);

/** The process ends in order: tells what the process and its threads are called now. Keeps errno.
 */
void rtl_threads_end(void);

/** In a forked child: those who have been met are the parent's. Async-signal-safe. */
void rtl_threads_forked(void);

#endif
