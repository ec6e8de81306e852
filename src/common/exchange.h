/** An exchange of messages (packets, or messages of MPI's) with a responder on another host, by the
 * times of both ends. */
#ifndef RTL_COMMON_EXCHANGE_H
#define RTL_COMMON_EXCHANGE_H

#include <stdint.h>

/** Bytes of a boot_id and of a host's name, with their NULs. */
#define RTL_EXCHANGE_BOOT 40u
#define RTL_EXCHANGE_HOST 72u

/** However long they were under way, the responder's clock minus the own one was from
 * `answered - returned` to `received - sent`. */
struct rtl_exchange {
    uint64_t sent, returned;           /**< on the own clock, ns */
    uint64_t received, answered;       /**< on the responder's clock, ns */
    char peer_boot[RTL_EXCHANGE_BOOT]; /**< that start of the responder's host */
    char peer_host[RTL_EXCHANGE_HOST]; /**< its name */
};

#endif
