#include "sync/sync.h"

#include "common/clock.h"
#include "common/why.h"
#include "sync/burst.h"
#include "sync/client.h"
#include "sync/responder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK     ((size_t)256 << 10) /* the resolver takes some */
#define KEPT      64u                 /* exchanges until somebody takes them */
#define SENTENCES 4u

#define FIRST_GAP_NS UINT64_C(1000000000)
#define FIRST_BURSTS 10u
#define LAST_GAP_NS  UINT64_C(10000000000)
#define SPREAD_NS    UINT64_C(250000000)
#define RETRY_NS     UINT64_C(100000000)  /* as long as nobody has answered */
#define SILENT_NS    UINT64_C(2000000000) /* after which that is told */
#define NOW_NS       UINT64_C(1000000000)
#define LINGER_NS    UINT64_C(2000000000)
#define EXPECTED_NS  (3 * LAST_GAP_NS) /* a client that asked so long ago may be gone */
#define LEAVE_NS     (LINGER_NS + UINT64_C(500000000))

/* Some 12 800 packets a second at most. */
#define ROUND_PACKETS 256u
#define ROUND_NS      UINT64_C(20000000)

struct rtl_sync {
    struct rtl_sync_address address;
    char boot[RTL_EXCHANGE_BOOT];
    char host[RTL_EXCHANGE_HOST];
    pthread_t thread;
    int wake; /* eventfd: something below has changed */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    unsigned asked, made; /* bursts at once */
    bool found;           /* addresses, or that there are none */
    bool ending, linger, over;
    struct rtl_exchange kept[KEPT];
    size_t kept_count;
    char sentences[SENTENCES][RTL_SYNC_SENTENCE];
    size_t sentence_count;
};

/* Under the lock. */
static void add_sentence(struct rtl_sync *sync, const char *sentence)
{
    if (sync->sentence_count < SENTENCES)
        (void)snprintf(sync->sentences[sync->sentence_count++], RTL_SYNC_SENTENCE, "%s", sentence);
}

static void tell(struct rtl_sync *sync, const char *sentence)
{
    (void)pthread_mutex_lock(&sync->lock);
    add_sentence(sync, sentence);
    (void)pthread_mutex_unlock(&sync->lock);
}

static void keep(struct rtl_sync *sync, const struct rtl_burst *burst)
{
    struct rtl_exchange kept[2];
    size_t count = rtl_burst_kept(burst, kept);
    (void)pthread_mutex_lock(&sync->lock);
    for (size_t i = 0; i < count && sync->kept_count < KEPT; i++)
        sync->kept[sync->kept_count++] = kept[i];
    (void)pthread_mutex_unlock(&sync->lock);
}

/* What the caller wants now. */
static unsigned wanted(struct rtl_sync *sync, bool *ending)
{
    (void)pthread_mutex_lock(&sync->lock);
    unsigned asked = sync->asked;
    *ending = sync->ending;
    (void)pthread_mutex_unlock(&sync->lock);
    return asked;
}

static void have_made(struct rtl_sync *sync, unsigned made)
{
    (void)pthread_mutex_lock(&sync->lock);
    sync->made = made;
    (void)pthread_cond_broadcast(&sync->changed);
    (void)pthread_mutex_unlock(&sync->lock);
}

