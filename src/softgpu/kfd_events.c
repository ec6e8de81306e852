#include "softgpu/kfd_events.h"

#include "softgpu/events.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Ids as the driver's: events that a signal can raise have a slot in the page of mailboxes, which
 * is their id; the others come behind. Id 0 means "no event" and is never given out. */
enum { SYSTEM_EVENTS = 64, EVENT_LIMIT = KFD_SIGNAL_EVENT_LIMIT + SYSTEM_EVENTS };

/* An event's age begins at 1 and grows with each raise. A raise does what the KFD does: whoever
 * waits now is woken, and the flag stays for the next who comes unless a waiter consumed it. */
typedef struct sg_event {
    _Atomic uint64_t age;
    atomic_uint waiters;
    uint32_t type;
    bool auto_reset;
    atomic_bool used;
    atomic_bool set;
} sg_event_t;

static sg_event_t events[EVENT_LIMIT];
static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_signal = 1;

static atomic_uint raises; /* futex word: moves with every raise that somebody waits for */

static struct {
    atomic_bool pending;
    uint32_t gpu;
    uint64_t address;
} memory_fault;

static void clear_all(void)
{
    for (uint32_t id = 0; id < EVENT_LIMIT; id++)
        atomic_store(&events[id].used, false);
    next_signal = 1;
    atomic_store(&memory_fault.pending, false);
}

static void wake_all(void)
{
    atomic_fetch_add(&raises, 1);
    (void)syscall(SYS_futex, &raises, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void sg_kfd_events_clear(void)
{
    clear_all();
    wake_all();
}

void sg_kfd_events_forget(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    create_lock = fresh;
    clear_all();
    for (uint32_t id = 0; id < EVENT_LIMIT; id++)
        atomic_store(&events[id].waiters, 0);
}

void sg_event_raise(uint32_t id)
{
    if (id == 0 || id >= EVENT_LIMIT || !atomic_load(&events[id].used))
        return;
    atomic_store(&events[id].set, true);
    atomic_fetch_add(&events[id].age, 1);
    if (atomic_load(&events[id].waiters) > 0)
        wake_all();
}

bool sg_event_memory_fault(uint32_t node, uint64_t address)
{
    for (uint32_t id = KFD_SIGNAL_EVENT_LIMIT; id < EVENT_LIMIT; id++) {
        if (!atomic_load(&events[id].used) || events[id].type != KFD_IOC_EVENT_MEMORY)
            continue;
        memory_fault.gpu = node - 1;
        memory_fault.address = address;
        atomic_store(&memory_fault.pending, true);
        sg_event_raise(id);
        return true;
    }
    return false;
}

static uint32_t free_signal(void)
{
    for (uint32_t tried = 1; tried < KFD_SIGNAL_EVENT_LIMIT; tried++) {
        uint32_t id = next_signal;
        next_signal = next_signal + 1 < KFD_SIGNAL_EVENT_LIMIT ? next_signal + 1 : 1;
        if (!atomic_load(&events[id].used))
            return id;
    }
    return 0;
}

static uint32_t free_system(void)
{
    for (uint32_t id = KFD_SIGNAL_EVENT_LIMIT; id < EVENT_LIMIT; id++)
        if (!atomic_load(&events[id].used))
            return id;
    return 0;
}

static bool is_of_signals(uint32_t type)
{
    return type == KFD_IOC_EVENT_SIGNAL || type == KFD_IOC_EVENT_DEBUG_EVENT;
}

int sg_kfd_create_event(struct kfd_ioctl_create_event_args *args)
{
    bool of_signals = is_of_signals(args->event_type);
    (void)pthread_mutex_lock(&create_lock);
    uint32_t id = of_signals ? free_signal() : free_system();
    if (id != 0) {
        events[id].auto_reset = args->auto_reset != 0;
        events[id].type = args->event_type;
        atomic_store(&events[id].set, false);
        atomic_store(&events[id].age, 1);
        atomic_store(&events[id].used, true);
    }
    (void)pthread_mutex_unlock(&create_lock);
    if (id == 0)
        return ENOSPC;
    args->event_id = id;
    args->event_slot_index = of_signals ? id : 0;
    args->event_trigger_data = id;
    /* The thunk brings the page itself, and looks only whether the driver has it. */
    if (args->event_page_offset == 0)
        args->event_page_offset = 1;
    return 0;
}

static sg_event_t *event_of(uint32_t id)
{
    return id != 0 && id < EVENT_LIMIT && atomic_load(&events[id].used) ? &events[id] : NULL;
}

int sg_kfd_destroy_event(const struct kfd_ioctl_destroy_event_args *args)
{
    sg_event_t *event = event_of(args->event_id);
    if (!event)
        return EINVAL;
    atomic_store(&event->used, false);
    wake_all();
    return 0;
}

int sg_kfd_set_event(const struct kfd_ioctl_set_event_args *args)
{
    if (!event_of(args->event_id))
        return EINVAL;
    sg_event_raise(args->event_id);
    return 0;
}

int sg_kfd_reset_event(const struct kfd_ioctl_reset_event_args *args)
{
    sg_event_t *event = event_of(args->event_id);
    if (!event)
        return EINVAL;
    atomic_store(&event->set, false);
    return 0;
}

/* Interface 1.14 put the age that the caller saw last where the exceptions' data lies. */
static uint64_t *age_in(struct kfd_event_data *data)
{
    return (uint64_t *)(void *)data;
}

/* One event of a wait. */
typedef struct sg_wait {
    struct kfd_event_data *data;
    uint32_t id;
    uint64_t since; /* its age when the wait began, or as the caller knows it */
    bool by_age;    /* the caller knows ages */
    bool seen;      /* it was raised; remembered for waits on all events */
} sg_wait_t;

/* Tells what happened in the event's data. */
static void deliver(sg_wait_t *wait, const sg_event_t *event)
{
    if (wait->by_age)
        *age_in(wait->data) = atomic_load(&event->age);
    if (event->type != KFD_IOC_EVENT_MEMORY || !atomic_exchange(&memory_fault.pending, false))
        return;
    struct kfd_hsa_memory_exception_data *fault = &wait->data->memory_exception_data;
    memset(fault, 0, sizeof(*fault));
    fault->failure.NotPresent = 1;
    fault->va = memory_fault.address;
    fault->gpu_id = sg_kfd_id_of(memory_fault.gpu);
}

/* True once the event was raised since the wait began, or was set before. */
static bool happened(sg_wait_t *wait)
{
    sg_event_t *event = &events[wait->id];
    if (wait->seen)
        return true;
    bool set = event->auto_reset ? atomic_exchange(&event->set, false) : atomic_load(&event->set);
    if (!set && atomic_load(&event->age) == wait->since)
        return false;
    deliver(wait, event);
    wait->seen = true;
    return true;
}

static bool all_or_any(sg_wait_t *waits, uint32_t count, bool all)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++)
        done += happened(&waits[i]) ? 1 : 0;
    return all ? done == count : done > 0;
}

