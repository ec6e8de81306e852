/* What a producer submits: packets drawn from its part of the seed. */
#include "random.h"

#include <hsa/hsa_ext_amd.h>

static enum random_kind draw_kind(struct random_producer *producer)
{
    const struct random_shape *shape = &producer->world->shape;
    uint32_t draw = random_below(&producer->plan, 1000);
    if (draw < shape->barriers)
        return (enum random_kind)(RANDOM_AND + draw % 3);
    draw -= shape->barriers;
    if (draw < shape->agents)
        return RANDOM_AGENT;
    draw -= shape->agents;
    if (draw < shape->middle)
        return RANDOM_MIDDLE;
    draw -= shape->middle;
    return draw < shape->slow && random_chance(&producer->plan, 200) ? RANDOM_SLOW : RANDOM_QUICK;
}

/* ---- completion signals ---- */

/* The use gets one more packet. */
static void join(struct random_producer *producer, struct random_packet *packet, uint32_t use)
{
    struct random_world *world = producer->world;
    struct random_use *joined = &world->uses[use];
    packet->use = use;
    joined->members++;
    joined->untimed = joined->untimed || !world->lanes[packet->lane].shape->timed;
    if (packet->kind < RANDOM_KERNELS)
        joined->kernel = (uint32_t)(packet - world->packets);
}

static void give(struct random_producer *producer, struct random_packet *packet,
                 const struct random_signal *signal)
{
    if (signal == NULL)
        return;
    packet->signal = signal->signal;
    join(producer, packet, signal->use);
}

static void give_own(struct random_producer *producer, struct random_packet *packet,
                     struct random_signal *signal)
{
    struct random_dependent *latest = &producer->latest[packet->lane];
    if (signal == NULL)
        return;
    give(producer, packet, signal);
    signal->before = (struct random_dependent){0};
    if (packet->bit)
        signal->before = *latest;
    *latest = (struct random_dependent){signal, signal->armings};
}

static void give_board(struct random_producer *producer, struct random_packet *packet)
{
    if (producer->boarded == RANDOM_BOARD)
        return;
    struct random_board *board = &producer->board[producer->boarded++];
    board->use = producer->use++;
    producer->world->uses[board->use].kernel = UINT32_MAX;
    packet->signal = board->signal;
    join(producer, packet, board->use);
}

static void give_stale(struct random_producer *producer, struct random_packet *packet)
{
    struct random_stale *stale =
        &producer->world->stale[random_below(&producer->plan, RANDOM_STALE)];
    atomic_fetch_add_explicit(&stale->uses, 1, memory_order_relaxed);
    packet->signal = stale->signal;
}

static void draw_signal(struct random_producer *producer, struct random_packet *packet)
{
    const struct random_shape *shape = &producer->world->shape;
    uint32_t draw = random_below(&producer->plan, 1000);
    if (draw < shape->own) {
        give_own(producer, packet, random_arm_own(producer));
        return;
    }
    draw -= shape->own;
    if (draw < shape->counting) {
        give(producer, packet,
             random_arm_counting(producer,
                                 packet->kind < RANDOM_KERNELS || producer->world->options->mixed));
        return;
    }
    draw -= shape->counting;
    if (draw < shape->stale)
        give_stale(producer, packet);
    else if (draw - shape->stale < shape->board)
        give_board(producer, packet);
}

/* ---- dependencies ---- */

static void add_need(struct random_producer *producer, struct random_packet *packet, uint32_t use,
                     hsa_signal_t signal)
{
    if (packet->need_count == 0)
        packet->needs = producer->need;
    producer->world->needs[producer->need++] = (struct random_need){signal, use};
    packet->need_count++;
}

/* One of the producer's own signals that comes to rest at 0 and was submitted before. The barrier's
 * own signal tells when it may be armed again. */
static void need_own(struct random_producer *producer, struct random_packet *packet,
                     struct random_signal *barrier)
{
    uint32_t draw = random_below(&producer->plan, RANDOM_OWN + RANDOM_COUNTING);
    struct random_signal *signal =
        draw < RANDOM_OWN ? &producer->own[draw] : &producer->counting[draw - RANDOM_OWN];
    if (barrier == NULL || signal->use == 0 || signal->left != 0 || signal->goal != 0 ||
        signal->given == producer->round || signal->dependents == 2)
        return;
    signal->dependent[signal->dependents++] = (struct random_dependent){barrier, barrier->armings};
    signal->round = producer->round;
    add_need(producer, packet, signal->use, signal->signal);
}

