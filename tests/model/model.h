/**
 * The parts of the model of ROCr's intercept queue; intercept_model.c says what it models.
 *
 * An intercept queue is a queue of the model's own, over a real queue of the runtime (the lower
 * queue). Producers write into the model's ring; whoever rings the doorbell hands the packets to
 * the interceptors, and what these pass on goes into the lower queue's ring.
 */
#ifndef TESTS_MODEL_MODEL_H
#define TESTS_MODEL_MODEL_H

#include "intercept/base/api.h"

#include <hsa/amd_hsa_queue.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Exit statuses of a process in which the runtime's bug would have struck. */
#define MODEL_STAGING_OVERFLOW 86 /**< more packets than the staging buffer of G2 has room for */
#define MODEL_PAST_THE_RING    87 /**< packets are to be read past the end of the ring */

#define MODEL_INTERCEPTORS 8u

enum model_generation { MODEL_G1, MODEL_UNSTAGED, MODEL_G2, MODEL_G3, MODEL_GENERATIONS };

/** An AQL packet. */
struct model_packet {
    uint16_t header;
    unsigned char body[62];
};

struct model_interceptor {
    rtl_intercept_handler_t handler;
    void *data;
};

struct model_queue {
    amd_queue_t shown; /**< first: its address is the program's hsa_queue_t */
    hsa_queue_t *lower;
    void (*callback)(hsa_status_t, hsa_queue_t *, void *); /**< of the program, for errors */
    void *data;
    struct model_packet *ring; /**< followed by a page that cannot be read */
    void *mapping;
    size_t mapped;                /**< bytes */
    struct model_packet *staging; /**< from malloc; NULL where the generation has none */
    uint64_t staging_size;        /**< packets */
    hsa_signal_t retry;           /**< completion signal of the retry barrier, 1 when not in use */
    _Atomic bool retrying;        /**< a retry barrier is under way */
    _Atomic bool deferred;        /**< a doorbell was rung within a callback */
    _Atomic bool active;
    struct model_queue *next; /**< in the list of the retry thread; under its lock */

    pthread_mutex_t lock; /**< for what follows */
    uint64_t handed_over; /**< packets before it were given to the interceptors */
    struct model_packet *overflow;
    uint64_t overflowing, overflow_room; /**< packets */
    struct model_packet *input;          /**< what an interceptor was given, to compare with */
    struct model_interceptor interceptors[MODEL_INTERCEPTORS];
    unsigned interceptor_count;
};

/* ---- intercept_model.c ---- */

/** The generation that MODEL_GENERATION names; set before there is a queue. */
extern enum model_generation model_generation;

/* ---- queue.c ---- */

/** Puts the model's functions for the life of a queue and its indexes into the table. */
void model_queues_hook(void);

/** The intercept queue with this address or doorbell; NULL if it is none. Any thread. */
struct model_queue *model_queue_at(const hsa_queue_t *queue);
struct model_queue *model_queue_of_doorbell(hsa_signal_t signal);

/* ---- process.c ---- */

/** What a doorbell does: hands the packets that are ready to the interceptors. Any thread; within a
 * callback the work is left to the retry thread. */
void model_process(struct model_queue *queue);

/* ---- submit.c ---- */

/** Writes packets into the lower queue, all of them if it has room, else none (or, of as many
 * packets as the queue has or more, what fits) and a barrier that wakes the retry thread. Returns
 * how many were written. Under the queue's lock. */
uint64_t model_submit(struct model_queue *queue, const struct model_packet *packets,
                      uint64_t count);

/** Submits the packets of the overflow list. False if some remain. Under the queue's lock. */
bool model_submit_overflow(struct model_queue *queue);

/** The last interceptor: submits, and keeps in the overflow list what does not fit. Under the
 * queue's lock. */
void model_pass_on(struct model_queue *queue, const struct model_packet *packets, uint64_t count);

/* ---- retry.c ---- */

/** Lets the retry thread, which is started when there is none, look after a queue. False if the
 * thread cannot be started. */
bool model_retry_watch(struct model_queue *queue);

/** No more after the return. */
void model_retry_forget(struct model_queue *queue);

/** Something of the queue has to be looked after. Any thread. */
void model_retry_wake(void);

/** Ends the thread. */
void model_retry_stop(void);

/* ---- report.c ---- */

/** What has happened in this process. */
struct model_counts {
    _Atomic uint64_t queues;    /**< created */
    _Atomic uint64_t callbacks; /**< calls of an outermost interceptor */
    _Atomic uint64_t packets;   /**< in these calls */
    _Atomic uint64_t largest;   /**< most packets of a call */
    _Atomic uint64_t overflow;  /**< how often packets had to go to the overflow list */
    _Atomic uint64_t altered;   /**< calls after which the given packets had changed */
};

extern struct model_counts model_counts;

/** The process whose counts these are; a forked child reports nothing. */
extern pid_t model_process_id;

/** Writes the counts to the file MODEL_REPORT, if that is set. */
void model_report(void);

/** Ends the process with a sentence and a report. */
_Noreturn void model_die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
