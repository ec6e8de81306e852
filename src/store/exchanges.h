/** Exchanges of packets with other hosts' clocks, as a trace has them. */
#ifndef RTL_STORE_EXCHANGES_H
#define RTL_STORE_EXCHANGES_H

#include "common/exchange.h"
#include "rtl/rtl_trace.h"

#include <stddef.h>

/** Reads the exchanges of the host whose clock the trace has, by time; in a trace that was merged,
 * none of other hosts, whose times were moved. None in a trace without them. The caller frees the
 * list. */
rtl_status_t rtl_exchanges_read(rtl_trace_t *trace, struct rtl_exchange **list, size_t *count);

/** How far times of different hosts of a merged trace may be off each other at most, ns. -1: nobody
 * knows; RTL_HOSTS_ERROR_MISSING: it was not merged, or by a version that does not tell. */
#define RTL_HOSTS_ERROR_MISSING INT64_MIN
int64_t rtl_hosts_error(rtl_trace_t *trace);

#endif
