#include "model.h"

#include <semaphore.h>
#include <signal.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct model_queue *watched;
static sem_t work;
static bool running; /* under the lock */
static pthread_t thread;
static _Atomic bool stopping;

/* True if the queue has to be looked after again soon. */
static bool look_after(struct model_queue *queue)
{
    bool due = atomic_exchange(&queue->deferred, false);
    if (atomic_load(&queue->retrying) && rtl_api.hsa_signal_load_scacquire(queue->retry) < 1) {
        rtl_api.hsa_signal_store_screlease(queue->retry, 1);
        atomic_store(&queue->retrying, false);
        due = true;
    }
    if (due)
        model_process(queue);
    return atomic_load(&queue->retrying) || atomic_load(&queue->deferred);
}

static bool look_after_all(void)
{
    bool again = false;
    pthread_mutex_lock(&lock);
    for (struct model_queue *queue = watched; queue != NULL; queue = queue->next)
        again |= look_after(queue);
    pthread_mutex_unlock(&lock);
    return again;
}

/* Sleeps until it is woken, then polls until no queue waits for anything. */
static void *retry(void *unused)
{
    const struct timespec step = {.tv_sec = 0, .tv_nsec = 50000};
    (void)unused;
    while (!atomic_load(&stopping)) {
        while (sem_wait(&work) != 0)
            ;
        while (look_after_all() && !atomic_load(&stopping))
            nanosleep(&step, NULL);
    }
    return NULL;
}

/* Under the lock. The program's signals are not for this thread. */
static bool start(void)
{
    sigset_t all, before;
    atomic_store(&stopping, false);
    if (sem_init(&work, 0, 0) != 0)
        return false;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    running = pthread_create(&thread, NULL, retry, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return running;
}

bool model_retry_watch(struct model_queue *queue)
{
    pthread_mutex_lock(&lock);
    bool started = running || start();
    if (started) {
        queue->next = watched;
        watched = queue;
    }
    pthread_mutex_unlock(&lock);
    return started;
}

void model_retry_forget(struct model_queue *queue)
{
    pthread_mutex_lock(&lock);
    struct model_queue **at = &watched;
    while (*at != NULL && *at != queue)
        at = &(*at)->next;
    if (*at != NULL)
        *at = queue->next;
    pthread_mutex_unlock(&lock);
}

void model_retry_wake(void)
{
    (void)sem_post(&work);
}

void model_retry_stop(void)
{
    pthread_mutex_lock(&lock);
    bool was_running = running;
    running = false;
    watched = NULL;
    pthread_mutex_unlock(&lock);
    if (!was_running)
        return;
    atomic_store(&stopping, true);
    (void)sem_post(&work);
    (void)pthread_join(thread, NULL);
}
