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
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PACKETS    (UINT32_C(1) << 28)
#define MOST_COMPLAINTS 10u

static struct random_options options = {.packets = 100000, .end = RANDOM_ENDS};

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

static enum random_end end_named(const char *name, struct argp_state *state)
{
    static const char *const names[] = {"drained", "gated", "racing"};
    for (uint32_t i = 0; i < RANDOM_ENDS; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum random_end)i;
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
        options.packets = (uint32_t)number(arg, MOST_PACKETS, state);
        return 0;
    case 'q':
        options.lanes = (uint32_t)number(arg, RANDOM_LANES, state);
        return 0;
    case 't':
        options.producers = (uint32_t)number(arg, RANDOM_PRODUCERS, state);
        return 0;
    case 'b':
        options.batch = (uint32_t)number(arg, UINT16_MAX, state);
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
                            random_kernel_names[k], outcome->kinds[k], ran[k]);
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
    random_world_open(&world, &options);
    random_produce(&world);
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
