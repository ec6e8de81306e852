/** Of some exchanges one after the other, those that say most about the difference of two clocks.
 * Pure. */
#ifndef RTL_SYNC_BURST_H
#define RTL_SYNC_BURST_H

#include "common/exchange.h"

#include <stddef.h>

/** Zeroed: no exchange so far. */
struct rtl_burst {
    struct rtl_exchange low, high; /**< with the greatest lower and the least upper bound */
    size_t count;
};

/** Adds an exchange. One that came back before it was sent, since a clock was set, is passed over.
 */
void rtl_burst_add(struct rtl_burst *burst, const struct rtl_exchange *exchange);

/** Puts the ones to keep into `kept`; returns how many: 0, 1 if one has both bounds, or 2. */
size_t rtl_burst_kept(const struct rtl_burst *burst, struct rtl_exchange kept[2]);

#endif
