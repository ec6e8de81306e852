#include "intercept/queue/lifecycle.h"

#include "common/clock.h"
#include "common/pages.h"
#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/queue/adoption.h"
#include "intercept/queue/ids.h"
#include "intercept/queue/indices.h"
#include "intercept/queue/interception.h"
#include "intercept/queue/launches.h"
#include "intercept/queue/packet_buffer.h"
#include "intercept/queue/signal_pool.h"
#include "intercept/queue/submit.h"
#include "intercept/queue/untracked.h"
#include "intercept/queue/waits.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define LEAST_PENDING          8192u /* records of a small queue */
#define FIRST_SLABS            8u    /* of records, that have memory when a queue begins */
#define NOTES                  4u    /* for each slot of a queue: see reservations.h */
#define COPIES                 512u  /* copies of an agent that may need a signal at once */
#define SUBMISSION_PATIENCE_NS UINT64_C(1000000000)
#define REST_NS                UINT64_C(100000000)
#define PLACE_PATIENCE_NS      UINT64_C(1000000000) /* that a new queue waits for its state */
#define PLACE_NAP_NS           1000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rtl_config settings;
static struct rtl_queue_services services;
static struct rtl_ring *ring;
static struct rtl_graph_pages graph_pages;
static const struct rtl_launch_sink launches = {rtl_launch_infer, rtl_launch_set_head,
                                                rtl_launch_submitted};

static uint64_t pending_capacity(uint64_t size)
{
    uint64_t capacity = 2 * size < LEAST_PENDING ? LEAST_PENDING : 2 * size;
    return settings.pending != 0 ? settings.pending : capacity;
}

static bool any_closing(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        if (rtl_queue_is_in(rtl_queues_at(i), RTL_QUEUE_CLOSING))
            return true;
    return false;
}

/* A state that can serve a queue of `size`. One that was freed just now rests, in case a thread
 * that helped with its former queue has not looked up yet. Under the lock. */
static struct rtl_queue *find_free(uint64_t size, uint64_t rest_ns)
{
    uint64_t now = rtl_now();
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        if (rtl_queue_is_in(queue, RTL_QUEUE_FREE) && now - queue->freed_at >= rest_ns &&
            queue->pending.mask + 1 >= pending_capacity(size) && queue->reserved_size >= size)
            return queue;
    }
    return NULL;
}

static size_t notes_bytes(uint64_t size)
{
    return NOTES * size * sizeof(struct rtl_reserved);
}

/* A state for a queue of `size`, an old one or a new one; under the lock. */
static struct rtl_queue *free_place(uint64_t size)
{
    struct rtl_queue *rested = find_free(size, REST_NS);
    if (rested != NULL)
        return rested;
    if (rtl_queues_count() == RTL_MOST_QUEUES)
        return find_free(size, 0);
    uint32_t slot = rtl_queues_count();
    struct rtl_queue *queue = NULL;
    if (posix_memalign((void **)&queue, RTL_PAGE, sizeof *queue) != 0)
        return NULL;
    *queue = (struct rtl_queue){
        .index = slot, .reserved_size = size, .reservations.slots = rtl_pages(notes_bytes(size))};
    if (queue->reservations.slots == NULL ||
        !rtl_pending_init(&queue->pending, &rtl_slabs, pending_capacity(size))) {
        if (queue->reservations.slots != NULL)
            rtl_pages_give(queue->reservations.slots, notes_bytes(size));
        free(queue);
        return NULL;
    }
    rtl_slabs_reserve(&rtl_slabs, FIRST_SLABS);
    rtl_queues_enter(queue);
    return queue;
}

/* By interception notes are looked for when their packets count as submitted already. */
static void set_up_notes(struct rtl_queue *state)
{
    struct rtl_reservations *notes = &state->reservations;
    rtl_reservations_clear(notes);
    notes->mask = NOTES * state->size - 1;
    notes->near = state->interception == RTL_INTERPOSED ? state->near_notes : NULL;
    notes->near_mask = RTL_NEAR_NOTES - 1;
    notes->submitted = &state->submitted;
}

