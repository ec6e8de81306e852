#include "softgpu/events.h"

#include "softgpu/memory.h"
#include "softgpu/process.h"

#include <errno.h>
#include <hsakmt.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENT_LIMIT = 4096, /* as the KFD: beyond it ROCr falls back to signals that are polled */
    MAILBOX_BYTES = EVENT_LIMIT * 8,
    PAGE = 4096,
    LATE = 64,
};

/* A raise does what the KFD does: whoever waits now is woken (the sequence moves), and the flag
 * stays for the next who comes unless a waiter consumed it. */
typedef struct sg_event {
    atomic_uint sequence;
    atomic_uint waiters;
    HSA_EVENTTYPE type;
    bool manual_reset;
    atomic_bool used;
    atomic_bool set;
} sg_event_t;

static sg_event_t events[EVENT_LIMIT]; /* by id; id 0 means "no event" and is never given out */
static uint64_t *mailboxes;
static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_id = 1;

/* Events that were destroyed last. ROCr's exception handler says that it is done before it stores
 * to its signal for the last time (AqlQueue::ExceptionHandler, 5.2.3), while who destroys the queue
 * gives that signal back: its event is set late, is told INVALID_HANDLE, and is no freed memory. */
static HsaEvent *late[LATE];
static unsigned late_next;

static atomic_uint raises; /* futex word: moves with every raise that somebody waits for */

static struct {
    atomic_bool pending;
    uint32_t node;
    uint64_t address;
} memory_fault;

static void clear_all(void)
{
    for (uint32_t id = 0; id < EVENT_LIMIT; id++)
        atomic_store(&events[id].used, false);
    next_id = 1;
    atomic_store(&memory_fault.pending, false);
}

bool sg_events_open(void)
{
    mailboxes = sg_memory_map(MAILBOX_BYTES, PAGE);
    return mailboxes != NULL;
}

static void wake_all(void)
{
    atomic_fetch_add(&raises, 1);
    (void)syscall(SYS_futex, &raises, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void sg_events_close(void)
{
    clear_all();
    wake_all();
    if (mailboxes)
        (void)munmap(mailboxes, MAILBOX_BYTES);
    mailboxes = NULL;
}

void sg_events_forget(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    create_lock = fresh;
    clear_all();
    for (uint32_t id = 0; id < EVENT_LIMIT; id++)
        atomic_store(&events[id].waiters, 0);
    mailboxes = NULL;
}

void sg_event_raise(uint32_t id)
{
    if (id == 0 || id >= EVENT_LIMIT || !atomic_load(&events[id].used))
        return;
    atomic_store(&events[id].set, true);
    atomic_fetch_add(&events[id].sequence, 1);
    if (atomic_load(&events[id].waiters) > 0)
        wake_all();
}

bool sg_event_memory_fault(uint32_t node, uint64_t address)
{
    for (uint32_t id = 1; id < EVENT_LIMIT; id++) {
        if (!atomic_load(&events[id].used) || events[id].type != HSA_EVENTTYPE_MEMORY)
            continue;
        memory_fault.node = node;
        memory_fault.address = address;
        atomic_store(&memory_fault.pending, true);
        sg_event_raise(id);
        return true;
    }
    return false;
}

static uint32_t free_id(void)
{
    for (uint32_t tried = 1; tried < EVENT_LIMIT; tried++) {
        uint32_t id = next_id;
        next_id = next_id + 1 < EVENT_LIMIT ? next_id + 1 : 1;
        if (!atomic_load(&events[id].used))
            return id;
    }
    return 0;
}

HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *EventDesc, bool ManualReset, bool IsSignaled,
                                HsaEvent **Event)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!EventDesc || !Event || EventDesc->EventType >= HSA_EVENTTYPE_MAXID)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    HsaEvent *event = calloc(1, sizeof(*event));
    if (!event)
        return HSAKMT_STATUS_NO_MEMORY;

    (void)pthread_mutex_lock(&create_lock);
    uint32_t id = free_id();
    if (id != 0) {
        sg_event_t *state = &events[id];
        state->manual_reset = ManualReset;
        state->type = EventDesc->EventType;
        atomic_store(&state->set, IsSignaled);
        mailboxes[id] = 0;
        atomic_store(&state->used, true);
    }
    (void)pthread_mutex_unlock(&create_lock);
    if (id == 0) {
        free(event);
        *Event = NULL;
        return HSAKMT_STATUS_OUT_OF_RESOURCES;
    }
    event->EventId = id;
    event->EventData.EventType = EventDesc->EventType;
    event->EventData.EventData.SyncVar = EventDesc->SyncVar;
    event->EventData.HWData1 = id;
    event->EventData.HWData2 = (uintptr_t)&mailboxes[id];
    event->EventData.HWData3 = id;
    *Event = event;
    return HSAKMT_STATUS_SUCCESS;
}

static sg_event_t *state_of(const HsaEvent *event)
{
    if (!event || event->EventId == 0 || event->EventId >= EVENT_LIMIT)
        return NULL;
    sg_event_t *state = &events[event->EventId];
    return atomic_load(&state->used) ? state : NULL;
}

HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *Event)
{
    if (sg_process_is_orphan())
        return HSAKMT_STATUS_SUCCESS;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    sg_event_t *state = state_of(Event);
    if (!state)
        return HSAKMT_STATUS_INVALID_HANDLE;
    (void)pthread_mutex_lock(&create_lock);
    atomic_store(&state->used, false);
    free(late[late_next]);
    late[late_next] = Event;
    late_next = (late_next + 1) % LATE;
    (void)pthread_mutex_unlock(&create_lock);
    return HSAKMT_STATUS_SUCCESS;
}

/* System events (memory faults and the like) are the driver's to set. */
static bool is_system_event(const sg_event_t *state)
{
    return state->type != HSA_EVENTTYPE_SIGNAL && state->type != HSA_EVENTTYPE_DEBUG_EVENT;
}

HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *Event)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    sg_event_t *state = state_of(Event);
    if (!state)
        return HSAKMT_STATUS_INVALID_HANDLE;
    if (is_system_event(state))
        return HSAKMT_STATUS_ERROR;
    sg_event_raise(Event->EventId);
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtResetEvent(HsaEvent *Event)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    sg_event_t *state = state_of(Event);
    if (!state)
        return HSAKMT_STATUS_INVALID_HANDLE;
    if (is_system_event(state))
        return HSAKMT_STATUS_ERROR;
    atomic_store(&state->set, false);
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent *Event)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    return state_of(Event) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

/* Tells what happened in the event itself, where ROCr looks for it. */
static void deliver(HsaEvent *event, const sg_event_t *state)
{
    if (state->type != HSA_EVENTTYPE_MEMORY || !atomic_exchange(&memory_fault.pending, false))
        return;
    HsaMemoryAccessFault *fault = &event->EventData.EventData.MemoryAccessFault;
    fault->NodeId = memory_fault.node;
    fault->VirtualAddress = memory_fault.address;
    fault->Failure.NotPresent = 1;
    fault->Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
}

/* One event of a wait. The id is kept apart from the HsaEvent, which may be destroyed meanwhile. */
typedef struct sg_wait {
    HsaEvent *event;
    uint32_t id;
    unsigned since; /* its sequence when the wait began */
    bool seen;      /* it was raised; remembered for waits on all events */
} sg_wait_t;

/* True once the event was raised since the wait began, or was set before. */
static bool happened(sg_wait_t *wait)
{
    sg_event_t *state = &events[wait->id];
    if (wait->seen)
        return true;
    bool set = state->manual_reset ? atomic_load(&state->set) : atomic_exchange(&state->set, false);
    if (!set && atomic_load(&state->sequence) == wait->since)
        return false;
    deliver(wait->event, state);
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

static HSAKMT_STATUS wait_for(sg_wait_t *waits, uint32_t count, bool all, uint32_t milliseconds)
{
    bool lasting = milliseconds >= LASTING_MS;
    struct timespec deadline = after_milliseconds(lasting ? LOOK_AGAIN_MS : milliseconds);
    for (;;) {
        unsigned raised = atomic_load(&raises);
        if (!sg_process_is_open())
            return HSAKMT_STATUS_WAIT_FAILURE;
        if (all_or_any(waits, count, all))
            return HSAKMT_STATUS_SUCCESS;
        struct timespec left;
        if (!remaining(&deadline, &left))
            return lasting ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
        (void)syscall(SYS_futex, &raises, FUTEX_WAIT_PRIVATE, raised, &left, NULL, 0);
    }
}

static void begin_wait(sg_wait_t *wait, HsaEvent *event)
{
    sg_event_t *state = &events[event->EventId];
    atomic_fetch_add(&state->waiters, 1);
    wait->event = event;
    wait->id = event->EventId;
    wait->since = atomic_load(&state->sequence);
    wait->seen = false;
}

HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *Events[], HSAuint32 NumEvents, bool WaitOnAll,
                                         HSAuint32 Milliseconds)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!Events || NumEvents == 0)
        return HSAKMT_STATUS_INVALID_HANDLE;
    for (uint32_t i = 0; i < NumEvents; i++)
        if (!state_of(Events[i]))
            return HSAKMT_STATUS_INVALID_HANDLE;

    /* ROCr's async-events thread waits on as many events as it has handlers. */
    enum { FEW = 32 };
    sg_wait_t few[FEW];
    sg_wait_t *waits = NumEvents <= FEW ? few : calloc(NumEvents, sizeof(*waits));
    if (!waits)
        return HSAKMT_STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < NumEvents; i++)
        begin_wait(&waits[i], Events[i]);
    HSAKMT_STATUS status = wait_for(waits, NumEvents, WaitOnAll, Milliseconds);
    for (uint32_t i = 0; i < NumEvents; i++)
        atomic_fetch_sub(&events[waits[i].id].waiters, 1);
    if (waits != few)
        free(waits);
    return status;
}

HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *Event, HSAuint32 Milliseconds)
{
    return hsaKmtWaitOnMultipleEvents(&Event, 1, true, Milliseconds);
}
