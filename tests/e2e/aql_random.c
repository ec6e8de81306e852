/*
 * A random legal AQL program: the seed decides on queues, producer threads, batches, barriers,
 * dependencies, signals and the end (random.h). It checks itself, and itself against the truth log
 * where SOFTGPU_TRUTH names one.
 *
 * One line on stdout tells the outcome, the same from run to run of a seed; a failed check ends it
 * with status 1.
 */
#include "random.h"

#include <argp.h>
#include <errno.h>
#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PACKETS    (UINT32_C(1) << 28)
#define MOST_COMPLAINTS 10u
#define MOST_TRAIN      4u

static const char *const kernel_names[RANDOM_KERNELS] = {"random_quick.kd", "random_middle.kd",
                                                         "random_slow.kd"};

static struct {
    uint64_t seed, packets, lanes, producers, batch;
    uint32_t end;
    bool mixed;
} options = {.packets = 100000, .end = RANDOM_ENDS};

static _Atomic uint64_t complaints;

void random_complain(const char *format, ...)
{
    va_list arguments;
    if (atomic_fetch_add(&complaints, 1) >= MOST_COMPLAINTS)
        return;
    char line[256];
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is started above
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "aql_random --seed %" PRIu64 ": %s\n", options.seed, line);
}

uint64_t random_complaints(void)
{
    return atomic_load(&complaints);
}

/* ---- options ---- */

static const struct argp_option option_table[] = {
    {"seed", 's', "N", 0, "the program (0)", 0},
    {"packets", 'n', "N", 0, "packets in all (100000)", 0},
    {"queues", 'q', "N", 0, "queues, instead of what the seed says", 0},
    {"threads", 't', "N", 0, "producer threads, instead of what the seed says", 0},
    {"batch", 'b', "N", 0, "most packets of a usual batch, instead of what the seed says", 0},
    {"mixed", 'm', NULL, 0, "let barriers and kernels share signals that go below 0, too", 0},
    {"end", 'e', "END", 0, "drained, gated or racing, instead of what the seed says", 0},
    {0}};

// NOLINTBEGIN(concurrency-mt-unsafe): argp runs before there are threads
static uint64_t number(const char *text, uint64_t most, struct argp_state *state)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || end == text || *end || value > most)
        argp_error(state, "'%s' is not a number up to %" PRIu64, text, most);
    return value;
}

