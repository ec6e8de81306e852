/**
 * A crew of threads that work on jobs, whose results come in the order in which the jobs were
 * given. All functions are for one thread, the one that made the crew; it works too while it waits.
 */
#ifndef RTL_STORE_CREW_H
#define RTL_STORE_CREW_H

#include <stddef.h>

struct rtl_crew;

/** Works on a job. `worker` is what this thread alone uses. */
typedef void (*rtl_crew_work)(void *worker, void *job);

/** A crew with as many threads as `workers` has items, the calling thread included: it works with
 * the first. Jobs are `job_size` bytes, zeroed once; there are `jobs` of them, used in turn.
 * Threads that cannot be started are missing. NULL when memory is short. */
struct rtl_crew *rtl_crew_new(rtl_crew_work work, void **workers, unsigned count, unsigned jobs,
                              size_t job_size);

/** The next job to fill, as it was left by its last use; NULL if all are given, and not taken back.
 */
void *rtl_crew_job(struct rtl_crew *crew);

/** Gives the job that rtl_crew_job has told to the crew. */
void rtl_crew_give(struct rtl_crew *crew);

/** Takes the oldest job back when it is done; NULL if none is given. It lives until the next call
 * of rtl_crew_job. */
void *rtl_crew_take(struct rtl_crew *crew);

/** Ends the threads; jobs that nobody has begun are left out. Then calls `release` for each job
 * that was ever filled. NULL is allowed. */
void rtl_crew_free(struct rtl_crew *crew, void (*release)(void *job));

/** As many threads as this one may use processors, 16 at most. */
unsigned rtl_crew_processors(void);

#endif
