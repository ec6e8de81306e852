/* The copy entries alone: the runtime behind them, and the rest of librtl around them, are made up.
 */
#define FAKE_SIGNALS 32768 /* none is used twice */

#include "../../common/check.h"
#include "fake_records.h"
#include "fake_signals.h"
#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/base/recording.h"
#include "intercept/queue/copies.h"
#include "intercept/queue/pending_add.h"
#include "intercept/queue/queue.h"
#include "intercept/queue/record_out.h"

#include <pthread.h>
#include <string.h>

enum { HOST = 0, FIRST_GPU = 1, SECOND_GPU = 2, AGENTS = 3, MOST_SENT = 40000 };

struct rtl_api rtl_api;
struct rtl_pool rtl_signals;
static struct rtl_borrow_table borrows;
struct rtl_borrow_table *rtl_borrows = &borrows;

static struct rtl_queue queues[AGENTS];
static struct rtl_wire_ledger ledgers[AGENTS];
static struct rtl_wire_copy sent[MOST_SENT];
static _Atomic unsigned sent_count;
static bool no_place;
static hsa_status_t outcome;
static _Thread_local hsa_signal_t given; /* to the runtime by the last copy */
static void (*hooks[RTL_ENTRIES])(void);

/* ---- the rest of librtl ---- */

uint32_t rtl_agents_id(hsa_agent_t agent)
{
    return agent.handle < AGENTS ? (uint32_t)agent.handle : RTL_NONE;
}

hsa_agent_t rtl_agents_handle(uint32_t id)
{
    return (hsa_agent_t){id};
}

bool rtl_agents_is_gpu(hsa_agent_t agent)
{
    return agent.handle == FIRST_GPU || agent.handle == SECOND_GPU;
}

enum rtl_lost rtl_emit_why(void)
{
    return RTL_LOST_RING;
}

bool rtl_emit_draft(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                    unsigned eighths, struct rtl_emit_draft *draft)
{
    (void)eighths;
    (void)draft;
    unsigned at = atomic_fetch_add(&sent_count, 1);
    if (type != RTL_WIRE_COPY || count != 1 || at >= MOST_SENT)
        return false;
    memcpy(&sent[at], pieces[0].data, sizeof sent[at]);
    return true;
}

void rtl_emit_commit(const struct rtl_emit_draft *draft, enum rtl_wire_type type,
                     const struct rtl_piece *pieces, unsigned count)
{
    (void)draft;
    (void)type;
    (void)pieces;
    (void)count;
}

void rtl_api_hook(enum rtl_entry entry, void (*function)(void))
{
    hooks[entry] = function;
}

static unsigned no_reclaim(void *context)
{
    (void)context;
    return 0;
}

struct rtl_queue *rtl_queues_add_copies(uint32_t agent, struct rtl_wire_ledger **ledger)
{
    struct rtl_queue *queue = &queues[agent];
    *ledger = &ledgers[agent];
    queue->id = 10 + agent;
    queue->ledger = *ledger;
    queue->rewriter = (struct rtl_rewriter){.pending = &queue->pending,
                                            .pool = &rtl_signals,
                                            .borrows = rtl_borrows,
                                            .ledger = *ledger,
                                            .mode = RTL_MODE_FULL,
                                            .queue_index = agent,
                                            .reclaim = no_reclaim};
    return no_place ? NULL : queue;
}

static enum rtl_borrower classify(struct rtl_record_id id, uint64_t handle)
{
    return rtl_pending_classify(&queues[id.queue_index].pending, id.sequence, handle);
}

/* ---- the runtime ---- */

static hsa_status_t runtime_copy(void *to, hsa_agent_t to_agent, const void *from,
                                 hsa_agent_t from_agent, size_t size, uint32_t dependencies,
                                 const hsa_signal_t *signals, hsa_signal_t completion)
{
    (void)to, (void)to_agent, (void)from, (void)from_agent, (void)size, (void)dependencies;
    (void)signals;
    given = completion;
    return outcome;
}

