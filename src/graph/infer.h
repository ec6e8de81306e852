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
 * - segments (7.2): on several queues, each in batches, with barriers before and behind that are
 *   reserved alone, wait for other segments and signal their end; from 7.14 on the barriers are in
 *   the segments' reservations. A barrier waits for what is not complete when it is submitted, so
 *   that the same graph waits in one replay and not in the next: barriers do not join segments.
 * - behind it a marker of its own, reserved alone, where HIP needs one.
 *
 * So fingerprints join (fingerprint.h): batches become sequences, sequences segments, segments
 * chains. A replay's first packet may be reserved on its own: the *head*. Once seen, its
 * fingerprint is remembered, and later occurrences are recognised when they are submitted. The
 * first one is linked afterwards: the record of the next batch carries its fingerprint
 * (RTL_LAUNCH_HEADED). An eager kernel that just came before is told apart by what repeats.
 * Segments are chained if each always follows the other in its thread and the arguments of their
 * kernels lie in the same memory, which is a graph's own (arguments.h, rows.h). By that a kernel
 * that was reserved alone is known to be a graph's, too, once a batch had arguments in its page; it
 * is a launch record of its own then.
 *
 * What cannot be told: a graph of which no two packets are reserved at once, because nothing but
 * where its arguments lie tells it from eager work (short branches, as long as the device is not
 * behind); a graph that HIP launches with fresh arguments each time. Kernels that are reserved
 * alone before the first batch in their page are in no launch. A graph whose memory is not seen to
 * be one is several.
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
