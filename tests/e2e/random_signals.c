/* Signals of the random programs: armed through every entry, waited for, read, checked. */
#include "random.h"

#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

uint64_t random_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* With an event, without one, and without one by way of AMD's extension. */
hsa_signal_t random_signal_make(const struct random_world *world, struct random_source *source,
                                hsa_signal_value_t value, bool *polled)
{
    hsa_signal_t signal;
    *polled = false;
    switch (random_below(source, 4)) {
    case 0:
        *polled = true;
        gpu_must(hsa_signal_create(value, 1, &world->gpu.agent, &signal), "signal of the GPU");
        return signal;
    case 1:
        *polled = true;
        gpu_must(hsa_amd_signal_create(value, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal),
                 "signal without an event");
        return signal;
    default:
        return gpu_signal(value);
    }
}

/* ---- the entries that write a value ---- */

typedef hsa_signal_value_t (*exchange_entry)(hsa_signal_t, hsa_signal_value_t);
typedef hsa_signal_value_t (*cas_entry)(hsa_signal_t, hsa_signal_value_t, hsa_signal_value_t);
typedef void (*write_entry)(hsa_signal_t, hsa_signal_value_t);

static const write_entry stores[] = {hsa_signal_store_relaxed, hsa_signal_store_screlease,
                                     hsa_signal_silent_store_relaxed,
                                     hsa_signal_silent_store_screlease};
static const exchange_entry exchanges[] = {
    hsa_signal_exchange_relaxed, hsa_signal_exchange_scacquire, hsa_signal_exchange_screlease,
    hsa_signal_exchange_scacq_screl};
static const cas_entry swaps[] = {hsa_signal_cas_relaxed, hsa_signal_cas_scacquire,
                                  hsa_signal_cas_screlease, hsa_signal_cas_scacq_screl};
static const write_entry adds[] = {hsa_signal_add_relaxed, hsa_signal_add_scacquire,
                                   hsa_signal_add_screlease, hsa_signal_add_scacq_screl};
static const write_entry subtractions[] = {
    hsa_signal_subtract_relaxed, hsa_signal_subtract_scacquire, hsa_signal_subtract_screlease,
    hsa_signal_subtract_scacq_screl};
static const write_entry ors[] = {hsa_signal_or_relaxed, hsa_signal_or_scacquire,
                                  hsa_signal_or_screlease, hsa_signal_or_scacq_screl};
static const write_entry xors[] = {hsa_signal_xor_relaxed, hsa_signal_xor_scacquire,
                                   hsa_signal_xor_screlease, hsa_signal_xor_scacq_screl};

/* Brings a signal that nobody else writes from one value to another. */
static void write_value(struct random_source *source, hsa_signal_t signal, hsa_signal_value_t from,
                        hsa_signal_value_t to)
{
    uint32_t order = random_below(source, 4);
    hsa_signal_value_t old = from;
    switch (random_below(source, 8)) {
    case 0:
        old = exchanges[order](signal, to);
        break;
    case 1:
        old = swaps[order](signal, from, to);
        break;
    case 2:
        adds[order](signal, to - from);
        break;
    case 3:
        subtractions[order](signal, from - to);
        break;
    case 4:
        xors[order](signal, from ^ to);
        break;
    case 5:
        if (from == 0) {
            ors[order](signal, to);
            break;
        }
        stores[order](signal, to);
        break;
    default:
        stores[order](signal, to);
        break;
    }
    if (old != from)
        random_complain("a signal at rest was %" PRId64 " and not %" PRId64, old, from);
}

/* ---- waiting ---- */

static void poll_below(hsa_signal_t signal, hsa_signal_value_t limit)
{
    while (hsa_signal_load_scacquire(signal) >= limit)
        (void)usleep(20);
}

static void block_below(hsa_signal_t signal, hsa_signal_value_t limit, hsa_wait_state_t state)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, limit, UINT64_MAX, state) >=
           limit)
        ;
}

