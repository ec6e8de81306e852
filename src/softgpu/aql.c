#include "softgpu/aql.h"

#include "softgpu/clock.h"
#include "softgpu/events.h"
#include "softgpu/exec.h"
#include "softgpu/kfd.h"
#include "softgpu/pm4_packets.h"
#include "softgpu/pmc.h"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stddef.h>
#include <string.h>

enum {
    PACKET_BYTES = 64,
    BURST = 256, /* packets started in one visit, so that a busy queue does not starve the others */
    MAX_WORKGROUP = 1024,
    MAX_GROUP_SEGMENT = 64 << 10,
    MAX_ARGUMENTS = 4096, /* bytes, as HIP allows */
    OWN_ARGUMENTS = 256,  /* of ROCr's kernels, which say nothing of theirs; they have fewer */
    /* Of vendor packets, in ROCm 7's hsa_ext_amd.h. */
    FORMAT_EXTENDED_DISPATCH = 3,
};

/* What the packet processor writes to queue_inactive_signal; ROCr 5.2.3 translates each bit to the
 * status that the queue's error callback gets (AqlQueue::DynamicScratchHandler). */
enum {
    ERROR_DIMENSIONS = 2,     /* HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS */
    ERROR_GROUP_SEGMENT = 4,  /* HSA_STATUS_ERROR_INVALID_ALLOCATION */
    ERROR_CODE = 8,           /* HSA_STATUS_ERROR_INVALID_CODE_OBJECT */
    ERROR_FORMAT = 32,        /* HSA_STATUS_ERROR_INVALID_PACKET_FORMAT */
    ERROR_WORKGROUP = 64,     /* HSA_STATUS_ERROR_INVALID_ARGUMENT */
    ERROR_VENDOR_FORMAT = 256 /* HSA_STATUS_ERROR_INVALID_PACKET_FORMAT */
};

/* HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH: the grid is counted in clusters of workgroups, and the
 * kernel waits for a signal. */
typedef struct sg_extended_dispatch {
    uint16_t header;
    uint8_t amd_format;
    uint8_t dimensions;
    uint16_t workgroup_size[3];
    uint16_t reserved;
    uint32_t cluster_count_x;
    uint16_t cluster_count_y, cluster_count_z;
    uint8_t cluster_size[3];
    uint8_t hint;
    uint32_t private_segment_size, group_segment_size;
    uint64_t kernel_object;
    void *kernarg_address;
    hsa_signal_t dependency;
    hsa_signal_t completion_signal;
} sg_extended_dispatch_t;

/* Every AQL packet has its header in front and its completion signal at the end. */
typedef union sg_packet {
    uint16_t header;
    hsa_amd_vendor_packet_header_t vendor;
    sg_extended_dispatch_t extended;
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier;
    hsa_amd_barrier_value_packet_t value;
    uint8_t bytes[PACKET_BYTES];
    uint32_t words[PACKET_BYTES / 4];
} sg_packet_t;

_Static_assert(sizeof(sg_packet_t) == PACKET_BYTES, "an AQL packet has 64 bytes");
_Static_assert(offsetof(sg_extended_dispatch_t, completion_signal) ==
                   offsetof(hsa_kernel_dispatch_packet_t, completion_signal),
               "the signal has one place in all packets");

