#include "intercept/callbacks/callbacks.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/pages.h"
#include "common/wakeup.h"
#include "intercept/base/emit.h"
#include "intercept/base/recording.h"
#include "intercept/base/tasks.h"
#include "intercept/base/thread_context.h"
#include "intercept/callbacks/events.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUND           65536u /* slots that are read in one go */
#define BUSY            256u   /* so many in a round: go on at once */
#define SHORTEST_NAP_NS 200000u
#define LONGEST_NAP_NS  5000000u
#define STALE_NS        UINT64_C(1000000000) /* no clock for so long: hand over without */
#define STEP_NS         100000

#define UNSUBSCRIBE_PATIENCE_NS UINT64_C(1000000000)
#define END_PATIENCE_NS         UINT64_C(1000000000) /* for a callback that runs while the process ends */

enum phase { EARLY, SERVING, REFUSED };

/* Held by whoever calls callbacks or changes who is called, and so as long as a callback takes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t phase;    /* enum phase; changed under the lock */
static _Atomic bool subscribed;   /* changed under the lock */
static rtl_callbacks_t wanted;    /* under the lock, as the next three */
static enum rtl_mode wanted_mode; /* where wanted.mode names one */
static void *wanted_context;
static rtl_ring_handler wanted_counters;
static struct rtl_events *events;
static void (*quiesce)(uint64_t patience_ns);
static bool has_trace; /* the process is recorded into one: subscribers come beside it */

static struct rtl_ring *ring;
static struct rtl_task task;
static _Atomic bool serving; /* the thread runs */

/* What others ask of the thread: it answers by setting `answered` to what was `asked`. */
struct request {
    _Atomic uint32_t asked, answered;
};
static struct request flushing, leaving;
static struct rtl_wakeup wakeup; /* cuts a nap of the thread short */

/* ---- the thread ---- */

static uint64_t read_some(void)
{
    uint64_t torn = 0;
    return rtl_ring_read(ring, ROUND, false, rtl_events_take, events, &torn);
}

/* Reads all that was in the ring when it began, and sets `*all`; or as far as it is written. */
static uint64_t read_to_head(bool *all)
{
    uint64_t head = atomic_load_explicit(&ring->header->head, memory_order_acquire);
    uint64_t slots = 0;
    uint64_t piece = 1;
    *all = false;
    while (piece > 0 && !*all) {
        piece = read_some();
        slots += piece;
        *all = atomic_load_explicit(&ring->header->tail, memory_order_relaxed) >= head;
    }
    return slots;
}

/* Reads all that was claimed when it began. A draft of which others have claimed a part is given up
 * when the rest is in the ring again (harvest.c), which may be behind the first head. */
static uint64_t read_claimed(bool *all)
{
    uint64_t slots = read_to_head(all);
    return *all ? slots + read_to_head(all) : slots;
}

/* Under the lock: the last callbacks of a subscriber. */
static void leave(void)
{
    uint32_t ask = atomic_load(&leaving.asked);
    if (ask == atomic_load(&leaving.answered))
        return;
    rtl_events_deliver(events, RTL_EVENTS_ALL);
    rtl_events_deliver_open(events);
    rtl_events_subscribe(events, NULL, NULL, NULL);
    subscribed = false;
    atomic_store(&leaving.answered, ask);
}

/* `flushed`: somebody asked for all that was in the ring, and it is read. */
static enum rtl_events_which which_of(bool stale, bool flushed)
{
    if (stale)
        return RTL_EVENTS_ALL;
    return flushed ? RTL_EVENTS_TIMED : RTL_EVENTS_SURE;
}

/* Under the lock. What nobody has finished writing is not there yet. */
static uint64_t serve(bool stale)
{
    uint32_t ask = atomic_load(&flushing.asked);
    bool flush = ask != atomic_load(&flushing.answered);
    bool all = false;
    uint64_t slots = flush ? read_claimed(&all) : read_some();
    rtl_events_missed(events, rtl_emit_missed());
    rtl_events_deliver(events, which_of(stale, all));
    if (all)
        atomic_store(&flushing.answered, ask);
    leave();
    return slots;
}

static void *work(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "rtl-deliver");
    uint64_t length = SHORTEST_NAP_NS;
    uint64_t quiet_since = rtl_now();
    for (;;) {
        uint64_t now = rtl_now();
        uint32_t wakeups_seen = rtl_wakeup_count(&wakeup);
        pthread_mutex_lock(&lock);
        uint64_t slots = serve(now - quiet_since > STALE_NS);
        pthread_mutex_unlock(&lock);
        if (slots > 0 || now - quiet_since > STALE_NS)
            quiet_since = now;
        if (slots >= BUSY)
            continue;
        length = slots > 0 ? SHORTEST_NAP_NS : length * 2;
        if (length > LONGEST_NAP_NS)
            length = LONGEST_NAP_NS;
        rtl_wakeup_nap(&wakeup, wakeups_seen, length);
    }
    return NULL;
}