static void block_below_relaxed(hsa_signal_t signal, hsa_signal_value_t limit,
                                hsa_wait_state_t state)
{
    while (hsa_signal_wait_relaxed(signal, HSA_SIGNAL_CONDITION_LT, limit, UINT64_MAX, state) >=
           limit)
        ;
    (void)hsa_signal_load_scacquire(signal);
}

static void wait_for(struct random_source *source, const struct random_signal *signal)
{
    hsa_signal_value_t limit = signal->goal + 1;
    hsa_wait_state_t state =
        random_chance(source, 50) ? HSA_WAIT_STATE_ACTIVE : HSA_WAIT_STATE_BLOCKED;
    if (signal->polled)
        poll_below(signal->signal, limit);
    else if (random_chance(source, 500))
        block_below(signal->signal, limit, state);
    else
        block_below_relaxed(signal->signal, limit, state);
}

static void read_times(const struct random_world *world, hsa_signal_t signal,
                       struct random_use *use)
{
    hsa_amd_profiling_dispatch_time_t times = {0, 0};
    if (use->untimed)
        return;
    gpu_must(hsa_amd_profiling_get_dispatch_time(world->gpu.agent, signal, &times), "times");
    use->start_ns = times.start;
    use->end_ns = times.end;
    use->timed = true;
}

static bool is_pending(const struct random_dependent *dependent)
{
    return dependent->signal != NULL && dependent->signal->use != 0 &&
           dependent->signal->armings == dependent->armings;
}

/* A packet with the barrier bit is done after all before it: their signals are where they belong.
 */
static void look_before(const struct random_signal *signal)
{
    if (!is_pending(&signal->before))
        return;
    const struct random_signal *before = signal->before.signal;
    hsa_signal_value_t value = hsa_signal_load_scacquire(before->signal);
    if (value != before->goal)
        random_complain("a signal overtook one that is still %" PRId64, value);
}

/* The signal is done: exactly where it belongs, with the times of its packet. */
static void look(const struct random_world *world, struct random_signal *signal)
{
    struct random_use *use = &world->uses[signal->use];
    use->seen_ns = random_now();
    hsa_signal_value_t value = hsa_signal_load_scacquire(signal->signal);
    if (value != signal->goal)
        random_complain("a signal is %" PRId64 " where its packets bring it to %" PRId64, value,
                        signal->goal);
    read_times(world, signal->signal, use);
    look_before(signal);
}

void random_settle(struct random_producer *producer, struct random_signal *signal)
{
    if (signal->use == 0)
        return;
    for (uint32_t i = 0; i < signal->dependents; i++) {
        const struct random_dependent *dependent = &signal->dependent[i];
        if (is_pending(dependent))
            wait_for(&producer->moment, dependent->signal);
    }
    wait_for(&producer->moment, signal);
    look(producer->world, signal);
    signal->use = 0;
    signal->dependents = 0;
}

/* ---- arming ---- */

static void renew(struct random_producer *producer, struct random_signal *signal,
                  hsa_signal_value_t value)
{
    gpu_must(hsa_signal_destroy(signal->signal), "destroying a signal");
    signal->signal = random_signal_make(producer->world, &producer->moment, value, &signal->polled);
}

/* `initial` is counted down by `members` packets, of which this submission has the first. */
static void arm(struct random_producer *producer, struct random_signal *signal,
                hsa_signal_value_t initial, uint32_t members)
{
    hsa_signal_value_t rest = signal->goal;
    if (initial != rest && random_chance(&producer->plan, 50))
        renew(producer, signal, initial);
    else if (initial != rest)
        write_value(&producer->plan, signal->signal, rest, initial);
    signal->goal = initial - (hsa_signal_value_t)members;
    signal->use = producer->use++;
    signal->left = members;
    signal->armings++;
    producer->world->uses[signal->use].kernel = UINT32_MAX;
}

static struct random_signal *hand_out(struct random_producer *producer,
                                      struct random_signal *signal)
{
    signal->left--;
    signal->given = producer->round;
    signal->round = producer->round;
    return signal;
}