static unsigned packet_type(uint16_t header)
{
    return (header >> HSA_PACKET_HEADER_TYPE) & ((1U << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

static bool has_barrier_bit(uint16_t header)
{
    return ((header >> HSA_PACKET_HEADER_BARRIER) & 1) != 0;
}

static char *slot_of(const sg_queue_t *queue, uint64_t index)
{
    return (char *)queue->ring + (index & (queue->aql.slots - 1)) * PACKET_BYTES;
}

static _Atomic uint16_t *header_of(const sg_queue_t *queue, uint64_t index)
{
    return (_Atomic uint16_t *)(void *)slot_of(queue, index);
}

/* A signal's value is a plain int64 in ROCr's struct; the device shares it with the host. */
static _Atomic int64_t *signal_value(uint64_t handle)
{
    return (_Atomic int64_t *)(uintptr_t) & ((amd_signal_t *)(uintptr_t)handle)->value;
}

static int64_t read_signal(uint64_t handle)
{
    return atomic_load_explicit(signal_value(handle), memory_order_acquire);
}

/* Tells a sleeping host that a signal changed. Mailbox and event must have been read before the
 * change: whoever waits may destroy the signal as soon as he sees it. */
static void interrupt(uint64_t mailbox, uint32_t event)
{
    if (mailbox == 0)
        return;
    atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)mailbox, event, memory_order_release);
    sg_event_raise(event);
}

/* ---- completion ---- */

static void complete(const sg_queue_t *queue, const softgpu_truth_entry_t *entry)
{
    if (sg_truth_on())
        sg_truth_write(entry);
    if (entry->signal == 0)
        return;
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)entry->signal;
    if (queue->aql.queue->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING) {
        /* The host may look at the times before it sees the value. */
        atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)&signal->start_ts, entry->start_ticks,
                              memory_order_relaxed);
        atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)&signal->end_ts, entry->end_ticks,
                              memory_order_release);
    }
    uint64_t mailbox = signal->event_mailbox_ptr;
    uint32_t event = signal->event_id;
    (void)atomic_fetch_sub_explicit(signal_value(entry->signal), 1, memory_order_release);
    interrupt(mailbox, event);
}

/* The flight that completes next. */
static uint32_t first_flight(const sg_aql_t *aql)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < aql->flights; i++)
        if (aql->flight[i].complete < aql->flight[first].complete)
            first = i;
    return first;
}

static bool retire(sg_queue_t *queue)
{
    sg_aql_t *aql = &queue->aql;
    bool progress = false;
    while (aql->flights > 0) {
        sg_flight_t *flight = &aql->flight[first_flight(aql)];
        if (flight->complete > sg_clock_ticks()) {
            queue->wake = flight->complete;
            break;
        }
        if (flight->entry.kind == SOFTGPU_TRUTH_KERNEL)
            sg_pmc_kernel_ends(&flight->mix, flight->of_waves, &flight->entry);
        complete(queue, &flight->entry);
        if (flight->holds_queue)
            aql->held = false;
        *flight = aql->flight[--aql->flights];
        progress = true;
    }
    return progress;
}

/* When a packet that ends at entry->end_ticks completes. */
static uint64_t completion_of(sg_queue_t *queue, const softgpu_truth_entry_t *entry)
{
    uint64_t delay = sg_settings()->delay_ticks;
    return entry->end_ticks + (delay > 0 ? sg_random(&queue->delays) % (delay + 1) : 0);
}

static sg_flight_t *fly(sg_queue_t *queue, const softgpu_truth_entry_t *entry, uint64_t complete_at)
{
    sg_flight_t *flight = &queue->aql.flight[queue->aql.flights++];
    flight->complete = complete_at;
    flight->holds_queue = false;
    flight->entry = *entry;
    return flight;
}

/* Completes a packet that holds the queue until then: now if that has come, else when it comes. */
static void finish(sg_queue_t *queue, const softgpu_truth_entry_t *entry)
{
    uint64_t complete_at = completion_of(queue, entry);
    if (complete_at <= entry->start_ticks) {
        complete(queue, entry);
        return;
    }
    fly(queue, entry, complete_at)->holds_queue = true;
    queue->aql.held = true;
}

/* Completes a kernel likewise; others of its queue may start before. */
static void finish_kernel(sg_queue_t *queue, softgpu_truth_entry_t *entry, const sg_mix_t *mix)
{
    bool of_waves = queue->aql.pm4.counting;
    uint64_t complete_at = completion_of(queue, entry);
    sg_pmc_kernel_starts(queue->gpu, entry->start_ticks, entry->end_ticks);
    if (complete_at <= entry->start_ticks) {
        sg_pmc_kernel_ends(mix, of_waves, entry);
        complete(queue, entry);
        return;
    }
    sg_flight_t *flight = fly(queue, entry, complete_at);
    flight->mix = *mix;
    flight->of_waves = of_waves;
}

/* ---- the start of packets ---- */