static int start_thread(void)
{
    int error = rtl_task_start(&task, RTL_TASK_ALLOCATES, work);
    if (error == 0)
        (void)pthread_detach(task.thread);
    return error;
}

/* ---- the beginning of recording ---- */

bool rtl_callbacks_wanted(struct rtl_config *config)
{
    pthread_mutex_lock(&lock);
    bool wants = subscribed && config->session == NULL;
    if (wants && wanted.mode != NULL)
        config->mode = wanted_mode;
    else if (wants && !config->mode_set)
        config->mode = RTL_MODE_FULL;
    if (!subscribed)
        phase = REFUSED;
    pthread_mutex_unlock(&lock);
    return wants;
}

/* Serves from a new ring. Losses are counted in `ledger`, NULL: in that ring. */
static bool open_ring(struct rtl_ring *to, size_t bytes, const struct rtl_ring_header *ledger)
{
    if (rtl_ring_create_private(to, bytes) != 0)
        return false;
    struct rtl_events *made = rtl_events_new(ledger != NULL ? ledger : to->header);
    int error = made == NULL ? ENOMEM : 0;
    pthread_mutex_lock(&lock);
    if (error == 0) {
        ring = to;
        events = made;
        rtl_events_subscribe(events, subscribed ? &wanted : NULL, wanted_context, wanted_counters);
        error = start_thread();
        phase = error == 0 ? SERVING : REFUSED;
        atomic_store(&serving, error == 0);
    }
    pthread_mutex_unlock(&lock);
    if (error == 0)
        return true;
    free(made);
    rtl_pages_give(to->header, to->size);
    errno = error;
    return false;
}

bool rtl_callbacks_open(struct rtl_ring *to, size_t bytes)
{
    return open_ring(to, bytes, NULL);
}

void rtl_callbacks_begin(void (*quiesces)(uint64_t patience_ns))
{
    quiesce = quiesces;
}

void rtl_callbacks_tee(const struct rtl_ring *trace, size_t bytes)
{
    static struct rtl_ring own;
    if (!atomic_load(&subscribed))
        return;
    if (!open_ring(&own, bytes, trace->header)) {
        rtl_complain("no memory or no thread for the subscriber's events (%s): it gets none",
                     strerrordesc_np(errno));
        rtl_callbacks_refuse();
        return;
    }
    pthread_mutex_lock(&lock);
    has_trace = true;
    pthread_mutex_unlock(&lock);
    rtl_emit_tee(&own);
}

void rtl_callbacks_refuse(void)
{
    pthread_mutex_lock(&lock);
    phase = REFUSED;
    pthread_mutex_unlock(&lock);
}

/* ---- what the host calls ---- */

static bool is_librtl(const char *word, size_t length)
{
    const char *slash = memrchr(word, '/', length);
    const char *name = slash != NULL ? slash + 1 : word;
    return (size_t)(word + length - name) >= strlen("librtl.so") &&
           strncmp(name, "librtl.so", strlen("librtl.so")) == 0;
}

/* Copies the list of tools without any librtl.so; returns its length, a blank at the end included.
 */
static size_t other_tools(const char *tools, char *list, size_t size)
{
    size_t used = 0;
    while (tools != NULL && *tools != '\0') {
        size_t length = strcspn(tools, " ");
        if (length > 0 && !is_librtl(tools, length) && used + length + 1 < size) {
            memcpy(list + used, tools, length);
            list[used + length] = ' ';
            used += length + 1;
        }
        tools += length + (tools[length] == ' ');
    }
    return used;
}

/* The HSA runtime loads what HSA_TOOLS_LIB names. Ours comes last, see rtl trace. */
static int ask_to_be_loaded(bool beside)
{
    char list[4 * PATH_MAX];
    char path[PATH_MAX];
    Dl_info library;
    if (dladdr((void *)(uintptr_t)rtlSubscribe, &library) == 0 ||
        realpath(library.dli_fname, path) == NULL)
        return ENOTSUP;
    // NOLINTBEGIN(concurrency-mt-unsafe): rtlSubscribe's contract
    size_t used = other_tools(secure_getenv("HSA_TOOLS_LIB"), list, sizeof list - PATH_MAX);
    (void)snprintf(list + used, sizeof list - used, "%s", path);
    bool set =
        setenv("HSA_TOOLS_LIB", list, 1) == 0 && (beside || setenv("RTL_EMBEDDED", "1", 1) == 0);
    // NOLINTEND(concurrency-mt-unsafe)
    return set ? 0 : ENOMEM;
}

/* Host calls before the HSA runtime is up are kept, if the mode has any: nobody has said so at the
 * load of the library. */
static void expect_calls(const rtl_callbacks_t *callbacks, enum rtl_mode mode)
{
    const char *set = secure_getenv("RTL_MODE");
    if (callbacks->mode == NULL && set != NULL && *set != '\0' && !rtl_config_mode(set, &mode))
        return;
    if (mode == RTL_MODE_HIP || mode == RTL_MODE_FULL)
        atomic_store(&rtl_calls_state, RTL_CALLS_UNDECIDED);
}