static hsa_status_t runtime_rectangle(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                                      const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset,
                                      const hsa_dim3_t *range, hsa_agent_t agent,
                                      hsa_amd_copy_direction_t direction, uint32_t dependencies,
                                      const hsa_signal_t *signals, hsa_signal_t completion)
{
    (void)to, (void)to_offset, (void)from, (void)from_offset, (void)range, (void)agent;
    (void)direction, (void)dependencies, (void)signals;
    given = completion;
    return outcome;
}

static struct rtl_copy_op last_op;
static uint32_t last_count;

static hsa_status_t runtime_batch(const struct rtl_copy_op *ops, uint32_t count,
                                  uint32_t dependencies, const hsa_signal_t *signals)
{
    (void)dependencies, (void)signals;
    last_op = ops[0];
    last_count = count;
    given = ops[0].completion;
    return outcome;
}

static hsa_status_t runtime_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
    (void)signal;
    *time = (hsa_amd_profiling_async_copy_time_t){1, 2};
    return HSA_STATUS_SUCCESS;
}

/* The clocks of the GPUs are told apart by their beginning. */
static hsa_status_t runtime_convert(hsa_agent_t agent, uint64_t tick, uint64_t *ns)
{
    *ns = agent.handle * 1000000 + tick * 10;
    return HSA_STATUS_SUCCESS;
}

/* ---- the cases ---- */

static const char *set_up(enum rtl_mode mode, uint32_t signals)
{
    static const struct rtl_config settings[] = {{.mode = RTL_MODE_LITE},
                                                 {.mode = RTL_MODE_STANDARD},
                                                 {.mode = RTL_MODE_HIP},
                                                 {.mode = RTL_MODE_FULL}};
    for (unsigned i = 0; i < AGENTS; i++)
        if (queues[i].pending.table != NULL)
            rtl_pending_end(&queues[i].pending);
    memset(queues, 0, sizeof queues);
    memset(ledgers, 0, sizeof ledgers);
    memset(rtl_borrows, 0, sizeof *rtl_borrows);
    rtl_borrows->classify = classify;
    for (unsigned i = 0; i < AGENTS; i++)
        CHECK(fake_records(&queues[i].pending, 8192));
    CHECK(fake_pool(&rtl_signals, signals));
    rtl_api = (struct rtl_api){
        .hsa_amd_memory_async_copy = runtime_copy,
        .hsa_amd_memory_async_copy_rect = runtime_rectangle,
        .hsa_amd_memory_async_batch_copy = runtime_batch,
        .hsa_amd_profiling_get_async_copy_time = runtime_time,
        .hsa_amd_profiling_convert_tick_to_system_domain = runtime_convert,
    };
    atomic_store(&sent_count, 0);
    (void)rtl_recording_stop(false);
    no_place = false;
    outcome = HSA_STATUS_SUCCESS;
    CHECK(rtl_copies_begin());
    rtl_copies_hook(&settings[mode]);
    return NULL;
}

static hsa_status_t call(uint64_t to, uint64_t from, size_t size, uint64_t signal)
{
    __typeof__(hsa_amd_memory_async_copy) *entry =
        (__typeof__(hsa_amd_memory_async_copy) *)hooks[RTL_ENTRY_hsa_amd_memory_async_copy];
    return entry(NULL, (hsa_agent_t){to}, NULL, (hsa_agent_t){from}, size, 0, NULL,
                 (hsa_signal_t){signal});
}

static hsa_status_t time_of(uint64_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
    __typeof__(hsa_amd_profiling_get_async_copy_time) *entry =
        (__typeof__(hsa_amd_profiling_get_async_copy_time) *)
            hooks[RTL_ENTRY_hsa_amd_profiling_get_async_copy_time];
    return entry((hsa_signal_t){signal}, time);
}

