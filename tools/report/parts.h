/**
 * What a report is made of: objects of JSON, which the page (tools/viewer/src/report) shows.
 *
 * Times are ns; moments that the page draws are since the recording began. Each function returns a
 * new reference, or NULL when the trace could not be read: then rtlTraceError tells.
 */
#ifndef RTL_TOOLS_REPORT_PARTS_H
#define RTL_TOOLS_REPORT_PARTS_H

#include "analysis/family.h"
#include "analysis/steps.h"

#include <rtl/rtl_trace.h>

#include <jansson.h>

/** How it was recorded: command, host, mode, processes, GPUs, notes. */
json_t *report_recording(rtl_trace_t *trace, const char *path);

/** Whether all is there, as `rtl check` finds it, and why kernels were lost. It has said why the
 * trace could not be read. */
json_t *report_verdict(rtl_trace_t *trace, const char *path);

/** The phases that have most time of the steps that were found, with their steps over time and
 * those that took long; `why` in place of them where there are none. Measures the steps. */
json_t *report_steps(rtl_trace_t *trace, struct steps *steps);

/** The ranks of a job side by side, after report_steps; null where there are not two, or no steps.
 */
json_t *report_ranks(rtl_trace_t *trace, const struct steps *steps, struct family_rules *rules);

/** The kernels with most time, by name, and all by family. */
json_t *report_kernels(rtl_trace_t *trace, struct family_rules *rules);

/** The layers of the graphs that ran longest. */
json_t *report_layers(rtl_trace_t *trace, struct family_rules *rules);

/** Why each GPU was idle, as `rtl idle` has it. */
json_t *report_idle(rtl_trace_t *trace);

#endif
