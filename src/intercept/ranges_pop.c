/*
 * rtlRangePop: the end of a range, and what it cost.
 */
#include "common/clock.h"
#include "intercept/ranges.h"
#include "intercept/ranges_session.h"
#include "intercept/ranges_wait.h"

#include <rtl/rtl_session.h>

#include <errno.h>
#include <time.h>

/* Together 10 s, as rtl.h says. */
#define DEVICE_PATIENCE_NS UINT64_C(9000000000)
#define FLUSH_PATIENCE_MS  1000u

/* What the session says of the range when the device is done with it. */
static int ask_session(uint64_t id, rtl_range_result_t *result)
{
    rtl_range_result_t told;
    if (!rtl_session_is_on())
        return ESRCH;
    bool waited = rtl_range_wait(id, rtl_clock_ns(CLOCK_MONOTONIC) + DEVICE_PATIENCE_NS);
    if (rtlSessionResult(id, FLUSH_PATIENCE_MS, &told) != 0)
        return errno;
    *result = told;
    return waited ? 0 : ETIMEDOUT;
}

static int tell(const struct rtl_popped *popped, rtl_range_result_t *result)
{
    *result = (rtl_range_result_t){.id = popped->id};
    if (popped->id == 0)
        return ENOMEM;
    if (!popped->ended)
        return EINPROGRESS;
    result->parent = popped->parent;
    result->start = popped->start_ns;
    result->end = popped->end_ns;
    result->wall_ns = popped->end_ns - popped->start_ns;
    result->thread = popped->thread;
    return ask_session(popped->id, result);
}

int rtlRangePop(rtl_range_result_t *result)
{
    struct rtl_popped popped;
    if (result == NULL)
        return rtl_range_pop(NULL);
    int saved = errno;
    int level = rtl_range_pop(&popped);
    if (level >= 0)
        result->error = tell(&popped, result);
    else
        *result = (rtl_range_result_t){.error = ENOENT};
    errno = saved;
    return level;
}
