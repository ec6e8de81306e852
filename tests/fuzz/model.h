/**
 * A program, a device and librtl's packet path in one thread, for the fuzzers: two queues that
 * share the pool and the table of borrowed signals.
 *
 * The model knows of every packet what the program wrote and what the device did, from its own side
 * alone. It ends the process with a sentence as soon as librtl does something that it must not do
 * (model.c lists what). The ring to the collector is played too.
 */
#ifndef RTL_TESTS_FUZZ_MODEL_H
#define RTL_TESTS_FUZZ_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_QUEUES 2u
#define MODEL_OWNS   12u /* the program's signals at a time */

struct model_settings {
    uint32_t queue_size; /**< packets, a power of two up to 256 */
    uint32_t mode;       /**< enum rtl_mode */
    uint32_t pool;       /**< signals that the runtime makes, up to 512 */
    uint32_t records;    /**< per queue; 64 at least */
    uint64_t first;      /**< index of the first packet */
    /** In full mode: the program gives a signal to more packets than it has armed it for, kernels
     * all of them. The device completes them in their order. Their times must be right as long
     * as signals and records suffice. */
    bool crowded;
    /** The same with all packets, and the program also writes to signals whose kernels run, around
     * librtl as well. What it gets then is its own affair, the times in the trace included; the
     * accounts must hold. */
    bool rude;
};

/** One packet as the program writes it. */
struct model_packet {
    uint8_t type;   /**< AQL packet type, any value */
    uint8_t format; /**< AMD's format of a vendor packet, any value */
    int own;        /**< the program's signal, below MODEL_OWNS; -1: none */
    bool stale;     /**< without one of its own, it names one of librtl's */
    bool alone;     /**< its slot was reserved alone */
    uint64_t noise; /**< what fills the rest of it */
};

void model_begin(const struct model_settings *settings);

/** Completes and harvests everything, closes the queues and balances all accounts. */
void model_end(void);

/** As model_end, but the queues are closed with packets in flight. */
void model_abort(void);

/** Writes a packet if the queue has room for it; one of the program's signals that is destroyed is
 * made again. */
void model_write(unsigned queue, const struct model_packet *packet);

/** Has librtl rewrite what is written, and checks what it did. */
void model_submit(unsigned queue);

/** The device takes the next `count` packets from the queue. */
void model_launch(unsigned queue, unsigned count);

/** The device completes the packet after `skip` others of those that it has taken. */
void model_complete(unsigned queue, unsigned skip);

/** What a worker or a helping thread does. */
void model_harvest(unsigned queue, unsigned most, unsigned max_incomplete);
void model_forward(unsigned queue);

/** A thread that has begun to forward for the queue loses its processor, or has it back. */
void model_stall(unsigned queue, bool stalled);
void model_round(void);

/** The program stores a value into its signal, or destroys it: when nothing is in flight for it,
 * or, if it is rude, at any time; `unseen` by librtl if it is rude. */
void model_arm(unsigned own, int64_t value, bool unseen);
void model_destroy(unsigned own);

void model_pause(bool paused);
void model_mark(uint64_t every);

/** How many kernels the ring takes from now on, and whether it takes definitions. */
void model_ring(unsigned kernels, bool shapes);

/** The worker makes signals. */
void model_grow(unsigned to);

/** The library has brought a signal of the program's down by one; see harvest.c. */
void model_lowered(uint64_t handle);

#endif
