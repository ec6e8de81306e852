/**
 * Answers requests of other hosts with the time of this one. Who asks is not known, and learns this
 * machine's name, its boot_id and how long it is up; nothing is answered that is not a request, and
 * no answer is longer than it. One thread.
 */
#ifndef RTL_SYNC_RESPONDER_H
#define RTL_SYNC_RESPONDER_H

#include "common/exchange.h"

#include <stdbool.h>
#include <stdint.h>

/** Of more clients those are forgotten that asked longest ago. */
#define RTL_SYNC_CLIENTS 1024u

struct rtl_sync_client {
    uint64_t id, asked; /**< `asked` last, ns; 0: none */
    bool ended;         /**< it has said that it asks no more */
};

/** Zeroed, but for the socket and who answers. */
struct rtl_responder {
    int socket;
    char boot[RTL_EXCHANGE_BOOT];
    char host[RTL_EXCHANGE_HOST];
    struct rtl_sync_client clients[RTL_SYNC_CLIENTS];
};

/** Takes what has come, at most `most` datagrams, and answers requests. Returns how many came. */
unsigned rtl_responder_answer(struct rtl_responder *responder, unsigned most);

/** True if a client has asked within `within` ns, and has not said that it asks no more. */
bool rtl_responder_expects(const struct rtl_responder *responder, uint64_t within);

#endif
