/**
 * The command processor's reading of PM4: what a vendor packet of AQL leads to.
 *
 * A small set of packets (pm4_packets.h) over the registers of pmc.h. What is not known is refused.
 * Device thread only.
 */
#ifndef SOFTGPU_PM4_H
#define SOFTGPU_PM4_H

#include <stdbool.h>
#include <stdint.h>

/** How far the queue has come in the buffer that the packet at its head leads to. */
typedef struct sg_pm4 {
    uint32_t at;   /**< dwords that are done */
    bool counting; /**< register COMPUTE_PERFCOUNT_ENABLE, which each queue has for itself */
} sg_pm4_t;

typedef enum sg_pm4_outcome {
    SG_PM4_DONE,
    SG_PM4_WAITS,  /**< for the queue's kernels, or for ever: ask again */
    SG_PM4_REFUSED /**< `why` says what for */
} sg_pm4_outcome_t;

/** Does what a vendor packet's words say, from where it stopped last; `words` are the fifteen
 * behind the packet's header word, which lead to a buffer. `idle`: no kernel of the queue is under
 * way. The caller sets `at` to 0 for each packet. */
sg_pm4_outcome_t sg_pm4_run(sg_pm4_t *pm4, const uint32_t *words, uint32_t gpu, bool idle,
                            const char **why);

#endif