static bool remaining(const struct timespec *deadline, struct timespec *left)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    left->tv_sec = deadline->tv_sec - now.tv_sec;
    left->tv_nsec = deadline->tv_nsec - now.tv_nsec;
    if (left->tv_nsec < 0) {
        left->tv_nsec += 1000000000L;
        left->tv_sec--;
    }
    return left->tv_sec >= 0;
}

static struct timespec after_milliseconds(uint32_t milliseconds)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += milliseconds / 1000;
    at.tv_nsec += (long)(milliseconds % 1000) * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        at.tv_sec++;
    }
    return at;
}

/* ROCr 5.2.3 raises no event if it sees nobody waiting, and looks without a fence behind its store
 * of the signal: now and then a thread that is just going to sleep is missed, and both sides wait
 * for ever (seen once in some thousand queue destructions, with no tool loaded). A wait that is
 * meant to last therefore ends early and without an event from time to time; ROCr looks at its
 * signals again and comes back. */
enum { LASTING_MS = 1000, LOOK_AGAIN_MS = 50 };

static int wait_for(sg_wait_t *waits, struct kfd_ioctl_wait_events_args *args)
{
    bool lasting = args->timeout >= LASTING_MS;
    struct timespec deadline = after_milliseconds(lasting ? LOOK_AGAIN_MS : args->timeout);
    args->wait_result = KFD_IOC_WAIT_RESULT_COMPLETE;
    for (;;) {
        unsigned raised = atomic_load(&raises);
        if (!sg_kfd_is_open())
            return EBADF;
        if (all_or_any(waits, args->num_events, args->wait_for_all != 0))
            return 0;
        struct timespec left;
        if (!remaining(&deadline, &left)) {
            if (!lasting)
                args->wait_result = KFD_IOC_WAIT_RESULT_TIMEOUT;
            return 0;
        }
        (void)syscall(SYS_futex, &raises, FUTEX_WAIT_PRIVATE, raised, &left, NULL, 0);
    }
}

/* An age that the caller knows is looked at instead of the present one: what was raised between
 * his look at the signal and this call is not slept through. */
static void begin_wait(sg_wait_t *wait, struct kfd_event_data *data)
{
    sg_event_t *event = &events[data->event_id];
    uint64_t known = is_of_signals(event->type) ? *age_in(data) : 0;
    atomic_fetch_add(&event->waiters, 1);
    *wait = (sg_wait_t){.data = data,
                        .id = data->event_id,
                        .since = known != 0 ? known : atomic_load(&event->age),
                        .by_age = known != 0};
}

int sg_kfd_wait_events(struct kfd_ioctl_wait_events_args *args)
{
    struct kfd_event_data *data = (struct kfd_event_data *)(uintptr_t)args->events_ptr;
    for (uint32_t i = 0; i < args->num_events; i++)
        if (!event_of(data[i].event_id))
            return EINVAL;

    /* ROCr's async-events thread waits on as many events as it has handlers. */
    enum { FEW = 32 };
    sg_wait_t few[FEW];
    sg_wait_t *waits = args->num_events <= FEW ? few : calloc(args->num_events, sizeof(*waits));
    if (!waits)
        return ENOMEM;
    for (uint32_t i = 0; i < args->num_events; i++)
        begin_wait(&waits[i], &data[i]);
    int failed = wait_for(waits, args);
    for (uint32_t i = 0; i < args->num_events; i++)
        atomic_fetch_sub(&events[waits[i].id].waiters, 1);
    if (waits != few)
        free(waits);
    return failed;
}
