#include "intercept/rewrite.h"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>

#define PACKET_SIZE              64u
#define HELP_TRIES               4u
#define AMD_FORMAT_BARRIER_VALUE 2u

/* What the account of one batch comes to; added to the shared ledger once. */
struct tally {
    uint64_t seen, skipped, borrowed;
    uint64_t lost[RTL_LOST_REASONS];
};

static bool wanted(const struct rtl_rewriter *rewriter, const hsa_kernel_dispatch_packet_t *packet,
                   uint64_t slot)
{
    if (rewriter->mode == RTL_MODE_FULL)
        return true;
    if (rewriter->mode == RTL_MODE_LITE && packet->completion_signal.handle != 0)
        return false;
    return atomic_load_explicit(&rewriter->alone[slot], memory_order_relaxed) != 0;
}

/* Even help that harvested nothing may be of use: then another thread has just harvested the same
 * records. */
static bool have_room(struct rtl_rewriter *rewriter)
{
    for (unsigned tries = 0; rtl_pending_room(rewriter->pending) == 0; tries++) {
        if (tries == HELP_TRIES)
            return false;
        (void)rewriter->help(rewriter->context);
    }
    return true;
}

static bool refill(struct rtl_rewriter *rewriter)
{
    for (unsigned tries = 0; rewriter->id_count == 0; tries++) {
        rewriter->id_count = rtl_pool_take(rewriter->pool, rewriter->ids, RTL_REWRITE_CACHE);
        if (rewriter->id_count > 0)
            break;
        if (tries == HELP_TRIES)
            return false;
        (void)rewriter->help(rewriter->context);
    }
    return true;
}

static bool take_signal(struct rtl_rewriter *rewriter, uint32_t *id)
{
    if (!refill(rewriter))
        return false;
    *id = rewriter->ids[--rewriter->id_count];
    return true;
}

void rtl_rewrite_release(struct rtl_rewriter *rewriter)
{
    rtl_pool_give(rewriter->pool, rewriter->ids, rewriter->id_count);
    rewriter->id_count = 0;
}

/* A signal may be read in place if the device's decrement is the only thing that can happen to it.
 */
static bool may_borrow(struct rtl_rewriter *rewriter, uint64_t handle)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    if (atomic_load_explicit(&rewriter->pending->owed, memory_order_relaxed) != 0 ||
        signal->kind != AMD_SIGNAL_KIND_USER ||
        __atomic_load_n(&signal->value, __ATOMIC_RELAXED) != 1)
        return false;
    struct rtl_record_name name = {
        rewriter->slot, atomic_load_explicit(&rewriter->pending->tail, memory_order_relaxed)};
    return rtl_borrow_enter(rewriter->borrows, handle, name);
}

static void put_signal(struct rtl_rewriter *rewriter, hsa_signal_t *signal, uint32_t id)
{
    signal->handle = rtl_pool_handle(rewriter->pool, id);
}

static void rewrite_kernel(struct rtl_rewriter *rewriter, hsa_kernel_dispatch_packet_t *packet,
                           uint64_t index, uint32_t epoch, struct tally *tally)
{
    if (!have_room(rewriter)) {
        tally->lost[RTL_LOST_PENDING]++;
        return;
    }
    struct rtl_kernel_facts facts = {
        .own = packet->completion_signal.handle,
        .kernel_object = packet->kernel_object,
        .packet = index,
        .grid = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z},
        .group_size = packet->group_segment_size,
        .block = {packet->workgroup_size_x, packet->workgroup_size_y, packet->workgroup_size_z},
        .pool_id = UINT32_MAX,
        .epoch = epoch,
    };
    if (facts.own != 0 && may_borrow(rewriter, facts.own)) {
        tally->borrowed++;
    } else if (take_signal(rewriter, &facts.pool_id)) {
        put_signal(rewriter, &packet->completion_signal, facts.pool_id);
    } else {
        tally->lost[RTL_LOST_POOL]++;
        return;
    }
    rtl_pending_add(rewriter->pending, &facts);
}

/* Signal of a packet that is no kernel, if its format is one whose signal's place is known. */
static hsa_signal_t *barrier_signal(void *packet, uint16_t header)
{
    switch (rtl_packet_type(header)) {
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
        return &((hsa_barrier_and_packet_t *)packet)->completion_signal;
    case HSA_PACKET_TYPE_AGENT_DISPATCH:
        return &((hsa_agent_dispatch_packet_t *)packet)->completion_signal;
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC: {
        hsa_amd_barrier_value_packet_t *barrier = packet;
        return barrier->header.AmdFormat == AMD_FORMAT_BARRIER_VALUE ? &barrier->completion_signal
                                                                     : NULL;
    }
    default:
        return NULL;
    }
}

static void rewrite_other(struct rtl_rewriter *rewriter, void *packet, uint16_t header)
{
    if (atomic_load_explicit(&rewriter->pending->owed, memory_order_relaxed) == 0)
        return;
    hsa_signal_t *signal = barrier_signal(packet, header);
    uint32_t id;
    if (signal == NULL || signal->handle == 0 || !have_room(rewriter) ||
        !take_signal(rewriter, &id))
        return;
    struct rtl_kernel_facts facts = {
        .own = signal->handle, .flags = RTL_RECORD_BARRIER, .pool_id = id};
    put_signal(rewriter, signal, id);
    rtl_pending_add(rewriter->pending, &facts);
}

static void add(_Atomic uint64_t *counter, uint64_t value)
{
    if (value != 0)
        atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

static void settle(struct rtl_wire_ledger *ledger, const struct tally *tally, uint64_t packets)
{
    add(&ledger->packets, packets);
    add(&ledger->seen, tally->seen);
    add(&ledger->skipped, tally->skipped);
    add(&ledger->borrowed, tally->borrowed);
    for (unsigned i = 0; i < RTL_LOST_REASONS; i++)
        add(&ledger->lost[i], tally->lost[i]);
}

void rtl_rewrite(struct rtl_rewriter *rewriter, void *base, uint64_t mask, uint64_t first,
                 uint64_t count, uint32_t epoch)
{
    struct tally tally = {0};
    for (uint64_t index = first; index < first + count; index++) {
        void *packet = (unsigned char *)base + (index & mask) * PACKET_SIZE;
        uint16_t header = *(const uint16_t *)packet;
        if (rtl_packet_type(header) != HSA_PACKET_TYPE_KERNEL_DISPATCH) {
            rewrite_other(rewriter, packet, header);
            continue;
        }
        tally.seen++;
        if (wanted(rewriter, packet, index & mask))
            rewrite_kernel(rewriter, packet, index, epoch, &tally);
        else
            tally.skipped++;
    }
    settle(rewriter->ledger, &tally, count);
}
