/* The steps of a trace: phases, how long their steps took over time, and which took long. */
#include "report/parts.h"

#include "analysis/steps_json.h"
#include "analysis/steps_measure.h"
#include "common/memory.h"
#include "common/open.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PHASES   100u  /* that are listed */
#define DRAWN_PHASES  12u   /* whose steps are drawn */
#define POINTS        2000u /* of a phase */
#define OUTLIERS      10u   /* of a phase that are listed */
#define OUTLYING      5     /* an outlier is so many deviations above the median, */
#define MAD_DEVIATION 1.4826
#define OUTLYING_PART 20u /* and a twentieth of it at least */

struct part {
    struct steps_thread *thread;
    struct idle_causes *causes;
    struct phase *phase;
    uint32_t place; /* of the phase in its thread */
    size_t number;  /* as rtl steps has it */
};

static int by_total(const void *left, const void *right)
{
    const struct part *a = left;
    const struct part *b = right;
    uint64_t x = a->phase->duration.total;
    uint64_t y = b->phase->duration.total;
    if (x != y)
        return x < y ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Columns of points: of `each` steps in a row the first one's begin, least, median and most. */
struct points {
    json_t *at, *least, *median, *most;
    uint64_t *taken; /* of the steps of the point that is being made */
    uint64_t begin;  /* of the first of them */
    size_t count;
};

static void add(json_t *list, uint64_t number)
{
    (void)json_array_append_new(list, open_number(number));
}

static void end_point(struct points *points, uint64_t start)
{
    if (points->count == 0)
        return;
    qsort(points->taken, points->count, sizeof *points->taken, by_size);
    add(points->at, points->begin > start ? points->begin - start : 0);
    add(points->least, points->taken[0]);
    add(points->median, points->taken[(points->count - 1) / 2]);
    add(points->most, points->taken[points->count - 1]);
    points->count = 0;
}

static json_t *points_json(const struct part *part, uint64_t start)
{
    size_t each = (size_t)(part->phase->steps + POINTS - 1) / POINTS;
    struct points points = {.at = json_array(),
                            .least = json_array(),
                            .median = json_array(),
                            .most = json_array(),
                            .taken = memory_new(each, sizeof *points.taken)};
    for (size_t i = 0; i < part->thread->count; ++i) {
        const struct step *step = &part->thread->steps[i];
        if (step->phase != part->place)
            continue;
        if (points.count == 0)
            points.begin = step->begin;
        points.taken[points.count++] = step->end - step->begin;
        if (points.count == each)
            end_point(&points, start);
    }
    end_point(&points, start);
    free(points.taken);
    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "each", (json_int_t)each, "at", points.at,
                     "least", points.least, "median", points.median, "most", points.most);
}

/* Above this a step took long. */
static uint64_t outlier_limit(struct phase *phase)
{
    uint64_t median = stats_quantile(&phase->duration, 500);
    double deviation = MAD_DEVIATION * (double)stats_median_distance(&phase->duration);
    uint64_t away = (uint64_t)(OUTLYING * deviation);
    uint64_t least = median / OUTLYING_PART;
    return median + (away > least ? away : least);
}

/* What took longer than it does in the median step, and by how much. */
static json_t *excess_json(const struct step *step, struct phase *phase)
{
    json_t *object = json_object();
    for (unsigned kind = 0; kind < ACTIVITIES; ++kind) {
        uint64_t usual = stats_quantile(&phase->time[kind], 500);
        (void)json_object_set_new(object, steps_activity_key(kind),
                                  json_integer((json_int_t)step->time[kind] - (json_int_t)usual));
    }
    return object;
}

