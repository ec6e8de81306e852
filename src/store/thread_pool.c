#include "store/thread_pool.h"

#include "common/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define PROCESSORS_MAX 16

struct member {
    struct rtl_thread_pool *pool;
    void *worker;
    pthread_t thread;
};

struct rtl_thread_pool {
    rtl_thread_pool_work work;
    void *worker; /* of the thread that made the pool */
    char *jobs;
    bool *done;
    unsigned job_count;
    size_t job_size;
    pthread_mutex_t lock;
    pthread_cond_t to_do, finished;
    /* Under the lock; job i is in place i modulo job_count. */
    uint64_t given, begun, taken;
    bool ending;
    struct member *members;
    unsigned member_count;
};

static void *job_at(const struct rtl_thread_pool *pool, uint64_t number)
{
    return pool->jobs + (size_t)(number % pool->job_count) * pool->job_size;
}

/* Does the next job that nobody has begun; the lock is held before and after. */
static void do_next(struct rtl_thread_pool *pool, void *worker)
{
    uint64_t number = pool->begun++;
    (void)pthread_mutex_unlock(&pool->lock);
    pool->work(worker, job_at(pool, number));
    (void)pthread_mutex_lock(&pool->lock);
    pool->done[number % pool->job_count] = true;
    (void)pthread_cond_signal(&pool->finished);
}

static void *serve(void *argument)
{
    struct member *member = argument;
    struct rtl_thread_pool *pool = member->pool;
    (void)pthread_mutex_lock(&pool->lock);
    while (!pool->ending) {
        if (pool->begun < pool->given)
            do_next(pool, member->worker);
        else
            (void)pthread_cond_wait(&pool->to_do, &pool->lock);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void start(struct rtl_thread_pool *pool, void **workers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct member *member = &pool->members[pool->member_count];
        member->pool = pool;
        member->worker = workers[i];
        if (rtl_thread_start(&member->thread, NULL, serve, member) == 0)
            pool->member_count++;
    }
}

struct rtl_thread_pool *rtl_thread_pool_new(rtl_thread_pool_work work, void **workers,
                                            unsigned count, unsigned jobs, size_t job_size)
{
    struct rtl_thread_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    *pool = (struct rtl_thread_pool){.work = work,
                                     .worker = workers[0],
                                     .jobs = calloc(jobs, job_size),
                                     .done = calloc(jobs, sizeof *pool->done),
                                     .job_count = jobs,
                                     .job_size = job_size,
                                     .members = calloc(count, sizeof *pool->members)};
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->to_do, NULL);
    (void)pthread_cond_init(&pool->finished, NULL);
    if (!pool->jobs || !pool->done || !pool->members) {
        rtl_thread_pool_free(pool, NULL);
        return NULL;
    }
    start(pool, workers + 1, count - 1);
    return pool;
}

void *rtl_thread_pool_job(struct rtl_thread_pool *pool)
{
    return pool->given - pool->taken == pool->job_count ? NULL : job_at(pool, pool->given);
}

void rtl_thread_pool_give(struct rtl_thread_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->done[pool->given % pool->job_count] = false;
    pool->given++;
    (void)pthread_cond_signal(&pool->to_do);
    (void)pthread_mutex_unlock(&pool->lock);
}

void *rtl_thread_pool_take(struct rtl_thread_pool *pool)
{
    if (pool->taken == pool->given)
        return NULL;
    (void)pthread_mutex_lock(&pool->lock);
    while (!pool->done[pool->taken % pool->job_count]) {
        if (pool->begun < pool->given)
            do_next(pool, pool->worker);
        else
            (void)pthread_cond_wait(&pool->finished, &pool->lock);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return job_at(pool, pool->taken++);
}

void rtl_thread_pool_free(struct rtl_thread_pool *pool, void (*release)(void *job))
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    (void)pthread_cond_broadcast(&pool->to_do);
    (void)pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->member_count; i++)
        (void)pthread_join(pool->members[i].thread, NULL);
    for (unsigned i = 0; release && i < pool->job_count; i++)
        release(job_at(pool, i));
    (void)pthread_cond_destroy(&pool->finished);
    (void)pthread_cond_destroy(&pool->to_do);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool->members);
    free(pool->done);
    free(pool->jobs);
    free(pool);
}

unsigned rtl_thread_pool_processors(void)
{
    cpu_set_t processors;
    if (sched_getaffinity(0, sizeof processors, &processors) != 0)
        return 1;
    int count = CPU_COUNT(&processors);
    return count > PROCESSORS_MAX ? PROCESSORS_MAX : (unsigned)(count < 1 ? 1 : count);
}
