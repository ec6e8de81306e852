#include "intercept/queues.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/tsan.h"
#include "intercept/agents.h"
#include "intercept/api.h"
#include "intercept/emit.h"
#include "intercept/harvest.h"
#include "intercept/map.h"
#include "intercept/symbols.h"
#include "intercept/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SUBMISSION_ENDED       (UINT32_C(1) << 31) /* in rtl_queue.requests */
#define IN_PASSING             1024u /* signals of a queue that are being harvested, or at hand */
#define LEAST_PENDING          8192u /* records of a small queue */
#define HELP                   64u   /* records that a submitter harvests when short */
#define SUBMISSION_PATIENCE_NS UINT64_C(1000000000)
#define REST_NS                UINT64_C(100000000)
#define POOL_PATIENCE_NS       UINT64_C(1000000000) /* that a new queue waits for signals */

static struct rtl_queue *_Atomic places[RTL_MOST_QUEUES];
static _Atomic uint32_t place_count;
static struct rtl_map by_address, by_doorbell;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_id;
static struct rtl_config settings;
static struct rtl_ring *ring;
static struct rtl_wire_ledger nowhere; /* accounts without a ring */

uint32_t rtl_queues_count(void)
{
    return atomic_load_explicit(&place_count, memory_order_acquire);
}

struct rtl_queue *rtl_queues_at(uint32_t slot)
{
    return atomic_load_explicit(&places[slot], memory_order_acquire);
}

struct rtl_queue *rtl_queues_by_doorbell(uint64_t handle)
{
    return rtl_map_find(&by_doorbell, handle);
}

static struct rtl_queue *find(const hsa_queue_t *queue)
{
    return rtl_map_find(&by_address, (uint64_t)(uintptr_t)queue);
}

/* ---- submission ---- */

static uint16_t header_at(const struct rtl_queue *queue, uint64_t index)
{
    const unsigned char *base = queue->queue->base_address;
    const void *packet = base + (index & (queue->size - 1)) * 64;
    return __atomic_load_n((const uint16_t *)packet, __ATOMIC_ACQUIRE);
}

/* The packets that are written, from `first` on. Never past the producers' index, and never into
 * the last lap, whose packets still look valid until the device has taken them. */
static uint64_t scan(const struct rtl_queue *queue, uint64_t first)
{
    uint64_t end = atomic_load_explicit(&queue->virtual_index, memory_order_acquire);
    uint64_t bound = rtl_api.hsa_queue_load_read_index_scacquire(queue->queue) + queue->size;
    if (bound < end)
        end = bound;
    uint64_t at = first;
    while (at < end && rtl_packet_type(header_at(queue, at)) != HSA_PACKET_TYPE_INVALID)
        at++;
    return at;
}

/* Rewrites the packets [first, end) where they lie: one piece, or two where the ring wraps. */
static void rewrite(struct rtl_queue *queue, uint64_t first, uint64_t end)
{
    unsigned char *base = queue->queue->base_address;
    uint32_t epoch = rtl_symbols_epoch();
    while (first < end) {
        uint64_t slot = first & (queue->size - 1);
        uint64_t count = end - first < queue->size - slot ? end - first : queue->size - slot;
        rtl_rewrite(&queue->rewriter, base + slot * 64, first, count, epoch);
        first += count;
    }
}

static void submit_ready(struct rtl_queue *queue)
{
    uint64_t first = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    uint64_t end = scan(queue, first);
    if (end == first)
        return;
    rewrite(queue, first, end);
    atomic_store_explicit(&queue->submitted, end, memory_order_relaxed);
    rtl_tsan_release(queue->queue->base_address);
    rtl_api.hsa_queue_store_write_index_screlease(queue->queue, end);
    hsa_signal_t doorbell = {queue->doorbell};
    rtl_api.hsa_signal_store_screlease(doorbell, (hsa_signal_value_t)(end - 1));
}

void rtl_queues_submit(struct rtl_queue *queue)
{
    if (atomic_fetch_add_explicit(&queue->requests, 1, memory_order_acq_rel) != 0)
        return; /* whoever is submitting looks again */
    uint32_t seen = 1;
    do {
        submit_ready(queue);
    } while (!atomic_compare_exchange_strong_explicit(&queue->requests, &seen, 0,
                                                      memory_order_acq_rel, memory_order_acquire));
}

static unsigned help_one(struct rtl_queue *queue)
{
    unsigned taken = rtl_harvest(queue, HELP, HELP);
    taken += rtl_harvest_forward(queue);
    if (taken > 0)
        atomic_fetch_add_explicit(&queue->ledger->helped, taken, memory_order_relaxed);
    return taken;
}

/* The queue's own records first. The signals may all be with other queues, so those come next, from
 * the neighbour on. */
