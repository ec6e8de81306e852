#include "intercept/queue/copies.h"

#include "common/pages.h"
#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/base/recording.h"
#include "intercept/base/thread_context.h"
#include "intercept/queue/ledger.h"
#include "intercept/queue/lifecycle.h"
#include "intercept/queue/queue.h"
#include "intercept/queue/record_out.h"
#include "intercept/queue/shared_signal.h"
#include "intercept/queue/signal_pool.h"

#include <pthread.h>
#include <string.h>

#define MOST_AGENTS    256u /* as in agents.c */
#define LEFT_OUT       RTL_LOST_REASONS
#define NEWEST_COPY_OP 1u    /* version of struct rtl_copy_op; later ones pass */
#define COPY_AGENTS    1024u /* program's signals whose copies were given another signal */

/* A copy that is about to be submitted. */
struct copy {
    uint32_t src, dst;
    uint32_t agent; /* that copies, RTL_NONE if it is not known */
    enum rtl_copy_kind kind;
    uint64_t bytes;
    struct rtl_queue *queue;        /* NULL: not followed */
    struct rtl_wire_ledger *ledger; /* NULL: not counted */
    uint64_t ordinal;
    uint64_t sequence;  /* of its record */
    bool recorded;      /* it has a record */
    enum rtl_lost lost; /* why not, or LEFT_OUT */
    bool withheld;      /* left out because its thread wants it so */
};

/* The copies of one agent. */
struct agent_copies {
    struct rtl_wire_ledger *ledger; /* NULL before the first */
    struct rtl_queue *queue;        /* NULL: there was none for it */
    uint64_t next;                  /* ordinal */
};

/* The runtime notes at a signal which agent copied, for whoever asks for the times. At the signal
 * that it was given, which is not the program's if that was replaced. */
struct copy_agent {
    uint64_t signal;
    uint32_t agent;
};

/* Short: held while a record is added. Also over the making of an agent's queue, which is not. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct tables {
    struct agent_copies agents[MOST_AGENTS];
    struct copy_agent copy_agents[COPY_AGENTS];
};
static struct tables *tables; /* NULL before rtl_copies_begin */
static enum rtl_mode mode;
static _Atomic bool active;

/* ---- agents of copies ---- */

