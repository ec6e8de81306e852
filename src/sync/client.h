/** Asks a responder for the time. One thread. */
#ifndef RTL_SYNC_CLIENT_H
#define RTL_SYNC_CLIENT_H

#include "common/exchange.h"
#include "sync/burst.h"

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

/** Of more addresses of a responder the others are not tried. */
#define RTL_SYNC_ADDRESSES 4u

struct rtl_client {
    int sockets[RTL_SYNC_ADDRESSES];
    unsigned count;
    unsigned at;    /**< the socket that is used; the one that was answered, once one was */
    uint64_t id;    /**< random */
    uint64_t ahead; /**< of this machine's clock is the responder's, as last known, ns */
    bool answered;  /**< at least once */
};

/** Opens a socket for each address. False with errno if none could be. */
bool rtl_client_open(struct rtl_client *client, const struct addrinfo *list);

void rtl_client_close(struct rtl_client *client);

/** Exchanges some packets, one after the other, and adds what was answered to the burst. It ends
 * early where answers do not come, within some tenths of a second. */
void rtl_client_burst(struct rtl_client *client, struct rtl_burst *burst);

/** Tells the responder that this client asks no more. */
void rtl_client_leave(struct rtl_client *client);

#endif
