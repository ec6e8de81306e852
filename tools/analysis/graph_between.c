/* What the GPUs of a process did between the replays of a graph. */
#include "analysis/activity.h"
#include "analysis/graph_read.h"

/* The time before a replay that is looked at. */
struct between {
    struct graph_reading *reading;
    size_t at;     /* place among the replays */
    uint64_t idle; /* before it, so far */
};

static uint64_t begin_of(const struct graph_replay *replay)
{
    return replay->launch->start - replay->before;
}

/* Of replays that overlap none has time before it. The first has none either. */
static void finish(struct between *between)
{
    if (between->at > 0)
        stats_add(&between->reading->before_idle, between->idle);
    between->idle = 0;
    ++between->at;
}

static rtl_status_t stretch(void *context, enum activity kind, uint64_t from, uint64_t to,
                            const struct activity_work *next)
{
    struct between *between = context;
    const struct graph_reading *reading = between->reading;
    (void)next;
    while (between->at < reading->replay_count) {
        const struct graph_replay *replay = &reading->replays[between->at];
        uint64_t first = begin_of(replay) > from ? begin_of(replay) : from;
        uint64_t last = replay->launch->start < to ? replay->launch->start : to;
        if (kind == ACTIVITY_IDLE && last > first)
            between->idle += last - first;
        if (replay->launch->start > to)
            break;
        finish(between);
    }
    return RTL_OK;
}

rtl_status_t graph_read_idle(rtl_trace_t *trace, uint32_t process, struct graph_reading *reading)
{
    struct between between = {.reading = reading};
    const struct activity_watcher watcher = {.context = &between, .stretch = stretch};
    rtl_status_t status = activity_walk(trace, process, RTL_TRACE_NONE, &watcher);
    while (status == RTL_OK && between.at < reading->replay_count)
        finish(&between);
    return status;
}
