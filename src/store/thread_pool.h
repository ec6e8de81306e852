/**
 * A pool of threads that work on jobs, whose results come in the order in which the jobs were
 * given. All functions are for one thread, the one that made the pool; it works too while it waits.
 */
#ifndef RTL_STORE_THREAD_POOL_H
#define RTL_STORE_THREAD_POOL_H

#include <stddef.h>

struct rtl_thread_pool;

/** Works on a job. `worker` is what this thread alone uses. */
typedef void (*rtl_thread_pool_work)(void *worker, void *job);

/** A pool with as many threads as `workers` has items, the calling thread included: it works with
 * the first. Jobs are `job_size` bytes, zeroed once; there are `jobs` of them, used in turn.
 * Threads that cannot be started are missing. NULL when memory is short. */
struct rtl_thread_pool *rtl_thread_pool_new(rtl_thread_pool_work work, void **workers,
                                            unsigned count, unsigned jobs, size_t job_size);

/** The next job to fill, as it was left by its last use; NULL if all are given, and not taken back.
 */
void *rtl_thread_pool_job(struct rtl_thread_pool *pool);

/** Gives the job that rtl_thread_pool_job has told to the pool. */
void rtl_thread_pool_give(struct rtl_thread_pool *pool);

/** Takes the oldest job back when it is done; NULL if none is given. It lives until the next call
 * of rtl_thread_pool_job. */
void *rtl_thread_pool_take(struct rtl_thread_pool *pool);

/** Ends the threads; jobs that nobody has begun are left out. Then calls `release` for each job
 * that was ever filled. NULL is allowed. */
void rtl_thread_pool_free(struct rtl_thread_pool *pool, void (*release)(void *job));

/** As many threads as this one may use processors, 16 at most. */
unsigned rtl_thread_pool_processors(void);

#endif