static unsigned help(void *context)
{
    struct rtl_queue *own = context;
    unsigned taken = help_one(own);
    uint32_t queues = rtl_queues_count();
    for (uint32_t i = 1; i < queues && taken < HELP; i++) {
        struct rtl_queue *other = rtl_queues_at((own->slot + i) % queues);
        if (atomic_load_explicit(&other->phase, memory_order_acquire) == RTL_QUEUE_LIVE)
            taken += help_one(other);
    }
    return taken;
}

/* ---- queues that come and go ---- */

static struct rtl_wire_ledger *ledger_row(uint32_t id)
{
    if (ring == NULL)
        return &nowhere;
    uint32_t row = id < RTL_LEDGER_ROWS ? id : RTL_LEDGER_ROWS - 1;
    if (row + 1 > atomic_load(&ring->header->queues))
        atomic_store(&ring->header->queues, row + 1);
    return &ring->header->ledger[row];
}

static uint64_t pending_capacity(uint64_t size)
{
    uint64_t capacity = 2 * size < LEAST_PENDING ? LEAST_PENDING : 2 * size;
    return settings.pending != 0 ? settings.pending : capacity;
}

/* A state that can serve a queue of `size`. One that was freed just now rests, in case a thread
 * that helped with its former queue has not looked up yet. Under the lock. */
static struct rtl_queue *find_free(uint64_t size, uint64_t rest_ns)
{
    uint64_t now = rtl_now();
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        if (atomic_load_explicit(&queue->phase, memory_order_acquire) == RTL_QUEUE_FREE &&
            now - queue->freed_at >= rest_ns && queue->pending.mask + 1 >= pending_capacity(size) &&
            queue->alone_size >= size)
            return queue;
    }
    return NULL;
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
    if (posix_memalign((void **)&queue, 64, sizeof *queue) != 0)
        return NULL;
    *queue = (struct rtl_queue){.slot = slot, .alone_size = size};
    if (settings.mode != RTL_MODE_FULL)
        queue->alone = calloc(size, 1);
    if ((queue->alone == NULL && settings.mode != RTL_MODE_FULL) ||
        !rtl_pending_init(&queue->pending, pending_capacity(size))) {
        free((void *)queue->alone);
        free(queue);
        return NULL;
    }
    atomic_store_explicit(&places[slot], queue, memory_order_release);
    atomic_store_explicit(&place_count, slot + 1, memory_order_release);
    return queue;
}

static void describe(const hsa_queue_t *queue, uint32_t id, uint32_t agent, enum rtl_queue_way way)
{
    struct rtl_wire_queue wire = {
        .time_ns = rtl_now(),
        .address = (uint64_t)(uintptr_t)queue,
        .hsa_id = queue->id,
        .queue = id,
        .agent = agent,
        .size = queue->size,
        .hsa_type = queue->type,
        .way = (uint32_t)way,
    };
    struct rtl_piece piece = {&wire, sizeof wire};
    rtl_emit_definition(RTL_WIRE_QUEUE, &piece, 1);
}

static void set_up(struct rtl_queue *state, hsa_queue_t *queue, uint32_t agent, uint32_t id)
{
    uint64_t index = rtl_api.hsa_queue_load_write_index_scacquire(queue);
    state->queue = queue;
    state->doorbell = queue->doorbell_signal.handle;
    state->size = queue->size;
    state->id = id;
    state->agent = agent;
    state->references = 1;
    state->ledger = ledger_row(id);
    atomic_store(&state->virtual_index, index);
    atomic_store(&state->submitted, index);
    atomic_store(&state->requests, 0);
    atomic_store(&state->newest, 0);
    state->rewriter = (struct rtl_rewriter){
        .pending = &state->pending,
        .pool = &rtl_signals,
        .borrows = &rtl_borrows,
        .ledger = state->ledger,
        .mode = settings.mode,
        .alone = state->alone,
        .alone_mask = state->size - 1,
        .slot = state->slot,
        .help = help,
        .context = state,
    };
}

/* Under the lock. False: the queue is passed through. */
static bool follow(hsa_queue_t *queue, uint32_t agent)
{
    struct rtl_queue *known = find(queue);
    if (known != NULL) {
        known->references++;
        return true;
    }
    uint32_t id = next_id++;
    struct rtl_queue *state = free_place(queue->size);
    if (state != NULL && rtl_map_put(&by_address, (uint64_t)(uintptr_t)queue, state)) {
        set_up(state, queue, agent, id);
        if (rtl_map_put(&by_doorbell, state->doorbell, state)) {
            describe(queue, id, agent, RTL_WAY_INTERPOSE);
            atomic_store_explicit(&state->phase, RTL_QUEUE_LIVE, memory_order_release);
            return true;
        }
        rtl_map_remove(&by_address, (uint64_t)(uintptr_t)queue);
    }
    describe(queue, id, agent, RTL_WAY_PASS);
    rtl_emit_note(id, "this queue is not followed: more than %u queues are alive", RTL_MOST_QUEUES);
    return false;
}

