#include "analysis/activity.h"

#include <stdbool.h>
#include <stddef.h>

struct walk {
    const struct activity_watcher *watcher;
    bool begun;
    uint64_t at;                    /* told up to here */
    uint64_t until[ACTIVITIES - 1]; /* the last end of each kind so far */
};

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
static rtl_status_t tell(struct walk *walk, uint64_t to, const struct activity_work *next)
{
    rtl_status_t status = RTL_OK;
    for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES && status == RTL_OK; ++kind) {
        uint64_t end = kind == ACTIVITY_IDLE || walk->until[kind] > to ? to : walk->until[kind];
        if (end <= walk->at)
            continue;
        if (walk->watcher->stretch)
            status = walk->watcher->stretch(walk->watcher->context, kind, walk->at, end, next);
        walk->at = end;
    }
    return status;
}

static rtl_status_t pass(struct walk *walk, const struct activity_work *work)
{
    const struct activity_watcher *watcher = walk->watcher;
    rtl_status_t status = RTL_OK;
    if (watcher->coming)
        status = watcher->coming(watcher->context, work);
    if (!walk->begun)
        walk->at = work->start;
    walk->begun = true;
    if (status == RTL_OK)
        status = tell(walk, work->start, work);
    if (status == RTL_OK && watcher->begun)
        status = watcher->begun(watcher->context, work);
    walk->until[work->kind] = later(walk->until[work->kind], work->end);
    return status;
}

static rtl_status_t finish(struct walk *walk)
{
    const struct activity_watcher *watcher = walk->watcher;
    uint64_t last = walk->at;
    for (unsigned kind = 0; kind < ACTIVITY_IDLE; ++kind)
        last = later(last, walk->until[kind]);
    rtl_status_t status = watcher->coming ? watcher->coming(watcher->context, NULL) : RTL_OK;
    return status == RTL_OK ? tell(walk, last, NULL) : status;
}

rtl_status_t activity_walk(rtl_trace_t *trace, uint32_t process, uint32_t gpu,
                           const struct activity_watcher *watcher)
{
    struct walk walk = {.watcher = watcher};
    struct activity_works works;
    struct activity_work work;
    rtl_status_t status = activity_works_open(trace, process, gpu, &works);
    while (status == RTL_OK) {
        status = activity_works_next(&works, &work);
        if (status == RTL_END) {
            status = finish(&walk);
            break;
        }
        if (status == RTL_OK)
            status = pass(&walk, &work);
    }
    activity_works_close(&works);
    return status;
}
