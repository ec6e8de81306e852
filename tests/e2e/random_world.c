/* The world of a random program: what is there before its producers begin. */
#include "random.h"

#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>
#include <unistd.h>

const char *const random_kernel_names[RANDOM_KERNELS] = {"random_quick.kd", "random_middle.kd",
                                                         "random_slow.kd"};

static void queue_failed(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue;
    (void)data;
    random_complain("a queue has failed with status 0x%x", (unsigned)status);
    _exit(1);
}

static void open_lane(struct random_world *world, uint32_t number)
{
    struct random_lane *lane = &world->lanes[number];
    lane->shape = &world->shape.lane[number];
    hsa_queue_type32_t type = lane->shape->single ? HSA_QUEUE_TYPE_SINGLE : HSA_QUEUE_TYPE_MULTI;
    gpu_must(hsa_queue_create(world->gpu.agent, lane->shape->size, type, queue_failed, NULL,
                              UINT32_MAX, UINT32_MAX, &lane->queue),
             "queue");
    gpu_must(hsa_amd_profiling_set_profiler_enabled(lane->queue, lane->shape->timed), "timestamps");
}

static void *table(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        gpu_must(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "memory for the packets");
    return memory;
}

/* A packet has at most one use, a barrier five needs; a submission, one gate. */
static void open_tables(struct random_world *world)
{
    size_t ids = world->id_end;
    world->packets = table(ids, sizeof *world->packets);
    world->uses = table(2 * ids + 1, sizeof *world->uses);
    world->needs = table(5 * ids, sizeof *world->needs);
    world->arguments = gpu_memory(&world->gpu, ids * sizeof *world->arguments);
    world->runs = gpu_memory(&world->gpu, ids * sizeof *world->runs);
}

static void open_signals(struct random_producer *producer)
{
    struct random_world *world = producer->world;
    bool polled;
    for (uint32_t i = 0; i < RANDOM_OWN; i++)
        producer->own[i].signal =
            random_signal_make(world, &producer->plan, 0, &producer->own[i].polled);
    for (uint32_t i = 0; i < RANDOM_COUNTING; i++)
        producer->counting[i].signal =
            random_signal_make(world, &producer->plan, 0, &producer->counting[i].polled);
    for (uint32_t i = 0; i < RANDOM_BOARD; i++)
        producer->board[i].signal = random_signal_make(world, &producer->plan, 1, &polled);
}

static void open_producer(struct random_world *world, uint32_t number)
{
    struct random_producer *producer = &world->producers[number];
    uint32_t share = world->packet_count / world->shape.producers;
    bool last = number == world->shape.producers - 1;
    producer->world = world;
    producer->number = number;
    producer->plan.state = world->options->seed * 1000 + number;
    producer->moment.state = random_next(&producer->plan);
    producer->id = number * share;
    producer->end = last ? world->packet_count : producer->id + share;
    producer->use = producer->first_use = 2 * producer->id + 1;
    producer->need = 5 * producer->id;
    for (uint32_t i = 0; i < world->shape.lanes; i++)
        if (world->shape.lane[i].owner == RANDOM_SHARED || world->shape.lane[i].owner == number)
            producer->lanes[producer->lane_count++] = i;
    producer->tallies = gpu_memory(&world->gpu, RANDOM_KERNELS * sizeof *producer->tallies);
    for (uint32_t i = 0; i < RANDOM_KERNELS; i++)
        producer->tallies[i].runs = world->runs;
    open_signals(producer);
}

static void draw_shape(struct random_world *world)
{
    const struct random_options *options = world->options;
    world->shape.lanes = options->lanes;
    world->shape.producers = options->producers;
    random_shape_draw(&world->shape, options->seed);
    if (options->end != RANDOM_ENDS)
        world->shape.end = options->end;
    if (options->batch != 0)
        world->shape.batch = options->batch;
    world->packet_count = options->packets;
    world->id_end = world->packet_count;
    if (world->shape.end != RANDOM_DRAINED)
        world->id_end += world->shape.lanes * RANDOM_TAIL;
}

void random_world_open(struct random_world *world, const struct random_options *options)
{
    world->options = options;
    draw_shape(world);
    gpu_open(&world->gpu);
    for (uint32_t i = 0; i < RANDOM_KERNELS; i++)
        world->kernels[i] = gpu_kernel(&world->gpu, random_kernel_names[i]);
    open_tables(world);
    for (uint32_t i = 0; i < world->shape.lanes; i++)
        open_lane(world, i);
    for (uint32_t i = 0; i < world->shape.producers; i++)
        open_producer(world, i);
    struct random_source source = {options->seed};
    for (uint32_t i = 0; i < RANDOM_STALE; i++) {
        struct random_stale *stale = &world->stale[i];
        bool polled;
        stale->initial = -(hsa_signal_value_t)random_below(&source, 4);
        stale->signal = random_signal_make(world, &source, stale->initial, &polled);
    }
}