static uint32_t limited(uint64_t signals)
{
    return signals < settings.pool_limit ? (uint32_t)signals : settings.pool_limit;
}

/* Signals that a destroyed queue keeps until the worker has come by. */
static uint64_t held_signals(const struct rtl_queue *queue)
{
    return RTL_REWRITE_CACHE + atomic_load_explicit(&queue->pending.tail, memory_order_relaxed) -
           atomic_load_explicit(&queue->pending.head, memory_order_relaxed);
}

struct rtl_queues_demand rtl_queues_demand(void)
{
    uint64_t at_once = 0;
    uint64_t with_time = 0;
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        uint32_t phase = atomic_load_explicit(&queue->phase, memory_order_acquire);
        uint64_t held = phase == RTL_QUEUE_CLOSING ? held_signals(queue) : 0;
        if (phase == RTL_QUEUE_LIVE)
            held = queue->size + IN_PASSING;
        at_once += held;
        with_time += phase == RTL_QUEUE_LIVE ? queue->pending.mask + 1 + IN_PASSING : held;
    }
    return (struct rtl_queues_demand){limited(at_once), limited(with_time)};
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                           void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                           uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
    hsa_status_t status = rtl_api.hsa_queue_create(agent, size, type, callback, data, private_size,
                                                   group_size, queue);
    if (status != HSA_STATUS_SUCCESS || !rtl_agents_is_gpu(agent))
        return status;
    if (!rtl_worker_start(ring))
        return status;
    rtl_api.hsa_amd_profiling_set_profiler_enabled(*queue, 1);
    pthread_mutex_lock(&lock);
    bool followed = follow(*queue, rtl_agents_id(agent));
    pthread_mutex_unlock(&lock);
    if (followed)
        rtl_worker_provide(rtl_queues_demand().at_once, POOL_PATIENCE_NS);
    return status;
}

/* Takes the queue out of the maps if this was its last owner. NULL if it was not, or is not
 * followed. */
static struct rtl_queue *let_go(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    struct rtl_queue *state = find(queue);
    if (state != NULL && --state->references == 0) {
        rtl_map_remove(&by_address, (uint64_t)(uintptr_t)queue);
        rtl_map_remove(&by_doorbell, state->doorbell);
    } else {
        state = NULL;
    }
    pthread_mutex_unlock(&lock);
    return state;
}

/* Waits until nobody is submitting for the queue, and keeps it so: its ring's memory is about to
 * go. A submission takes microseconds; one that has not ended after a second never will (its thread
 * is gone). */
static void end_submission(struct rtl_queue *queue)
{
    struct timespec step = {.tv_sec = 0, .tv_nsec = 20000};
    uint64_t deadline = rtl_clock_ns(CLOCK_MONOTONIC) + SUBMISSION_PATIENCE_NS;
    uint32_t idle = 0;
    while (!atomic_compare_exchange_strong_explicit(&queue->requests, &idle, SUBMISSION_ENDED,
                                                    memory_order_acq_rel, memory_order_relaxed)) {
        if (rtl_clock_ns(CLOCK_MONOTONIC) > deadline)
            return;
        nanosleep(&step, NULL);
        idle = 0;
    }
}

static hsa_status_t destroy(hsa_queue_t *queue)
{
    struct rtl_queue *state = let_go(queue);
    if (state != NULL)
        end_submission(state);
    hsa_status_t status = rtl_api.hsa_queue_destroy(queue);
    if (state != NULL)
        atomic_store_explicit(&state->phase, RTL_QUEUE_CLOSING, memory_order_release);
    return status;
}

void rtl_queues_release(struct rtl_queue *queue)
{
    rtl_rewrite_release(&queue->rewriter);
    queue->freed_at = rtl_now();
    atomic_store_explicit(&queue->phase, RTL_QUEUE_FREE, memory_order_release);
}

void rtl_queues_close_all(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        if (atomic_load(&queue->phase) != RTL_QUEUE_LIVE)
            continue;
        pthread_mutex_lock(&lock);
        rtl_map_remove(&by_address, (uint64_t)(uintptr_t)queue->queue);
        rtl_map_remove(&by_doorbell, queue->doorbell);
        pthread_mutex_unlock(&lock);
        end_submission(queue);
        atomic_store(&queue->phase, RTL_QUEUE_CLOSING);
    }
}

/* Timestamps stay on, whatever the program asks: it cannot tell, its own signals just carry times.
 */
