/**
 * How far the clocks of two hosts are apart, by messages that both exchanged with one responder, or
 * one with the other: bounds for clocks.h. Pure.
 */
#ifndef RTL_TOOLS_MERGE_EXCHANGES_H
#define RTL_TOOLS_MERGE_EXCHANGES_H

#include "common/exchange.h"
#include "merge/clocks.h"

/** Of more exchanges of a host with a responder those are taken whose messages were under way
 * least, one of each part of the time: of the hosts that are compared with each other, and of two
 * that are by a third one. */
#define EXCHANGES_MOST       1024u
#define EXCHANGES_MOST_THIRD 128u

/** What a host exchanged, with whomever. */
struct exchanges {
    const char *boot; /**< that start of the host */
    struct rtl_exchange *list;
    size_t count;
    int64_t shift; /**< is added to the host's own times, ns */
};

/** Bounds of what is added to the times of `other`, once they have its shift, so that they are
 * those of the reference, whose shift is 0. Returns how many there are, of which the caller frees
 * the list; 0: the hosts have exchanged nothing with one responder, or that fits no clocks, of
 * which `fits` tells which. */
size_t exchanges_bounds(const struct exchanges *reference, const struct exchanges *other,
                        struct clocks_bound **bounds, bool *fits);

#endif
