/* Slots reserved, filled and announced in every way that a queue's producers may choose. */
#include "random.h"

#include "common/tsan.h"

#include <hsa/hsa_ext_amd.h>
#include <string.h>
#include <unistd.h>

#define HEADER(type, bit)                                                                          \
    ((uint16_t)((type) << HSA_PACKET_HEADER_TYPE |                                                 \
                ((bit) ? 1u : 0u) << HSA_PACKET_HEADER_BARRIER |                                   \
                (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |      \
                (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE))

/* ---- packets ---- */

static void fill_kernel(const struct random_producer *producer, uint32_t id,
                        hsa_kernel_dispatch_packet_t *body)
{
    const struct random_world *world = producer->world;
    const struct random_packet *packet = &world->packets[id];
    const struct gpu_kernel *kernel = &world->kernels[packet->kind];
    struct random_arguments *arguments = &world->arguments[id];
    body->setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    body->workgroup_size_x = (uint16_t)(64 * (packet->kind + 1));
    body->workgroup_size_y = 1;
    body->workgroup_size_z = 1;
    body->grid_size_x = body->workgroup_size_x * (1 + id % 5);
    body->grid_size_y = 1;
    body->grid_size_z = 1;
    body->group_segment_size = kernel->group_size;
    body->private_segment_size = kernel->private_size;
    body->kernel_object = kernel->object;
    body->kernarg_address = arguments;
    arguments->tally = &producer->tallies[packet->kind];
    arguments->id = id;
    arguments->after = packet->after;
}

/* Barrier-AND and -OR differ in their headers only. */
static void fill_barrier(const struct random_world *world, const struct random_packet *packet,
                         hsa_barrier_and_packet_t *body)
{
    for (uint32_t i = 0; i < packet->need_count; i++)
        body->dep_signal[i] = world->needs[packet->needs + i].signal;
}

static void fill_value(const struct random_world *world, const struct random_packet *packet,
                       hsa_amd_barrier_value_packet_t *body)
{
    body->header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    if (packet->need_count > 0)
        body->signal = world->needs[packet->needs].signal;
    body->value = packet->value;
    body->mask = -1;
    body->cond = packet->condition;
}

static void *slot_of(const struct random_lane *lane, uint64_t index)
{
    return (char *)lane->queue->base_address + (index & (lane->queue->size - 1)) * 64;
}

/* Everything but the header, which stays invalid. */
static void fill_body(const struct random_producer *producer, uint32_t id)
{
    const struct random_world *world = producer->world;
    const struct random_packet *packet = &world->packets[id];
    union {
        hsa_kernel_dispatch_packet_t kernel;
        hsa_barrier_and_packet_t barrier;
        hsa_amd_barrier_value_packet_t value;
    } body;
    memset(&body, 0, sizeof body);
    switch (packet->kind) {
    case RANDOM_VALUE:
        fill_value(world, packet, &body.value);
        break;
    case RANDOM_AND:
    case RANDOM_OR:
        fill_barrier(world, packet, &body.barrier);
        break;
    case RANDOM_AGENT:
        break;
    default:
        fill_kernel(producer, id, &body.kernel);
        break;
    }
    body.kernel.header = HSA_PACKET_TYPE_INVALID;
    body.kernel.completion_signal = packet->signal;
    void *slot = slot_of(&world->lanes[packet->lane], packet->index);
    memcpy((char *)slot + sizeof(uint16_t), (const char *)&body + sizeof(uint16_t),
           sizeof body - sizeof(uint16_t));
}

static void publish(const struct random_world *world, uint32_t id)
{
    static const uint8_t types[RANDOM_KINDS] = {
        HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_PACKET_TYPE_KERNEL_DISPATCH,
        HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_PACKET_TYPE_BARRIER_AND,
        HSA_PACKET_TYPE_BARRIER_OR,      HSA_PACKET_TYPE_VENDOR_SPECIFIC,
        HSA_PACKET_TYPE_AGENT_DISPATCH};
    const struct random_packet *packet = &world->packets[id];
    atomic_store_explicit((_Atomic uint16_t *)slot_of(&world->lanes[packet->lane], packet->index),
                          HEADER(types[packet->kind], packet->bit), memory_order_release);
}

/* ---- reservation ---- */

typedef uint64_t (*add_entry)(const hsa_queue_t *, uint64_t);
typedef uint64_t (*cas_entry)(const hsa_queue_t *, uint64_t, uint64_t);
typedef uint64_t (*load_entry)(const hsa_queue_t *);
typedef void (*store_entry)(const hsa_queue_t *, uint64_t);

static const add_entry adds[] = {
    hsa_queue_add_write_index_relaxed, hsa_queue_add_write_index_scacquire,
    hsa_queue_add_write_index_screlease, hsa_queue_add_write_index_scacq_screl};
static const cas_entry swaps[] = {
    hsa_queue_cas_write_index_relaxed, hsa_queue_cas_write_index_scacquire,
    hsa_queue_cas_write_index_screlease, hsa_queue_cas_write_index_scacq_screl};
static const load_entry loads[] = {hsa_queue_load_write_index_relaxed,
                                   hsa_queue_load_write_index_scacquire};
static const store_entry stores[] = {hsa_queue_store_write_index_relaxed,
                                     hsa_queue_store_write_index_screlease};

static void take_slots(struct random_world *world, struct random_piece *piece, uint64_t index)
{
    piece->index = index;
    for (uint32_t i = 0; i < piece->count; i++)
        world->packets[piece->first + i].index = index + i;
}

static bool has_room(const struct random_lane *lane, uint64_t index)
{
    return index < hsa_queue_load_read_index_scacquire(lane->queue) + lane->queue->size;
}

/* Reserves the slots only if all of them are free. */
static bool try_reserve(struct random_producer *producer, struct random_piece *piece)
{
    struct random_lane *lane = &producer->world->lanes[piece->lane];
    uint64_t index = loads[random_below(&producer->moment, 2)](lane->queue);
    for (;;) {
        if (!has_room(lane, index + piece->count - 1))
            return false;
        uint64_t found =
            swaps[random_below(&producer->moment, 4)](lane->queue, index, index + piece->count);
        if (found == index)
            break;
        index = found;
    }
    take_slots(producer->world, piece, index);
    return true;
}

static uint64_t reserve_by_cas(struct random_producer *producer, const hsa_queue_t *queue,
                               uint32_t count)
{
    uint64_t index = loads[random_below(&producer->moment, 2)](queue);
    for (;;) {
        uint64_t found = swaps[random_below(&producer->moment, 4)](queue, index, index + count);
        if (found == index)
            return index;
        index = found;
    }
}

static void reserve(struct random_producer *producer, struct random_piece *piece)
{
    struct random_lane *lane = &producer->world->lanes[piece->lane];
    uint64_t index;
    switch (random_below(&producer->moment, lane->shape->owner == RANDOM_SHARED ? 2 : 3)) {
    case 0:
        index = adds[random_below(&producer->moment, 4)](lane->queue, piece->count);
        break;
    case 1:
        index = reserve_by_cas(producer, lane->queue, piece->count);
        break;
    default:
        index = loads[random_below(&producer->moment, 2)](lane->queue);
        stores[random_below(&producer->moment, 2)](lane->queue, index + piece->count);
        break;
    }
    take_slots(producer->world, piece, index);
}

/* ---- announcement ---- */

typedef void (*ring_entry)(hsa_signal_t, hsa_signal_value_t);

static const ring_entry rings[] = {hsa_signal_store_relaxed, hsa_signal_store_screlease,
                                   hsa_signal_silent_store_relaxed,
                                   hsa_signal_silent_store_screlease};

/* The packet `index` and all before it are written. Several producers may ring with any packet of
 * theirs, or with the last slot that is reserved. */
static void ring(struct random_producer *producer, const struct random_piece *piece, uint64_t index)
{
    struct random_lane *lane = &producer->world->lanes[piece->lane];
    if (!lane->shape->single) {
        uint32_t draw = random_below(&producer->moment, 10);
        if (draw == 0)
            index = piece->index;
        else if (draw == 1)
            index = hsa_queue_load_write_index_relaxed(lane->queue) - 1;
    }
    /* A relaxed store announces what its thread has released before: the headers. */
    atomic_thread_fence(memory_order_release);
    rings[random_below(&producer->moment, 4)](lane->queue->doorbell_signal,
                                              (hsa_signal_value_t)index);
}

/* ---- filling ---- */

/* A sleep, not a spin: the device of the software GPU needs a core too. */
static void wait_for_room(const struct random_lane *lane, uint64_t index)
{
    while (!has_room(lane, index))
        (void)usleep(20);
    rtl_tsan_acquire(lane->queue->base_address); /* the device has done with the slot */
}

/* Packet by packet; what is written is announced before there is a wait for room, and now and then
 * without need. */
static void fill_forward(struct random_producer *producer, const struct random_piece *piece)
{
    struct random_lane *lane = &producer->world->lanes[piece->lane];
    bool eager = random_chance(&producer->moment, 50);
    for (uint32_t i = 0; i < piece->count; i++) {
        if (!has_room(lane, piece->index + i)) {
            if (i > 0)
                ring(producer, piece, piece->index + i - 1);
            wait_for_room(lane, piece->index + i);
        }
        rtl_tsan_acquire(lane->queue->base_address);
        fill_body(producer, piece->first + i);
        publish(producer->world, piece->first + i);
        if (eager && random_chance(&producer->moment, 300))
            ring(producer, piece, piece->index + i);
    }
}

/* All bodies first; then the headers, from the last to the first, or from somewhere on around. */
static void fill_bodies_first(struct random_producer *producer, const struct random_piece *piece)
{
    struct random_lane *lane = &producer->world->lanes[piece->lane];
    wait_for_room(lane, piece->index + piece->count - 1);
    for (uint32_t i = 0; i < piece->count; i++)
        fill_body(producer, piece->first + i);
    if (random_chance(&producer->moment, 500)) {
        for (uint32_t i = piece->count; i-- > 0;)
            publish(producer->world, piece->first + i);
        return;
    }
    uint32_t begin = random_below(&producer->moment, piece->count);
    for (uint32_t i = 0; i < piece->count; i++)
        publish(producer->world, piece->first + (begin + i) % piece->count);
}

static void fill(struct random_producer *producer, const struct random_piece *piece)
{
    if (random_chance(&producer->moment, 500))
        fill_forward(producer, piece);
    else
        fill_bodies_first(producer, piece);
}

static uint64_t last_of(const struct random_piece *piece)
{
    return piece->index + piece->count - 1;
}

void random_submit(struct random_producer *producer, struct random_piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct random_lane *lane = &producer->world->lanes[pieces[i].lane];
        reserve(producer, &pieces[i]);
        /* The device must hear of the earlier pieces if this one is to wait for it. */
        if (i > 0 && !has_room(lane, last_of(&pieces[i])))
            ring(producer, &pieces[i - 1], last_of(&pieces[i - 1]));
        fill(producer, &pieces[i]);
    }
    ring(producer, &pieces[count - 1], last_of(&pieces[count - 1]));
}

void random_submit_late(struct random_producer *producer, struct random_piece *pieces)
{
    if (!try_reserve(producer, &pieces[0])) {
        random_submit(producer, &pieces[0], 1);
        random_submit(producer, &pieces[1], 1);
        return;
    }
    if (try_reserve(producer, &pieces[1])) {
        fill(producer, &pieces[1]);
        ring(producer, &pieces[1], last_of(&pieces[1]));
        if (random_chance(&producer->moment, 50))
            (void)usleep(50);
        fill(producer, &pieces[0]);
        ring(producer, &pieces[0], last_of(&pieces[0]));
        return;
    }
    fill(producer, &pieces[0]);
    ring(producer, &pieces[0], last_of(&pieces[0]));
    random_submit(producer, &pieces[1], 1);
}
