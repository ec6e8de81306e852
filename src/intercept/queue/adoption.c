#include "intercept/queue/adoption.h"

#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/queue/ids.h"
#include "intercept/queue/interception.h"
#include "intercept/queue/ledger.h"
#include "intercept/queue/lifecycle.h"
#include "intercept/queue/untracked.h"

#include <hsa/amd_hsa_signal.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* hsa_queue_info_attribute_t of hsa_ext_amd.h, ROCm 6.0 on. */
#define QUEUE_INFO_AGENT 0

typedef hsa_status_t queue_get_info(hsa_queue_t *queue, int attribute, void *value);
typedef hsa_status_t pointer_info(const void *address, hsa_amd_pointer_info_t *info,
                                  void *(*allocate)(size_t), uint32_t *count, hsa_agent_t **agents);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool on;
static queue_get_info *get_info; /* NULL: the runtime has none, as that of ROCm 5 */
static pointer_info *get_pointer_info;

void rtl_adoption_begin(rtl_adoption_find *find)
{
    void *info = find("hsa_amd_queue_get_info");
    void *pointer = find("hsa_amd_pointer_info");
    memcpy(&get_info, &info, sizeof info);
    memcpy(&get_pointer_info, &pointer, sizeof pointer);
    atomic_store(&on, true);
}

void rtl_adoption_end(void)
{
    atomic_store(&on, false);
}

/* Where memory of the runtime lies. False: it is not the runtime's, or that is not known. */
static bool find_memory(const void *address, hsa_amd_pointer_info_t *info)
{
    *info = (hsa_amd_pointer_info_t){.size = sizeof *info};
    return get_pointer_info != NULL &&
           get_pointer_info(address, info, NULL, NULL, NULL) == HSA_STATUS_SUCCESS &&
           info->type == HSA_EXT_POINTER_TYPE_HSA;
}

/* A runtime that does not tell has one GPU at least: if it is one, that it is. */
static bool find_agent(const hsa_queue_t *queue, hsa_agent_t *agent)
{
    if (get_info != NULL)
        return get_info((hsa_queue_t *)(uintptr_t)queue, QUEUE_INFO_AGENT, agent) ==
               HSA_STATUS_SUCCESS;
    if (rtl_agents_gpus() != 1)
        return false;
    *agent = rtl_agents_gpu(0);
    return true;
}

/* The doorbell of an intercept queue is a signal that a thread of the runtime waits for. */
static bool is_intercepted(const hsa_queue_t *queue)
{
    return ((const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle)->kind >= 0;
}

/* Why the queue will never be adopted, NULL if it may be. */
static const char *find_obstacle(const hsa_queue_t *queue, struct rtl_untracked_queue *found)
{
    hsa_amd_pointer_info_t ring;
    hsa_agent_t agent;
    const char *why = rtl_interception_why_not_interposed();
    if (why != NULL)
        return why;
    if (is_intercepted(queue))
        return "it is an intercept queue of another tool";
    if (!find_agent(queue, &agent))
        return "it was not made by hsa_queue_create while RTL was there, and this runtime does not "
               "tell whose it is";
    found->agent = rtl_agents_id(agent);
    if (!rtl_agents_is_gpu(agent))
        return "its agent is no GPU";
    if (!find_memory(queue->base_address, &ring)) {
        found->blind = true;
        return "the runtime does not tell where its ring is";
    }
    found->blind = rtl_agents_is_gpu(ring.agentOwner);
    return found->blind
               ? "its ring is in device memory (DEBUG_CLR_AQL_DEV_QUEUE=0 puts that of HIP "
                 "into host memory)"
               : NULL;
}

static bool is_idle(const hsa_queue_t *queue, uint64_t *index)
{
    *index = rtl_api.hsa_queue_load_write_index_scacquire(queue);
    return *index == rtl_api.hsa_queue_load_read_index_scacquire(queue);
}

/* A handle of a queue that has others may be a copy of what programs see of it. */
static bool has_descriptor(const hsa_queue_t *queue)
{
    hsa_amd_pointer_info_t memory;
    const char *end = (const char *)queue + sizeof(amd_queue_t);
    return find_memory(queue, &memory) && memory.agentBaseAddress != NULL &&
           end <= (const char *)memory.agentBaseAddress + memory.sizeInBytes;
}

/* Nobody knows what these packets were; each counts as a kernel. */
static void count_before(const struct rtl_queue *state, uint64_t packets)
{
    rtl_ledger_add_not_followed(state->ledger, packets, packets);
    rtl_emit_note(state->id,
                  "%" PRIu64 " packets were submitted to this queue before RTL saw it: they are "
                  "not followed",
                  packets);
}

/* Under the lock. A queue that is known was counted until now. */
static struct rtl_queue *adopt(const hsa_queue_t *queue, const void *caller, bool known,
                               struct rtl_untracked_queue *found)
{
    uint64_t before;
    if (!is_idle(queue, &before))
        return NULL;
    struct rtl_queue *state = rtl_queues_adopt((hsa_queue_t *)(uintptr_t)queue, found->id,
                                               found->agent, has_descriptor(queue), caller);
    if (state == NULL)
        found->why = "there was no room for one more, or no thread to look after it";
    else if (!known && before > 0)
        count_before(state, before);
    return state;
}

/* Under the lock. What was found out of a queue that was busy is remembered. */
static struct rtl_queue *look(const hsa_queue_t *queue, const void *caller)
{
    struct rtl_untracked_queue found = {.id = RTL_NONE, .agent = RTL_NONE};
    struct rtl_queue *state = rtl_queues_find(queue);
    if (state == NULL)
        state = rtl_queues_find_alias((hsa_queue_t *)(uintptr_t)queue);
    if (state != NULL)
        return state;
    bool known = rtl_untracked_find(queue, &found);
    if (!known)
        found.why = find_obstacle(queue, &found);
    if (found.why == NULL)
        state = adopt(queue, caller, known, &found);
    if (known && state != NULL) {
        rtl_untracked_count(queue->doorbell_signal.handle);
        rtl_untracked_remove(queue);
    }
    if (known || state != NULL)
        return state;
    found.id = rtl_queues_new_id();
    rtl_untracked_add(queue, &found);
    return NULL;
}

struct rtl_queue *rtl_adoption_enter(const hsa_queue_t *queue, const void *caller, bool *held)
{
    struct rtl_untracked_queue known;
    *held = false;
    if (!atomic_load(&on) || (queue->features & HSA_QUEUE_FEATURE_KERNEL_DISPATCH) == 0 ||
        (rtl_untracked_find(queue, &known) && known.why != NULL))
        return NULL;
    int saved = errno;
    pthread_mutex_lock(&lock);
    struct rtl_queue *state = look(queue, caller);
    *held = state == NULL;
    if (state != NULL)
        pthread_mutex_unlock(&lock);
    errno = saved;
    return state;
}

void rtl_adoption_rung(hsa_signal_t doorbell, const void *caller)
{
    /* Of a doorbell the runtime's memory names the queue, whose first part programs see. */
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)doorbell.handle;
    const hsa_queue_t *queue = (const hsa_queue_t *)(const void *)signal->queue_ptr;
    bool held;
    if (queue == NULL || queue->doorbell_signal.handle != doorbell.handle)
        return;
    (void)rtl_adoption_enter(queue, caller, &held);
    rtl_adoption_leave(held);
}

void rtl_adoption_leave(bool held)
{
    if (held)
        pthread_mutex_unlock(&lock);
}

void rtl_adoption_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    rtl_adoption_end();
}
