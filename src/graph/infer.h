/**
 * Graphs inferred from packets, where HIP names none: for graphs.c.
 *
 * Batches come in the order of the ring, are put into that of their threads, and joined to
 * sequences as the runtime cut them up; what repeats (repeats.h) is a graph, or a segment of one.
 * Graphs are reported at the end (chains.h), when it is known which segments belong together.
 *
 * What HIP submits for a graph, from CLR's sources (rocvirtual.cpp, hip_graph_internal.cpp):
 *
 * - from rocm-systems #1030 on (dispatchGenericAqlPacketBatch): batches of 1, 2, 4, … 256 packets,
 *   each reserved and rung on its own. With 16 packets or more in flight the next batch is 256, and
 *   with a full queue 1: the cuts differ from replay to replay.
 * - from #4831 on (dispatchAqlPacketBatchFlat): one reservation for all packets of a segment, a
 *   doorbell every 256.
 * - segments (7.14): reservations on several queues, with barriers among their packets that wait
 *   for other segments and signal their end.
 * - behind it a marker of its own, reserved alone, where HIP needs one.
 *
 * So fingerprints join (fingerprint.h): batches become sequences, sequences segments, segments
 * chains. A replay's first packet may be reserved on its own: the *head*. Once seen, its
 * fingerprint is remembered, and later occurrences are recognised when they are submitted. The
 * first one is linked afterwards: the record of the next batch carries its fingerprint
 * (RTL_LAUNCH_HEADED). An eager kernel that just came before is told apart by what repeats.
 * Segments are chained if each always follows the other in its thread, and either barriers were
 * among their packets or the first ended in a batch as large as could be.
 *
 * What cannot be told apart: two graphs of segments that are always launched in turn (taken for
 * one); a graph of which no two packets are reserved at once. A last packet that is reserved alone
 * behind full batches is known from its second time on, as heads are; before, its kernel belongs to
 * no graph.
 */
#ifndef RTL_GRAPH_INFER_H
#define RTL_GRAPH_INFER_H

#include "graph/registry.h"

struct rtl_infer;

/** NULL when memory is short. */
struct rtl_infer *rtl_infer_new(struct rtl_registry *registry);

/** NULL is allowed. */
void rtl_infer_free(struct rtl_infer *infer);

/** A batch was submitted: `in_flight`, whose kernels may not all have come. */
void rtl_infer_submitted(struct rtl_infer *infer, struct rtl_in_flight *in_flight);

/** The kernels of a batch have come, or all that will. Reports the launch, now or when it is known
 * that it belongs to a graph. */
void rtl_infer_retire(struct rtl_infer *infer, struct rtl_in_flight *in_flight);

/** A kernel that names no launch: it may be a head. */
void rtl_infer_single(struct rtl_infer *infer, const struct rtl_wire_kernel *kernel);

/** Reports the graphs. */
void rtl_infer_finish(struct rtl_infer *infer);

#endif
