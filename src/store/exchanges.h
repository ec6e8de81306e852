/**
 * Exchanges of packets with a responder on another host: what is known of the difference between
 * the two hosts' clocks. Each bounds it from both sides, however long the packets were under way.
 */
#ifndef RTL_STORE_EXCHANGES_H
#define RTL_STORE_EXCHANGES_H

#include "rtl/rtl_trace.h"

#include <stddef.h>
#include <stdint.h>

/** Bytes of a boot_id and of a host's name, with their NULs. */
#define RTL_EXCHANGE_BOOT 40u
#define RTL_EXCHANGE_HOST 72u

/** One exchange. The peer's clock minus the trace's is from `answered - returned` to `received -
 * sent`. */
struct rtl_exchange {
    uint64_t sent, returned;           /**< on the trace's clock, ns */
    uint64_t received, answered;       /**< on the peer's clock, ns */
    char peer_boot[RTL_EXCHANGE_BOOT]; /**< that start of the peer's host */
    char peer_host[RTL_EXCHANGE_HOST]; /**< its name */
};

/** Reads the exchanges of the host whose clock the trace has, by time; in a trace that was merged,
 * none of other hosts, whose times were moved. None in a trace without them. The caller frees the
 * list. */
rtl_status_t rtl_exchanges_read(rtl_trace_t *trace, struct rtl_exchange **list, size_t *count);

#endif