static uint32_t end_named(const char *name, struct argp_state *state)
{
    static const char *const names[] = {"drained", "gated", "racing"};
    for (uint32_t i = 0; i < RANDOM_ENDS; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    argp_error(state, "'%s' is no end", name);
    return RANDOM_ENDS;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 's':
        options.seed = number(arg, UINT64_MAX, state);
        return 0;
    case 'n':
        options.packets = number(arg, MOST_PACKETS, state);
        return 0;
    case 'q':
        options.lanes = number(arg, RANDOM_LANES, state);
        return 0;
    case 't':
        options.producers = number(arg, RANDOM_PRODUCERS, state);
        return 0;
    case 'b':
        options.batch = number(arg, UINT16_MAX, state);
        return 0;
    case 'm':
        options.mixed = true;
        return 0;
    case 'e':
        options.end = end_named(arg, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
// NOLINTEND(concurrency-mt-unsafe)

/* ---- the world ---- */

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
    producer->plan.state = options.seed * 1000 + number;
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

static void open_world(struct random_world *world)
{
    world->shape.lanes = (uint32_t)options.lanes;
    world->shape.producers = (uint32_t)options.producers;
    random_shape_draw(&world->shape, options.seed);
    if (options.end != RANDOM_ENDS)
        world->shape.end = (enum random_end)options.end;
    if (options.batch != 0)
        world->shape.batch = (uint32_t)options.batch;
    world->mixed = options.mixed;
    world->packet_count = (uint32_t)options.packets;
    world->id_end = world->packet_count;
    if (world->shape.end != RANDOM_DRAINED)
        world->id_end += world->shape.lanes * RANDOM_TAIL;
    gpu_open(&world->gpu);
    for (uint32_t i = 0; i < RANDOM_KERNELS; i++)
        world->kernels[i] = gpu_kernel(&world->gpu, kernel_names[i]);
    open_tables(world);
    for (uint32_t i = 0; i < world->shape.lanes; i++)
        open_lane(world, i);
    for (uint32_t i = 0; i < world->shape.producers; i++)
        open_producer(world, i);
    struct random_source source = {options.seed};
    for (uint32_t i = 0; i < RANDOM_STALE; i++) {
        struct random_stale *stale = &world->stale[i];
        bool polled;
        stale->initial = -(hsa_signal_value_t)random_below(&source, 4);
        stale->signal = random_signal_make(world, &source, stale->initial, &polled);
    }
}

/* ---- a producer ---- */

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

/* ---- the end ---- */

/* What the program comes to, the same in every run of the seed. */
struct outcome {
    uint64_t kinds[RANDOM_KINDS]; /* packets */
    uint64_t sum;                 /* over the kernels that ran */
    uint64_t signals;             /* over the values of all signals */
};

static void add_tallies(const struct random_world *world, struct outcome *outcome)
{
    for (uint32_t id = 0; id < world->packet_count; id++)
        outcome->kinds[world->packets[id].kind]++;
    uint64_t ran[RANDOM_KERNELS] = {0};
    for (uint32_t p = 0; p < world->shape.producers; p++) {
        struct random_tally *tallies = world->producers[p].tallies;
        for (uint32_t k = 0; k < RANDOM_KERNELS; k++) {
            ran[k] += atomic_load(&tallies[k].count);
            outcome->sum += atomic_load(&tallies[k].sum);
            if (atomic_load(&tallies[k].broken) != 0)
                random_complain("%" PRIu64 " kernels ran before one that they depend on",
                                atomic_load(&tallies[k].broken));
        }
    }
    for (uint32_t k = 0; k < RANDOM_KERNELS; k++)
        if (ran[k] != outcome->kinds[k])
            random_complain("kernel %s was dispatched %" PRIu64 " times and ran %" PRIu64 " times",
                            kernel_names[k], outcome->kinds[k], ran[k]);
}

static void add_signal(struct outcome *outcome, hsa_signal_t signal)
{
    outcome->signals = random_mix(outcome->signals + (uint64_t)hsa_signal_load_relaxed(signal));
}

static void add_signals(const struct random_world *world, struct outcome *outcome)
{
    for (uint32_t p = 0; p < world->shape.producers; p++) {
        const struct random_producer *producer = &world->producers[p];
        for (uint32_t i = 0; i < RANDOM_OWN; i++)
            add_signal(outcome, producer->own[i].signal);
        for (uint32_t i = 0; i < RANDOM_COUNTING; i++)
            add_signal(outcome, producer->counting[i].signal);
        for (uint32_t i = 0; i < RANDOM_BOARD; i++)
            add_signal(outcome, producer->board[i].signal);
    }
    for (uint32_t i = 0; i < RANDOM_STALE; i++)
        add_signal(outcome, world->stale[i].signal);
}

static void run_producers(struct random_world *world)
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

static uint32_t tail_of(const struct random_world *world, uint32_t lane)
{
    return world->packet_count + lane * RANDOM_TAIL;
}

/* Packets that are in flight when the program ends, all with signals of their own. */
static void submit_tail(struct random_world *world, uint32_t lane, hsa_signal_t closed)
{
    struct random_producer *producer = &world->producers[0];
    struct random_piece piece = {.lane = lane, .first = tail_of(world, lane), .count = RANDOM_TAIL};
    for (uint32_t i = 0; i < RANDOM_TAIL; i++) {
        struct random_packet *packet = &world->packets[piece.first + i];
        packet->lane = (uint8_t)lane;
        packet->after = piece.first + i;
        packet->optional = true;
        packet->signal = gpu_signal(1);
    }
    if (world->shape.end == RANDOM_GATED) {
        struct random_packet *gate = &world->packets[piece.first];
        gate->kind = RANDOM_AND;
        gate->needs = (uint32_t)(5 * (size_t)piece.first);
        gate->need_count = 1;
        world->needs[gate->needs] = (struct random_need){closed, 0};
    }
    random_submit(producer, &piece, 1);
}

static void check_tail(const struct random_world *world, uint32_t lane)
{
    hsa_signal_value_t least = world->shape.end == RANDOM_GATED ? 1 : 0;
    for (uint32_t i = 0; i < RANDOM_TAIL; i++) {
        const struct random_packet *packet = &world->packets[tail_of(world, lane) + i];
        hsa_signal_value_t value = hsa_signal_load_scacquire(packet->signal);
        if (value < least || value > 1)
            random_complain("the signal of a packet in flight at the end is %" PRId64, value);
        if (world->shape.destroys)
            gpu_must(hsa_signal_destroy(packet->signal), "signal of the end");
    }
}

static void end_lanes(struct random_world *world)
{
    bool tail = world->shape.end != RANDOM_DRAINED;
    hsa_signal_t closed = gpu_signal(1);
    for (uint32_t i = 0; tail && i < world->shape.lanes; i++)
        submit_tail(world, i, closed);
    for (uint32_t i = 0; world->shape.destroys && i < world->shape.lanes; i++)
        gpu_must(hsa_queue_destroy(world->lanes[i].queue), "queue");
    for (uint32_t i = 0; tail && i < world->shape.lanes; i++)
        check_tail(world, i);
    if (world->shape.destroys)
        gpu_must(hsa_signal_destroy(closed), "closed gate");
}

static void report(const struct random_world *world, const struct outcome *outcome)
{
    static const char *const ends[] = {"drained", "gated", "racing"};
    const uint64_t *kinds = outcome->kinds;
    (void)printf("seed %" PRIu64 ", %u queues, %u threads, %u packets: kernels %" PRIu64
                 " + %" PRIu64 " + %" PRIu64 ", barriers %" PRIu64 " + %" PRIu64 " + %" PRIu64
                 ", agent dispatches %" PRIu64 ", sum %016" PRIx64 ", signals %016" PRIx64
                 ", %s%s%s: all right\n",
                 options.seed, world->shape.lanes, world->shape.producers, world->packet_count,
                 kinds[RANDOM_QUICK], kinds[RANDOM_MIDDLE], kinds[RANDOM_SLOW], kinds[RANDOM_AND],
                 kinds[RANDOM_OR], kinds[RANDOM_VALUE], kinds[RANDOM_AGENT], outcome->sum,
                 outcome->signals, ends[world->shape.end],
                 world->shape.destroys ? ", destroyed" : "",
                 world->shape.shuts_down ? ", shut down" : "");
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_table, .parser = parse, .doc = "Runs a random legal AQL program."};
    static struct random_world world;
    struct outcome outcome = {0};
    // NOLINTBEGIN(concurrency-mt-unsafe): the producers have not begun or have ended
    (void)argp_parse(&argp, argc, argv, 0, NULL, NULL);
    open_world(&world);
    run_producers(&world);
    random_signals_check(&world);
    add_tallies(&world, &outcome);
    add_signals(&world, &outcome);
    end_lanes(&world);
    const char *truth = getenv("SOFTGPU_TRUTH");
    if (truth != NULL)
        random_verify(&world, truth);
    // NOLINTEND(concurrency-mt-unsafe)
    if (world.shape.shuts_down) {
        random_signals_close(&world);
        gpu_must(hsa_shut_down(), "hsa_shut_down");
    }
    if (random_complaints() > 0) {
        (void)fprintf(stderr, "aql_random --seed %" PRIu64 ": %" PRIu64 " checks have failed\n",
                      options.seed, random_complaints());
        return 1;
    }
    report(&world, &outcome);
    return 0;
}
