#include "intercept/queue/ids.h"

#include "common/clock.h"
#include "intercept/base/emit.h"

#include <hsa/amd_hsa_signal.h>
#include <stdatomic.h>

static struct rtl_ring *ring;            /* NULL: accounts are discarded */
static struct rtl_wire_ledger discarded; /* of all queues then */
static _Atomic uint32_t next_id;
static _Atomic bool plain_doorbells;

void rtl_queues_ids_open(struct rtl_ring *to)
{
    ring = to;
}

uint32_t rtl_queues_new_id(void)
{
    return atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
}

struct rtl_wire_ledger *rtl_queues_ledger(uint32_t id)
{
    if (ring == NULL)
        return &discarded;
    uint32_t row = id < RTL_LEDGER_ROWS ? id : RTL_LEDGER_ROWS - 1;
    uint32_t rows = atomic_load(&ring->header->queues);
    while (rows < row + 1 && !atomic_compare_exchange_weak(&ring->header->queues, &rows, row + 1))
        ;
    return &ring->header->ledger[row];
}

bool rtl_queues_share_ledger(uint32_t id)
{
    return ring == NULL || id >= RTL_LEDGER_ROWS - 1;
}

void rtl_queues_describe(const hsa_queue_t *queue, uint32_t id, uint32_t agent,
                         enum rtl_interception interception)
{
    struct rtl_wire_queue wire = {
        .time_ns = rtl_now(),
        .address = (uint64_t)(uintptr_t)queue,
        .hsa_id = queue->id,
        .queue = id,
        .agent = agent,
        .size = queue->size,
        .hsa_type = queue->type,
        .interception = (uint32_t)interception,
    };
    struct rtl_piece piece = {&wire, sizeof wire};
    rtl_emit_definition(RTL_WIRE_QUEUE, &piece, 1);
}

void rtl_queues_describe_copies(uint32_t id, uint32_t agent, enum rtl_interception interception)
{
    struct rtl_wire_queue wire = {
        .time_ns = rtl_now(), .queue = id, .agent = agent, .interception = (uint32_t)interception};
    struct rtl_piece piece = {&wire, sizeof wire};
    rtl_emit_definition(RTL_WIRE_QUEUE, &piece, 1);
}

/* ---- doorbells ---- */

bool rtl_queues_plain_doorbells(void)
{
    return atomic_load_explicit(&plain_doorbells, memory_order_relaxed);
}

void rtl_queues_note_doorbell_kind(uint64_t handle)
{
    if (((const amd_signal_t *)(uintptr_t)handle)->kind >= 0)
        atomic_store_explicit(&plain_doorbells, true, memory_order_relaxed);
}
