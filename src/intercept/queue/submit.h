/**
 * Submission: from packets that producers have written to packets that the device may take.
 *
 * One thread at a time submits for a queue, whoever asks first; it does not wait for anybody, and
 * submits what others have made ready meanwhile. Packets are submitted in order, up to the first
 * that is not written yet.
 */
#ifndef RTL_INTERCEPT_QUEUE_SUBMIT_H
#define RTL_INTERCEPT_QUEUE_SUBMIT_H

#include "intercept/base/api_types.h"
#include "intercept/queue/queue.h"

/** Rewrites and publishes what is ready in the queue. Any thread; if another thread is at it, that
 * one does it. A thread that finds more and more, because others ring all the time, leaves the rest
 * to the worker. */
void rtl_submit(struct rtl_queue *queue);

/** The same as rtl_submit, but a little of it; false if there may be more. For the worker, which
 * has other queues.
 */
bool rtl_submit_some(struct rtl_queue *queue);

/** True if the queue may hold packets that are not submitted, or somebody else has moved its real
 * write index: rtl_submit is worth its while. A hint; any thread. */
bool rtl_submit_is_behind(const struct rtl_queue *queue);

/** True if somebody has deferred packets to the worker since the last call. For the worker. */
bool rtl_submit_take_deferred(void);

/** Counts as not followed what the device has had, or may take, and nobody has submitted: the
 * process ends in a moment. Leaves it alone if somebody is submitting. Async-signal-safe. */
void rtl_submit_account(struct rtl_queue *queue);

/** Waits until nobody is submitting for the queue, at most until `deadline_ns` (CLOCK_MONOTONIC),
 * and keeps it so: its ring's memory is about to go. A submission takes microseconds; one that has
 * not ended after a second never will (its thread is gone). */
void rtl_submit_end(struct rtl_queue *queue, uint64_t deadline_ns);

/** Undoes rtl_submit_end for a state that serves another queue. */
void rtl_submit_begin(struct rtl_queue *queue);

/** From now on submits by another handle of the same hardware queue. Waits for a submission that is
 * under way, at most until `deadline_ns` (CLOCK_MONOTONIC). */
void rtl_submit_by(struct rtl_queue *queue, hsa_queue_t *handle, uint64_t deadline_ns);

/** Harvests finished records to make room or free signals, the queue's own first, or makes signals;
 * `queue` is a struct rtl_queue. Does not wait. Returns how many. */
unsigned rtl_submit_reclaim(void *queue);

/** The handler of queues that are followed by interception (rtl_intercept_handler_t); `queue` is a
 * struct rtl_queue. Rewrites a copy of the packets and passes it on in one call. */
void rtl_submit_intercepted(const void *packets, uint64_t count, uint64_t index, void *queue,
                            rtl_packet_writer_t writer);

#endif
