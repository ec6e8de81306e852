/**
 * Random legal AQL programs: what their parts share.
 *
 * A seed decides the *shape* (queues, producer threads, how often what occurs) and what each
 * producer submits: this is the same from run to run. What depends on the moment (which packet of
 * another thread a barrier waits for, who gets which slot) differs, and no result depends on it.
 *
 * No deadlock: all dependencies of a packet were submitted before its slot was reserved, a thread
 * that has reserved slots and not filled them waits for nothing but room in their queue, and what
 * is announced late is announced before its thread waits for anything.
 */
#ifndef E2E_RANDOM_H
#define E2E_RANDOM_H

#include "gpu.h"
#include "random_kernel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RANDOM_LANES     8u
#define RANDOM_PRODUCERS 8u
#define RANDOM_KERNELS   3u
#define RANDOM_OWN       64u /* signals that a producer arms one after the other */
#define RANDOM_COUNTING  4u  /* of them, shared by several packets */
#define RANDOM_BOARD     32u /* signals of a producer that anybody may depend on */
#define RANDOM_STALE     8u  /* signals that nobody ever arms again */
#define RANDOM_TAIL      64u /* packets per queue that are in flight at the end */
#define RANDOM_SHARED    UINT32_MAX

/* ---- chance ---- */

struct random_source {
    uint64_t state;
};

