/**
 * Graphs inferred from packets, where HIP names none: for graphs.c.
 *
 * Batches come in the order of the ring, are put into that of their threads, and joined to
 * sequences as the runtime cut them up; what repeats (repeats.h) is a graph, or a segment of one.
 * Graphs are reported at the end (chains.h), when it is known which segments belong together.
 */
#ifndef RTL_GRAPH_INFER_H
#define RTL_GRAPH_INFER_H

#include "graph/registry.h"

struct rtl_infer;

/** NULL when memory is short. */
struct rtl_infer *rtl_infer_new(struct rtl_registry *registry);

/** NULL is allowed. */
void rtl_infer_free(struct rtl_infer *infer);

/** A batch was submitted: in `flight`, whose kernels may not all have come. */
void rtl_infer_submitted(struct rtl_infer *infer, struct rtl_flight *flight);

/** The kernels of a batch have come, or all that will. Reports the launch, now or when it is known
 * that it belongs to a graph. */
void rtl_infer_retire(struct rtl_infer *infer, struct rtl_flight *flight);

/** A kernel that names no launch: it may be a head. */
void rtl_infer_single(struct rtl_infer *infer, const struct rtl_wire_kernel *kernel);

/** Reports the graphs. */
void rtl_infer_finish(struct rtl_infer *infer);

#endif
