/**
 * The packets by which two hosts compare their clocks: a request, and an answer of the same size,
 * so that nobody can have a responder send more than he sends himself. Pure.
 */
#ifndef RTL_SYNC_PACKET_H
#define RTL_SYNC_PACKET_H

#include "common/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTL_SYNC_BYTES 192u
#define RTL_SYNC_TOKEN 16u

enum rtl_sync_kind { RTL_SYNC_REQUEST = 1, RTL_SYNC_ANSWER = 2 };

struct rtl_sync_packet {
    enum rtl_sync_kind kind;
    bool last;                           /**< a request: the client asks no more */
    uint64_t client;                     /**< random, the same in all packets of a client */
    unsigned char token[RTL_SYNC_TOKEN]; /**< random for each request, and in its answer the same */
    /* Of an answer; 0 and "" in a request. */
    uint64_t received, answered; /**< on the responder's clock, ns */
    char boot[RTL_EXCHANGE_BOOT];
    char host[RTL_EXCHANGE_HOST];
};

/** Writes a packet. */
void rtl_sync_pack(const struct rtl_sync_packet *packet, unsigned char bytes[RTL_SYNC_BYTES]);

/** Reads one; false if that is none: of another size, version or kind, with a text that does not
 * end or is not printable, answered before it was received. */
bool rtl_sync_unpack(const unsigned char *bytes, size_t size, struct rtl_sync_packet *packet);

#endif
