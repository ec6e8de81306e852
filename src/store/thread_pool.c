#include "store/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define PROCESSORS_MAX 16

struct member {
    struct rtl_thread_pool *crew;
    void *worker;
    pthread_t thread;
};

struct rtl_thread_pool {
    rtl_thread_pool_work work;
    void *worker; /* of the thread that made the crew */
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

static void *job_at(const struct rtl_thread_pool *crew, uint64_t number)
{
    return crew->jobs + (size_t)(number % crew->job_count) * crew->job_size;
}

/* Does the next job that nobody has begun; the lock is held before and after. */
static void do_next(struct rtl_thread_pool *crew, void *worker)
{
    uint64_t number = crew->begun++;
    (void)pthread_mutex_unlock(&crew->lock);
    crew->work(worker, job_at(crew, number));
    (void)pthread_mutex_lock(&crew->lock);
    crew->done[number % crew->job_count] = true;
    (void)pthread_cond_signal(&crew->finished);
}

static void *serve(void *argument)
{
    struct member *member = argument;
    struct rtl_thread_pool *crew = member->crew;
    (void)pthread_mutex_lock(&crew->lock);
    while (!crew->ending) {
        if (crew->begun < crew->given)
            do_next(crew, member->worker);
        else
            (void)pthread_cond_wait(&crew->to_do, &crew->lock);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static void start(struct rtl_thread_pool *crew, void **workers, unsigned count)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < count; i++) {
        struct member *member = &crew->members[crew->member_count];
        member->crew = crew;
        member->worker = workers[i];
        if (pthread_create(&member->thread, NULL, serve, member) == 0)
            crew->member_count++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct rtl_thread_pool *rtl_thread_pool_new(rtl_thread_pool_work work, void **workers,
                                            unsigned count, unsigned jobs, size_t job_size)
{
    struct rtl_thread_pool *crew = calloc(1, sizeof *crew);
    if (!crew)
        return NULL;
    *crew = (struct rtl_thread_pool){.work = work,
                                     .worker = workers[0],
                                     .jobs = calloc(jobs, job_size),
                                     .done = calloc(jobs, sizeof *crew->done),
                                     .job_count = jobs,
                                     .job_size = job_size,
                                     .members = calloc(count, sizeof *crew->members)};
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->to_do, NULL);
    (void)pthread_cond_init(&crew->finished, NULL);
    if (!crew->jobs || !crew->done || !crew->members) {
        rtl_thread_pool_free(crew, NULL);
        return NULL;
    }
    start(crew, workers + 1, count - 1);
    return crew;
}

void *rtl_thread_pool_job(struct rtl_thread_pool *crew)
{
    return crew->given - crew->taken == crew->job_count ? NULL : job_at(crew, crew->given);
}

void rtl_thread_pool_give(struct rtl_thread_pool *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->done[crew->given % crew->job_count] = false;
    crew->given++;
    (void)pthread_cond_signal(&crew->to_do);
    (void)pthread_mutex_unlock(&crew->lock);
}

void *rtl_thread_pool_take(struct rtl_thread_pool *crew)
{
    if (crew->taken == crew->given)
        return NULL;
    (void)pthread_mutex_lock(&crew->lock);
    while (!crew->done[crew->taken % crew->job_count]) {
        if (crew->begun < crew->given)
            do_next(crew, crew->worker);
        else
            (void)pthread_cond_wait(&crew->finished, &crew->lock);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    return job_at(crew, crew->taken++);
}

void rtl_thread_pool_free(struct rtl_thread_pool *crew, void (*release)(void *job))
{
    if (!crew)
        return;
    (void)pthread_mutex_lock(&crew->lock);
    crew->ending = true;
    (void)pthread_cond_broadcast(&crew->to_do);
    (void)pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->member_count; i++)
        (void)pthread_join(crew->members[i].thread, NULL);
    for (unsigned i = 0; release && i < crew->job_count; i++)
        release(job_at(crew, i));
    (void)pthread_cond_destroy(&crew->finished);
    (void)pthread_cond_destroy(&crew->to_do);
    (void)pthread_mutex_destroy(&crew->lock);
    free(crew->members);
    free(crew->done);
    free(crew->jobs);
    free(crew);
}

unsigned rtl_thread_pool_processors(void)
{
    cpu_set_t processors;
    if (sched_getaffinity(0, sizeof processors, &processors) != 0)
        return 1;
    int count = CPU_COUNT(&processors);
    return count > PROCESSORS_MAX ? PROCESSORS_MAX : (unsigned)(count < 1 ? 1 : count);
}
