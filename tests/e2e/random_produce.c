/* The producers of a random program. */
#include "random.h"

#include <unistd.h>

#define MOST_TRAIN 4u /* reservations that are announced together */

/* Mostly up to the usual size; now and then anything up to the whole queue. */
static uint32_t draw_count(struct random_producer *producer, uint32_t lane)
{
    const struct random_shape *shape = &producer->world->shape;
    uint32_t most = shape->lane[lane].size;
    uint32_t left = producer->end - producer->id;
    uint32_t count;
    if (random_chance(&producer->plan, 2))
        count =
            random_chance(&producer->plan, 500) ? most : 1 + random_below(&producer->plan, most);
    else
        count = 1 + random_below(&producer->plan, shape->batch < most ? shape->batch : most);
    return count < left ? count : left;
}

static void draw_piece(struct random_producer *producer, struct random_piece *piece, uint32_t lane,
                       uint32_t most)
{
    uint32_t count = draw_count(producer, lane);
    piece->lane = lane;
    piece->first = producer->id;
    piece->count = count < most ? count : most;
    random_plan_batch(producer, lane, piece->count);
}

static uint32_t draw_lane(struct random_producer *producer)
{
    return producer->lanes[random_below(&producer->plan, producer->lane_count)];
}

/* Several reservations that are announced together. */
static void submit_train(struct random_producer *producer)
{
    struct random_piece pieces[MOST_TRAIN];
    uint32_t lane = draw_lane(producer);
    uint32_t wanted = 2 + random_below(&producer->plan, MOST_TRAIN - 1);
    uint32_t count = 0;
    while (count < wanted && producer->id < producer->end)
        draw_piece(producer, &pieces[count++], lane, UINT32_MAX);
    random_submit(producer, pieces, count);
}

/* A reservation that is filled after a later one, of the same queue or another. */
static void submit_late(struct random_producer *producer)
{
    struct random_piece pieces[2];
    uint32_t first = draw_lane(producer);
    uint32_t second = draw_lane(producer);
    const struct random_lane_shape *shape = &producer->world->shape.lane[first];
    draw_piece(producer, &pieces[0], first, shape->size / 2);
    if (producer->id == producer->end || (first == second && shape->single)) {
        random_submit(producer, pieces, 1);
        return;
    }
    draw_piece(producer, &pieces[1], second, producer->world->shape.lane[second].size / 2);
    random_submit_late(producer, pieces);
}

static void open_gate(const struct random_gate *gate)
{
    if (gate->value == 0)
        hsa_signal_store_screlease(gate->signal, 0);
    for (int32_t i = 0; i < gate->value; i++)
        hsa_signal_add_screlease(gate->signal, 1);
}

/* A barrier that the program itself lets go on when everything behind it has been submitted. */
static void submit_gate(struct random_producer *producer)
{
    struct random_world *world = producer->world;
    uint32_t lane = draw_lane(producer);
    int32_t value = (int32_t)random_below(&producer->plan, 4);
    struct random_piece piece = {.lane = lane, .first = producer->id};
    bool polled;
    struct random_gate gate = {.value = value};
    gate.signal = random_signal_make(world, &producer->plan, value == 0, &polled);
    random_plan_gate(producer, lane, &gate);
    uint32_t left = producer->end - producer->id;
    uint32_t behind = random_below(&producer->plan, world->shape.lane[lane].size);
    random_plan_batch(producer, lane, behind < left ? behind : left);
    piece.count = producer->id - piece.first;
    random_submit(producer, &piece, 1);
    struct random_use *use = &world->uses[gate.use];
    use->first_end = use->last_end = random_now() / 10 * 10; /* the device's clock has 10 ns */
    open_gate(&gate);
    random_settle(producer, gate.passed);
    gpu_must(hsa_signal_destroy(gate.signal), "gate");
}

static void submit(struct random_producer *producer)
{
    const struct random_shape *shape = &producer->world->shape;
    uint32_t draw = random_below(&producer->plan, 1000);
    producer->round++;
    if (draw < shape->late) {
        submit_late(producer);
    } else if (draw - shape->late < shape->trains) {
        submit_train(producer);
    } else if (draw - shape->late - shape->trains < shape->gates) {
        submit_gate(producer);
    } else {
        struct random_piece piece;
        draw_piece(producer, &piece, draw_lane(producer), UINT32_MAX);
        random_submit(producer, &piece, 1);
    }
    random_plan_publish(producer);
}

static void *produce(void *argument)
{
    struct random_producer *producer = argument;
    const struct random_shape *shape = &producer->world->shape;
    while (producer->id < producer->end) {
        submit(producer);
        if (random_chance(&producer->plan, shape->waits))
            random_settle(producer, &producer->own[random_below(&producer->plan, RANDOM_OWN)]);
        if (random_chance(&producer->moment, shape->pauses))
            (void)usleep(random_below(&producer->moment, 200));
    }
    return NULL;
}

void random_produce(struct random_world *world)
{
    for (uint32_t p = 0; p < world->shape.producers; p++) {
        struct random_producer *producer = &world->producers[p];
        if (pthread_create(&producer->thread, NULL, produce, producer) != 0)
            gpu_must(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "thread");
    }
    for (uint32_t p = 0; p < world->shape.producers; p++)
        (void)pthread_join(world->producers[p].thread, NULL);
    for (uint32_t i = 0; i < world->shape.lanes; i++)
        gpu_drain(&world->gpu, world->lanes[i].queue);
}
