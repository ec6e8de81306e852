/* What ran when, in made-up traces of drawn kernels and copies that overlap, against a look at each
 * tick. */
#include "analysis/activity.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

#define QUEUES  3u
#define KERNELS 60u /* of a queue */
#define COPIES  40u
#define COPYING 9u /* queue of the copies */
#define TICKS   4000u

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (uint32_t)(state >> 33) % below;
}

/* By tick, as what is made: a kernel runs, a copy is made. */
static unsigned char ran[TICKS], copied[TICKS];

static void mark(unsigned char *ticks, uint64_t start, uint64_t end)
{
    memset(ticks + start, 1, end - start);
}

/* The same drawing in the fake process and in the test. */
static void make(struct rtl_ring *ring)
{
    memset(ran, 0, sizeof ran);
    memset(copied, 0, sizeof copied);
    for (uint32_t queue = 0; queue < QUEUES; ++queue) {
        uint64_t at = draw(100);
        if (ring)
            made_queue(ring, queue, 0x1000 + queue, MADE_BEGIN_NS);
        for (uint64_t packet = 0; packet < KERNELS; ++packet) {
            uint64_t end = at + draw(20);
            mark(ran, at, end);
            if (ring)
                made_kernel(ring, queue, packet, 0, MADE_BEGIN + at, MADE_BEGIN + end);
            at += draw(60);
        }
        if (ring)
            made_ledger(ring, queue, KERNELS, KERNELS, 0);
    }
    if (ring)
        made_copies(ring, COPYING);
    uint64_t at = draw(100);
    for (unsigned i = 0; i < COPIES; ++i) {
        uint64_t end = at + 1 + draw(80);
        mark(copied, at, end);
        if (ring)
            made_copy(ring, COPYING, 64, RTL_COPY_HOST_TO_DEVICE, RTL_ENGINE_SDMA, MADE_BEGIN + at,
                      MADE_BEGIN + end);
        at += draw(80);
    }
    if (ring)
        made_ledger(ring, COPYING, COPIES, COPIES, 0);
}

static void work(struct rtl_ring *ring)
{
    made_definitions(ring);
    make(ring);
}

struct seen {
    uint64_t first, at; /* 0: nothing yet */
    uint64_t coming, begun, ends;
    const char *wrong;
};

static rtl_status_t coming(void *context, const struct activity_work *next)
{
    struct seen *seen = context;
    seen->coming += next != NULL;
    seen->ends += next == NULL;
    if (next && !seen->first)
        seen->first = seen->at = next->start;
    return RTL_OK;
}

static rtl_status_t begun(void *context, const struct activity_work *now)
{
    struct seen *seen = context;
    ++seen->begun;
    if (now->start != seen->at)
        seen->wrong = "not all is told up to what begins";
    return RTL_OK;
}

static rtl_status_t stretch(void *context, enum activity kind, uint64_t from, uint64_t to,
                            const struct activity_work *next)
{
    struct seen *seen = context;
    if (from != seen->at || to <= from)
        seen->wrong = "stretches do not follow each other";
    seen->at = to;
    for (uint64_t ns = from; ns < to; ns += MADE_TICK_NS) {
        uint64_t tick = (ns - MADE_BEGIN_NS) / MADE_TICK_NS;
        enum activity wanted = ran[tick]      ? ACTIVITY_EAGER
                               : copied[tick] ? ACTIVITY_COPY
                                              : ACTIVITY_IDLE;
        if (kind != wanted)
            seen->wrong = "another kind";
    }
    if (kind == ACTIVITY_IDLE && (!next || next->start != to))
        seen->wrong = "what ends an idle time is another work";
    return RTL_OK;
}

static const char *check_drawn(uint64_t seed)
{
    struct made made = {0};
    char error[256];
    rtl_trace_t *trace;
    struct seen seen = {0};
    const struct activity_watcher watcher = {&seen, coming, stretch, begun};
    CHECK(made_begin(&made) == NULL);
    state = seed;
    CHECK(made_process(&made, work) > 0);
    state = seed;
    make(NULL);
    CHECK(made_end(&made) == NULL);
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(activity_walk(trace, 1, RTL_TRACE_NONE, &watcher) == RTL_OK);
    CHECK(seen.wrong == NULL);
    CHECK(seen.coming == QUEUES * KERNELS + COPIES && seen.begun == seen.coming && seen.ends == 1);
    size_t last = TICKS;
    while (last > 0 && !ran[last - 1] && !copied[last - 1])
        --last;
    CHECK(seen.at >= MADE_BEGIN_NS + last * MADE_TICK_NS);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

const char *Activity_Drawn(void)
{
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        const char *wrong = check_drawn(seed);
        if (wrong)
            return wrong;
    }
    return NULL;
}