static void describe(const sg_queue_t *queue, const sg_packet_t *packet, softgpu_truth_kind_t kind,
                     softgpu_truth_entry_t *entry)
{
    memset(entry, 0, sizeof(*entry));
    entry->kind = kind;
    entry->pid = queue->pid;
    entry->gpu = queue->gpu;
    entry->queue = queue->ordinal;
    entry->queue_address = (uintptr_t)queue->aql.queue;
    entry->queue_hsa_id = queue->aql.queue->hsa_queue.id;
    entry->index = queue->aql.next;
    entry->name = "";
    entry->header = packet->header;
    entry->signal = packet->kernel.completion_signal.handle;
}

static void set_times(softgpu_truth_entry_t *entry, uint64_t start, uint64_t end)
{
    entry->start_ticks = start;
    entry->end_ticks = end;
    entry->start_ns = start * SG_NS_PER_TICK;
    entry->end_ns = end * SG_NS_PER_TICK;
}

/* Frees the slot for the program. */
static void consume(sg_queue_t *queue)
{
    sg_aql_t *aql = &queue->aql;
    atomic_store_explicit(header_of(queue, aql->next), HSA_PACKET_TYPE_INVALID,
                          memory_order_release);
    aql->next++;
    aql->barrier_start = 0;
    aql->pm4.at = 0;
    atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)&aql->queue->read_dispatch_id, aql->next,
                          memory_order_release);
}

/* At the head of a queue's save area, which the thunk fills (kfd_context_save_area_header). */
typedef struct sg_save_area {
    uint32_t waves[6]; /* where they are saved */
    uint64_t reasons;  /* address */
    uint32_t event;
} sg_save_area_t;

/* As the driver does for a runtime that has said that it begins. Its codes of exceptions (EC_QUEUE_
 * PACKET_*) follow each other as the bits of `error` do, and so do those of its mask. */
static void raise_exception(const sg_queue_t *queue, int64_t error)
{
    enum { MASK_SHIFT = 14 };
    const sg_save_area_t *area = queue->save_area;
    if (!area || area->reasons == 0 || !sg_kfd_has_runtime())
        return;
    atomic_fetch_or_explicit((_Atomic uint64_t *)(uintptr_t)area->reasons,
                             (uint64_t)error << MASK_SHIFT, memory_order_release);
    sg_event_raise(area->event);
}

/* A malformed packet: the queue stops for good with the packet in its slot, and ROCr's handler for
 * queue_inactive_signal, or for exceptions, calls the program's error callback. Kernels in flight
 * still complete. */
static void fail(sg_queue_t *queue, const sg_packet_t *packet, int64_t error)
{
    softgpu_truth_entry_t entry;
    describe(queue, packet, SOFTGPU_TRUTH_ERROR, &entry);
    entry.signal = 0;
    uint64_t now = sg_clock_ticks();
    set_times(&entry, now, now);
    if (sg_truth_on())
        sg_truth_write(&entry);
    sg_debug("queue %u: packet %llu with header 0x%04x is malformed (error %lld)", queue->ordinal,
             (unsigned long long)queue->aql.next, packet->header, (long long)error);
    queue->aql.failed = true;
    raise_exception(queue, error);
    uint64_t handle = queue->aql.queue->queue_inactive_signal.handle;
    if (handle == 0)
        return;
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle;
    uint64_t mailbox = signal->event_mailbox_ptr;
    uint32_t event = signal->event_id;
    atomic_store_explicit(signal_value(handle), error, memory_order_release);
    interrupt(mailbox, event);
}

/* hsa.h on hsa_kernel_dispatch_packet_t: sizes are positive, a grid is not smaller than its
 * workgroup, and the dimensions that setup does not name are 1. */
static int64_t check_sizes(const hsa_kernel_dispatch_packet_t *packet)
{
    const uint32_t grid[3] = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z};
    const uint16_t group[3] = {packet->workgroup_size_x, packet->workgroup_size_y,
                               packet->workgroup_size_z};
    unsigned dimensions = (packet->setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS) &
                          ((1U << HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS) - 1);
    if (dimensions < 1 || dimensions > 3)
        return ERROR_DIMENSIONS;
    uint64_t work_items = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (grid[i] == 0 || group[i] == 0 || grid[i] < group[i])
            return ERROR_DIMENSIONS;
        if (i >= dimensions && (grid[i] != 1 || group[i] != 1))
            return ERROR_DIMENSIONS;
        work_items *= group[i];
    }
    return work_items > MAX_WORKGROUP ? ERROR_WORKGROUP : 0;
}