/* Takes the record `sequence` of an agent and sends it. */
static bool harvest(uint32_t agent, uint64_t sequence, struct rtl_kernel_facts *facts)
{
    struct rtl_copy_draft draft;
    return take_record(&queues[agent].pending, &rtl_signals, sequence, true, facts) ==
               RTL_TAKE_TAKEN &&
           rtl_out_draft_copy(queues[agent].id, facts, &draft) == RTL_COPY_SENT;
}

const char *Copies_PlainSignalStays(void)
{
    struct rtl_kernel_facts facts;
    CHECK_DONE(set_up(RTL_MODE_FULL, 4));
    uint64_t own = fake_signal(1);
    CHECK(call(FIRST_GPU, HOST, 4096, own) == HSA_STATUS_SUCCESS && given.handle == own);
    fake_complete_copy(own, 100, 300);
    CHECK(harvest(FIRST_GPU, 0, &facts) && sent_count == 1);
    CHECK(sent[0].bytes == 4096 && sent[0].start == 100 && sent[0].end == 300);
    CHECK(sent[0].kind == RTL_COPY_HOST_TO_DEVICE && sent[0].engine == RTL_ENGINE_SDMA);
    CHECK(sent[0].src == HOST && sent[0].dst == FIRST_GPU && sent[0].queue == 11);
    CHECK(ledgers[FIRST_GPU].seen == 1 && ledgers[FIRST_GPU].borrowed == 1);
    return NULL;
}

const char *Copies_KindsAndWhoCopies(void)
{
    static const struct {
        uint64_t to, from;
        uint32_t agent;
        enum rtl_copy_kind kind;
    } cases[] = {
        {FIRST_GPU, HOST, FIRST_GPU, RTL_COPY_HOST_TO_DEVICE},
        {HOST, FIRST_GPU, FIRST_GPU, RTL_COPY_DEVICE_TO_HOST},
        {FIRST_GPU, FIRST_GPU, FIRST_GPU, RTL_COPY_DEVICE_TO_DEVICE},
        {SECOND_GPU, FIRST_GPU, FIRST_GPU, RTL_COPY_PEER},
        {FIRST_GPU, SECOND_GPU, SECOND_GPU, RTL_COPY_PEER},
        {HOST, HOST, HOST, RTL_COPY_HOST_TO_HOST},
    };
    struct rtl_kernel_facts facts;
    uint64_t next[AGENTS] = {0};
    CHECK_DONE(set_up(RTL_MODE_STANDARD, 4));
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t own = fake_signal(1);
        CHECK(call(cases[i].to, cases[i].from, 8, own) == HSA_STATUS_SUCCESS);
        fake_complete(own, 100, 300);
        CHECK(harvest(cases[i].agent, next[cases[i].agent]++, &facts));
        CHECK(sent[i].kind == cases[i].kind && sent[i].queue == 10 + cases[i].agent);
        CHECK(sent[i].src == cases[i].from && sent[i].dst == cases[i].to);
        bool host = cases[i].kind == RTL_COPY_HOST_TO_HOST;
        CHECK(sent[i].engine == (host ? RTL_ENGINE_HOST : RTL_ENGINE_KERNEL));
        CHECK(sent[i].start == (host ? 0 : 100) && sent[i].end == (host ? 0 : 300));
    }
    return NULL;
}

/* The runtime notes the copying agent at the signal that it was given; the program asks for the
 * times with its own. */