static struct copy_agent *copy_agent_of(uint64_t signal)
{
    return &tables->copy_agents[((signal >> 6) * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
}

_Static_assert(COPY_AGENTS == 1u << (64 - 54), "copy_agent_of yields 10 bits");

/* Under the lock. */
static void set_copy_agent(uint64_t signal, uint32_t agent)
{
    struct copy_agent *place = copy_agent_of(signal);
    if (agent != RTL_NONE)
        *place = (struct copy_agent){signal, agent};
    else if (place->signal == signal)
        *place = (struct copy_agent){0, 0};
}

static uint32_t find_copy_agent(uint64_t signal)
{
    pthread_mutex_lock(&lock);
    const struct copy_agent *place = copy_agent_of(signal);
    uint32_t agent = place->signal == signal ? place->agent : RTL_NONE;
    pthread_mutex_unlock(&lock);
    return agent;
}

/* As the runtime does it: the end first, because translating may look at the clocks again. */
static hsa_status_t times_of(uint32_t agent, uint64_t signal,
                             hsa_amd_profiling_async_copy_time_t *time)
{
    struct rtl_kernel_facts facts = {.flags = RTL_RECORD_COPY};
    rtl_signal_times(signal, &facts);
    hsa_agent_t handle = rtl_agents_handle(agent);
    hsa_status_t status =
        rtl_api.hsa_amd_profiling_convert_tick_to_system_domain(handle, facts.end, &time->end);
    if (status == HSA_STATUS_SUCCESS)
        status = rtl_api.hsa_amd_profiling_convert_tick_to_system_domain(handle, facts.start,
                                                                         &time->start);
    return status;
}

static hsa_status_t get_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
    uint32_t agent = signal.handle != 0 && time != NULL ? find_copy_agent(signal.handle) : RTL_NONE;
    if (agent == RTL_NONE)
        return rtl_api.hsa_amd_profiling_get_async_copy_time(signal, time);
    return times_of(agent, signal.handle, time);
}

/* Times stay on, whatever the program asks: it cannot tell, its own signals just carry times. */
static hsa_status_t enable(bool on)
{
    (void)on;
    return rtl_api.hsa_amd_profiling_async_copy_enable(true);
}

/* ---- records ---- */

/* In the fields of a kernel: see record_out.h. */
static struct rtl_kernel_facts facts_of(const struct copy *copy, uint64_t own)
{
    return (struct rtl_kernel_facts){
        .app_signal = own,
        .kernel_object = copy->bytes,
        .packet = copy->ordinal,
        .grid = {copy->src, copy->dst, 0},
        .block = {(uint16_t)copy->kind, 0, 0},
        .correlation = rtl_thread_context_correlation(),
        .launch = RTL_NONE,
        .ordinal = RTL_NONE,
        .flags = copy->kind == RTL_COPY_HOST_TO_HOST ? RTL_RECORD_COPY | RTL_RECORD_UNTIMED
                                                     : RTL_RECORD_COPY,
    };
}

/* Finds its agent's account; under the lock. */
static struct agent_copies *find_account(struct copy *copy)
{
    if (copy->agent >= MOST_AGENTS)
        return NULL;
    struct agent_copies *agent = &tables->agents[copy->agent];
    if (agent->ledger == NULL)
        agent->queue = rtl_queues_add_copies(copy->agent, &agent->ledger);
    copy->queue = agent->queue;
    copy->ledger = agent->ledger;
    return agent;
}

/* Enters the copy, which was counted, into its agent's account; under the lock. */
static void enter_counted(struct copy *copy)
{
    struct agent_copies *agent = find_account(copy);
    if (agent != NULL)
        copy->ordinal = agent->next++;
}

/* Counts it, and enters it; under the lock. */
static void enter(struct copy *copy)
{
    enter_counted(copy);
    if (copy->ledger != NULL)
        rtl_ledger_add(&copy->ledger->seen, 1);
}

uint64_t rtl_copies_next(uint32_t agent)
{
    if (tables == NULL || agent >= MOST_AGENTS)
        return 0;
    pthread_mutex_lock(&lock);
    uint64_t next = tables->agents[agent].next;
    pthread_mutex_unlock(&lock);
    return next;
}

/* Adds the record and says which signal the runtime is to be given; under the lock. */
static hsa_signal_t follow(struct copy *copy, hsa_signal_t own)
{
    struct rtl_queue *queue = copy->queue;
    hsa_signal_t signal = own;
    struct rtl_kernel_facts facts = facts_of(copy, own.handle);
    enum rtl_followed followed = rtl_rewrite_follow(&queue->rewriter, &signal, &facts);
    copy->recorded = followed == RTL_FOLLOWED_BORROWED || followed == RTL_FOLLOWED_POOL;
    copy->lost = followed == RTL_FOLLOWED_NO_ROOM ? RTL_LOST_PENDING : RTL_LOST_POOL;
    copy->sequence = atomic_load_explicit(&queue->pending.tail, memory_order_relaxed) - 1;
    if (followed == RTL_FOLLOWED_BORROWED)
        rtl_ledger_add(&copy->ledger->borrowed, 1);
    if (followed == RTL_FOLLOWED_POOL && copy->kind != RTL_COPY_HOST_TO_HOST)
        set_copy_agent(own.handle, copy->agent);
    return signal;
}

static void set_left_out(struct copy *copy)
{
    copy->lost = LEFT_OUT;
    copy->withheld = mode != RTL_MODE_LITE && rtl_thread_context.paused;
}

/* Before the call: the record must be there when the copy completes. A copy of nothing is done when
 * the call returns, and its signal is not touched; one without a signal is refused by the runtime.
 */
static hsa_signal_t begin(struct copy *copy, hsa_signal_t own)
{
    hsa_signal_t signal = own;
    if (!atomic_load_explicit(&active, memory_order_acquire) || copy->bytes == 0 || own.handle == 0)
        return own;
    pthread_mutex_lock(&lock);
    enter(copy);
    set_copy_agent(own.handle, RTL_NONE);
    if (copy->queue == NULL)
        copy->lost = RTL_LOST_NOT_FOLLOWED;
    else if (mode == RTL_MODE_LITE || rtl_recording_is_stopped_here())
        set_left_out(copy);
    else if (!rtl_shared_signal_known(own.handle))
        copy->lost = RTL_LOST_NO_TIME;
    else
        signal = follow(copy, own);
    if (!copy->recorded && mode != RTL_MODE_LITE)
        (void)rtl_borrow_set_busy(rtl_borrows, own.handle);
    pthread_mutex_unlock(&lock);
    return signal;
}

/* The runtime refused: the copy never was. */
static void take_back(const struct copy *copy)
{
    struct rtl_queue *queue = copy->queue;
    struct rtl_kernel_facts facts;
    if (copy->recorded) {
        if (!rtl_pending_abandon(&queue->pending, copy->sequence, &facts))
            return;
        if (rtl_is_replaced(&facts))
            atomic_fetch_sub_explicit(&queue->pending.to_forward, 1, memory_order_release);
        if (facts.pool_id != RTL_NONE)
            rtl_pool_give(&rtl_signals, &facts.pool_id, 1);
        else
            atomic_fetch_sub_explicit(&copy->ledger->borrowed, 1, memory_order_relaxed);
        rtl_pending_advance(&queue->pending);
    }
    atomic_fetch_sub_explicit(&copy->ledger->seen, 1, memory_order_relaxed);
}

/* One that the mode leaves out anyway is no other's. */
static void leave_out(const struct copy *copy)
{
    rtl_ledger_add(&copy->ledger->skipped, 1);
    if (copy->withheld)
        rtl_ledger_add(&copy->ledger->withheld, 1);
    else if (mode != RTL_MODE_LITE)
        rtl_ledger_add(&copy->ledger->stopped, 1);
}

static void end(const struct copy *copy, hsa_status_t status)
{
    if (copy->ledger == NULL)
        return;
    if (status != HSA_STATUS_SUCCESS)
        take_back(copy);
    else if (copy->recorded)
        return;
    else if (copy->lost == LEFT_OUT)
        leave_out(copy);
    else
        rtl_ledger_add(&copy->ledger->lost[copy->lost], 1);
}

/* ---- the entries ---- */

static struct copy linear(hsa_agent_t to, hsa_agent_t from, size_t size)
{
    bool from_gpu = rtl_agents_is_gpu(from);
    bool to_gpu = rtl_agents_is_gpu(to);
    struct copy copy = {.src = rtl_agents_id(from), .dst = rtl_agents_id(to), .bytes = size};
    copy.agent = from_gpu ? copy.src : copy.dst;
    if (from_gpu && to_gpu)
        copy.kind = copy.src == copy.dst ? RTL_COPY_DEVICE_TO_DEVICE : RTL_COPY_PEER;
    else if (from_gpu)
        copy.kind = RTL_COPY_DEVICE_TO_HOST;
    else
        copy.kind = to_gpu ? RTL_COPY_HOST_TO_DEVICE : RTL_COPY_HOST_TO_HOST;
    return copy;
}

static hsa_status_t copy_linear(void *to, hsa_agent_t to_agent, const void *from,
                                hsa_agent_t from_agent, size_t size, uint32_t dependencies,
                                const hsa_signal_t *signals, hsa_signal_t completion)
{
    struct copy copy = linear(to_agent, from_agent, size);
    hsa_signal_t signal = begin(&copy, completion);
    hsa_status_t status = rtl_api.hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size,
                                                            dependencies, signals, signal);
    end(&copy, status);
    return status;
}

