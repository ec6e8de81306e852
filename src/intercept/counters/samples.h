/**
 * Samples of a device's counters, which run freely (range mode): packets that read them, and what
 * they read.
 *
 * All under a lock of the user's, but where it says otherwise.
 */
#ifndef RTL_INTERCEPT_COUNTERS_SAMPLES_H
#define RTL_INTERCEPT_COUNTERS_SAMPLES_H

#include "intercept/counters/device.h"
#include "intercept/counters/internal_queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define RTL_SAMPLER_BLOCKS 4u /* times that room for reads is made */

/** What the counters of a device stood at, at one moment. */
struct rtl_counter_sample {
    struct rtl_counter_sample *next;
    uint32_t users; /**< the last to drop it gives it back */
    bool done;      /**< read */
    bool failed;    /**< and this is why there are no values: nobody could */
    uint64_t values[];
};

/** Whose reads these are: how many are in flight. Any thread may look. */
struct rtl_reader {
    _Atomic uint32_t reading;
};

struct rtl_read_slot;

/** Of a device. Zeroed memory is one that is not open. */
struct rtl_counter_sampler {
    struct rtl_counters_agent *device;
    pthread_mutex_t *lock;
    struct rtl_internal_queue own;
    struct rtl_aql_packet enable; /**< before the first packet of a queue */
    void *enable_memory;          /**< NULL: no such packet is needed */
    struct rtl_read_slot *free_slots, *in_flight;
    uint32_t free_count;
    struct rtl_read_slot *slots[RTL_SAMPLER_BLOCKS];
    struct rtl_aql_block *blocks[RTL_SAMPLER_BLOCKS];
    uint32_t block_count;
    struct rtl_counter_sample *free_samples;
};

/** Starts the counters of a device. Not under the lock; slow: at most two seconds. */
bool rtl_counter_sampler_open(struct rtl_counter_sampler *sampler,
                              struct rtl_counters_agent *device, pthread_mutex_t *lock);

/** Gives everything back but samples that somebody uses. */
void rtl_counter_sampler_close(struct rtl_counter_sampler *sampler);

/** A sample, whose user is the caller, NULL without memory; and one user less (NULL is allowed). */
struct rtl_counter_sample *rtl_counter_sampler_take(struct rtl_counter_sampler *sampler);
void rtl_counter_sampler_drop(struct rtl_counter_sampler *sampler,
                              struct rtl_counter_sample *sample);

/** Writes a packet that reads into the sample and lowers `signal` from 1 (0: one of its own). False
 * (the sample is as it was) if no memory to read into is free. */
bool rtl_counter_sampler_read(struct rtl_counter_sampler *sampler,
                              struct rtl_counter_sample *sample, struct rtl_reader *reader,
                              uint64_t signal, void *packet);

/** The same at once, in a queue of ours. `reader` may be NULL. */
bool rtl_counter_sampler_read_now(struct rtl_counter_sampler *sampler,
                                  struct rtl_counter_sample *sample, struct rtl_reader *reader,
                                  uint64_t signal);

/** Takes what was read. Not under the lock. `busy` if some are in flight. Returns how many. */
unsigned rtl_counter_sampler_collect(struct rtl_counter_sampler *sampler, bool *busy);

/** The queue of a reader is no more: reads in it that were not executed never will be. Those in our
 * own queue come yet, if `signal` is theirs: true if there is such a one. */
bool rtl_counter_sampler_abandon(struct rtl_counter_sampler *sampler, struct rtl_reader *reader,
                                 uint64_t signal);

#endif