static bool has_callback(const rtl_callbacks_t *callbacks)
{
    return callbacks->kernels != NULL || callbacks->copies != NULL || callbacks->calls != NULL ||
           callbacks->ranges != NULL || callbacks->launches != NULL || callbacks->name != NULL ||
           callbacks->note != NULL;
}

/* Under the lock: whether a trace is recorded, or will be. */
static bool is_traced(void)
{
    const char *session = secure_getenv("RTL_SESSION");
    return has_trace || (phase != SERVING && session != NULL && *session != '\0');
}

/* Under the lock. */
static int subscribe(const rtl_callbacks_t *callbacks, enum rtl_mode mode, void *context,
                     rtl_ring_handler counters, bool beside)
{
    bool traced = is_traced();
    if (subscribed || (traced && !beside))
        return EBUSY;
    if (phase == REFUSED)
        return rtl_recording_is_on() && !beside ? EBUSY : ENOTSUP;
    int error = phase == EARLY ? ask_to_be_loaded(traced) : 0;
    if (error != 0)
        return error;
    if (phase == EARLY)
        expect_calls(callbacks, mode);
    wanted = *callbacks;
    wanted_mode = mode;
    wanted_context = context;
    wanted_counters = counters;
    subscribed = true;
    if (phase == SERVING)
        rtl_events_subscribe(events, &wanted, context, wanted_counters);
    return 0;
}

static bool on_own_thread(void)
{
    return atomic_load(&serving) && pthread_equal(pthread_self(), task.thread);
}

static int try_to_subscribe(const rtl_callbacks_t *callbacks, void *context,
                            rtl_ring_handler counters, bool beside)
{
    enum rtl_mode mode = RTL_MODE_FULL;
    int error = EINVAL;
    if (on_own_thread()) {
        errno = EDEADLK;
        return -1;
    }
    /* Later versions have more: what an older host does not know is not called. */
    if (callbacks != NULL && callbacks->size >= sizeof *callbacks && has_callback(callbacks) &&
        (callbacks->mode == NULL || rtl_config_mode(callbacks->mode, &mode))) {
        pthread_mutex_lock(&lock);
        bool again = phase == SERVING && !has_trace;
        error = subscribe(callbacks, mode, context, counters, beside);
        pthread_mutex_unlock(&lock);
        if (error == 0 && again)
            (void)rtlStart();
    }
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int rtlSubscribe(const rtl_callbacks_t *callbacks, void *context)
{
    return try_to_subscribe(callbacks, context, NULL, false);
}

int rtl_callbacks_subscribe(const rtl_callbacks_t *callbacks, void *context,
                            rtl_ring_handler counters)
{
    return try_to_subscribe(callbacks, context, counters, true);
}

struct ticket {
    const struct request *of;
    uint32_t number;
};

static bool is_answered(void *context)
{
    const struct ticket *ticket = context;
    return (int32_t)(atomic_load(&ticket->of->answered) - ticket->number) >= 0;
}

/* Has the thread do it; false if it has not by then. */
static bool request(struct request *what, uint64_t deadline_ns)
{
    struct ticket ticket = {what, atomic_fetch_add(&what->asked, 1) + 1};
    rtl_wakeup_send(&wakeup);
    return rtl_wait_until(is_answered, &ticket, deadline_ns, STEP_NS);
}

static int quiesce_and_flush(uint64_t patience_ns)
{
    uint64_t deadline = rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    quiesce(patience_ns);
    (void)rtl_emit_flush();
    return request(&flushing, deadline) ? 0 : ETIMEDOUT;
}

/* 0 if there is somebody to hand anything to, and the caller may wait for it. */
static int may_flush(void)
{
    if (on_own_thread())
        return EDEADLK;
    return subscribed && phase == SERVING ? 0 : ESRCH;
}

int rtlFlush(unsigned timeout_ms)
{
    int error = may_flush();
    if (error == 0)
        error = quiesce_and_flush((uint64_t)timeout_ms * 1000000);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int rtlUnsubscribe(void)
{
    int error = on_own_thread() ? EDEADLK : subscribed ? 0 : ESRCH;
    if (error != 0) {
        errno = error;
        return -1;
    }
    if (phase == SERVING) {
        if (!has_trace)
            (void)rtlStop();
        (void)quiesce_and_flush(UNSUBSCRIBE_PATIENCE_NS);
        (void)request(&leaving, UINT64_MAX);
    } else {
        subscribed = false;
    }
    return 0;
}

/* ---- the end of the process ---- */

void rtl_callbacks_end(uint64_t patience_ns)
{
    if (!atomic_load(&serving) || on_own_thread() || may_flush() != 0)
        return;
    (void)rtl_emit_flush();
    (void)request(&flushing, rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns);
    (void)request(&leaving, rtl_clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS);
}

void rtl_callbacks_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&serving, false);
    subscribed = false;
    phase = REFUSED;
}
