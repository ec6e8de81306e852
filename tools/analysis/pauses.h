/**
 * How `rtl check` and `rtl info` show when recording was stopped.
 */
#ifndef RTL_TOOLS_PAUSES_H
#define RTL_TOOLS_PAUSES_H

#include <rtl/rtl_trace.h>

#include <jansson.h>
#include <stdio.h>

/** Writes a line that sums up, and one for each of the first ten pauses. Nothing if there was none.
 */
rtl_status_t pauses_show(rtl_trace_t *trace, FILE *file);

/** `*list` gets an array of objects with process, start_ns, end_ns (null: open) and why. */
rtl_status_t pauses_json(rtl_trace_t *trace, json_t **list);

#endif