/* A packet of any producer that has been submitted by now. */
static void need_any(struct random_producer *producer, struct random_packet *packet)
{
    struct random_world *world = producer->world;
    uint32_t other = random_below(&producer->moment, world->shape.producers);
    const struct random_board *board =
        &world->producers[other].board[random_below(&producer->moment, RANDOM_BOARD)];
    if (atomic_load_explicit(&board->published, memory_order_acquire))
        add_need(producer, packet, board->use, board->signal);
}

/* A signal that comes to rest at 0 began at the number of its packets. What holds once holds for
 * good, since it only sinks. */
static void draw_condition(struct random_producer *producer, struct random_packet *packet)
{
    uint32_t members = 1;
    if (packet->need_count > 0)
        members = producer->world->uses[producer->world->needs[packet->needs].use].members;
    switch (random_below(&producer->plan, 4)) {
    case 0:
        packet->condition = HSA_SIGNAL_CONDITION_EQ;
        packet->value = 0;
        break;
    case 1:
        packet->condition = HSA_SIGNAL_CONDITION_NE;
        packet->value = (int32_t)members;
        break;
    default:
        packet->condition = HSA_SIGNAL_CONDITION_LT;
        packet->value = (int32_t)(1 + random_below(&producer->plan, members));
        break;
    }
}

static void draw_needs(struct random_producer *producer, struct random_packet *packet)
{
    uint32_t most = packet->kind == RANDOM_VALUE ? 1 : 5;
    uint32_t wanted = random_below(&producer->plan, most + 1);
    struct random_signal *own = wanted > 0 ? random_arm_own(producer) : NULL;
    give_own(producer, packet, own);
    for (uint32_t i = 0; i < wanted; i++) {
        if (random_chance(&producer->plan, 700))
            need_own(producer, packet, own);
        else
            need_any(producer, packet);
    }
    if (packet->kind == RANDOM_VALUE)
        draw_condition(producer, packet);
}

/* A kernel that has certainly run when the barrier lets the queue go on. */
static uint32_t kernel_before(const struct random_world *world, const struct random_packet *barrier)
{
    if (barrier->kind != RANDOM_AND || barrier->need_count == 0)
        return UINT32_MAX;
    return world->uses[world->needs[barrier->needs].use].kernel;
}

/* ---- packets ---- */

static struct random_packet *begin_packet(struct random_producer *producer, uint32_t lane,
                                          enum random_kind kind)
{
    uint32_t id = producer->id++;
    struct random_packet *packet = &producer->world->packets[id];
    packet->lane = (uint8_t)lane;
    packet->kind = (uint8_t)kind;
    packet->after = id;
    packet->bit = random_chance(&producer->plan, producer->world->shape.bits);
    return packet;
}

void random_plan_batch(struct random_producer *producer, uint32_t lane, uint32_t count)
{
    uint32_t follow = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct random_packet *packet = begin_packet(producer, lane, draw_kind(producer));
        if (packet->kind >= RANDOM_AND && packet->kind <= RANDOM_VALUE &&
            random_chance(&producer->plan, 700)) {
            draw_needs(producer, packet);
            follow = kernel_before(producer->world, packet);
            continue;
        }
        draw_signal(producer, packet);
        if (packet->kind < RANDOM_KERNELS && follow != UINT32_MAX)
            packet->after = follow;
    }
}

void random_plan_gate(struct random_producer *producer, uint32_t lane, struct random_gate *gate)
{
    struct random_packet *packet =
        begin_packet(producer, lane, gate->value == 0 ? RANDOM_AND : RANDOM_VALUE);
    gate->use = producer->use++;
    gate->passed = random_arm_own(producer);
    add_need(producer, packet, gate->use, gate->signal);
    packet->condition = HSA_SIGNAL_CONDITION_GTE;
    packet->value = gate->value;
    give_own(producer, packet, gate->passed);
}

void random_plan_publish(struct random_producer *producer)
{
    for (; producer->published < producer->boarded; producer->published++)
        atomic_store_explicit(&producer->board[producer->published].published, true,
                              memory_order_release);
}