static hsa_status_t copy_on_engine(void *to, hsa_agent_t to_agent, const void *from,
                                   hsa_agent_t from_agent, size_t size, uint32_t dependencies,
                                   const hsa_signal_t *signals, hsa_signal_t completion,
                                   uint32_t engine, bool force_on_sdma)
{
    struct copy copy = linear(to_agent, from_agent, size);
    hsa_signal_t signal = begin(&copy, completion);
    hsa_status_t status = rtl_api.hsa_amd_memory_async_copy_on_engine(
        to, to_agent, from, from_agent, size, dependencies, signals, signal, engine, force_on_sdma);
    end(&copy, status);
    return status;
}

/* The call names one GPU: the other side of the copy, if there is one, is not known. */
static struct copy rectangle(const hsa_dim3_t *range, hsa_agent_t agent,
                             hsa_amd_copy_direction_t direction)
{
    static const enum rtl_copy_kind kinds[] = {
        [hsaHostToHost] = RTL_COPY_HOST_TO_HOST,
        [hsaHostToDevice] = RTL_COPY_HOST_TO_DEVICE,
        [hsaDeviceToHost] = RTL_COPY_DEVICE_TO_HOST,
        [hsaDeviceToDevice] = RTL_COPY_DEVICE_TO_DEVICE,
    };
    struct copy copy = {.src = RTL_NONE, .dst = RTL_NONE};
    copy.agent = rtl_agents_id(agent);
    if (range != NULL)
        copy.bytes = (uint64_t)range->x * range->y * range->z;
    if ((unsigned)direction < sizeof kinds / sizeof *kinds)
        copy.kind = kinds[direction];
    if (direction == hsaDeviceToHost)
        copy.src = copy.agent;
    if (direction == hsaHostToDevice)
        copy.dst = copy.agent;
    return copy;
}

