#include "intercept/counters/counters.h"

#include "common/clock.h"
#include "common/log.h"
#include "intercept/base/emit.h"
#include "intercept/base/tasks.h"
#include "intercept/counters/chosen.h"
#include "intercept/counters/device.h"
#include "intercept/counters/kernel.h"
#include "intercept/counters/range.h"
#include "intercept/queue/aql.h"
#include "intercept/queue/interception.h"
#include "intercept/queue/packet_buffer.h"
#include "intercept/ranges/ranges.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EAGER_NS     UINT64_C(1000000)   /* without a nap, after something came of it */
#define BUSY_NAP_NS  50000               /* while something is in flight */
#define IDLE_NAP_NS  500000              /* while nothing is */
#define ACCOUNT_NS   UINT64_C(100000000) /* between looks at what was missed */
#define DRAIN_NAP_NS 100000

static _Atomic bool counts;                 /* something is counted */
static const struct rtl_counting *counting; /* how; set before that */

/* Held by the counter thread while it works, and by threads that open or close a queue. The thread
 * works all the time, and a mutex is not fair: a thread that wants the lock counts itself in
 * `lock_waiters`. */
static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t lock_waiters;
static struct rtl_task counter_task;
static bool running; /* under `counter_lock` */
static _Atomic bool stopping, ended;
static _Atomic uint64_t quiet_rounds; /* in a row: nothing was in flight */
static bool graphs_reported;

/* ---- settings ---- */

static void tell(const struct rtl_config *config, uint32_t passes)
{
    static bool reported; /* once in the life of the process */
    if (reported)
        return;
    reported = true;
    size_t length = strnlen(config->metrics, UINT16_MAX);
    struct rtl_wire_counting wire = {.mode = (uint32_t)config->counting,
                                     .pass = (uint16_t)config->pass,
                                     .passes = (uint16_t)passes,
                                     .text_length = (uint16_t)length};
    struct rtl_piece pieces[] = {{&wire, sizeof wire}, {config->metrics, length}};
    rtl_emit_definition(RTL_WIRE_COUNTING, pieces, 2);
}

/* Why nothing can be counted, whatever the devices have; NULL: nothing is known against it. */
static const char *refusal(const struct rtl_config *config)
{
    if (config->interception == RTL_INTERCEPTION_INTERPOSE)
        return "hardware counters need packets of RTL's own in queues, which RTL_QUEUE=interpose "
               "does not allow; leave RTL_QUEUE out";
    if (config->counting == RTL_COUNTING_RANGE && config->mode != RTL_MODE_FULL)
        return "hardware counters of ranges need RTL_MODE=full: it has to be known when a range's "
               "kernels are done";
    if (!rtl_aql_open())
        return "this HSA runtime offers no hardware counters: AMD's aqlprofile library "
               "(libhsa-amd-aqlprofile64.so) could not be loaded";
    return NULL;
}

static uint32_t plan(const struct rtl_config *config)
{
    const char *why = refusal(config);
    if (why != NULL) {
        rtl_complain("RTL_METRICS: %s; no hardware counter is read", why);
        rtl_emit_note(RTL_NONE, "RTL_METRICS: %s; no hardware counter is read", why);
        return 0;
    }
    uint32_t passes = rtl_counters_plan_devices(config->metrics, config->pass);
    if (passes > 0 && config->pass >= passes)
        rtl_emit_note(RTL_NONE,
                      "RTL_PASS=%u: there are %u passes, from 0 on; no hardware counter is read",
                      config->pass, passes);
    return passes;
}

void rtl_counters_begin(const struct rtl_config *config)
{
    if (config->metrics == NULL && config->metrics_kernel != NULL)
        rtl_complain("RTL_METRICS_KERNEL names kernels, and RTL_METRICS nothing to count in them");
    if (config->metrics == NULL || !rtl_counters_are_wanted(config->metrics))
        return;
    uint32_t passes = plan(config);
    tell(config, passes);
    bool has_pass = config->pass < passes;
    bool by_range = config->counting == RTL_COUNTING_RANGE;
    counting = by_range ? &rtl_counting_ranges : &rtl_counting_kernels;
    if (config->metrics_kernel != NULL && by_range)
        rtl_complain("RTL_METRICS_KERNEL is of RTL_COUNTING=kernel; ranges are counted whole");
    else if (config->metrics_kernel != NULL)
        rtl_counters_choose(config->metrics_kernel);
    atomic_store(&counts, has_pass);
    if (has_pass && by_range)
        atomic_store(&rtl_range_ended, rtl_counters_range_ended);
}

