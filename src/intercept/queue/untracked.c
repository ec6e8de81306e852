#include "intercept/queue/untracked.h"

#include "common/pages.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/base/queue_map.h"
#include "intercept/queue/aql.h"
#include "intercept/queue/ids.h"
#include "intercept/queue/ledger.h"

#include <pthread.h>
#include <stdatomic.h>

#define MOST_UNTRACKED 64u

struct untracked {
    const hsa_queue_t *_Atomic queue; /* NULL: free */
    uint64_t doorbell;
    uint32_t id, agent;
    bool blind, never; /* to be followed */
    struct rtl_wire_ledger *ledger;
    _Atomic uint64_t counted; /* packets before it are in the ledger */
};

static struct untracked untracked_queues[MOST_UNTRACKED];
static struct rtl_queue_map *by_address, *by_doorbell; /* NULL before rtl_untracked_begin */
static _Atomic uint32_t known;
static _Atomic bool crowded; /* there were too many */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool rtl_untracked_begin(void)
{
    struct rtl_queue_map *maps = by_address == NULL ? rtl_pages(2 * sizeof *maps) : by_address;
    if (maps == NULL)
        return false;
    by_address = maps;
    by_doorbell = maps + 1;
    return true;
}

static struct untracked *free_place(void)
{
    for (uint32_t i = 0; i < MOST_UNTRACKED; i++)
        if (atomic_load_explicit(&untracked_queues[i].queue, memory_order_relaxed) == NULL)
            return &untracked_queues[i];
    return NULL;
}

/* Under the lock. False: there are too many. */
static bool enter(const hsa_queue_t *queue, const struct rtl_untracked_queue *facts)
{
    struct untracked *place = free_place();
    if (place == NULL)
        return false;
    place->doorbell = queue->doorbell_signal.handle;
    rtl_queues_note_doorbell_kind(place->doorbell);
    place->id = facts->id;
    place->agent = facts->agent;
    place->blind = facts->blind;
    place->never = facts->why != NULL;
    place->ledger = rtl_queues_ledger(facts->id);
    atomic_store(&place->counted, 0); /* what it had before anybody looked is not followed either */
    atomic_store(&place->queue, queue);
    atomic_fetch_add(&known, 1);
    return rtl_queue_map_put(by_address, (uint64_t)(uintptr_t)queue, place) &&
           rtl_queue_map_put(by_doorbell, place->doorbell, place);
}

static const char never[] = "";

static struct untracked *find(const hsa_queue_t *queue)
{
    struct untracked *untracked = rtl_queue_map_find(by_address, (uint64_t)(uintptr_t)queue);
    return untracked != NULL && untracked->doorbell == queue->doorbell_signal.handle ? untracked
                                                                                     : NULL;
}

bool rtl_untracked_find(const hsa_queue_t *queue, struct rtl_untracked_queue *untracked)
{
    const struct untracked *found = find(queue);
    if (found != NULL)
        *untracked = (struct rtl_untracked_queue){.id = found->id,
                                                  .agent = found->agent,
                                                  .blind = found->blind,
                                                  .why = found->never ? never : NULL};
    else if (atomic_load_explicit(&crowded, memory_order_relaxed))
        *untracked = (struct rtl_untracked_queue){.id = RTL_NONE, .agent = RTL_NONE, .why = never};
    else
        return false;
    return true;
}

static void name(const hsa_queue_t *queue, const struct rtl_untracked_queue *untracked)
{
    rtl_queues_describe(queue, untracked->id, untracked->agent, RTL_UNTRACKED);
    if (untracked->why != NULL)
        rtl_emit_note(untracked->id, "this queue is not followed: %s", untracked->why);
    else
        rtl_emit_note(untracked->id, "this queue was in use when RTL saw it first: it is followed "
                                     "from when it is idle on");
}

void rtl_untracked_add(const hsa_queue_t *queue, const struct rtl_untracked_queue *untracked)
{
    pthread_mutex_lock(&lock);
    if (find(queue) == NULL) {
        if (enter(queue, untracked))
            name(queue, untracked);
        else if (!atomic_exchange(&crowded, true))
            rtl_emit_note(RTL_NONE,
                          "more than %u queues are not followed: the others are not counted",
                          MOST_UNTRACKED);
    }
    pthread_mutex_unlock(&lock);
}

/* Counts the kernels from `from` on, up to the first packet that is not written yet, which it
 * returns. What the device has taken already cannot be told apart any more and counts as kernels.
 */
static uint64_t count_kernels(const hsa_queue_t *queue, bool blind, uint64_t from,
                              uint64_t *kernels)
{
    uint64_t to = rtl_api.hsa_queue_load_write_index_relaxed(queue);
    if (blind) {
        *kernels = to > from ? to - from : 0;
        return to;
    }
    uint64_t taken = rtl_api.hsa_queue_load_read_index_scacquire(queue);
    uint64_t at = from;
    for (; at < to; at++) {
        const unsigned char *base = queue->base_address;
        const void *packet = base + (at & (queue->size - 1)) * RTL_PACKET_SIZE;
        unsigned type = rtl_packet_type(rtl_packet_header(packet));
        if (at >= taken && type == HSA_PACKET_TYPE_INVALID)
            break;
        *kernels += at < taken || rtl_packet_is_kernel(packet, type);
    }
    return at;
}

bool rtl_untracked_count(uint64_t doorbell)
{
    if (atomic_load_explicit(&known, memory_order_relaxed) == 0)
        return false;
    struct untracked *untracked = rtl_queue_map_find(by_doorbell, doorbell);
    const hsa_queue_t *queue =
        untracked != NULL ? atomic_load_explicit(&untracked->queue, memory_order_acquire) : NULL;
    if (queue == NULL)
        return false;
    uint64_t kernels = 0;
    uint64_t from = atomic_load_explicit(&untracked->counted, memory_order_relaxed);
    uint64_t to = count_kernels(queue, untracked->blind, from, &kernels);
    if (from >= to || !atomic_compare_exchange_strong(&untracked->counted, &from, to))
        return true;
    rtl_ledger_add_not_followed(untracked->ledger, to - from, kernels);
    return true;
}

void rtl_untracked_remove(const hsa_queue_t *queue)
{
    if (atomic_load_explicit(&known, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&lock);
    struct untracked *untracked = find(queue);
    if (untracked != NULL) {
        rtl_queue_map_remove(by_address, (uint64_t)(uintptr_t)queue);
        rtl_queue_map_remove(by_doorbell, untracked->doorbell);
        atomic_store(&untracked->queue, NULL);
    }
    pthread_mutex_unlock(&lock);
}
