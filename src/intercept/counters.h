/**
 * Hardware counters of the program's kernels (RTL_METRICS, RTL_COUNTING, RTL_PASS).
 *
 * Counters are started, stopped and read by packets in queues: AMD's aqlprofile makes them, and
 * they are put in between the program's packets where the queue is an intercept queue, on their way
 * to the hardware. The program's own indices stay as they are. A thread of ours, the keeper, hands
 * out the device, and reads what was counted.
 *
 * Kernel mode (counters_kernel.h): each kernel alone on its device, bracketed. Range mode
 * (counters_range.h): counters run freely and are read where ranges begin and end.
 *
 * What could not be counted is counted with its reason. Nothing here ends, blocks or prints in the
 * program.
 */
#ifndef RTL_INTERCEPT_COUNTERS_H
#define RTL_INTERCEPT_COUNTERS_H

#include "intercept/config.h"
#include "intercept/queue.h"

#include <stdbool.h>
#include <stdint.h>

struct rtl_counters_agent;
struct rtl_counters_kernels;
struct rtl_counters_ranges;

/** What counting needs of a queue that is followed by interception. Made once for a state of
 * queue.h, and used again with it. */
struct rtl_counters_queue {
    struct rtl_queue *queue;
    struct rtl_counters_agent *device;
    struct rtl_counters_kernels *kernels; /**< kernel mode, else NULL */
    struct rtl_counters_ranges *ranges;   /**< range mode, else NULL */
    unsigned char *out;                   /**< packets on their way to the hardware */
    uint64_t room;                        /**< of `out`, packets */
    _Atomic bool open;                    /**< the queue is followed, and counted */
};

/** As RTL_COUNTING says, 0 while nothing is counted. Set when the tool is loaded. */
extern _Atomic uint32_t rtl_counters_mode;

/** Takes the settings, asks the library, plans, and tells the trace. When the tool is loaded, with
 * the agents listed; again after another hsa_init. */
void rtl_counters_begin(const struct rtl_config *config);

/** True if queues have to be intercept queues for what RTL_METRICS asks. Once rtl_counters_begin
 * has come back. */
bool rtl_counters_need_packets(void);

/** A queue is about to be followed: readies it for counting, if its device is counted. Slow: may
 * make buffers, and wait for the device a second. Sets `queue->counted`. */
void rtl_counters_queue_open(struct rtl_queue *queue);

/** A queue on a GPU agent cannot be followed by interception. Any thread. */
void rtl_counters_queue_refused(uint32_t agent);

/** The packets in the queue's staging memory go on their way: rewrites each and adds what counting
 * needs, into `queue->counted->out`. Returns how many packets there are then. By who submits. */
uint64_t rtl_counters_submit(struct rtl_queue *queue, uint64_t index, uint64_t count,
                             uint32_t epoch);

/** How many packets more the queue may be given just now. */
uint64_t rtl_counters_most(const struct rtl_queue *queue);

/** The state of the queue is about to serve another one: nothing of it is executed any more. Worker
 * only. */
void rtl_counters_queue_close(struct rtl_queue *queue);

/** Gives what is on its way `patience_ns` to be read and sent. At the end of the program. */
void rtl_counters_settle(uint64_t patience_ns);

/** Counts what is left as not finished, and tells the trace. At the very end. */
void rtl_counters_last(void);

/** Ends the keeper and frees what the runtime lent, before the runtime goes. */
void rtl_counters_end(uint64_t patience_ns);

/** In a forked child, where there is no keeper: nothing is counted. */
void rtl_counters_forked(void);

#endif