bool rtl_counters_need_packets(void)
{
    return atomic_load(&counts);
}

/* ---- the counter thread ---- */

static void account(void)
{
    rtl_counters_account();
    if (graphs_reported || !rtl_counters_missed(RTL_UNCOUNTED_GRAPH))
        return;
    graphs_reported = true;
    rtl_emit_note(RTL_NONE, "kernels in replays of graphs are not counted by RTL_COUNTING=kernel; "
                            "RTL_COUNTING=range counts them");
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "rtl-counters");
    uint64_t accounted = 0;
    uint64_t since = 0;
    while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
        bool busy = false;
        pthread_mutex_lock(&counter_lock);
        unsigned came = counting->round(&busy);
        uint64_t now = rtl_now();
        if (now - accounted > ACCOUNT_NS) {
            account();
            accounted = now;
        }
        pthread_mutex_unlock(&counter_lock);
        atomic_store(&quiet_rounds, busy ? 0 : atomic_load(&quiet_rounds) + 1);
        if (came > 0)
            since = now;
        if (atomic_load(&lock_waiters) > 0 || !busy || !counting->is_hurried ||
            now - since > EAGER_NS)
            rtl_nap(busy ? BUSY_NAP_NS : IDLE_NAP_NS);
        else
            (void)sched_yield();
    }
    atomic_store_explicit(&ended, true, memory_order_release);
    return NULL;
}

static void lock_counters(void)
{
    atomic_fetch_add(&lock_waiters, 1);
    pthread_mutex_lock(&counter_lock);
}

static void unlock_counters(void)
{
    pthread_mutex_unlock(&counter_lock);
    atomic_fetch_sub(&lock_waiters, 1);
}

static bool start_thread(void)
{
    if (running)
        return true;
    atomic_store(&stopping, false);
    atomic_store(&ended, false);
    running = rtl_task_start(&counter_task, RTL_TASK_ALLOCATES, serve) == 0;
    return running;
}

/* ---- queues ---- */

static struct rtl_counters_queue *counted_of(struct rtl_queue *queue)
{
    if (queue->observer == NULL) {
        struct rtl_counters_queue *made = calloc(1, sizeof *made);
        if (made == NULL)
            return NULL;
        made->queue = queue;
        queue->observer = made;
    }
    return queue->observer;
}

static bool open_queue(struct rtl_queue *queue, struct rtl_counters_agent *device)
{
    struct rtl_counters_queue *counted = counted_of(queue);
    if (counted == NULL || !start_thread() ||
        !rtl_packet_buffer_provide(&counted->out, &counted->room, queue->size))
        return false;
    counted->device = device;
    return counting->open(counted);
}

/* So many packets may be on the hardware for one of the program's: the ring must hold them. */
static void limit_expansion(struct rtl_queue *queue)
{
    queue->max_expansion = counting->max_expansion;
    queue->rewriter.progress_every = (uint32_t)(queue->size / 8 / queue->max_expansion);
    if (queue->rewriter.progress_every == 0)
        queue->rewriter.progress_every = 1;
}

/* A queue on a GPU agent that is not followed by interception. */
static void refuse_queue(uint32_t agent)
{
    struct rtl_counters_agent *device =
        rtl_counters_need_packets() ? rtl_counters_agent(agent) : NULL;
    if (device == NULL)
        return;
    rtl_counters_miss(device, RTL_UNCOUNTED_QUEUE, 1);
    const char *fault = rtl_interception_fault();
    if (fault != NULL) {
        rtl_emit_note(RTL_NONE,
                      "hardware counters of agent %u are not read: in full mode they need an "
                      "intercept queue, and %s, or use --mode standard --counting kernel",
                      agent, fault);
        return;
    }
    rtl_emit_note(
        RTL_NONE,
        "a queue on agent %u is not one that RTL can put packets into, as it was not made by "
        "hsa_queue_create, or is a cooperative one: hardware counters of its kernels are "
        "not read",
        agent);
}

