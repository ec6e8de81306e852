#include "store/graph_plan.h"

#include "store/varint.h"

#include <stdlib.h>

/* Most steps that a reader takes: a damaged plan may claim anything. */
#define STEPS_MAX ((size_t)1 << 24)

/* Steps one after the other whose ordinals and nodes go up by the same. */
struct run {
    uint64_t count;
    uint32_t ordinal, ordinal_step;
    uint32_t node, node_step; /* a node plus one: 0 is none */
    bool certain;
};

/* What the next run is a difference to. */
struct last {
    uint32_t ordinal, node;
};

#define LAST_BEGIN                                                                                 \
    {                                                                                              \
        UINT32_MAX, 0                                                                              \
    }

static uint64_t fold(uint32_t difference)
{
    return rtl_zigzag((uint64_t)(int64_t)(int32_t)difference);
}

static uint32_t unfold(uint64_t folded)
{
    return (uint32_t)rtl_unzigzag(folded);
}

static struct run take_run(const struct rtl_graphs_step *steps, size_t count)
{
    struct run run = {.count = 1,
                      .ordinal = steps[0].ordinal,
                      .node = steps[0].node + 1,
                      .certain = steps[0].certain};
    if (count < 2 || steps[1].certain != run.certain)
        return run;
    run.ordinal_step = steps[1].ordinal - steps[0].ordinal;
    run.node_step = steps[1].node - steps[0].node;
    while (run.count < count && steps[run.count].certain == run.certain &&
           steps[run.count].ordinal - steps[run.count - 1].ordinal == run.ordinal_step &&
           steps[run.count].node - steps[run.count - 1].node == run.node_step)
        run.count++;
    return run;
}

static unsigned char *put_run(unsigned char *to, const struct run *run, struct last *last)
{
    to = rtl_varint_put(to, run->count << 1 | run->certain);
    to = rtl_varint_put(to, fold(run->ordinal - last->ordinal));
    to = rtl_varint_put(to, fold(run->node - last->node));
    if (run->count > 1) {
        to = rtl_varint_put(to, fold(run->ordinal_step));
        to = rtl_varint_put(to, fold(run->node_step));
    }
    last->ordinal = run->ordinal + (uint32_t)(run->count - 1) * run->ordinal_step;
    last->node = run->node + (uint32_t)(run->count - 1) * run->node_step;
    return to;
}

unsigned char *rtl_graph_plan_pack(const struct rtl_graphs_step *steps, size_t count, size_t *size)
{
    unsigned char *bytes = malloc(count * 5 * RTL_VARINT_MAX + 1);
    unsigned char *to = bytes;
    struct last last = LAST_BEGIN;
    for (size_t i = 0; i < count && bytes;) {
        struct run run = take_run(steps + i, count - i);
        to = put_run(to, &run, &last);
        i += run.count;
    }
    *size = (size_t)(to - bytes);
    return bytes;
}

/* Takes a run at `from`; NULL if it is damaged. */
static const unsigned char *get_run(const unsigned char *from, const unsigned char *end,
                                    struct last *last, struct run *run)
{
    uint64_t numbers[5] = {0};
    for (int i = 0; i < 5 && from; i++) {
        if (i == 3 && numbers[0] >> 1 == 1)
            break;
        from = rtl_varint_get(from, end, &numbers[i]);
    }
    *run = (struct run){.count = numbers[0] >> 1,
                        .certain = numbers[0] & 1,
                        .ordinal = last->ordinal + unfold(numbers[1]),
                        .node = last->node + unfold(numbers[2]),
                        .ordinal_step = unfold(numbers[3]),
                        .node_step = unfold(numbers[4])};
    if (!from || run->count == 0 || run->count > STEPS_MAX)
        return NULL;
    last->ordinal = run->ordinal + (uint32_t)(run->count - 1) * run->ordinal_step;
    last->node = run->node + (uint32_t)(run->count - 1) * run->node_step;
    return from;
}

size_t rtl_graph_plan_count(const unsigned char *data, size_t size)
{
    const unsigned char *from = data;
    struct last last = LAST_BEGIN;
    struct run run;
    size_t count = 0;
    if (size == 0)
        return 0;
    while (from && from < data + size && count <= STEPS_MAX) {
        from = get_run(from, data + size, &last, &run);
        count += from ? run.count : 0;
    }
    return (from || size == 0) && count <= STEPS_MAX ? count : SIZE_MAX;
}

void rtl_graph_plan_unpack(const unsigned char *data, size_t size, struct rtl_graphs_step *steps)
{
    const unsigned char *from = data;
    struct last last = LAST_BEGIN;
    struct run run;
    while (size && from && from < data + size) {
        from = get_run(from, data + size, &last, &run);
        for (uint64_t i = 0; i < run.count && from; i++)
            *steps++ =
                (struct rtl_graphs_step){run.ordinal + (uint32_t)i * run.ordinal_step,
                                         run.node + (uint32_t)i * run.node_step - 1, run.certain};
    }
}
