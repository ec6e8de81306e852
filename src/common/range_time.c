/*
 * Unions of intervals that come in the order of their starts: what a new one adds is the part
 * beyond the latest end so far. Two kernels run at once where a new one lies before the latest end
 * of the others; these pieces come in the order of their starts, too.
 */
#include "common/range_time.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t length(uint64_t start, uint64_t end)
{
    return end > start ? end - start : 0;
}

static void add_kernel(struct rtl_range_time *time, uint64_t start, uint64_t end)
{
    uint64_t together = earlier(end, time->kernel_until);
    time->kernels++;
    time->kernel_ns += end - start;
    time->busy += length(later(start, time->kernel_until), end);
    time->overlap += length(later(start, time->overlap_until), together);
    time->overlap_until = later(time->overlap_until, together);
    time->kernel_until = later(time->kernel_until, end);
}

static void add_copy(struct rtl_range_time *time, uint64_t start, uint64_t end)
{
    time->copy_ns += end - start;
    time->copying += length(later(start, time->copy_until), end);
    time->copy_until = later(time->copy_until, end);
}

void rtl_range_time_add(struct rtl_range_time *time, uint64_t open, uint64_t close,
                        const struct rtl_range_work *work)
{
    uint64_t start = work->start;
    uint64_t end = later(work->end, start);
    uint64_t fresh = later(start, time->last);
    if (work->copy) {
        time->copies++;
        time->copy_bytes += work->bytes;
        if (end == 0)
            return;
    }
    time->active += length(fresh, end);
    time->within += length(later(fresh, open), close != 0 ? earlier(end, close) : end);
    if (work->copy)
        add_copy(time, start, end);
    else
        add_kernel(time, start, end);
    if (time->first == 0)
        time->first = start;
    time->last = later(time->last, end);
}

uint64_t rtl_range_time_copied_under(const struct rtl_range_time *time)
{
    return time->busy + time->copying - time->active;
}

uint64_t rtl_range_time_idle(const struct rtl_range_time *time, uint64_t wall)
{
    return wall > time->within ? wall - time->within : 0;
}