static int64_t check_kernel(const hsa_kernel_dispatch_packet_t *packet)
{
    int64_t error = check_sizes(packet);
    if (error == 0 && packet->group_segment_size > MAX_GROUP_SEGMENT)
        error = ERROR_GROUP_SEGMENT;
    if (error == 0 && packet->kernel_object == 0)
        error = ERROR_CODE;
    return error;
}

/* The dispatch with its arguments as the host sees what they point to: an address of registered
 * memory is on the device another one. What in the arguments is no pointer is unlikely to look like
 * such an address. `space` holds the arguments. */
static hsa_kernel_dispatch_packet_t
with_host_arguments(const hsa_kernel_dispatch_packet_t *dispatch, size_t size, uint64_t *space)
{
    hsa_kernel_dispatch_packet_t seen = *dispatch;
    uint64_t there = 0;
    const void *arguments = sg_memory_host((uintptr_t)dispatch->kernarg_address, &there);
    if (!arguments || sg_memory_is_one())
        return seen;
    size = size == 0 ? OWN_ARGUMENTS : size;
    if (size > there)
        size = there;
    if (size > MAX_ARGUMENTS)
        size = MAX_ARGUMENTS;
    memcpy(space, arguments, size);
    for (size_t i = 0; i < size / sizeof(*space); i++) {
        void *host = sg_memory_host(space[i], &there);
        if (host)
            space[i] = (uintptr_t)host;
    }
    seen.kernarg_address = space;
    return seen;
}

/* The kernel does its work at its start; its signal falls at its end. A kernel that needs scratch
 * memory gets none: nothing here executes shader code that would spill, so the device never asks
 * ROCr for it (queue_inactive_signal codes 1 and 0x400). `dispatch` is what
 * `packet` stands for. */
static bool start_kernel(sg_queue_t *queue, const sg_packet_t *packet,
                         const hsa_kernel_dispatch_packet_t *dispatch)
{
    sg_aql_t *aql = &queue->aql;
    const sg_kernel_t *kernel = sg_kernel_find(dispatch->kernel_object);
    uint64_t space[MAX_ARGUMENTS / sizeof(uint64_t)];
    hsa_kernel_dispatch_packet_t seen =
        with_host_arguments(dispatch, sg_kernel_kernarg_size(kernel), space);
    if (!sg_kernel_ready(kernel, &seen, queue->gpu))
        return false;
    uint64_t ticks = sg_model_ticks(kernel, &seen, queue->ordinal, aql->dispatches++);

    softgpu_truth_entry_t entry;
    describe(queue, packet, SOFTGPU_TRUTH_KERNEL, &entry);
    entry.kernel_object = dispatch->kernel_object;
    entry.name = sg_kernel_name(kernel);
    entry.kernarg = (uintptr_t)dispatch->kernarg_address;
    entry.grid[0] = dispatch->grid_size_x;
    entry.grid[1] = dispatch->grid_size_y;
    entry.grid[2] = dispatch->grid_size_z;
    entry.block[0] = dispatch->workgroup_size_x;
    entry.block[1] = dispatch->workgroup_size_y;
    entry.block[2] = dispatch->workgroup_size_z;
    sg_blit_describe(seen.kernarg_address, &entry);

    consume(queue);
    uint64_t start = sg_clock_ticks();
    set_times(&entry, start, start + ticks);
    sg_kernel_run(kernel, &seen, queue->gpu);
    finish_kernel(queue, &entry, sg_kernel_mix(kernel));
    return true;
}

static bool try_kernel(sg_queue_t *queue, const sg_packet_t *packet)
{
    int64_t error = check_kernel(&packet->kernel);
    if (error == 0)
        return start_kernel(queue, packet, &packet->kernel);
    fail(queue, packet, error);
    return false;
}

/* The extended dispatch as a plain one. A grid that has no such form is left empty, and refused as
 * an empty one is. */
