/** The addresses that this machine's interfaces have. What can be bound to tells less: Linux lets
 * everybody bind to any address where net.ipv4.ip_nonlocal_bind is set, and to broadcast ones. */
#ifndef RTL_SYNC_INTERFACES_H
#define RTL_SYNC_INTERFACES_H

#include <netinet/in.h>
#include <stdbool.h>

/** True if an address, of IPv4 or IPv6, is one of them, or a loopback address. The port does not
 * matter. */
bool rtl_sync_interfaces_have(const struct sockaddr *name);

/** True if it is the broadcast address of one of their networks. */
bool rtl_sync_interfaces_broadcast(struct in_addr address);

#endif
