/**
 * What tells a process from all others, in whatever trace it is: the start of the host (boot_id) on
 * whose clock it began, and when. A merge moves times onto one clock, so it keeps both in a table,
 * process_clocks. Traces that were merged by an older version do not have that: of their processes
 * it is not known.
 */
#ifndef RTL_STORE_PROCESS_CLOCKS_H
#define RTL_STORE_PROCESS_CLOCKS_H

#include "rtl/rtl_trace.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_process_clock {
    const char *boot; /**< the trace's, "" if it is not known */
    uint64_t start;   /**< on that host's clock, ns; with `boot` */
};

/** Reads those of all processes, in the order of rtlTraceProcesses. The caller frees the list; the
 * texts live as long as the trace. */
rtl_status_t rtl_process_clocks_read(rtl_trace_t *trace, struct rtl_process_clock **list,
                                     size_t *count);

/** A query for process, boot and start of the processes of which they are known, in a database of
 * the connection that is a trace ("main", or one that is attached). By sqlite3_mprintf; NULL when
 * memory is short. */
char *rtl_process_clocks_query(sqlite3 *db, const char *schema);

#endif