static hsa_status_t copy_rectangle(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                                   const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset,
                                   const hsa_dim3_t *range, hsa_agent_t agent,
                                   hsa_amd_copy_direction_t direction, uint32_t dependencies,
                                   const hsa_signal_t *signals, hsa_signal_t completion)
{
    struct copy copy = rectangle(range, agent, direction);
    hsa_signal_t signal = begin(&copy, completion);
    hsa_status_t status = rtl_api.hsa_amd_memory_async_copy_rect(
        to, to_offset, from, from_offset, range, agent, direction, dependencies, signals, signal);
    end(&copy, status);
    return status;
}

static uint64_t bytes_of(const struct rtl_copy_op *op)
{
    if (op->entries == 0)
        return op->size.one;
    if (op->type == RTL_COPY_OP_BROADCAST)
        return op->entries * (uint64_t)op->size.one;
    uint64_t bytes = 0;
    for (uint16_t i = 0; i < op->entries; i++)
        bytes += op->size.list[i];
    return bytes;
}

static struct copy operation(const struct rtl_copy_op *op)
{
    hsa_agent_t to = op->entries > 0 ? op->dst_agent.list[0] : op->dst_agent.one;
    return linear(to, op->src_agent, bytes_of(op));
}

static hsa_status_t copy_single(const struct rtl_copy_op *op, uint32_t dependencies,
                                const hsa_signal_t *signals)
{
    struct copy copy = operation(op);
    struct rtl_copy_op changed = *op;
    changed.completion = begin(&copy, op->completion);
    hsa_status_t status =
        rtl_api.hsa_amd_memory_async_batch_copy(&changed, 1, dependencies, signals);
    end(&copy, status);
    return status;
}

/* Whether an operation of a batch is one that counts. */
static bool counts(const struct copy *copy)
{
    return atomic_load_explicit(&active, memory_order_acquire) && copy->bytes != 0 &&
           copy->agent < MOST_AGENTS;
}

