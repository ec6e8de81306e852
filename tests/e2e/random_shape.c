/* What a seed makes of a program. */
#include "random.h"

static uint32_t pick(struct random_source *source, const uint32_t *choices, uint32_t count)
{
    return choices[random_below(source, count)];
}

#define PICK(source, ...)                                                                          \
    pick(source, (const uint32_t[]){__VA_ARGS__},                                                  \
         (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)))

/* Every producer has a queue: its own, or one that all share. */
static void draw_lanes(struct random_shape *shape, struct random_source *source)
{
    bool served[RANDOM_PRODUCERS] = {false};
    bool all_served = true;
    uint32_t producers = shape->producers > 0 ? shape->producers : 1;
    for (uint32_t i = 0; i < shape->lanes; i++) {
        struct random_lane_shape *lane = &shape->lane[i];
        lane->size = 64u << random_below(source, 9);
        lane->timed = !random_chance(source, 100);
        bool shared = random_chance(source, 500);
        lane->owner = shared ? RANDOM_SHARED : i % producers;
        for (uint32_t p = 0; p < shape->producers; p++)
            served[p] = served[p] || shared || lane->owner == p;
    }
    for (uint32_t p = 0; p < shape->producers; p++)
        all_served = all_served && served[p];
    if (!all_served)
        shape->lane[0].owner = RANDOM_SHARED;
    for (uint32_t i = 0; i < shape->lanes; i++)
        shape->lane[i].single = shape->lane[i].owner != RANDOM_SHARED && random_chance(source, 500);
}

void random_shape_draw(struct random_shape *shape, uint64_t seed)
{
    struct random_source source = {seed};
    uint32_t lanes = 1 + random_below(&source, RANDOM_LANES);
    uint32_t producers = 1 + random_below(&source, RANDOM_PRODUCERS);
    if (shape->lanes == 0)
        shape->lanes = lanes;
    if (shape->producers == 0)
        shape->producers = producers;
    draw_lanes(shape, &source);
    shape->barriers = PICK(&source, 0, 5, 20, 100);
    shape->agents = PICK(&source, 0, 2, 10);
    shape->bits = PICK(&source, 0, 10, 100, 1000);
    shape->own = PICK(&source, 0, 5, 20, 100, 500);
    shape->counting = PICK(&source, 0, 5, 50, 200);
    shape->stale = PICK(&source, 0, 2, 50);
    shape->board = PICK(&source, 1, 5);
    shape->middle = PICK(&source, 0, 10, 100);
    shape->slow = PICK(&source, 0, 0, 1);
    shape->late = PICK(&source, 0, 50, 200);
    shape->trains = PICK(&source, 0, 50, 200);
    shape->gates = PICK(&source, 0, 2, 5);
    shape->pauses = PICK(&source, 0, 2, 10);
    shape->waits = PICK(&source, 0, 10, 100);
    shape->batch = PICK(&source, 1, 4, 32, 256, 2048, 16384);
    shape->end = (enum random_end)random_below(&source, RANDOM_ENDS);
    shape->destroys = random_chance(&source, 700);
    shape->shuts_down = shape->destroys && random_chance(&source, 700);
}