/** The next number (splitmix64). */
static inline uint64_t random_next(struct random_source *source)
{
    uint64_t z = source->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/** A number below `limit`, which is not 0. */
static inline uint32_t random_below(struct random_source *source, uint32_t limit)
{
    return (uint32_t)((random_next(source) >> 32) * limit >> 32);
}

/** True in so many of a thousand cases. */
static inline bool random_chance(struct random_source *source, uint32_t per_mille)
{
    return random_below(source, 1000) < per_mille;
}

/* ---- the shape of a program ---- */

/** How a program ends: with everything done, with packets behind a barrier that never opens, or
 * with packets under way. */
enum random_end { RANDOM_DRAINED, RANDOM_GATED, RANDOM_RACING, RANDOM_ENDS };

struct random_lane_shape {
    uint32_t size;
    uint32_t owner; /**< the only producer, or RANDOM_SHARED */
    bool single;    /**< made as HSA_QUEUE_TYPE_SINGLE */
    bool timed;     /**< the program switches timestamps on */
};

struct random_shape {
    uint32_t lanes, producers;
    struct random_lane_shape lane[RANDOM_LANES];
    /** Per mille of the packets. */
    uint32_t barriers, agents, bits, own, counting, stale, board, middle, slow;
    /** Per mille of the submissions. */
    uint32_t late, trains, gates, pauses, waits;
    uint32_t batch; /**< most packets of a usual batch */
    enum random_end end;
    bool destroys;   /**< queues are destroyed at the end */
    bool shuts_down; /**< and hsa_shut_down is called */
};

/** Draws the shape of a program. Numbers of lanes and producers that are not 0 are kept. */
void random_shape_draw(struct random_shape *shape, uint64_t seed);

/* ---- packets and signals ---- */

/** The first ones are kernels, by number. */
enum random_kind {
    RANDOM_QUICK,
    RANDOM_MIDDLE,
    RANDOM_SLOW,
    RANDOM_AND,
    RANDOM_OR,
    RANDOM_VALUE,
    RANDOM_AGENT,
    RANDOM_KINDS
};

/** One packet of the program. Written by its producer; read when the producers have ended. */
struct random_packet {
    uint64_t index; /**< in its queue */
    hsa_signal_t signal;
    uint32_t use;   /**< of its signal, in random_world.uses; 0: nobody looks at it */
    uint32_t after; /**< id of a kernel that must have run before; the own id: none */
    uint32_t needs; /**< first of its dependencies in random_world.needs */
    uint8_t need_count;
    uint8_t lane, kind;
    bool bit;          /**< the barrier bit */
    bool optional;     /**< in flight at the end: may or may not have run */
    uint8_t condition; /**< of a barrier-value packet, hsa_signal_condition_t */
    int32_t value;     /**< to compare with */
};

/** One arming of one signal, and what the program saw of it. */
struct random_use {
    uint64_t seen_ns;             /**< CLOCK_BOOTTIME after the program saw it done, 0: never */
    uint64_t start_ns, end_ns;    /**< as hsa_amd_profiling_get_dispatch_time told */
    uint64_t first_end, last_end; /**< of its packets, in truth */
    uint32_t members;             /**< packets with it */
    uint32_t kernel;              /**< id of one of them that is a kernel, UINT32_MAX: none */
    bool untimed;                 /**< one of them is in a queue without timestamps */
    bool timed;                   /**< the times above were read */
    bool matched;                 /**< they are those of one of its packets */
};

/** A dependency of a barrier packet. */
struct random_need {
    hsa_signal_t signal;
    uint32_t use; /**< a gate has one too: without packets, done when it is opened */
};

/** A barrier that a signal must outlive unarmed: the signal of the barrier, in its n-th arming. */
struct random_dependent {
    struct random_signal *signal;
    uint32_t armings;
};

/** A signal that its producer arms again and again. */
struct random_signal {
    hsa_signal_t signal;
    bool polled;             /**< the host may not wait for it */
    hsa_signal_value_t goal; /**< where the packets bring it */
    uint32_t use;            /**< 0: not armed */
    uint32_t left;           /**< packets that are yet to get it */
    uint32_t given;          /**< submission with its last packet */
    uint32_t round;          /**< submission that last involved it */
    uint32_t armings;
    uint32_t dependents;
    struct random_dependent dependent[2];
    struct random_dependent before; /**< one whose packet must be done before, or none */
};

/** A signal of the board: used once, never armed again, open to everybody. */
struct random_board {
    hsa_signal_t signal;
    uint32_t use;           /**< 0: not used */
    _Atomic bool published; /**< its packet has been submitted */
};

struct random_stale {
    hsa_signal_t signal;
    hsa_signal_value_t initial;
    _Atomic uint64_t uses;
};

struct random_lane {
    hsa_queue_t *queue;
    const struct random_lane_shape *shape;
};

struct random_producer {
    struct random_world *world;
    pthread_t thread;
    uint32_t number;
    struct random_source plan;   /**< what is submitted */
    struct random_source moment; /**< what may differ from run to run */
    uint32_t lanes[RANDOM_LANES];
    uint32_t lane_count;
    uint32_t id, end;        /**< next packet, and where its share ends */
    uint32_t use, first_use; /**< in its share of the uses: the next, the first */
    uint32_t need;           /**< next one in its share of the needs */
    uint32_t round;          /**< number of the submission */
    struct random_signal own[RANDOM_OWN];
    uint32_t next_own;
    struct random_signal counting[RANDOM_COUNTING];
    struct random_board board[RANDOM_BOARD];
    struct random_dependent latest[RANDOM_LANES]; /**< of its own signals, the last in each lane */
    uint32_t boarded, published;                  /**< of the board: used, published */
    struct random_tally *tallies;                 /**< one per kernel, in memory of the device */
};

struct random_world {
    struct random_shape shape;
    struct gpu gpu;
    struct gpu_kernel kernels[RANDOM_KERNELS];
    struct random_lane lanes[RANDOM_LANES];
    struct random_producer producers[RANDOM_PRODUCERS];
    struct random_stale stale[RANDOM_STALE];
    const struct random_options *options;
    uint32_t packet_count; /**< of the producers */
    uint32_t id_end;       /**< with those in flight at the end */
    struct random_packet *packets;
    struct random_use *uses;
    struct random_need *needs;
    struct random_arguments *arguments; /**< in memory of the device, by id */
    _Atomic uint32_t *runs;             /**< in memory of the device, by id */
};

/** What the user asked for. Numbers that are 0, and RANDOM_ENDS: as the seed says. */
struct random_options {
    uint64_t seed;
    uint32_t packets, lanes, producers, batch;
    enum random_end end;
    bool mixed; /**< barriers get signals that go below 0, too */
};

/** Says on stderr what is wrong; only the first ones are printed. Any thread. */
void random_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** How often random_complain was called. */
uint64_t random_complaints(void);

/** CLOCK_BOOTTIME, the clock of the truth log. */
uint64_t random_now(void);

/* ---- random_world.c ---- */

/** Names of the kernels' symbols. */
extern const char *const random_kernel_names[RANDOM_KERNELS];

/** Opens the GPU, draws the shape, makes queues, producers and signals. `options` must outlive it.
 */
void random_world_open(struct random_world *world, const struct random_options *options);

/* ---- random_produce.c ---- */

/** Runs the producers, each in a thread of its own, and drains the queues. */
void random_produce(struct random_world *world);

/* ---- random_signals.c ---- */

/** Makes a signal, of one of the kinds that a program may choose from. `polled` tells of one that
 * the host may read, not wait for. */
hsa_signal_t random_signal_make(const struct random_world *world, struct random_source *source,
                                hsa_signal_value_t value, bool *polled);

/** Arms the next signal of its own for one packet of this submission. NULL if that would mean to
 * wait for a packet of the same submission. */
struct random_signal *random_arm_own(struct random_producer *producer);

/** A signal that several packets count down, for a kernel or another packet. NULL as above, or when
 * it is not for such a packet. */
struct random_signal *random_arm_counting(struct random_producer *producer, bool kernel);

/** Waits until the signal's packets, and the barriers that depend on it, are done; checks its value
 * and reads its times. */
void random_settle(struct random_producer *producer, struct random_signal *signal);

/** When all queues are drained: every signal must already be where it belongs. */
void random_signals_check(struct random_world *world);

/** Destroys all signals. */
void random_signals_close(struct random_world *world);

/* ---- random_plan.c ---- */

/** Draws the next `count` packets of the producer, for a lane. Waits, if at all, for packets of
 * earlier submissions. */
void random_plan_batch(struct random_producer *producer, uint32_t lane, uint32_t count);

/** A barrier that the program lets go on itself. */
struct random_gate {
    hsa_signal_t signal;
    int32_t value;                /**< that it waits for: 0 from above, others from below */
    uint32_t use;                 /**< its own */
    struct random_signal *passed; /**< the barrier's completion signal */
};

/** Draws the barrier of a gate, whose signal and value are set; fills the rest. The first packet of
 * a submission. */
void random_plan_gate(struct random_producer *producer, uint32_t lane, struct random_gate *gate);

/** After a submission: its packets may be depended on by everybody. */
void random_plan_publish(struct random_producer *producer);

/* ---- random_submit.c ---- */

/** A run of packets that are reserved together. */
struct random_piece {
    uint32_t lane, first, count; /**< ids */
    uint64_t index;              /**< of the first, when reserved */
};

/** Submits pieces of one queue one after the other, and rings once or more. */
void random_submit(struct random_producer *producer, struct random_piece *pieces, uint32_t count);

/** Submits two pieces, the first of them filled last where there is room to do so without
 * waiting. */
void random_submit_late(struct random_producer *producer, struct random_piece *pieces);

/* ---- random_verify.c ---- */

/** Compares everything with the truth log: each packet ran once, as it was written, in its place,
 * not before what it had to wait for; the times and moments that the program saw are the device's.
 */
void random_verify(struct random_world *world, const char *path);

#endif