/* Before the call: the copy may have been made when the process dies in it. */
static void count_operation(const struct rtl_copy_op *op)
{
    struct copy copy = operation(op);
    if (!counts(&copy))
        return;
    pthread_mutex_lock(&lock);
    (void)find_account(&copy);
    rtl_ledger_add(&copy.ledger->seen, 1);
    pthread_mutex_unlock(&lock);
}

static void take_back_operation(const struct rtl_copy_op *op)
{
    struct copy copy = operation(op);
    if (!counts(&copy))
        return;
    pthread_mutex_lock(&lock);
    (void)find_account(&copy);
    pthread_mutex_unlock(&lock);
    take_back(&copy);
}

/* All operations of a batch share one signal, which in the end holds the times of one of them: they
 * are recorded without. */
static void record_without_times(const struct rtl_copy_op *op)
{
    struct copy copy = operation(op);
    if (!counts(&copy))
        return;
    pthread_mutex_lock(&lock);
    enter_counted(&copy);
    copy.lost = copy.queue == NULL ? RTL_LOST_NOT_FOLLOWED : rtl_emit_why();
    if (mode == RTL_MODE_LITE || rtl_recording_is_stopped_here()) {
        set_left_out(&copy);
    } else if (copy.queue != NULL) {
        struct rtl_kernel_facts facts = facts_of(&copy, op->completion.handle);
        facts.flags |= RTL_RECORD_UNTIMED;
        (void)rtl_borrow_set_busy(rtl_borrows, op->completion.handle);
        struct rtl_copy_draft draft;
        copy.recorded = rtl_out_draft_copy(copy.queue->id, &facts, &draft) == RTL_COPY_SENT;
        rtl_ledger_add(&copy.ledger->recorded, copy.recorded);
        if (copy.recorded)
            rtl_out_commit_copy(&draft);
    }
    pthread_mutex_unlock(&lock);
    end(&copy, HSA_STATUS_SUCCESS);
}

static hsa_status_t copy_batch(const struct rtl_copy_op *ops, uint32_t count, uint32_t dependencies,
                               const hsa_signal_t *signals)
{
    bool known = ops != NULL && count > 0 && ops->version <= NEWEST_COPY_OP &&
                 ops->type <= RTL_COPY_OP_INDIRECT_BOTH;
    if (known && count == 1)
        return copy_single(ops, dependencies, signals);
    for (uint32_t i = 0; known && i < count; i++)
        count_operation(&ops[i]);
    hsa_status_t status =
        rtl_api.hsa_amd_memory_async_batch_copy(ops, count, dependencies, signals);
    for (uint32_t i = 0; known && i < count; i++)
        (status == HSA_STATUS_SUCCESS ? record_without_times : take_back_operation)(&ops[i]);
    return status;
}

void rtl_copies_forked(void)
{
    atomic_store_explicit(&active, false, memory_order_release);
    pthread_mutex_init(&lock, NULL);
}

bool rtl_copies_begin(void)
{
    if (tables == NULL)
        tables = rtl_pages(sizeof *tables);
    return tables != NULL;
}

void rtl_copies_hook(const struct rtl_config *config)
{
    memset(tables, 0, sizeof *tables);
    mode = config->mode;
    if (mode != RTL_MODE_LITE && rtl_api.hsa_amd_profiling_async_copy_enable != NULL) {
        rtl_api.hsa_amd_profiling_async_copy_enable(true);
        RTL_HOOK(hsa_amd_profiling_async_copy_enable, enable);
    }
    atomic_store_explicit(&active, true, memory_order_release);
    RTL_HOOK(hsa_amd_profiling_get_async_copy_time, get_time);
    RTL_HOOK(hsa_amd_memory_async_copy, copy_linear);
    RTL_HOOK(hsa_amd_memory_async_copy_on_engine, copy_on_engine);
    RTL_HOOK(hsa_amd_memory_async_copy_rect, copy_rectangle);
    RTL_HOOK(hsa_amd_memory_async_batch_copy, copy_batch);
}
