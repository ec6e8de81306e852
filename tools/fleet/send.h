/**
 * Sends blocks, several at a time. What is waiting is bounded: a block for each connection.
 */
#ifndef RTL_TOOLS_FLEET_SEND_H
#define RTL_TOOLS_FLEET_SEND_H

#include "fleet/block.h"
#include "fleet/lock.h"
#include "fleet/server.h"
#include "fleet/tables.h"

struct sender;

/** What has been sent, and what ended it. */
struct sent {
    uint64_t rows, blocks, bytes; /**< that the server has taken; bytes: as they were sent */
    enum server_failed failed;
    char error[1024];
};

/** Begins to send over `jobs` connections, as long as `lock` is held. All outlive it. */
struct sender *send_begin(const struct url *url, const struct tables_there *there, uint64_t run,
                          unsigned jobs, struct lock *lock);

/** Gives a block away; waits while there are enough. False: sending has failed, no more is taken.
 */
bool send_block(struct sender *sender, struct block *block);

/** Waits until all is sent, or has failed, and frees. No query of it runs any more unless its
 * connection broke. */
void send_end(struct sender *sender, struct sent *sent);

#endif