static hsa_kernel_dispatch_packet_t plain_dispatch(const sg_extended_dispatch_t *packet)
{
    const uint32_t count[3] = {packet->cluster_count_x, packet->cluster_count_y,
                               packet->cluster_count_z};
    uint32_t grid[3];
    for (unsigned i = 0; i < 3; i++) {
        /* 32 + 8 + 16 bits */
        uint64_t size = (uint64_t)count[i] * packet->cluster_size[i] * packet->workgroup_size[i];
        grid[i] = size <= UINT32_MAX ? (uint32_t)size : 0;
    }
    return (hsa_kernel_dispatch_packet_t){
        .setup = packet->dimensions <= 3 ? packet->dimensions : 0,
        .workgroup_size_x = packet->workgroup_size[0],
        .workgroup_size_y = packet->workgroup_size[1],
        .workgroup_size_z = packet->workgroup_size[2],
        .grid_size_x = grid[0],
        .grid_size_y = grid[1],
        .grid_size_z = grid[2],
        .private_segment_size = packet->private_segment_size,
        .group_segment_size = packet->group_segment_size,
        .kernel_object = packet->kernel_object,
        .kernarg_address = packet->kernarg_address,
        .completion_signal = packet->completion_signal,
    };
}

/* The queue waits with a kernel whose dependency is not met, as it does with a barrier packet. */
static bool try_extended(sg_queue_t *queue, const sg_packet_t *packet)
{
    hsa_kernel_dispatch_packet_t dispatch = plain_dispatch(&packet->extended);
    int64_t error = check_kernel(&dispatch);
    if (error != 0) {
        fail(queue, packet, error);
        return false;
    }
    uint64_t dependency = packet->extended.dependency.handle;
    if (dependency != 0 && read_signal(dependency) != 0)
        return false;
    return start_kernel(queue, packet, &dispatch);
}

/* Barriers, and packets that do nothing on this device. They begin when the packet processor
 * reaches them and end when their condition holds. */
static void pass_barrier(sg_queue_t *queue, const sg_packet_t *packet, softgpu_truth_kind_t kind)
{
    softgpu_truth_entry_t entry;
    describe(queue, packet, kind, &entry);
    uint64_t now = sg_clock_ticks();
    set_times(&entry, queue->aql.barrier_start ? queue->aql.barrier_start : now, now);
    consume(queue);
    uint64_t delay = sg_settings()->delay_ticks;
    if (delay == 0)
        complete(queue, &entry);
    else
        finish(queue, &entry);
}

/* HSA 2.9.7 and 2.9.8: a dependency is met when its signal is 0; a null handle does not count. */
static bool barrier_and_met(const sg_packet_t *packet)
{
    for (int i = 0; i < 5; i++) {
        uint64_t handle = packet->barrier.dep_signal[i].handle;
        if (handle != 0 && read_signal(handle) != 0)
            return false;
    }
    return true;
}

static bool barrier_or_met(const sg_packet_t *packet)
{
    bool any = false;
    for (int i = 0; i < 5; i++) {
        uint64_t handle = packet->barrier.dep_signal[i].handle;
        if (handle == 0)
            continue;
        if (read_signal(handle) == 0)
            return true;
        any = true;
    }
    return !any;
}

static bool barrier_value_met(const sg_packet_t *packet)
{
    if (packet->value.signal.handle == 0)
        return true;
    int64_t value = read_signal(packet->value.signal.handle) & packet->value.mask;
    switch (packet->value.cond) {
    case HSA_SIGNAL_CONDITION_EQ:
        return value == packet->value.value;
    case HSA_SIGNAL_CONDITION_NE:
        return value != packet->value.value;
    case HSA_SIGNAL_CONDITION_LT:
        return value < packet->value.value;
    default:
        return value >= packet->value.value;
    }
}

static bool try_barrier(sg_queue_t *queue, const sg_packet_t *packet, bool met)
{
    if (!met) {
        if (queue->aql.barrier_start == 0)
            queue->aql.barrier_start = sg_clock_ticks();
        return false;
    }
    pass_barrier(queue, packet, SOFTGPU_TRUTH_BARRIER);
    return true;
}

/* A buffer of PM4 that waits for kernels holds back what stands behind it, as a barrier packet. */
static bool try_pm4(sg_queue_t *queue, const sg_packet_t *packet)
{
    sg_aql_t *aql = &queue->aql;
    const char *why = "";
    if (aql->barrier_start == 0)
        aql->barrier_start = sg_clock_ticks();
    switch (sg_pm4_run(&aql->pm4, packet->words + 1, queue->gpu, aql->flights == 0, &why)) {
    case SG_PM4_DONE:
        pass_barrier(queue, packet, SOFTGPU_TRUTH_VENDOR);
        return true;
    case SG_PM4_WAITS:
        return false;
    default:
        sg_debug("queue %u: packet %llu leads to %s", queue->ordinal, (unsigned long long)aql->next,
                 why);
        fail(queue, packet, ERROR_VENDOR_FORMAT);
        return false;
    }
}

