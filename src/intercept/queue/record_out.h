/**
 * From what is known of a finished kernel or copy to its record in the trace.
 *
 * The facts of a copy lie in the fields of a kernel's: bytes in `kernel_object`, the ordinal in
 * `packet`, source and destination agent in `grid`, the kind in `block` (copies.c fills them in).
 */
#ifndef RTL_INTERCEPT_QUEUE_RECORD_OUT_H
#define RTL_INTERCEPT_QUEUE_RECORD_OUT_H

#include "intercept/base/emit.h"
#include "intercept/queue/pending.h"
#include "intercept/queue/shapes.h"

/** Makes a kernel's record; `queue` is the queue's id. False: there is nothing to record, and
 * `*why` has the reason. Any thread, lock-free. Inline, since it runs for each kernel. */
static inline bool rtl_out_kernel(struct rtl_wire_kernel *kernel, uint32_t queue,
                                  const struct rtl_kernel_facts *facts, enum rtl_lost *why)
{
    *why = RTL_LOST_NO_TIME;
    if (facts->start == 0 || facts->end < facts->start)
        return false;
    *why = rtl_emit_why();
    if (!rtl_shapes_find(facts, &kernel->shape))
        return false;
    kernel->packet = facts->packet;
    kernel->start = facts->start;
    kernel->end = facts->end;
    kernel->correlation = facts->correlation;
    kernel->queue = queue;
    kernel->launch = facts->launch;
    kernel->ordinal = facts->ordinal;
    return true;
}

/** What came of a copy's record. */
enum rtl_copy_sent { RTL_COPY_SENT, RTL_COPY_NO_ROOM, RTL_COPY_NO_TIME };

/** The record of a copy, in flight. */
struct rtl_copy_draft {
    struct rtl_emit_draft draft;
    struct rtl_wire_copy wire;
};

/** Drafts the record of a completed copy; RTL_COPY_SENT: it is to be committed or (with
 * rtl_emit_give_up) given up. Any thread, lock-free. */
enum rtl_copy_sent rtl_out_draft_copy(uint32_t queue, const struct rtl_kernel_facts *facts,
                                      struct rtl_copy_draft *copy);

/** Sends it. */
void rtl_out_commit_copy(const struct rtl_copy_draft *copy);

#endif
