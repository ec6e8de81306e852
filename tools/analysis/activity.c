#include "analysis/activity.h"

#include <stddef.h>

const char *activity_label(enum activity kind)
{
    static const char *const labels[ACTIVITIES] = {"graphs", "eager kernels", "copies", "idle"};
    return labels[kind];
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Tells what ran up to `to`. All that runs began before, so a kind whose last end has passed does
 * not come back before `to`. */
static rtl_status_t tell(struct activity_sweep *sweep, uint64_t to,
                         const struct activity_work *next)
{
    rtl_status_t status = RTL_OK;
    for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES && status == RTL_OK; ++kind) {
        uint64_t end = kind == ACTIVITY_IDLE || sweep->until[kind] > to ? to : sweep->until[kind];
        if (end <= sweep->at)
            continue;
        if (sweep->watcher->stretch)
            status = sweep->watcher->stretch(sweep->watcher->context, kind, sweep->at, end, next);
        sweep->at = end;
    }
    return status;
}

rtl_status_t activity_take(struct activity_sweep *sweep, const struct activity_work *work)
{
    const struct activity_watcher *watcher = sweep->watcher;
    rtl_status_t status = RTL_OK;
    if (watcher->coming)
        status = watcher->coming(watcher->context, work);
    if (!sweep->begun)
        sweep->at = work->start;
    sweep->begun = true;
    if (status == RTL_OK)
        status = tell(sweep, work->start, work);
    if (status == RTL_OK && watcher->begun)
        status = watcher->begun(watcher->context, work);
    sweep->until[work->kind] = later(sweep->until[work->kind], work->end);
    return status;
}

rtl_status_t activity_finish(struct activity_sweep *sweep)
{
    const struct activity_watcher *watcher = sweep->watcher;
    uint64_t last = sweep->at;
    for (unsigned kind = 0; kind < ACTIVITY_IDLE; ++kind)
        last = later(last, sweep->until[kind]);
    rtl_status_t status = watcher->coming ? watcher->coming(watcher->context, NULL) : RTL_OK;
    return status == RTL_OK ? tell(sweep, last, NULL) : status;
}

rtl_status_t activity_walk(rtl_trace_t *trace, uint32_t process, uint32_t gpu,
                           const struct activity_watcher *watcher)
{
    struct activity_sweep sweep = {.watcher = watcher};
    struct activity_works works;
    struct activity_work work;
    rtl_status_t status = activity_works_open(trace, process, gpu, &works);
    while (status == RTL_OK) {
        status = activity_works_next(&works, &work);
        if (status == RTL_END) {
            status = activity_finish(&sweep);
            break;
        }
        if (status == RTL_OK)
            status = activity_take(&sweep, &work);
    }
    activity_works_close(&works);
    return status;
}
