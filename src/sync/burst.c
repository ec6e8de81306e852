#include "sync/burst.h"

#include <string.h>

static int64_t low(const struct rtl_exchange *exchange)
{
    return (int64_t)(exchange->answered - exchange->returned);
}

static int64_t high(const struct rtl_exchange *exchange)
{
    return (int64_t)(exchange->received - exchange->sent);
}

void rtl_burst_add(struct rtl_burst *burst, const struct rtl_exchange *exchange)
{
    if (exchange->returned < exchange->sent || exchange->answered < exchange->received)
        return;
    if (burst->count == 0 || low(exchange) > low(&burst->low))
        burst->low = *exchange;
    if (burst->count == 0 || high(exchange) < high(&burst->high))
        burst->high = *exchange;
    burst->count++;
}

size_t rtl_burst_kept(const struct rtl_burst *burst, struct rtl_exchange kept[2])
{
    if (burst->count == 0)
        return 0;
    kept[0] = burst->low;
    kept[1] = burst->high;
    return kept[0].sent == kept[1].sent ? 1 : 2;
}