/* What a queue's state and that of an agent's copies have in common. */
static void set_up_records(struct rtl_queue *state, uint32_t agent, uint32_t id, uint64_t index)
{
    state->id = id;
    state->agent = agent;
    state->references = 1;
    state->bypassed = false;
    state->unrung = false;
    state->hw_destroyed = false;
    state->ledger = rtl_queues_ledger(id);
    set_up_notes(state);
    atomic_store(&state->virtual_index, index);
    atomic_store(&state->submitted, index);
    atomic_store(&state->read_index, 0);
    state->max_expansion = 1;
    rtl_submit_begin(state);
    atomic_store(&state->last_end_ticks, 0);
    atomic_store(&state->retired, index);
    state->rewriter = (struct rtl_rewriter){
        .pending = &state->pending,
        .pool = &rtl_signals,
        .borrows = rtl_borrows,
        .pages = &graph_pages,
        .ledger = state->ledger,
        .shared_ledger = rtl_queues_share_ledger(id),
        .mode = settings.mode,
        .reservations = &state->reservations,
        .launches = &launches,
        .queue = id,
        .progress_every = state->interception == RTL_INTERCEPTED ? (uint32_t)(state->size / 8) : 0,
        .queue_index = state->index,
        .reclaim = rtl_submit_reclaim,
        .context = state,
        .on_low_watermark = services.wake_worker,
        .on_replaced = rtl_waits_signal_replaced,
    };
}

static const uint64_t *real_index_of(struct rtl_queue *state, bool described)
{
    const amd_queue_t *memory = (const amd_queue_t *)(const void *)state->queue;
    return described ? (const uint64_t *)&memory->write_dispatch_id
                     : (const uint64_t *)&state->submitted;
}

static void set_up(struct rtl_queue *state, hsa_queue_t *queue, uint32_t agent, uint32_t id,
                   bool described)
{
    state->queue = queue;
    state->real_index = real_index_of(state, described);
    state->doorbell = queue->doorbell_signal.handle;
    rtl_queues_note_doorbell_kind(state->doorbell);
    state->size = queue->size;
    set_up_records(state, agent, id, rtl_api.hsa_queue_load_write_index_scacquire(queue));
}

static void set_up_copies(struct rtl_queue *state, uint32_t agent, uint32_t id)
{
    state->queue = NULL;
    state->real_index = NULL;
    state->doorbell = 0;
    state->size = COPIES;
    state->interception = RTL_COPIES_ONLY;
    set_up_records(state, agent, id, 0);
}

static bool hook_into(struct rtl_queue *state, const struct rtl_queue_made *made)
{
    state->interception = made->interception;
    state->never_wraps = made->never_wraps;
    return made->interception != RTL_INTERCEPTED ||
           (rtl_packet_buffer_provide(&state->staging, &state->staging_size, state->size) &&
            rtl_api.hsa_amd_queue_intercept_register(state->queue, rtl_submit_intercepted, state) ==
                HSA_STATUS_SUCCESS);
}

/* Last of all: other threads may have the handle of a queue that is adopted, and use its state as
 * soon as its address is known. They are about to ring a doorbell that has to be known by then. */
static bool publish_state(struct rtl_queue *state)
{
    if (!rtl_queue_map_put(rtl_queue_addresses, (uint64_t)(uintptr_t)state->queue, state)) {
        rtl_queue_map_remove(rtl_queue_doorbells, state->doorbell);
        rtl_queues_observer()->closing(state);
        return false;
    }
    atomic_store_explicit(&state->phase, RTL_QUEUE_LIVE, memory_order_release);
    return true;
}

/* Under the lock. False: there is no place for the queue, or no memory. */
static bool follow(hsa_queue_t *queue, uint32_t agent, const struct rtl_queue_made *made)
{
    struct rtl_queue *known = rtl_queues_find(queue);
    if (known != NULL) {
        known->references++;
        return true;
    }
    struct rtl_queue *state = free_place(queue->size);
    if (state == NULL)
        return false;
    uint32_t id = made->id != RTL_NONE ? made->id : rtl_queues_new_id();
    state->interception = made->interception;
    set_up(state, queue, agent, id, made->described);
    if (!hook_into(state, made) || !rtl_queue_map_put(rtl_queue_doorbells, state->doorbell, state))
        return false;
    rtl_queues_describe(queue, id, agent, made->interception);
    services.created(made->maker, id);
    rtl_queues_observer()->opened(state);
    return publish_state(state);
}

/* Follows the queue, as soon as there is a place: places of destroyed queues become free when the
 * worker comes by. */
static bool follow_with_patience(hsa_queue_t *queue, uint32_t agent,
                                 const struct rtl_queue_made *made)
{
    uint64_t deadline = rtl_now() + PLACE_PATIENCE_NS;
    for (;;) {
        pthread_mutex_lock(&lock);
        bool followed = follow(queue, agent, made);
        bool full = rtl_queues_count() == RTL_MOST_QUEUES;
        pthread_mutex_unlock(&lock);
        if (followed || !full || rtl_now() > deadline || !any_closing())
            return followed;
        rtl_nap(PLACE_NAP_NS);
    }
}