/* Until the caller wants something, the socket (-1: none) can be read, or time is over. */
static void await(const struct rtl_sync *sync, int socket, uint64_t ns)
{
    struct pollfd ends[] = {{.fd = sync->wake, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
    uint64_t count;
    if (poll(ends, 2, (int)(ns / 1000000)) > 0 && ends[0].revents)
        (void)!read(sync->wake, &count, sizeof count);
}

/* Here. */

static void answer_some(struct rtl_responder *responder)
{
    if (rtl_responder_answer(responder, ROUND_PACKETS) == ROUND_PACKETS)
        rtl_nap(ROUND_NS);
}

static void answer_until_end(struct rtl_sync *sync, struct rtl_responder *responder)
{
    bool ending = false;
    while (!ending) {
        await(sync, responder->socket, LAST_GAP_NS);
        answer_some(responder);
        have_made(sync, wanted(sync, &ending));
    }
}

static void linger(const struct rtl_sync *sync, struct rtl_responder *responder)
{
    uint64_t until = rtl_now() + LINGER_NS;
    while (sync->linger && rtl_now() < until && rtl_responder_expects(responder, EXPECTED_NS)) {
        await(sync, responder->socket, ROUND_NS);
        answer_some(responder);
    }
}

static void tell_not_listening(struct rtl_sync *sync)
{
    char sentence[RTL_SYNC_SENTENCE];
    char why[RTL_WHY_SIZE];
    (void)snprintf(
        sentence, sizeof sentence,
        "--sync %s: port %s of this machine cannot be taken, so that this rtl answers no "
        "other host: %s",
        sync->address.host, sync->address.port, rtl_why(errno, why));
    tell(sync, sentence);
}

static void respond(struct rtl_sync *sync, const struct addrinfo *list)
{
    struct rtl_responder *responder = calloc(1, sizeof *responder);
    if (responder)
        responder->socket = rtl_sync_address_listen(&sync->address, list);
    if (!responder || responder->socket < 0) {
        tell_not_listening(sync);
        free(responder);
        return;
    }
    memcpy(responder->boot, sync->boot, sizeof responder->boot);
    memcpy(responder->host, sync->host, sizeof responder->host);
    answer_until_end(sync, responder);
    linger(sync, responder);
    (void)close(responder->socket);
    free(responder);
}

/* Elsewhere. */

static void tell_silent(struct rtl_sync *sync, const char *how)
{
    char sentence[RTL_SYNC_SENTENCE];
    (void)snprintf(sentence, sizeof sentence,
                   "--sync %s: no answer from port %s there%s: the clocks of the hosts are not "
                   "compared; an rtl trace with the same --sync answers on that host while it runs",
                   sync->address.host, sync->address.port, how);
    tell(sync, sentence);
}

/* What was told is not so any more. */
static void tell_answered(struct rtl_sync *sync, uint64_t begun)
{
    char sentence[RTL_SYNC_SENTENCE];
    (void)snprintf(sentence, sizeof sentence,
                   "--sync %s: answers come from port %s there from %.1f s after the begin on: the "
                   "clocks of the hosts are compared since then",
                   sync->address.host, sync->address.port, (double)(rtl_now() - begun) / 1e9);
    tell(sync, sentence);
}

/* Until the next burst. All clients make theirs soon after the same times of the responder, so that
 * two of them can be compared with each other, whatever the responder's clock does meanwhile; not
 * all at once. */
static uint64_t until_next(const struct rtl_client *client, uint64_t gap)
{
    uint64_t now = rtl_now() + client->ahead;
    return gap - now % gap + client->id % SPREAD_NS;
}

/* A burst; false if the responder has this machine's clock. */
static bool make_burst(struct rtl_sync *sync, struct rtl_client *client)
{
    struct rtl_burst burst = {0};
    rtl_client_burst(client, &burst);
    if (burst.count > 0 && strcmp(burst.low.peer_boot, sync->boot) == 0)
        return false;
    keep(sync, &burst);
    return true;
}

static void ask_until_end(struct rtl_sync *sync, struct rtl_client *client)
{
    uint64_t begun = rtl_now();
    uint64_t gap = FIRST_GAP_NS;
    unsigned bursts = 0;
    bool silent = false; /* so the user was told */
    for (;;) {
        bool ending;
        unsigned asked = wanted(sync, &ending);
        if (ending || !make_burst(sync, client))
            break;
        if (!client->answered && !silent && (asked > 0 || rtl_now() - begun > SILENT_NS)) {
            silent = true;
            tell_silent(sync, asked > 0 ? "" : " so far");
        }
        if (client->answered && silent) {
            silent = false;
            tell_answered(sync, begun);
        }
        have_made(sync, asked);
        await(sync, -1, client->answered ? until_next(client, gap) : RETRY_NS);
        if (client->answered && ++bursts == FIRST_BURSTS)
            gap = LAST_GAP_NS;
    }
    rtl_client_leave(client);
}

static void ask(struct rtl_sync *sync, const struct addrinfo *list)
{
    struct rtl_client client;
    char sentence[RTL_SYNC_SENTENCE];
    char why[RTL_WHY_SIZE];
    if (!rtl_client_open(&client, list)) {
        (void)snprintf(
            sentence, sizeof sentence,
            "--sync %s: no packet can be sent there, so that the clocks of the hosts are "
            "not compared: %s",
            sync->address.host, rtl_why(errno, why));
        tell(sync, sentence);
        return;
    }
    ask_until_end(sync, &client);
    rtl_client_close(&client);
}

/* Under the lock. */
static void tell_unknown(struct rtl_sync *sync, const char *why)
{
    char sentence[RTL_SYNC_SENTENCE];
    (void)snprintf(sentence, sizeof sentence,
                   "--sync %s: no address of that host is known, so that the clocks of the hosts "
                   "are not compared: %s",
                   sync->address.host, why);
    add_sentence(sync, sentence);
}

static void have_found(struct rtl_sync *sync, int error)
{
    (void)pthread_mutex_lock(&sync->lock);
    sync->found = true;
    if (error)
        tell_unknown(sync, gai_strerror(error));
    (void)pthread_mutex_unlock(&sync->lock);
}

static void *run(void *context)
{
    struct rtl_sync *sync = context;
    struct addrinfo *list = NULL;
    int error = rtl_sync_address_find(&sync->address, &list);
    have_found(sync, error);
    if (!error && rtl_sync_address_is_own(list))
        respond(sync, list);
    else if (!error)
        ask(sync, list);
    if (list)
        freeaddrinfo(list);
    (void)pthread_mutex_lock(&sync->lock);
    sync->over = true;
    (void)pthread_cond_broadcast(&sync->changed);
    (void)pthread_mutex_unlock(&sync->lock);
    return NULL;
}

/* For the caller. */

/* Signals are the caller's. */
static int make_thread(struct rtl_sync *sync)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&sync->thread, &attributes, run, sync);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return error;
}

