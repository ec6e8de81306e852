/* The device thread: a loop over all queues in which no queue ever waits. A queue that cannot go on
 * (a kernel has not reached its end, a dependency is not met, nothing is announced) returns at once
 * and says when time alone will change that, so one thread plays any number of queues and GPUs.
 *
 * Doorbells are plain memory that the program writes, so an idle device has to look. It spins for
 * SPIN_TICKS after the last progress, then naps, each nap twice as long as the last, from
 * FIRST_NAP_NS to LONGEST_NAP_NS, and IDLE_NAP_NS once nothing has happened for IDLE_TICKS. So a
 * doorbell is answered within about 0.1 ms while the program is busy and 0.5 ms after it was idle,
 * and an idle device costs little: each nap is two context switches, which a virtual machine makes
 * dear. It never calls sched_yield: where programs spin, as ROCr's waiters do, a yield costs whole
 * time slices. */
#include "softgpu/device.h"

#include "common/thread.h"
#include "softgpu/aql.h"
#include "softgpu/clock.h"
#include "softgpu/say.h"
#include "softgpu/sdma.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    SPIN_TICKS = 2000, /* 20 us */
    PAUSES = 8,        /* between two looks while spinning */
    FIRST_NAP_NS = 5000,
    LONGEST_NAP_NS = 100000,
    IDLE_TICKS = 2000000, /* 20 ms */
    IDLE_NAP_NS = 500000,
    WAKE_MARGIN_TICKS = 3000 /* the kernel may wake a thread this late: spin over the rest */
};

enum { POINTER = sizeof(void *) };

static struct {
    pthread_mutex_t lock; /* over the list; the thread holds it during a pass, not during a nap */
    atomic_uint visitors; /* threads that want the lock */
    sg_queue_t **queues;
    uint32_t count;
    uint32_t capacity;
    bool running;
    bool stop;
    pthread_t thread;
    uint64_t order; /* state of SOFTGPU_REORDER's random numbers */
} device = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How long the device has had nothing to do. */
typedef struct sg_rest {
    uint64_t since;
    long nap_ns;
} sg_rest_t;

static bool serve(sg_queue_t *queue)
{
    queue->wake = SG_NEVER;
    if (atomic_load_explicit(&queue->suspended, memory_order_relaxed))
        return false;
    return queue->is_sdma ? sg_sdma_serve(queue) : sg_aql_serve(queue);
}

/* SOFTGPU_REORDER: another order in every pass, and every queue has a chance of one half to be left
 * out, so that queues overtake each other in every possible way. */
static void shuffle(void)
{
    for (uint32_t i = device.count; i > 1; i--) {
        uint32_t other = (uint32_t)(sg_random(&device.order) % i);
        sg_queue_t *swapped = device.queues[i - 1];
        device.queues[i - 1] = device.queues[other];
        device.queues[other] = swapped;
    }
}

static bool left_out(void)
{
    return sg_settings()->reorder && (sg_random(&device.order) & 1) != 0;
}

/* One look at every queue. Returns whether anything happened; `wake` is the next tick of interest.
 */
static bool pass(uint64_t *wake)
{
    bool progress = false;
    *wake = SG_NEVER;
    if (sg_settings()->reorder)
        shuffle();
    for (uint32_t i = 0; i < device.count; i++) {
        sg_queue_t *queue = device.queues[i];
        if (left_out() ||
            serve(queue)) /* after one that was left out the next pass comes at once */
            progress = true;
        if (queue->wake < *wake)
            *wake = queue->wake;
    }
    return progress;
}

static void nap(long ns)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = ns};
    (void)nanosleep(&time, NULL);
}

static void rest(sg_rest_t *state, uint64_t wake)
{
    uint64_t now = sg_clock_ticks();
    bool near = wake != SG_NEVER && wake < now + WAKE_MARGIN_TICKS;
    if (near || now - state->since < SPIN_TICKS) {
        for (int i = 0; i < PAUSES; i++)
            _mm_pause();
        return;
    }
    long ns = now - state->since < IDLE_TICKS ? state->nap_ns : IDLE_NAP_NS;
    uint64_t left = wake == SG_NEVER ? 0 : (wake - now - WAKE_MARGIN_TICKS) * SG_NS_PER_TICK;
    if (wake != SG_NEVER && left < (uint64_t)ns)
        ns = (long)left + 1;
    nap(ns);
    state->nap_ns = state->nap_ns * 2 < LONGEST_NAP_NS ? state->nap_ns * 2 : LONGEST_NAP_NS;
}