/* Mostly 1; sometimes a higher value, or what an earlier packet left: a stale signal. */
static hsa_signal_value_t draw_initial(struct random_producer *producer,
                                       const struct random_signal *signal)
{
    uint32_t draw = random_below(&producer->plan, 100);
    if (draw < 5)
        return 2 + random_below(&producer->plan, 5);
    if (draw < 10)
        return signal->goal;
    return 1;
}

struct random_signal *random_arm_own(struct random_producer *producer)
{
    struct random_signal *signal = &producer->own[producer->next_own];
    producer->next_own = (producer->next_own + 1) % RANDOM_OWN;
    if (signal->round == producer->round)
        return NULL;
    random_settle(producer, signal);
    arm(producer, signal, draw_initial(producer, signal), 1);
    return hand_out(producer, signal);
}

/* A signal that goes below 0 is for kernels alone: while a barrier is bringing it from 1 to 0, RTL
 * could take that for the end of a kernel that has it too (docs/librtl.md, Limits). */
struct random_signal *random_arm_counting(struct random_producer *producer, bool kernel)
{
    struct random_signal *signal =
        &producer->counting[random_below(&producer->plan, RANDOM_COUNTING)];
    if (signal->left == 0) {
        if (signal->round == producer->round)
            return NULL;
        random_settle(producer, signal);
        bool few = random_chance(&producer->plan, 900);
        uint32_t members = 2 + random_below(&producer->plan, few ? 14 : 500);
        /* Now and then more packets than the value: the signal goes on down below 0. */
        bool below = kernel && random_chance(&producer->plan, 150);
        arm(producer, signal, below ? 1 : members, members);
    }
    if (!kernel && signal->goal < 0)
        return NULL;
    return hand_out(producer, signal);
}

/* ---- the end ---- */

static void check_at_rest(const struct random_world *world, struct random_signal *signal)
{
    if (signal->use == 0)
        return;
    signal->goal += signal->left; /* packets that it did not get any more */
    look(world, signal);
    signal->use = 0;
}

static void check_board(const struct random_world *world, const struct random_board *board)
{
    struct random_signal signal = {.signal = board->signal, .use = board->use};
    if (board->use != 0)
        look(world, &signal);
}

static void check_stale(const struct random_stale *stale)
{
    hsa_signal_value_t value = hsa_signal_load_scacquire(stale->signal);
    hsa_signal_value_t goal = stale->initial - (hsa_signal_value_t)atomic_load(&stale->uses);
    if (value != goal)
        random_complain("a stale signal is %" PRId64 " and not %" PRId64, value, goal);
}

void random_signals_check(struct random_world *world)
{
    for (uint32_t p = 0; p < world->shape.producers; p++) {
        struct random_producer *producer = &world->producers[p];
        for (uint32_t i = 0; i < RANDOM_OWN; i++)
            check_at_rest(world, &producer->own[i]);
        for (uint32_t i = 0; i < RANDOM_COUNTING; i++)
            check_at_rest(world, &producer->counting[i]);
        for (uint32_t i = 0; i < RANDOM_BOARD; i++)
            check_board(world, &producer->board[i]);
    }
    for (uint32_t i = 0; i < RANDOM_STALE; i++)
        check_stale(&world->stale[i]);
}

void random_signals_close(struct random_world *world)
{
    for (uint32_t p = 0; p < world->shape.producers; p++) {
        struct random_producer *producer = &world->producers[p];
        for (uint32_t i = 0; i < RANDOM_OWN; i++)
            gpu_must(hsa_signal_destroy(producer->own[i].signal), "own signal");
        for (uint32_t i = 0; i < RANDOM_COUNTING; i++)
            gpu_must(hsa_signal_destroy(producer->counting[i].signal), "counting signal");
        for (uint32_t i = 0; i < RANDOM_BOARD; i++)
            gpu_must(hsa_signal_destroy(producer->board[i].signal), "signal of the board");
    }
    for (uint32_t i = 0; i < RANDOM_STALE; i++)
        gpu_must(hsa_signal_destroy(world->stale[i].signal), "stale signal");
}
