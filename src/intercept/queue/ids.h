/**
 * What each queue of the program has, whether RTL follows it or not: an id in the trace, a row of
 * the ledger, a definition, and a doorbell of one of two kinds.
 */
#ifndef RTL_INTERCEPT_QUEUE_IDS_H
#define RTL_INTERCEPT_QUEUE_IDS_H

#include "ring/ring.h"

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/** Sets the ring that has the ledger; NULL: accounts are discarded. Before the first queue. */
void rtl_queues_ids_open(struct rtl_ring *ring);

/** A new id. Any thread. */
uint32_t rtl_queues_new_id(void);

/** The row of the ledger for an id. Any thread. */
struct rtl_wire_ledger *rtl_queues_ledger(uint32_t id);

/** True if other queues count in the same row. Any thread. */
bool rtl_queues_share_ledger(uint32_t id);

/** Sends the definition of a queue, or of the copies of an agent. Any thread, as
 * rtl_emit_definition. */
void rtl_queues_describe(const hsa_queue_t *queue, uint32_t id, uint32_t agent,
                         enum rtl_interception interception);
void rtl_queues_describe_copies(uint32_t id, uint32_t agent, enum rtl_interception interception);

/** A queue with this doorbell is about to be followed, or counted. Any thread. */
void rtl_queues_note_doorbell_kind(uint64_t handle);

/** True if a queue was expected whose doorbell looks like any signal, as those of intercept queues
 * do, ours or another tool's. Any thread. */
bool rtl_queues_plain_doorbells(void);

#endif
