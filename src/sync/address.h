/** Who answers: `HOST[:PORT]` as users write it, and the sockets that belong to it. */
#ifndef RTL_SYNC_ADDRESS_H
#define RTL_SYNC_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>

/** No service of /etc/services has it, and it is below those that Linux gives to who asks for none.
 */
#define RTL_SYNC_PORT "24615"

struct rtl_sync_address {
    char host[256];
    char port[8];
};

/** Reads HOST, HOST:PORT, an IPv6 address alone, or [ADDRESS]:PORT. False if it is none of these,
 * or an address that means any machine, or several: a multicast or broadcast one. */
bool rtl_sync_address_read(const char *text, struct rtl_sync_address *address);

/** Finds its addresses, which may take long; the caller frees the list with freeaddrinfo. 0, or an
 * error of gai_strerror. */
int rtl_sync_address_find(const struct rtl_sync_address *address, struct addrinfo **list);

/** True if one of the addresses is one of this machine's interfaces. */
bool rtl_sync_address_is_own(const struct addrinfo *list);

/** A socket that takes packets for this machine: on the address alone where that was given as a
 * number, or is localhost, else on all, since other hosts may know this one by another address.
 * Processes of one user may all have it: Linux gives each client to one of them. -1 with errno. */
int rtl_sync_address_listen(const struct rtl_sync_address *address, const struct addrinfo *list);

/** A socket whose packets go to an address and come from there. -1 with errno. */
int rtl_sync_address_connect(const struct addrinfo *entry);

#endif
