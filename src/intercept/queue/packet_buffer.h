/**
 * Memory for packets on their way to the hardware, outside of a queue's ring.
 */
#ifndef RTL_INTERCEPT_QUEUE_PACKET_BUFFER_H
#define RTL_INTERCEPT_QUEUE_PACKET_BUFFER_H

#include "intercept/queue/aql.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/** Makes room for `wanted` packets in `*packets`, which has room for `*room` (NULL: 0) and is freed
 * by free(); what was in it is lost where it grows. Packets begin on cache lines. False, and
 * nothing has changed, if memory is short. One thread at a time. */
static inline bool rtl_packet_buffer_provide(unsigned char **packets, uint64_t *room,
                                             uint64_t wanted)
{
    void *made = NULL;
    if (*room >= wanted)
        return true;
    if (posix_memalign(&made, RTL_PACKET_SIZE, wanted * RTL_PACKET_SIZE) != 0)
        return false;
    free(*packets);
    *packets = made;
    *room = wanted;
    return true;
}

#endif