/* Mutexes are not fair: a thread that locks again at once would keep others out for ever. */
static void let_visitors_in(void)
{
    if (atomic_load(&device.visitors) == 0)
        return;
    (void)pthread_mutex_unlock(&device.lock);
    while (atomic_load(&device.visitors) > 0)
        nap(1000);
    (void)pthread_mutex_lock(&device.lock);
}

/* For measurements: away from the program's own threads. */
static void pin_thread(void)
{
    int cpu = sg_settings()->cpu;
    if (cpu < 0)
        return;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET((size_t)cpu, &only);
    if (pthread_setaffinity_np(pthread_self(), sizeof(only), &only) != 0)
        sg_say("SOFTGPU_CPU=%d is not a processor of this machine.", cpu);
}

static void *play(void *unused)
{
    (void)unused;
    (void)pthread_setname_np(pthread_self(), "softgpu");
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* naps as short as asked for */
    pin_thread();
    sg_rest_t state = {.since = sg_clock_ticks(), .nap_ns = FIRST_NAP_NS};
    (void)pthread_mutex_lock(&device.lock);
    while (!device.stop) {
        uint64_t wake = SG_NEVER;
        if (pass(&wake)) {
            state.since = sg_clock_ticks();
            state.nap_ns = FIRST_NAP_NS;
            let_visitors_in();
        } else {
            (void)pthread_mutex_unlock(&device.lock);
            rest(&state, wake);
            while (atomic_load(&device.visitors) > 0)
                nap(1000);
            (void)pthread_mutex_lock(&device.lock);
        }
    }
    (void)pthread_mutex_unlock(&device.lock);
    return NULL;
}

/* Takes the lock although the device thread holds it most of the time. */
static void visit(void)
{
    atomic_fetch_add(&device.visitors, 1);
    (void)pthread_mutex_lock(&device.lock);
    atomic_fetch_sub(&device.visitors, 1);
}

static void leave(void)
{
    (void)pthread_mutex_unlock(&device.lock);
}

bool sg_device_start(void)
{
    device.stop = false;
    device.order = sg_settings()->reorder_seed;
    device.running = rtl_thread_start(&device.thread, NULL, play, NULL) == 0;
    return device.running;
}

static void drop_queues(void)
{
    free(device.queues);
    device.queues = NULL;
    device.count = 0;
    device.capacity = 0;
}

void sg_device_stop(void)
{
    if (!device.running)
        return;
    visit();
    device.stop = true;
    leave();
    (void)pthread_join(device.thread, NULL);
    device.running = false;
    drop_queues();
}

void sg_device_forget(void)
{
    device.running = false;
    atomic_store(&device.visitors, 0);
    drop_queues();
}

void sg_device_before_fork(void)
{
    visit();
}

void sg_device_after_fork(void)
{
    leave();
}

bool sg_device_add(sg_queue_t *queue)
{
    visit();
    bool room = device.count < device.capacity;
    if (!room) {
        uint32_t capacity = device.capacity ? device.capacity * 2 : 16;
        sg_queue_t **queues = realloc(device.queues, (size_t)capacity * POINTER);
        if (queues) {
            device.queues = queues;
            device.capacity = capacity;
            room = true;
        }
    }
    if (room)
        device.queues[device.count++] = queue;
    leave();
    return room;
}

void sg_device_remove(sg_queue_t *queue)
{
    visit();
    for (uint32_t i = 0; i < device.count; i++) {
        if (device.queues[i] != queue)
            continue;
        device.count--;
        memmove(&device.queues[i], &device.queues[i + 1], (size_t)(device.count - i) * POINTER);
        break;
    }
    leave();
}
