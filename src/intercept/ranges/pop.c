/*
 * rtlRangePop: the end of a range, and what it cost.
 */
#include "common/clock.h"
#include "intercept/ranges/ranges.h"
#include "intercept/ranges/session.h"
#include "intercept/ranges/wait.h"

#include <rtl/rtl_session.h>

#include <errno.h>
#include <time.h>

/* 10 s, as rtl.h says; what is left of them, and a tenth at least, is for handing over. */
#define DEVICE_PATIENCE_NS UINT64_C(9000000000)
#define PATIENCE_NS        UINT64_C(10000000000)

static unsigned ms_until(uint64_t deadline_ns)
{
    uint64_t now = rtl_clock_ns(CLOCK_MONOTONIC);
    return now < deadline_ns ? (unsigned)((deadline_ns - now) / 1000000) : 0;
}

/* What the session says of the range when the device is done with it. */
static int ask_session(uint64_t id, rtl_range_result_t *result)
{
    uint64_t begin = rtl_clock_ns(CLOCK_MONOTONIC);
    rtl_range_result_t told;
    if (!rtl_session_is_on())
        return ESRCH;
    bool waited = rtl_range_wait(id, begin + DEVICE_PATIENCE_NS);
    if (rtlSessionResult(id, ms_until(begin + PATIENCE_NS), &told) != 0)
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