static bool has_room(const sg_queue_t *queue)
{
    return queue->aql.flights < sg_settings()->width;
}

static bool start_vendor(sg_queue_t *queue, const sg_packet_t *packet)
{
    switch (packet->vendor.AmdFormat) {
    case HSA_AMD_PACKET_TYPE_BARRIER_VALUE:
        if (packet->value.cond > HSA_SIGNAL_CONDITION_GTE)
            break;
        return try_barrier(queue, packet, barrier_value_met(packet));
    case SG_PM4_AQL_FORMAT:
        return try_pm4(queue, packet);
    case FORMAT_EXTENDED_DISPATCH:
        return has_room(queue) && try_extended(queue, packet);
    default:
        break;
    }
    fail(queue, packet, ERROR_VENDOR_FORMAT);
    return false;
}

/* Starts the packet; false if it must wait or the queue has failed. */
static bool start(sg_queue_t *queue, const sg_packet_t *packet)
{
    const unsigned used_bits =
        HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE + HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE;
    if (packet->header >> used_bits) {
        fail(queue, packet, ERROR_FORMAT);
        return false;
    }
    switch (packet_type(packet->header)) {
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        return start_vendor(queue, packet);
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        return has_room(queue) && try_kernel(queue, packet);
    case HSA_PACKET_TYPE_BARRIER_AND:
        return try_barrier(queue, packet, barrier_and_met(packet));
    case HSA_PACKET_TYPE_BARRIER_OR:
        return try_barrier(queue, packet, barrier_or_met(packet));
    case HSA_PACKET_TYPE_AGENT_DISPATCH: /* no agent code to run: it is done */
        pass_barrier(queue, packet, SOFTGPU_TRUTH_AGENT);
        return true;
    default:
        fail(queue, packet, ERROR_FORMAT);
        return false;
    }
}

/* Takes note of a doorbell. Its value is one packet index that is valid; but producers of a shared
 * queue ring in any order, and a lower value may have replaced a higher one before the device
 * looked. So a ring announces, as on gfx9 hardware (which reads the write index when a doorbell
 * rings), everything below the write index too. SOFTGPU_READ_AHEAD does so without a ring. */
static void listen(sg_queue_t *queue)
{
    sg_aql_t *aql = &queue->aql;
    bool rung = sg_settings()->read_ahead;
    if (atomic_load_explicit(queue->doorbell, memory_order_relaxed) != SG_DOORBELL_SILENT) {
        uint64_t value =
            atomic_exchange_explicit(queue->doorbell, SG_DOORBELL_SILENT, memory_order_acquire);
        if (value + 1 > aql->limit)
            aql->limit = value + 1;
        rung = true;
    }
    if (!rung)
        return;
    uint64_t written = atomic_load_explicit(
        (_Atomic uint64_t *)(uintptr_t)&aql->queue->write_dispatch_id, memory_order_acquire);
    if (written > aql->limit)
        aql->limit = written;
}

static bool may_start(const sg_queue_t *queue, uint16_t header)
{
    if (packet_type(header) == HSA_PACKET_TYPE_INVALID)
        return false;
    return queue->aql.flights == 0 || !has_barrier_bit(header);
}

bool sg_aql_serve(sg_queue_t *queue)
{
    sg_aql_t *aql = &queue->aql;
    bool progress = retire(queue);
    listen(queue);
    for (int i = 0; i < BURST && !aql->failed && !aql->held && aql->next < aql->limit; i++) {
        uint16_t header = atomic_load_explicit(header_of(queue, aql->next), memory_order_acquire);
        if (!may_start(queue, header))
            break;
        sg_packet_t packet;
        memcpy(&packet, slot_of(queue, aql->next), sizeof(packet));
        if (!start(queue, &packet))
            break;
        progress = true;
    }
    if (aql->flights > 0)
        queue->wake = aql->flight[first_flight(aql)].complete;
    return progress;
}
