/**
 * Graph launches in flight.
 *
 * The packets that a thread reserves between rtl_launch_begin and rtl_launch_end belong to its
 * launch, on whatever queue, and whoever submits them. Outside of host calls, packets that are
 * reserved at once are a launch too: that is how a graph shows itself without HIP's help. When all
 * packets of a launch have passed, it is done, and the worker sends its record.
 *
 * No locks. A launch is found by its id; ids that would meet one that is still in flight are left
 * out. Launches without a record are counted (account.h).
 */
#ifndef RTL_INTERCEPT_QUEUE_LAUNCHES_H
#define RTL_INTERCEPT_QUEUE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

/** Takes memory for them, before a queue is followed. False: there is none. */
bool rtl_launches_begin(void);

/** Begins a launch of a generation of a graph in the calling thread; sets
 * rtl_thread_context.launch. The id of the launch, or RTL_NONE: too many are in flight, the thread
 * has stopped the recording of what it does, no queue was ever followed, or one is open in this
 * thread already. One that begins while recording is stopped for the process is recorded if it has
 * kernels that are: recording was started meanwhile. Any thread, lock-free. */
uint32_t rtl_launch_begin(uint32_t graph, uint32_t generation);

/** Ends the launch that is open in the calling thread, if any: nothing more will be reserved for
 * it. */
void rtl_launch_end(void);

/** The calling thread has reserved `packets` for the launch that is open in it; returns the ordinal
 * of the first. */
uint32_t rtl_launch_reserve(uint32_t queue, uint64_t first, uint32_t packets);

/** A launch of `packets` reserved at once outside of a host call. As rtl_launch_begin, but the
 * thread's launch stays as it is: it is complete but for its passing. */
uint32_t rtl_launch_infer(uint32_t queue, uint64_t first, uint32_t packets);

/** Sends the records of launches that are done. False if some found no room: they are tried again
 * by the next call. Any thread, lock-free. */
bool rtl_launches_send(void);

/** The same, and looks whether the collector keeps up. While it does not, no launches of few
 * packets are inferred: a program that reserves two packets at a time has as many of them as
 * kernels, and these matter more. Each round of the worker. */
void rtl_launches_poll(void);

/** The kernel before a launch that was inferred looks like the head of the same replay. By the
 * submitter. */
void rtl_launch_set_head(uint32_t launch, uint64_t head);

/** What has passed of a launch. */
struct rtl_launch_part {
    uint32_t launch;
    uint32_t packets;      /**< all */
    uint32_t kernels;      /**< kernel packets */
    uint32_t left_out;     /**< of these: not to be recorded */
    uint32_t unseen;       /**< packets that will never pass, or cannot be looked into */
    uint64_t fingerprint;  /**< of the kernels of a launch that was inferred, so far */
    uint64_t arguments[2]; /**< of its first kernel and its last, so far */
};

/** Any thread; for one launch that was inferred, one at a time. */
void rtl_launch_submitted(const struct rtl_launch_part *part);

/** Sends the launches of which all packets have passed by the time of the call, as far as there is
 * room: those that another thread has in hand, too, unless it comes on within some microseconds.
 * Makes no system call. Any thread. */
void rtl_launches_drain(void);

#endif