static void release(struct rtl_sync *sync)
{
    if (sync->wake >= 0)
        (void)close(sync->wake);
    (void)pthread_cond_destroy(&sync->changed);
    (void)pthread_mutex_destroy(&sync->lock);
    free(sync);
}

struct rtl_sync *rtl_sync_start(const struct rtl_sync_address *address, const char *boot)
{
    struct rtl_sync *sync = calloc(1, sizeof *sync);
    pthread_condattr_t attributes;
    if (!sync)
        return NULL;
    sync->address = *address;
    (void)snprintf(sync->boot, sizeof sync->boot, "%s", boot);
    (void)gethostname(sync->host, sizeof sync->host - 1);
    (void)pthread_mutex_init(&sync->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&sync->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    sync->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = sync->wake < 0 ? errno : make_thread(sync);
    if (error == 0)
        return sync;
    release(sync);
    errno = error;
    return NULL;
}

bool rtl_sync_take(struct rtl_sync *sync, struct rtl_exchange *exchange)
{
    (void)pthread_mutex_lock(&sync->lock);
    bool there = sync->kept_count > 0;
    if (there) {
        *exchange = sync->kept[0];
        --sync->kept_count;
        memmove(sync->kept, sync->kept + 1, sync->kept_count * sizeof *sync->kept);
    }
    (void)pthread_mutex_unlock(&sync->lock);
    return there;
}

bool rtl_sync_told(struct rtl_sync *sync, char sentence[RTL_SYNC_SENTENCE])
{
    (void)pthread_mutex_lock(&sync->lock);
    bool there = sync->sentence_count > 0;
    if (there) {
        memcpy(sentence, sync->sentences[0], RTL_SYNC_SENTENCE);
        --sync->sentence_count;
        memmove(sync->sentences[0], sync->sentences[1],
                sync->sentence_count * sizeof sync->sentences[0]);
    }
    (void)pthread_mutex_unlock(&sync->lock);
    return there;
}

static void wake(const struct rtl_sync *sync)
{
    const uint64_t one = 1;
    (void)!write(sync->wake, &one, sizeof one);
}

/* Under the lock; false when time is over. */
static bool wait_changed(struct rtl_sync *sync, uint64_t until)
{
    const struct timespec time = {.tv_sec = (time_t)(until / 1000000000),
                                  .tv_nsec = (long)(until % 1000000000)};
    return pthread_cond_timedwait(&sync->changed, &sync->lock, &time) != ETIMEDOUT;
}

void rtl_sync_now(struct rtl_sync *sync)
{
    uint64_t until = rtl_clock_ns(CLOCK_MONOTONIC) + NOW_NS;
    (void)pthread_mutex_lock(&sync->lock);
    unsigned asked = ++sync->asked;
    wake(sync);
    while (!sync->over && sync->made != asked && wait_changed(sync, until)) {
    }
    if (!sync->found)
        tell_unknown(sync, "whoever knows them has not answered yet");
    (void)pthread_mutex_unlock(&sync->lock);
}

/* A thread that still looks for an address is left to itself, and so is what it uses. */
void rtl_sync_end(struct rtl_sync *sync, bool linger)
{
    uint64_t until = rtl_clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;
    if (!sync)
        return;
    (void)pthread_mutex_lock(&sync->lock);
    sync->ending = true;
    sync->linger = linger;
    wake(sync);
    while (!sync->over && wait_changed(sync, until)) {
    }
    bool over = sync->over;
    (void)pthread_mutex_unlock(&sync->lock);
    if (!over) {
        (void)pthread_detach(sync->thread);
        return;
    }
    (void)pthread_join(sync->thread, NULL);
    release(sync);
}