struct rtl_queue *rtl_queues_add_copies(uint32_t agent, struct rtl_wire_ledger **ledger)
{
    int saved = errno;
    uint32_t id = rtl_queues_new_id();
    bool worker = services.start_worker(ring);
    pthread_mutex_lock(&lock);
    struct rtl_queue *state = worker ? free_place(COPIES) : NULL;
    rtl_queues_describe_copies(id, agent, state != NULL ? RTL_COPIES_ONLY : RTL_UNTRACKED);
    if (state != NULL) {
        set_up_copies(state, agent, id);
        atomic_store_explicit(&state->phase, RTL_QUEUE_LIVE, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    *ledger = rtl_queues_ledger(id);
    if (state != NULL)
        rtl_signal_pool_open_queue();
    else
        rtl_emit_note(id, "the copies of agent %u are not followed: there was no room for them",
                      agent);
    errno = saved;
    return state;
}

static bool take_up(hsa_queue_t *queue, uint32_t agent, const struct rtl_queue_made *made)
{
    rtl_api.hsa_amd_profiling_set_profiler_enabled(queue, 1);
    if (made->interception == RTL_UNTRACKED || !follow_with_patience(queue, agent, made))
        return false;
    rtl_signal_pool_open_queue();
    return true;
}

static void begin(hsa_queue_t *queue, uint32_t agent, const struct rtl_queue_made *made)
{
    if (take_up(queue, agent, made))
        return;
    rtl_queues_observer()->refused(agent);
    const struct rtl_untracked_queue untracked = {
        .id = rtl_queues_new_id(),
        .agent = agent,
        .why = made->why != NULL ? made->why : "there was no room for one more"};
    rtl_untracked_add(queue, &untracked);
    services.created(made->maker, untracked.id);
}

struct rtl_queue *rtl_queues_adopt(hsa_queue_t *queue, uint32_t id, uint32_t agent, bool described,
                                   const void *caller)
{
    if (!services.start_worker(ring))
        return NULL;
    const struct rtl_queue_made made = {.interception = RTL_INTERPOSED,
                                        .id = id,
                                        .described = described,
                                        .maker = services.creating(caller)};
    return take_up(queue, agent, &made) ? rtl_queues_find(queue) : NULL;
}

struct rtl_queue *rtl_queues_find_alias(hsa_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    struct rtl_queue *state = rtl_queues_by_doorbell(queue->doorbell_signal.handle);
    if (state != NULL && state->queue->base_address == queue->base_address &&
        rtl_queue_map_put(rtl_queue_addresses, (uint64_t)(uintptr_t)queue, state))
        state->references++;
    else
        state = NULL;
    pthread_mutex_unlock(&lock);
    return state;
}

/* Without a worker nobody would look after the queue. */
static void pass_by(const hsa_queue_t *queue, uint32_t agent)
{
    int saved = errno;
    char why[160];
    services.why_no_worker(why, sizeof why);
    rtl_queues_observer()->refused(agent);
    const struct rtl_untracked_queue untracked = {
        .id = rtl_queues_new_id(), .agent = agent, .why = why};
    rtl_untracked_add(queue, &untracked);
    errno = saved;
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                           void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                           uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
    int saved = errno;
    /* The runtime's own entry goes on by a jump: this is who called it. */
    const void *caller = __builtin_return_address(0);
    bool is_gpu = rtl_agents_is_gpu(agent);
    bool follows = is_gpu && services.start_worker(ring);
    errno = saved;
    if (!follows) {
        hsa_status_t status = rtl_api.hsa_queue_create(agent, size, type, callback, data,
                                                       private_size, group_size, queue);
        if (is_gpu && status == HSA_STATUS_SUCCESS)
            pass_by(*queue, rtl_agents_id(agent));
        return status;
    }
    struct rtl_queue_request request = {agent, size,         type,      callback,
                                        data,  private_size, group_size};
    struct rtl_queue_made made;
    uint32_t maker = services.creating(caller);
    errno = saved;
    hsa_status_t status = rtl_interception_create_queue(&request, queue, &made);
    saved = errno; /* the runtime's */
    made.maker = maker;
    if (status == HSA_STATUS_SUCCESS)
        begin(*queue, rtl_agents_id(agent), &made);
    errno = saved;
    return status;
}

/* Under the lock. */
static void forget(struct rtl_queue *state)
{
    rtl_queue_map_remove_value(rtl_queue_addresses, state);
    rtl_queue_map_remove(rtl_queue_doorbells, state->doorbell);
}

/* Takes the queue out of the maps if this was its last owner. NULL if it was not, or is not
 * followed. */
static struct rtl_queue *let_go(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    struct rtl_queue *state = rtl_queues_find(queue);
    if (state != NULL && --state->references == 0)
        forget(state);
    else
        state = NULL;
    pthread_mutex_unlock(&lock);
    return state;
}

static hsa_status_t destroy(hsa_queue_t *queue)
{
    struct rtl_queue *state = let_go(queue);
    rtl_untracked_remove(queue);
    if (state != NULL) {
        rtl_submit(state); /* what somebody published without us, at the latest */
        rtl_submit_end(state, rtl_clock_ns(CLOCK_MONOTONIC) + SUBMISSION_PATIENCE_NS);
    }
    hsa_status_t status = rtl_api.hsa_queue_destroy(queue);
    if (state != NULL) {
        state->hw_destroyed = status == HSA_STATUS_SUCCESS;
        atomic_store_explicit(&state->phase, RTL_QUEUE_CLOSING, memory_order_release);
    }
    return status;
}

/* Under the lock. False: it is not followed, or has no other handle. */
static bool leave_to_others(struct rtl_queue *state, hsa_queue_t *handle)
{
    if (state == NULL || state->references < 2)
        return false;
    rtl_queue_map_remove(rtl_queue_addresses, (uint64_t)(uintptr_t)handle);
    state->references--;
    uint64_t other = rtl_queue_map_key_of(rtl_queue_addresses, state);
    if (state->queue == handle && other != 0)
        rtl_submit_by(state, (hsa_queue_t *)(uintptr_t)other,
                      rtl_clock_ns(CLOCK_MONOTONIC) + SUBMISSION_PATIENCE_NS);
    return true;
}

void rtl_queues_release_handle(hsa_queue_t *handle)
{
    int saved = errno;
    pthread_mutex_lock(&lock);
    bool shared = leave_to_others(rtl_queues_find(handle), handle);
    pthread_mutex_unlock(&lock);
    struct rtl_queue *state = shared ? NULL : let_go(handle);
    rtl_untracked_remove(handle);
    if (state != NULL) {
        rtl_submit(state);
        rtl_submit_end(state, rtl_clock_ns(CLOCK_MONOTONIC) + SUBMISSION_PATIENCE_NS);
        atomic_store_explicit(&state->phase, RTL_QUEUE_CLOSING, memory_order_release);
    }
    errno = saved;
}

void rtl_queues_release(struct rtl_queue *queue)
{
    rtl_rewrite_release(&queue->rewriter);
    queue->freed_at = rtl_now();
    atomic_store_explicit(&queue->phase, RTL_QUEUE_FREE, memory_order_release);
}

static bool may_be_passed_by(const struct rtl_queue *queue)
{
    return rtl_queue_is_in(queue, RTL_QUEUE_LIVE) && queue->interception != RTL_COPIES_ONLY;
}

void rtl_queues_look(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        if (may_be_passed_by(rtl_queues_at(i)))
            (void)rtl_submit_some(rtl_queues_at(i));
}

void rtl_queues_account(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        if (may_be_passed_by(rtl_queues_at(i)))
            rtl_submit_account(rtl_queues_at(i));
}

void rtl_queues_close_all(uint64_t patience_ns)
{
    rtl_adoption_end();
    uint64_t deadline = rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        if (atomic_load(&queue->phase) != RTL_QUEUE_LIVE)
            continue;
        if (queue->interception != RTL_COPIES_ONLY) {
            pthread_mutex_lock(&lock);
            forget(queue);
            pthread_mutex_unlock(&lock);
            rtl_submit_end(queue, deadline);
        }
        atomic_store(&queue->phase, RTL_QUEUE_CLOSING);
    }
}

/* Timestamps stay on, whatever the program asks: it cannot tell, its own signals just carry times.
 */
static hsa_status_t set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    return rtl_api.hsa_amd_profiling_set_profiler_enabled(
        queue, rtl_queues_find(queue) != NULL ? 1 : enable);
}

void rtl_queues_hook(const struct rtl_config *config, struct rtl_ring *to,
                     const struct rtl_queue_services *from)
{
    settings = *config;
    services = *from;
    ring = to;
    rtl_queues_ids_open(to);
    rtl_interception_open(config);
    rtl_adoption_begin(from->find_in_runtime);
    rtl_indices_hook();
    RTL_HOOK(hsa_queue_create, create);
    RTL_HOOK(hsa_queue_destroy, destroy);
    RTL_HOOK(hsa_amd_profiling_set_profiler_enabled, set_profiler_enabled);
}
