/**
 * How the runtime's intercept queue hands packets to a tool, found by experiment: versions do not
 * tell. The generations differ in how many packets one call of a tool's callback gets, and in the
 * memory that they lie in where the queue wraps.
 *
 * Sources: InterceptQueue::StoreRelaxed in core/runtime/intercept_queue.cpp of ROCr 5.2.3
 * and 6.2.4; pull requests #1194 (batches), #2185 (a staging buffer of 256 packets) and #4066 (one
 * of the queue's size) of github.com/ROCm/rocm-systems.
 */
#ifndef RTL_INTERCEPT_QUEUE_GENERATION_H
#define RTL_INTERCEPT_QUEUE_GENERATION_H

#include <hsa/hsa.h>

enum rtl_generation {
    RTL_GENERATION_UNKNOWN,  /**< no intercept queue, or one that behaves like none of these */
    RTL_GENERATION_G1,       /**< one packet a call */
    RTL_GENERATION_UNSTAGED, /**< all packets in one call, read past the ring's end where it wraps
                              */
    RTL_GENERATION_G2,       /**< as G3, with a staging buffer that is smaller than the queue */
    RTL_GENERATION_G3, /**< all packets in one call, copied into one piece where the ring wraps */
};

/**
 * Finds out on a GPU agent, with an intercept queue of its own that is gone again at the return.
 * Nothing reaches the device.
 *
 * rtl_api must be filled; callable from OnLoad on, in any thread, but not within the callback of an
 * intercept queue (a doorbell that is rung there is answered later, by a thread of the runtime; the
 * answer is UNKNOWN then). It keeps no state and waits for nothing itself; the queue's creation and
 * destruction take as long as the runtime takes, some milliseconds.
 */
enum rtl_generation rtl_generation_probe(hsa_agent_t agent);

/** "unknown", "G1", "unstaged", "G2" or "G3". */
const char *rtl_generation_name(enum rtl_generation generation);

#endif
