/**
 * Small look-ups in the lists of the trace that is exported.
 */
#ifndef RTL_TOOLS_EXPORT_LOOKUP_H
#define RTL_TOOLS_EXPORT_LOOKUP_H

#include "common/counters.h"
#include "export/export.h"

/** The handle of a stream, 0 for the NULL stream and where there is none. */
uint64_t lookup_stream(const struct export *export, uint32_t process, uint32_t stream);

/** The GPU that an agent is, RTL_TRACE_NONE if it is none or not known. */
uint32_t lookup_gpu(const struct export *export, uint32_t process, uint32_t agent);

/** Places in the lists that rtlTraceAgents, rtlTraceQueues and the others give; SIZE_MAX if it is
 * not there. */
size_t lookup_agent_place(const struct export *export, uint32_t process, uint32_t agent);
size_t lookup_queue_place(const struct export *export, uint32_t process, uint32_t queue);
size_t lookup_stream_place(const struct export *export, uint32_t process, uint32_t stream);
size_t lookup_thread_place(const struct export *export, uint32_t process, uint32_t thread);
size_t lookup_symbol_place(const struct export *export, uint32_t process, uint32_t symbol);

/** Place of a counter in the list that rtlTraceCounters gives. */
size_t lookup_counter_place(const struct export *export, const rtl_trace_counter_t *counter);

/** What is known of a hardware counter by its block and event; NULL: nothing. */
const struct rtl_counter *lookup_counter(const struct export *export,
                                         const rtl_trace_counter_t *counter);

/** The order of rtlTraceGraphs: whether a generation comes before that of a launch. */
bool lookup_is_before(const rtl_graph_t *graph, const rtl_graph_launch_t *launch);

/** The generation that a launch is of; NULL if it is not known. */
const rtl_graph_t *lookup_graph(const struct export *export, const rtl_graph_launch_t *launch);

/** When a range ended; one that was never ended lasts until its process ended, or the recording. */
uint64_t lookup_range_end(const struct export *export, const rtl_range_t *range);

/** Whether a process's GPU has run a kernel or made a copy of it. */
bool lookup_gpu_is_used(const struct export *export, uint32_t process, uint32_t gpu);

#endif
