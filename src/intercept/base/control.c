#include "intercept/base/control.h"

#include "common/clock.h"
#include "ring/files.h"

#include <rtl/rtl.h>

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rtl_ring *_Atomic ring;          /* NULL until recording begins; set under the lock */
static rtl_control_apply *change;              /* set with the ring */
static enum rtl_control_request first_request; /* under the lock: before recording began */
static uint64_t duration_ns;                   /* under the lock: 0 once it counts */
static _Atomic uint64_t start_at_ns;           /* RTL_DELAY is over then; 0: nothing to do */
static _Atomic uint64_t stop_at_ns;            /* RTL_DURATION is over then */

/* Under the lock. */
static void count_duration(void)
{
    if (duration_ns != 0)
        atomic_store(&stop_at_ns, rtl_now() + duration_ns);
    duration_ns = 0;
}

/* How the sentence about a change ends. */
static const char *ending_of(bool stop, enum rtl_pause_why why)
{
    switch (why) {
    case RTL_PAUSE_CTL:
        return " by rtl ctl";
    case RTL_PAUSE_DELAY:
        return stop ? " until RTL_DELAY is over" : ": RTL_DELAY is over";
    case RTL_PAUSE_DURATION:
        return ": RTL_DURATION is over";
    case RTL_PAUSE_PROGRAM:
    case RTL_PAUSE_ROCTX:
    case RTL_PAUSE_START_OFF:
        break;
    }
    return "";
}

/* Under the lock. */
static int apply(bool stop, enum rtl_pause_why why)
{
    const struct rtl_ring *known = atomic_load(&ring);
    if (known == NULL || change(stop, why, ending_of(stop, why)) != 0)
        return -1;
    atomic_store(&known->header->stopped, stop);
    if (!stop)
        count_duration();
    return 0;
}

static int apply_now(bool stop)
{
    pthread_mutex_lock(&lock);
    atomic_store(&start_at_ns, 0);
    int result = apply(stop, RTL_PAUSE_PROGRAM);
    pthread_mutex_unlock(&lock);
    return result;
}

int rtlStart(void)
{
    return apply_now(false);
}

int rtlStop(void)
{
    return apply_now(true);
}

void rtl_control_request(enum rtl_control_request request)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&ring) == NULL) {
        first_request = request;
    } else {
        atomic_store(&start_at_ns, 0);
        (void)apply(request == RTL_CONTROL_STOP, RTL_PAUSE_ROCTX);
    }
    pthread_mutex_unlock(&lock);
}

/* Under the lock. What the program has asked for comes after what rtl ctl did of the session or an
 * image before this one, and both go before the settings. */
static bool begins_stopped(const struct rtl_config *config, enum rtl_pause_why *why)
{
    enum rtl_ring_request left = config->session != NULL && atomic_load(&ring)->path[0] != '\0'
                                     ? rtl_ring_request_read(config->session)
                                     : RTL_RING_REQUEST_NONE;
    if (first_request != RTL_CONTROL_NONE) {
        *why = RTL_PAUSE_ROCTX;
        return first_request == RTL_CONTROL_STOP;
    }
    if (left != RTL_RING_REQUEST_NONE) {
        *why = RTL_PAUSE_CTL;
        return left == RTL_RING_REQUEST_STOP;
    }
    if (config->delay_ns != 0) {
        atomic_store(&start_at_ns, rtl_now() + config->delay_ns);
        *why = RTL_PAUSE_DELAY;
        return true;
    }
    *why = RTL_PAUSE_START_OFF;
    return config->starts_stopped;
}

void rtl_control_begin(const struct rtl_config *config, struct rtl_ring *to,
                       rtl_control_apply *applies)
{
    pthread_mutex_lock(&lock);
    change = applies;
    atomic_store(&ring, to);
    duration_ns = config->duration_ns;
    enum rtl_pause_why why;
    bool stops = begins_stopped(config, &why);
    (void)apply(stops, why);
    pthread_mutex_unlock(&lock);
}

static bool is_due(_Atomic uint64_t *at_ns)
{
    uint64_t at = atomic_load_explicit(at_ns, memory_order_relaxed);
    return at != 0 && rtl_now() >= at;
}

/* Under the lock; what was due a moment ago may be called off by now. */
static void do_due(void)
{
    if (is_due(&start_at_ns)) {
        atomic_store(&start_at_ns, 0);
        (void)apply(false, RTL_PAUSE_DELAY);
    }
    if (is_due(&stop_at_ns)) {
        atomic_store(&stop_at_ns, 0);
        (void)apply(true, RTL_PAUSE_DURATION);
    }
}

/* Under the lock. The word is set back when it is done: rtl ctl waits for that. */
static void do_requested(void)
{
    _Atomic uint32_t *word = &atomic_load(&ring)->header->request;
    uint32_t request = atomic_load(word);
    if (request == RTL_RING_REQUEST_NONE)
        return;
    atomic_store(&start_at_ns, 0);
    (void)apply(request == RTL_RING_REQUEST_STOP, RTL_PAUSE_CTL);
    (void)atomic_compare_exchange_strong(word, &request, RTL_RING_REQUEST_NONE);
}

void rtl_control_poll(void)
{
    const struct rtl_ring *known = atomic_load(&ring);
    if (known == NULL)
        return;
    bool requested = atomic_load_explicit(&known->header->request, memory_order_relaxed) != 0;
    if (!requested && !is_due(&start_at_ns) && !is_due(&stop_at_ns))
        return;
    pthread_mutex_lock(&lock);
    do_due();
    do_requested();
    pthread_mutex_unlock(&lock);
}

void rtl_control_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&ring, NULL);
}