const char *Copies_CountingSignalIsReplaced(void)
{
    struct rtl_kernel_facts facts;
    hsa_amd_profiling_async_copy_time_t time;
    CHECK_DONE(set_up(RTL_MODE_FULL, 4));
    uint64_t own = fake_signal(3);
    CHECK(call(SECOND_GPU, HOST, 64, own) == HSA_STATUS_SUCCESS);
    CHECK(given.handle != own && queues[SECOND_GPU].pending.to_forward == 1);
    fake_complete_copy(given.handle, 100, 300);
    CHECK(harvest(SECOND_GPU, 0, &facts) && rtl_is_replaced(&facts) && facts.app_signal == own);
    rtl_signal_put_times(own, &facts);
    CHECK(time_of(own, &time) == HSA_STATUS_SUCCESS);
    CHECK(time.start == 2001000 && time.end == 2003000);
    uint64_t plain = fake_signal(1);
    CHECK(time_of(plain, &time) == HSA_STATUS_SUCCESS && time.start == 1 && time.end == 2);
    /* Used once more, for a copy that keeps it: the runtime knows again. */
    queues[SECOND_GPU].pending.to_forward = 0;
    rtl_shared_signal(own)->signal.value = 1;
    CHECK(call(FIRST_GPU, HOST, 64, own) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(time_of(own, &time) == HSA_STATUS_SUCCESS && time.start == 1);
    return NULL;
}

const char *Copies_RefusedOnesNeverWere(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 1));
    uint64_t plain = fake_signal(1);
    uint64_t counting = fake_signal(2);
    outcome = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (int i = 0; i < 10; i++) {
        CHECK(call(FIRST_GPU, HOST, 64, plain) == outcome);
        CHECK(call(FIRST_GPU, HOST, 64, counting) == outcome); /* there is one pool signal */
    }
    CHECK(ledgers[FIRST_GPU].seen == 0 && ledgers[FIRST_GPU].borrowed == 0);
    CHECK(queues[FIRST_GPU].pending.to_forward == 0);
    CHECK(queues[FIRST_GPU].pending.head == queues[FIRST_GPU].pending.tail);
    outcome = HSA_STATUS_SUCCESS;
    CHECK(call(FIRST_GPU, HOST, 64, plain) == outcome && given.handle == plain);
    CHECK(call(FIRST_GPU, HOST, 64, counting) == outcome && given.handle != counting);
    CHECK(ledgers[FIRST_GPU].seen == 2 && ledgers[FIRST_GPU].lost[RTL_LOST_POOL] == 0);
    return NULL;
}

