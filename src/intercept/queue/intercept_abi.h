/**
 * How the runtime's intercept queue hands packets to a tool, found by experiment: versions do not
 * tell. They differ in how many packets one call of a tool's callback gets, and in the memory that
 * they lie in where the queue wraps.
 *
 * Sources: InterceptQueue::StoreRelaxed in core/runtime/intercept_queue.cpp of ROCr 5.2.3
 * and 6.2.4; pull requests #1194 (batches), #2185 (a staging buffer of 256 packets) and #4066 (one
 * of the queue's size) of github.com/ROCm/rocm-systems.
 */
#ifndef RTL_INTERCEPT_QUEUE_INTERCEPT_ABI_H
#define RTL_INTERCEPT_QUEUE_INTERCEPT_ABI_H

#include <hsa/hsa.h>

enum rtl_intercept_abi {
    /** No intercept queue, or one that behaves like none of these. */
    RTL_INTERCEPT_ABI_UNKNOWN,
    /** G1: one packet a call. */
    RTL_INTERCEPT_ABI_ONE_PACKET,
    /** All packets in one call, read past the ring's end where it wraps. */
    RTL_INTERCEPT_ABI_BATCH_UNSTAGED,
    /** G2: as G3, with a staging buffer that is smaller than the queue. */
    RTL_INTERCEPT_ABI_BATCH_SHORT_STAGING,
    /** G3: all packets in one call, copied into one piece where the ring wraps. */
    RTL_INTERCEPT_ABI_BATCH,
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
enum rtl_intercept_abi rtl_intercept_abi_probe(hsa_agent_t agent);

/** "unknown", "G1", "unstaged", "G2" or "G3". */
const char *rtl_intercept_abi_name(enum rtl_intercept_abi abi);

#endif