static void follow_queue(struct rtl_queue *queue)
{
    struct rtl_counters_agent *device =
        rtl_counters_need_packets() ? rtl_counters_agent(queue->agent) : NULL;
    if (device == NULL)
        return;
    if (queue->interception != RTL_INTERCEPTED) {
        refuse_queue(queue->agent);
        return;
    }
    lock_counters();
    bool opened = open_queue(queue, device);
    if (opened) {
        limit_expansion(queue);
        atomic_store_explicit(&queue->observed, true, memory_order_release);
    } else {
        rtl_counters_give_up(device, "the device or the library did not start them");
        rtl_counters_miss(device, RTL_UNCOUNTED_DEVICE, 1);
    }
    unlock_counters();
}

/* The throttle leaves room for all that a packet may become; a packet that finds none goes alone.
 */
static uint64_t rewrite(struct rtl_queue *queue, uint64_t index, uint64_t count, uint32_t epoch,
                        const void **all)
{
    struct rtl_counters_queue *counted = queue->observer;
    uint64_t written = 0;
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *packet = queue->staging + i * RTL_PACKET_SIZE;
        unsigned char *out = counted->out + written * RTL_PACKET_SIZE;
        rtl_rewrite(&queue->rewriter, packet, index + i, 1, epoch);
        if (written + queue->max_expansion + (count - i - 1) <= counted->room) {
            written += counting->put(counted, packet, index + i, out);
        } else {
            memcpy(out, packet, RTL_PACKET_SIZE);
            rtl_counters_miss(counted->device, RTL_UNCOUNTED_MEMORY, 1);
            written++;
        }
    }
    *all = counted->out;
    return written;
}

static uint64_t most(const struct rtl_queue *queue)
{
    return counting->most(queue->observer);
}

static void reserve(struct rtl_queue *queue, uint64_t first, uint64_t count)
{
    counting->reserve(queue->observer, first, count);
}

static void close_queue(struct rtl_queue *queue)
{
    if (!rtl_queue_is_observed(queue))
        return;
    lock_counters();
    counting->close(queue->observer);
    atomic_store(&queue->observed, false);
    unlock_counters();
}

static void forget_queues(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        atomic_store(&rtl_queues_at(i)->observed, false);
}

const struct rtl_queue_observer rtl_counters_observer = {.opened = follow_queue,
                                                         .refused = refuse_queue,
                                                         .closing = close_queue,
                                                         .reserved = reserve,
                                                         .most = most,
                                                         .rewrite = rewrite};

/* ---- the end ---- */

static bool has_ended(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&ended, memory_order_acquire);
}

static bool is_quiet(void *unused)
{
    (void)unused;
    return atomic_load(&quiet_rounds) >= 2 || has_ended(NULL);
}

static void wait_until_quiet(uint64_t patience_ns)
{
    atomic_store(&quiet_rounds, 0);
    (void)rtl_wait_until(is_quiet, NULL, rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns, DRAIN_NAP_NS);
}

static bool is_running(void)
{
    lock_counters();
    bool runs = running;
    unlock_counters();
    return runs;
}

void rtl_counters_drain(uint64_t patience_ns)
{
    if (!atomic_load(&counts) || !is_running())
        return;
    wait_until_quiet(patience_ns);
}

void rtl_counters_last(void)
{
    if (!atomic_load(&counts))
        return;
    lock_counters();
    counting->count_unfinished();
    account();
    unlock_counters();
}

static bool stop_thread(uint64_t patience_ns)
{
    uint64_t deadline = rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    atomic_store_explicit(&stopping, true, memory_order_release);
    if (!rtl_wait_until(has_ended, NULL, deadline, DRAIN_NAP_NS))
        return false;
    pthread_join(counter_task.thread, NULL);
    return true;
}

void rtl_counters_end(uint64_t patience_ns)
{
    if (!atomic_load(&counts) || !is_running())
        return;
    wait_until_quiet(patience_ns / 2);
    if (!stop_thread(patience_ns / 2))
        return;
    running = false;
    forget_queues();
    counting->end();
    account();
}

void rtl_counters_forked(void)
{
    atomic_store(&counts, false);
    forget_queues();
    atomic_store(&rtl_range_ended, NULL);
    pthread_mutex_init(&counter_lock, NULL);
    running = false;
    rtl_counters_ranges_forked();
}