/* Keeps the longest: their places among the thread's steps, the longest first. */
static size_t longest(const struct part *part, uint64_t limit, size_t *kept, uint64_t *above)
{
    const struct step *steps = part->thread->steps;
    size_t count = 0;
    for (size_t i = 0; i < part->thread->count; ++i) {
        uint64_t took = steps[i].end - steps[i].begin;
        if (steps[i].phase != part->place || took <= limit)
            continue;
        ++*above;
        size_t at = count;
        for (; at > 0 && steps[kept[at - 1]].end - steps[kept[at - 1]].begin < took; --at)
            if (at < OUTLIERS)
                kept[at] = kept[at - 1];
        if (at < OUTLIERS)
            kept[at] = i;
        count += count < OUTLIERS;
    }
    return count;
}

static json_t *outliers_json(const struct part *part, uint64_t start)
{
    size_t kept[OUTLIERS];
    uint64_t above = 0;
    uint64_t limit = outlier_limit(part->phase);
    size_t count = longest(part, limit, kept, &above);
    json_t *list = json_array();
    for (size_t i = 0; i < count; ++i) {
        const struct step *step = &part->thread->steps[kept[i]];
        (void)json_array_append_new(
            list, json_pack("{s:o, s:o, s:o}", "at",
                            open_number(step->begin > start ? step->begin - start : 0), "took",
                            open_number(step->end - step->begin), "excess",
                            excess_json(step, part->phase)));
    }
    return json_pack("{s:o, s:o, s:o}", "limit", open_number(limit), "count", open_number(above),
                     "longest", list);
}

static json_t *part_json(const struct part *part, bool drawn, uint64_t start)
{
    json_t *object = steps_phase_json(part->causes, part->phase, part->number);
    (void)json_object_set_new(object, "process", open_id(part->thread->process));
    (void)json_object_set_new(
        object, "first", open_number(part->phase->first > start ? part->phase->first - start : 0));
    (void)json_object_set_new(object, "outliers", outliers_json(part, start));
    if (drawn)
        (void)json_object_set_new(object, "points", points_json(part, start));
    return object;
}

static size_t collect(const struct steps *steps, struct part **parts)
{
    size_t count = 0;
    for (size_t i = 0; i < steps->count; ++i)
        count += steps->threads[i].phase_count;
    *parts = memory_new(count, sizeof **parts);
    count = 0;
    for (size_t i = 0; i < steps->count; ++i)
        for (uint32_t k = 0; k < steps->threads[i].phase_count; ++k, ++count)
            (*parts)[count] = (struct part){.thread = &steps->threads[i],
                                            .causes = &steps->causes[i],
                                            .phase = &steps->threads[i].phases[k],
                                            .place = k,
                                            .number = count + 1};
    return count;
}

static json_t *outside_json(const struct steps *steps)
{
    json_t *list = json_array();
    for (size_t i = 0; i < steps->count && i < MOST_PHASES; ++i) {
        json_t *object = steps_outside_json(&steps->causes[i], &steps->threads[i]);
        (void)json_object_set_new(object, "process", open_id(steps->threads[i].process));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *found_json(const struct steps *steps, uint64_t start)
{
    struct part *parts;
    size_t count = collect(steps, &parts);
    json_t *list = json_array();
    qsort(parts, count, sizeof *parts, by_total);
    for (size_t i = 0; i < count && i < MOST_PHASES; ++i)
        (void)json_array_append_new(list, part_json(&parts[i], i < DRAWN_PHASES, start));
    free(parts);
    return json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "by", steps_by_name(steps->by),
                     "phase_count", open_number(count), "phases", list, "outside",
                     outside_json(steps), "graphs_told", (int)!steps->untold, "absent",
                     absent_json(&steps->absent));
}

json_t *report_steps(rtl_trace_t *trace, struct steps *steps)
{
    rtl_trace_info_t info;
    if (rtlTraceInfo(trace, &info) != RTL_OK)
        return NULL;
    if (steps->count == 0)
        return json_pack("{s:s, s:[]}", "why",
                         "neither launches of graphs nor eager kernels repeat three times and more",
                         "phases");
    return steps_measure(trace, steps) == RTL_OK ? found_json(steps, info.start) : NULL;
}