static hsa_status_t set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    return rtl_api.hsa_amd_profiling_set_profiler_enabled(queue, find(queue) != NULL ? 1 : enable);
}

/* ---- the virtual write index ---- */

/* Notes for the modes that leave batches alone how the slots [first, first + count) were reserved.
 */
static void note_reservation(struct rtl_queue *state, uint64_t first, uint64_t count)
{
    if (state->alone == NULL)
        return;
    for (uint64_t i = 0; i < count && i < state->size; i++)
        atomic_store_explicit(&state->alone[(first + i) & (state->size - 1)], count == 1,
                              memory_order_relaxed);
}

#define LOAD(name, order)                                                                          \
    static uint64_t load_##name(const hsa_queue_t *queue)                                          \
    {                                                                                              \
        struct rtl_queue *state = find(queue);                                                     \
        return state != NULL ? atomic_load_explicit(&state->virtual_index, order)                  \
                             : rtl_api.hsa_queue_load_write_index_##name(queue);                   \
    }

#define STORE(name, order)                                                                         \
    static void store_##name(const hsa_queue_t *queue, uint64_t value)                             \
    {                                                                                              \
        struct rtl_queue *state = find(queue);                                                     \
        if (state == NULL) {                                                                       \
            rtl_api.hsa_queue_store_write_index_##name(queue, value);                              \
            return;                                                                                \
        }                                                                                          \
        uint64_t old = atomic_exchange_explicit(&state->virtual_index, value, order);              \
        note_reservation(state, old, value - old);                                                 \
    }

#define CAS(name, order, failure)                                                                  \
    static uint64_t cas_##name(const hsa_queue_t *queue, uint64_t expected, uint64_t value)        \
    {                                                                                              \
        struct rtl_queue *state = find(queue);                                                     \
        if (state == NULL)                                                                         \
            return rtl_api.hsa_queue_cas_write_index_##name(queue, expected, value);               \
        if (atomic_compare_exchange_strong_explicit(&state->virtual_index, &expected, value,       \
                                                    order, failure))                               \
            note_reservation(state, expected, value - expected);                                   \
        return expected;                                                                           \
    }

#define ADD(name, order)                                                                           \
    static uint64_t add_##name(const hsa_queue_t *queue, uint64_t value)                           \
    {                                                                                              \
        struct rtl_queue *state = find(queue);                                                     \
        if (state == NULL)                                                                         \
            return rtl_api.hsa_queue_add_write_index_##name(queue, value);                         \
        uint64_t first = atomic_fetch_add_explicit(&state->virtual_index, value, order);           \
        note_reservation(state, first, value);                                                     \
        return first;                                                                              \
    }

LOAD(scacquire, memory_order_acquire)
LOAD(relaxed, memory_order_relaxed)
STORE(relaxed, memory_order_relaxed)
STORE(screlease, memory_order_release)
CAS(scacq_screl, memory_order_acq_rel, memory_order_acquire)
CAS(scacquire, memory_order_acquire, memory_order_acquire)
CAS(relaxed, memory_order_relaxed, memory_order_relaxed)
CAS(screlease, memory_order_release, memory_order_relaxed)
ADD(scacq_screl, memory_order_acq_rel)
ADD(scacquire, memory_order_acquire)
ADD(relaxed, memory_order_relaxed)
ADD(screlease, memory_order_release)

#define HOOK(entry, function) rtl_api_hook(RTL_ENTRY_##entry, (void (*)(void))(function))

static void hook_write_index(void)
{
    HOOK(hsa_queue_load_write_index_scacquire, load_scacquire);
    HOOK(hsa_queue_load_write_index_relaxed, load_relaxed);
    HOOK(hsa_queue_store_write_index_relaxed, store_relaxed);
    HOOK(hsa_queue_store_write_index_screlease, store_screlease);
    HOOK(hsa_queue_cas_write_index_scacq_screl, cas_scacq_screl);
    HOOK(hsa_queue_cas_write_index_scacquire, cas_scacquire);
    HOOK(hsa_queue_cas_write_index_relaxed, cas_relaxed);
    HOOK(hsa_queue_cas_write_index_screlease, cas_screlease);
    HOOK(hsa_queue_add_write_index_scacq_screl, add_scacq_screl);
    HOOK(hsa_queue_add_write_index_scacquire, add_scacquire);
    HOOK(hsa_queue_add_write_index_relaxed, add_relaxed);
    HOOK(hsa_queue_add_write_index_screlease, add_screlease);
}

void rtl_queues_hook(const struct rtl_config *config, struct rtl_ring *to)
{
    settings = *config;
    ring = to;
    hook_write_index();
    HOOK(hsa_queue_create, create);
    HOOK(hsa_queue_destroy, destroy);
    HOOK(hsa_amd_profiling_set_profiler_enabled, set_profiler_enabled);
}
