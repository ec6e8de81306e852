#include "fleet/lock.h"

#include "common/clock.h"
#include "common/memory.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BEAT_MS 500
#define TRY_NS  20000000u
#define LONG_NS UINT64_C(30000000000)

struct lock {
    struct server server;
    char query[160], settings[256];
    char owner[17];
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool ended;   /* to be given back */
    bool over;    /* the query has ended, whoever ended it */
    bool refused; /* because another one runs */
};

/* An empty row now and then: a connection that is gone is noticed. */
static size_t beat(void *context, char *room, size_t size)
{
    struct lock *lock = context;
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += BEAT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&lock->mutex);
    int result = 0;
    while (!lock->ended && result == 0)
        result = pthread_cond_timedwait(&lock->wake, &lock->mutex, &until);
    bool ended = lock->ended;
    (void)pthread_mutex_unlock(&lock->mutex);
    if (ended || size == 0)
        return 0;
    room[0] = '\n';
    return 1;
}

static void *hold(void *state)
{
    struct lock *lock = state;
    bool fine = server_stream(&lock->server, lock->settings, lock->query, beat, lock);
    (void)pthread_mutex_lock(&lock->mutex);
    lock->over = true;
    lock->refused = !fine && lock->server.code == SERVER_SAME_QUERY;
    (void)pthread_mutex_unlock(&lock->mutex);
    return NULL;
}

static struct lock *new_lock(const struct url *url, const char *settings, uint64_t run)
{
    struct lock *lock = memory_new(1, sizeof *lock);
    uint64_t random = 0;
    (void)getrandom(&random, sizeof random, 0);
    lock->server = server_open(url);
    lock->server.target.longest_seconds = 0;
    (void)snprintf(lock->owner, sizeof lock->owner, "%016" PRIx64, random);
    (void)snprintf(lock->query, sizeof lock->query,
                   "INSERT INTO rtl_lock (text) /* %s */ FORMAT TabSeparated\n", lock->owner);
    (void)snprintf(lock->settings, sizeof lock->settings,
                   "%s&query_id=rtl-lock-%" PRIu64 "&max_query_size=%zu", settings, run,
                   strlen(lock->query));
    (void)pthread_mutex_init(&lock->mutex, NULL);
    (void)pthread_cond_init(&lock->wake, NULL);
    return lock;
}

bool lock_held(struct lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
    bool held = !lock->over;
    (void)pthread_mutex_unlock(&lock->mutex);
    return held;
}

void lock_give_back(struct lock *lock)
{
    if (!lock)
        return;
    (void)pthread_mutex_lock(&lock->mutex);
    lock->ended = true;
    (void)pthread_cond_signal(&lock->wake);
    (void)pthread_mutex_unlock(&lock->mutex);
    (void)pthread_join(lock->thread, NULL);
    server_close(&lock->server);
    (void)pthread_mutex_destroy(&lock->mutex);
    (void)pthread_cond_destroy(&lock->wake);
    free(lock);
}

const char *lock_owner(struct server *server, uint64_t run)
{
    return server_askf(
        server, "SELECT query FROM system.processes WHERE query_id = 'rtl-lock-%" PRIu64 "'", run);
}

/* Until the server runs it, or has refused it. */
static enum lock_outcome await(struct server *server, struct lock *lock, uint64_t run)
{
    uint64_t begun = rtl_clock_ns(CLOCK_MONOTONIC);
    while (rtl_clock_ns(CLOCK_MONOTONIC) - begun < LONG_NS) {
        if (!lock_held(lock)) {
            if (lock->refused)
                return LOCK_OTHERS;
            server->failed = lock->server.failed;
            server->code = lock->server.code;
            memcpy(server->error, lock->server.error, sizeof server->error);
            return LOCK_FAILED;
        }
        const char *answer = lock_owner(server, run);
        if (!answer)
            return LOCK_FAILED;
        if (strstr(answer, lock->owner))
            return LOCK_TAKEN;
        rtl_nap(TRY_NS);
    }
    server->failed = SERVER_NEVER;
    (void)snprintf(
        server->error, sizeof server->error,
        "%s does not begin a query before its data have ended: what is between holds them back",
        server->url->shown);
    return LOCK_FAILED;
}

enum lock_outcome lock_take(struct server *server, const char *settings, uint64_t run,
                            struct lock **lock)
{
    *lock = NULL;
    struct lock *made = new_lock(server->url, settings, run);
    if (pthread_create(&made->thread, NULL, hold, made) != 0)
        memory_is_short();
    enum lock_outcome outcome = await(server, made, run);
    if (outcome == LOCK_TAKEN)
        *lock = made;
    else
        lock_give_back(made);
    return outcome;
}
