/**
 * The completion worker: one thread that harvests, forwards, makes signals and describes clocks.
 *
 * It polls, and sleeps in between: a worker that sleeps costs nothing, and nobody wakes it from a
 * hot path, because a wake-up costs the program's thread microseconds; unless kernels come so fast
 * that half of the signals are in use while it sleeps. The device, or somebody, may be waiting for
 * a signal that the worker has to forward: while such come and go it does not sleep, or not for
 * long.
 */
#ifndef RTL_INTERCEPT_RUNTIME_WORKER_H
#define RTL_INTERCEPT_RUNTIME_WORKER_H

#include "ring/ring.h"

#include <stdbool.h>
#include <stdint.h>

/** Starts the worker if it does not run. False if no thread could be made. Any thread; before the
 * pool is set up it only reserves memory of the ring. */
bool rtl_worker_start(struct rtl_ring *ring);

/** Says in a part of a sentence why rtl_worker_start could not: no thread, and the limit. */
void rtl_worker_why_not(char *text, size_t size);

/** Signals run low: a worker that naps ends its nap. Any thread; a system call if it naps,
 * which wakes a thread and waits for nothing. */
void rtl_worker_wake(void);

/** A signal was replaced: it has to be forwarded as soon as its packet has completed. Any thread,
 * no system call. */
void rtl_worker_signal_replaced(void);

/** Waits until the worker has finished the round it may be in and one more, at most `patience_ns`:
 * what it had taken from a queue is then in the ring. At once if no worker runs. */
void rtl_worker_quiesce(uint64_t patience_ns);

/** Asks the worker to end and waits at most `patience_ns`; true if it has ended. What the worker
 * does may then be done by the caller. */
bool rtl_worker_stop(uint64_t patience_ns);

/** In a forked child, where the thread does not exist. */
void rtl_worker_forked(void);

/** One round of the worker's work; returns how many records were finished. For the worker, or
 * whoever stopped it. */
unsigned rtl_worker_round(void);

#endif