const char *Copies_OfNothingOrWithoutASignalPass(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 1));
    uint64_t own = fake_signal(2);
    CHECK(call(FIRST_GPU, HOST, 0, own) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(call(FIRST_GPU, HOST, 64, 0) == HSA_STATUS_SUCCESS && given.handle == 0);
    CHECK(call(99, HOST, 64, own) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(ledgers[FIRST_GPU].seen == 0);
    return NULL;
}

const char *Copies_WhatIsNotRecordedIsCounted(void)
{
    const struct rtl_wire_ledger *ledger = &ledgers[FIRST_GPU];
    uint64_t own = fake_signal(2);
    CHECK_DONE(set_up(RTL_MODE_LITE, 1));
    CHECK(call(FIRST_GPU, HOST, 64, own) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(ledger->seen == 1 && ledger->skipped == 1);
    CHECK_DONE(set_up(RTL_MODE_FULL, 1));
    (void)rtl_recording_stop(true);
    CHECK(call(FIRST_GPU, HOST, 64, own) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(ledger->seen == 1 && ledger->skipped == 1);
    (void)rtl_recording_stop(false);
    rtl_shared_signal(own)->magic = 0; /* another runtime's layout */
    CHECK(call(FIRST_GPU, HOST, 64, own) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(ledger->seen == 2 && ledger->lost[RTL_LOST_NO_TIME] == 1);
    rtl_shared_signal(own)->magic = RTL_SHARED_SIGNAL_MAGIC;
    CHECK(call(FIRST_GPU, HOST, 64, own) == HSA_STATUS_SUCCESS && given.handle != own);
    CHECK(call(FIRST_GPU, HOST, 64, own) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(ledger->seen == 4 && ledger->lost[RTL_LOST_POOL] == 1);
    CHECK_DONE(set_up(RTL_MODE_FULL, 1));
    no_place = true;
    CHECK(call(FIRST_GPU, HOST, 64, own) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(ledger->seen == 1 && ledger->lost[RTL_LOST_NOT_FOLLOWED] == 1);
    return NULL;
}

const char *Copies_ADeviceThatLeavesNoTimes(void)
{
    struct rtl_kernel_facts facts = {.flags = RTL_RECORD_COPY, .start = 0, .end = 0};
    struct rtl_copy_draft draft;
    CHECK(rtl_out_draft_copy(0, &facts, &draft) == RTL_COPY_NO_TIME);
    facts = (struct rtl_kernel_facts){.flags = RTL_RECORD_COPY, .start = 9, .end = 8};
    CHECK(rtl_out_draft_copy(0, &facts, &draft) == RTL_COPY_NO_TIME);
    return NULL;
}

const char *Copies_Rectangles(void)
{
    struct rtl_kernel_facts facts;
    CHECK_DONE(set_up(RTL_MODE_FULL, 4));
    __typeof__(hsa_amd_memory_async_copy_rect) *entry =
        (__typeof__(hsa_amd_memory_async_copy_rect) *)
            hooks[RTL_ENTRY_hsa_amd_memory_async_copy_rect];
    const hsa_dim3_t range = {100, 20, 3};
    uint64_t own = fake_signal(1);
    CHECK(entry(NULL, NULL, NULL, NULL, &range, (hsa_agent_t){SECOND_GPU}, hsaDeviceToHost, 0, NULL,
                (hsa_signal_t){own}) == HSA_STATUS_SUCCESS);
    fake_complete_copy(own, 1, 2);
    CHECK(harvest(SECOND_GPU, 0, &facts));
    CHECK(sent[0].bytes == 6000 && sent[0].kind == RTL_COPY_DEVICE_TO_HOST);
    CHECK(sent[0].src == SECOND_GPU && sent[0].dst == RTL_NONE);
    /* No range: the runtime refuses, and we do not look. */
    outcome = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    CHECK(entry(NULL, NULL, NULL, NULL, NULL, (hsa_agent_t){SECOND_GPU}, hsaDeviceToHost, 0, NULL,
                (hsa_signal_t){own}) == outcome);
    CHECK(ledgers[SECOND_GPU].seen == 1);
    return NULL;
}

static rtl_async_batch_copy_t *batch_entry(void)
{
    return (rtl_async_batch_copy_t *)hooks[RTL_ENTRY_hsa_amd_memory_async_batch_copy];
}

/* One operation of several entries; its signal is a counting one and has to be replaced, in a copy
 * of the program's operation. */
const char *Copies_BatchOfOne(void)
{
    struct rtl_kernel_facts facts;
    CHECK_DONE(set_up(RTL_MODE_FULL, 4));
    const hsa_agent_t to[2] = {{HOST}, {HOST}};
    const size_t sizes[2] = {1000, 24};
    uint64_t own = fake_signal(2);
    struct rtl_copy_op op = {.version = 1,
                             .entries = 2,
                             .completion = {own},
                             .src_agent = {FIRST_GPU},
                             .dst_agent.list = to,
                             .size.list = sizes,
                             .wait = {1, 2, 3, 4},
                             .signal = {5, 6, 7}};
    CHECK(batch_entry()(&op, 1, 0, NULL) == HSA_STATUS_SUCCESS && last_count == 1);
    CHECK(given.handle != own && op.completion.handle == own);
    last_op.completion = op.completion;
    CHECK(memcmp(&last_op, &op, sizeof op) == 0);
    fake_complete_copy(given.handle, 100, 300);
    CHECK(harvest(FIRST_GPU, 0, &facts));
    CHECK(sent[0].bytes == 1024 && sent[0].kind == RTL_COPY_DEVICE_TO_HOST);
    CHECK(sent[0].start == 100 && sent[0].end == 300);
    return NULL;
}

const char *Copies_BatchesOfSeveralHaveNoTimes(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 4));
    uint64_t own = fake_signal(2);
    struct rtl_copy_op ops[2] = {{.version = 1,
                                  .type = RTL_COPY_OP_BROADCAST,
                                  .entries = 1,
                                  .completion = {own},
                                  .src_agent = {FIRST_GPU},
                                  .dst_agent.list = &(hsa_agent_t){SECOND_GPU},
                                  .size.one = 64},
                                 {.version = 1,
                                  .completion = {own},
                                  .src_agent = {SECOND_GPU},
                                  .dst_agent.one = {HOST},
                                  .size.one = 64}};
    CHECK(batch_entry()(ops, 2, 0, NULL) == HSA_STATUS_SUCCESS && given.handle == own);
    for (unsigned gpu = FIRST_GPU; gpu <= SECOND_GPU; gpu++)
        CHECK(ledgers[gpu].seen == 1 && ledgers[gpu].recorded == 1);
    CHECK(sent_count == 2 && sent[0].bytes == 64 && sent[0].kind == RTL_COPY_PEER);
    CHECK(sent[1].kind == RTL_COPY_DEVICE_TO_HOST && sent[1].engine == RTL_ENGINE_UNKNOWN);
    CHECK(sent[0].start == 0 && sent[0].end == 0 && sent[1].start == 0 && sent[1].end == 0);
    /* Refused, or of a version to come: nothing is looked at. */
    outcome = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    CHECK(batch_entry()(ops, 2, 0, NULL) == outcome);
    outcome = HSA_STATUS_SUCCESS;
    ops[0].version = 2;
    CHECK(batch_entry()(ops, 2, 0, NULL) == HSA_STATUS_SUCCESS && last_count == 2);
    CHECK(batch_entry()(ops, 1, 0, NULL) == HSA_STATUS_SUCCESS && given.handle == own);
    CHECK(ledgers[FIRST_GPU].seen == 1 && sent_count == 2);
    return NULL;
}

/* ---- several threads ---- */

enum { THREADS = 4, EACH = 2000, ALL = THREADS * EACH };

static _Atomic bool submitting;

static void *submit_many(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < EACH; i++)
        (void)call(FIRST_GPU, HOST, i + 1, fake_signal(i % 3 ? 1 : 2));
    return NULL;
}

/* Plays the device and the worker: completes and harvests whatever there is. */
static void *finish_all(void *unused)
{
    (void)unused;
    struct rtl_pending *pending = &queues[FIRST_GPU].pending;
    for (uint64_t at = 0;;) {
        struct rtl_kernel_facts facts;
        bool last = !atomic_load(&submitting);
        if (at == atomic_load(&pending->tail)) {
            if (last)
                return NULL;
            continue;
        }
        uint64_t tail = atomic_load(&pending->tail);
        for (; at < tail; at++) {
            struct rtl_record *record = rtl_record_at(pending, at);
            uint32_t id = (uint32_t)atomic_load(&record->tag);
            uint32_t flags = rtl_record_flags(atomic_load(&record->packet));
            fake_complete_copy((flags & RTL_RECORD_BORROWED) != 0
                                   ? rtl_record_app_signal(record)
                                   : rtl_pool_handle(&rtl_signals, id),
                               10, 20);
            if (!harvest(FIRST_GPU, at, &facts))
                return (void *)record;
            if (rtl_is_replaced(&facts))
                atomic_fetch_sub(&pending->to_forward, 1);
        }
        rtl_pending_advance(pending);
    }
}

const char *Copies_FromSeveralThreads(void)
{
    pthread_t threads[THREADS];
    pthread_t worker;
    void *failed = NULL;
    uint64_t bytes = 0;
    CHECK_DONE(set_up(RTL_MODE_FULL, ALL));
    atomic_store(&submitting, true);
    CHECK(pthread_create(&worker, NULL, finish_all, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, submit_many, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    atomic_store(&submitting, false);
    CHECK(pthread_join(worker, &failed) == 0 && failed == NULL);
    CHECK(ledgers[FIRST_GPU].seen == ALL && sent_count == ALL);
    for (unsigned i = 0; i < sent_count; i++) {
        CHECK(sent[i].ordinal == i);
        bytes += sent[i].bytes;
    }
    CHECK(bytes == (uint64_t)ALL * (EACH + 1) / 2);
    return NULL;
}
