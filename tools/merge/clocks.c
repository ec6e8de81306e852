#include "merge/clocks.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>

/* Of a search over concave functions; each halves what is left, or nearly. */
#define ROUNDS 100

struct search {
    const struct clocks_bound *bounds;
    size_t count;
    uint64_t middle;
    double low, high; /* drifts that are possible */
};

int64_t clocks_ns(double ns)
{
    if (ns >= 0x1p63)
        return INT64_MAX;
    return ns > -0x1p63 ? (int64_t)ns : INT64_MIN;
}

/* What is no number of ns is the greatest. */
static uint64_t error_of(double ns)
{
    return ns < 0x1p63 ? (uint64_t)ceil(ns) + 1 : INT64_MAX;
}

/* Differences that are possible at some time, or at any of several. */
struct range {
    double least, most;
};

static struct range join(struct range a, struct range b)
{
    return (struct range){fmin(a.least, b.least), fmax(a.most, b.most)};
}

static double middle_of(struct range range)
{
    return round((range.least + range.most) / 2);
}

static uint64_t error_in(struct range range)
{
    double shift = middle_of(range);
    return error_of(fmax(range.most - shift, shift - range.least));
}

/* Seconds from the middle. */
static double seconds(const struct search *search, uint64_t at)
{
    return at >= search->middle ? (double)(at - search->middle) / 1e9
                                : -(double)(search->middle - at) / 1e9;
}

/* What is possible in the middle, if the clocks drift apart like that. */
static void range_of(const struct search *search, double drift, double *least, double *most)
{
    *least = -INFINITY;
    *most = INFINITY;
    for (size_t i = 0; i < search->count; ++i) {
        double moved = drift * seconds(search, search->bounds[i].at);
        *least = fmax(*least, (double)search->bounds[i].least - CLOCKS_SLACK - moved);
        *most = fmin(*most, (double)search->bounds[i].most + CLOCKS_SLACK - moved);
    }
}

/* How much room a drift leaves; concave. */
static double room(const struct search *search, double drift, double unused)
{
    double least;
    double most;
    (void)unused;
    range_of(search, drift, &least, &most);
    return most - least;
}

/* The greatest difference at a time with a drift, and the least one with its sign changed; both
 * concave. */
static double greatest(const struct search *search, double drift, double time)
{
    double least;
    double most;
    range_of(search, drift, &least, &most);
    return most + drift * time;
}

static double least_negated(const struct search *search, double drift, double time)
{
    double least;
    double most;
    range_of(search, drift, &least, &most);
    return -(least + drift * time);
}

/* Where a concave function is greatest between two drifts. */
static double peak(const struct search *search,
                   double (*function)(const struct search *, double, double), double time,
                   double low, double high)
{
    for (int i = 0; i < ROUNDS; ++i) {
        double a = low + (high - low) / 3;
        double b = high - (high - low) / 3;
        if (function(search, a, time) < function(search, b, time))
            low = a;
        else
            high = b;
    }
    return (low + high) / 2;
}

/* The last drift from one with room on towards `end` that has some. */
static double edge(const struct search *search, double inside, double end)
{
    if (room(search, end, 0) >= 0)
        return end;
    for (int i = 0; i < ROUNDS; ++i) {
        double middle = (inside + end) / 2;
        if (room(search, middle, 0) >= 0)
            inside = middle;
        else
            end = middle;
    }
    return inside;
}

static void find_middle(struct search *search, uint64_t *first, uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    for (size_t i = 0; i < search->count; ++i) {
        *first = search->bounds[i].at < *first ? search->bounds[i].at : *first;
        *last = search->bounds[i].at > *last ? search->bounds[i].at : *last;
    }
    search->middle = *first + (*last - *first) / 2;
}

/* What is possible at a time, with any of the drifts that are. Over times the least is concave and
 * the greatest convex: what is possible at two of them holds what is between them. */
static struct range possible(const struct search *search, double time)
{
    double top = peak(search, greatest, time, search->low, search->high);
    double bottom = peak(search, least_negated, time, search->low, search->high);
    return (struct range){-least_negated(search, bottom, time), greatest(search, top, time)};
}

/* Which drifts are possible, and one in their middle; false: none is. */
static bool find_drifts(struct search *search, double *drift)
{
    *drift = peak(search, room, 0, -CLOCKS_DRIFT, CLOCKS_DRIFT);
    if (room(search, *drift, 0) < 0)
        return false;
    search->low = edge(search, *drift, -CLOCKS_DRIFT);
    search->high = edge(search, *drift, CLOCKS_DRIFT);
    return true;
}

/* By how much a time of the moved host's, once it is moved, is after another one. It may be before
 * the clock's 0. */
static double after(uint64_t time, double shift, uint64_t other)
{
    return (double)(int64_t)(time + (uint64_t)clocks_ns(shift) - other) / 1e9;
}

static bool is_known(const struct clocks_span *span)
{
    return (int64_t)(span->to - span->from) >= 0;
}

static uint64_t ns_of(double seconds)
{
    return seconds > 0 ? (uint64_t)clocks_ns(seconds * 1e9) : 0;
}

/* When it began or ended is known as well as the difference then is. */
static double end_of(const struct search *search, uint64_t time, double shift, bool first)
{
    struct range then = possible(search, after(time, shift, search->middle));
    return after(time, first ? then.least : then.most, search->middle);
}

bool clocks_find(const struct clocks_bound *bounds, size_t count, const struct clocks_span *span,
                 struct clocks *clocks)
{
    struct search search = {.bounds = bounds, .count = count};
    uint64_t first;
    uint64_t last;
    double drift;
    if (count == 0)
        return false;
    find_middle(&search, &first, &last);
    if (!find_drifts(&search, &drift))
        return false;
    double begin = seconds(&search, first);
    double end = seconds(&search, last);
    struct range all = join(possible(&search, begin), possible(&search, end));
    *clocks = (struct clocks){.between = error_in(all),
                              .drift = drift,
                              .drift_least = search.low,
                              .drift_most = search.high,
                              .steady = true};
    if (is_known(span)) {
        double from = fmin(begin, end_of(&search, span->from, middle_of(all), true));
        double to = fmax(end, end_of(&search, span->to, middle_of(all), false));
        clocks->before = ns_of(begin - from);
        clocks->after = ns_of(to - end);
        all = join(all, join(possible(&search, from), possible(&search, to)));
    }
    clocks->shift = clocks_ns(middle_of(all));
    clocks->error = error_in(all);
    return true;
}

/* A drift that changes. */

/* A bound's time, and what is possible then by all bounds. */
struct clocks_path {
    uint64_t at;
    double least, most;
};

static int by_time(const void *left, const void *right)
{
    const struct clocks_path *a = left;
    const struct clocks_path *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

/* By how much the difference may change between two points. */
static double change(const struct clocks_path *a, const struct clocks_path *b)
{
    return CLOCKS_DRIFT * (double)(b->at - a->at) / 1e9;
}

static void narrow(struct clocks_path *point, const struct clocks_path *other, double change)
{
    point->least = fmax(point->least, other->least - change);
    point->most = fmin(point->most, other->most + change);
}

/* NULL: nothing is possible. */
static struct clocks_path *make_path(const struct clocks_bound *bounds, size_t count)
{
    struct clocks_path *path = memory_new(count, sizeof *path);
    bool fits = true;
    for (size_t i = 0; i < count; ++i)
        path[i] = (struct clocks_path){bounds[i].at, (double)bounds[i].least - CLOCKS_SLACK,
                                       (double)bounds[i].most + CLOCKS_SLACK};
    qsort(path, count, sizeof *path, by_time);
    for (size_t i = 1; i < count; ++i)
        narrow(&path[i], &path[i - 1], change(&path[i - 1], &path[i]));
    for (size_t i = count - 1; i-- > 0;)
        narrow(&path[i], &path[i + 1], change(&path[i], &path[i + 1]));
    for (size_t i = 0; i < count; ++i)
        fits = fits && path[i].least <= path[i].most;
    if (fits)
        return path;
    free(path);
    return NULL;
}

/* The least and the greatest difference of all the time: those of the points, and what is possible
 * where those on both sides of a gap allow the same. */
static struct range extremes(const struct clocks_path *path, size_t count)
{
    struct range all = {path[0].least, path[0].most};
    for (size_t i = 1; i < count; ++i) {
        double moved = change(&path[i - 1], &path[i]);
        all = join(all, (struct range){(path[i - 1].least + path[i].least - moved) / 2,
                                       (path[i - 1].most + path[i].most + moved) / 2});
        all = join(all, (struct range){path[i].least, path[i].most});
    }
    return all;
}

/* What is possible so many seconds before the first or after the last point. */
static struct range beyond(const struct clocks_path *end, double time)
{
    return (struct range){end->least - CLOCKS_DRIFT * time, end->most + CLOCKS_DRIFT * time};
}

/* How long before the first point it began, or after the last it ended: it is known as well as the
 * difference then is. */
static double outside(const struct clocks_path *end, uint64_t time, bool first)
{
    double shift = (end->least + end->most) / 2;
    double far = after(time, shift, end->at);
    struct range then = beyond(end, fabs(far));
    far = after(time, first ? then.least : then.most, end->at);
    return fmax(first ? -far : far, 0);
}

bool clocks_follow(const struct clocks_bound *bounds, size_t count, const struct clocks_span *span,
                   struct clocks *clocks)
{
    struct clocks_path *path = count ? make_path(bounds, count) : NULL;
    if (!path)
        return false;
    struct range all = extremes(path, count);
    const struct clocks_path *end = &path[count - 1];
    double time = fmax((double)(end->at - path->at) / 1e9, 1e-9);
    *clocks =
        (struct clocks){.between = error_in(all),
                        .drift = (end->least + end->most - path->least - path->most) / 2 / time,
                        .drift_least = fmax(-CLOCKS_DRIFT, (end->least - path->most) / time),
                        .drift_most = fmin(CLOCKS_DRIFT, (end->most - path->least) / time)};
    if (is_known(span)) {
        double early = outside(path, span->from, true);
        double late = outside(end, span->to, false);
        clocks->before = ns_of(early);
        clocks->after = ns_of(late);
        all = join(all, join(beyond(path, early), beyond(end, late)));
    }
    clocks->shift = clocks_ns(middle_of(all));
    clocks->error = error_in(all);
    free(path);
    return true;
}

/* Models. */

bool clocks_model_make(const struct clocks_bound *bounds, size_t count, struct clocks_model *model)
{
    struct search search = {.bounds = bounds, .count = count};
    uint64_t first;
    uint64_t last;
    double drift;
    *model = (struct clocks_model){.bounds = bounds, .count = count};
    if (count == 0)
        return false;
    find_middle(&search, &first, &last);
    model->steady = find_drifts(&search, &drift);
    model->middle = search.middle;
    model->low = search.low;
    model->high = search.high;
    if (!model->steady)
        model->path = make_path(bounds, count);
    return model->steady || model->path;
}

void clocks_model_at(const struct clocks_model *model, uint64_t at, double *least, double *most)
{
    const struct search search = {model->bounds, model->count, model->middle, model->low,
                                  model->high};
    struct clocks_path point = {at, -INFINITY, INFINITY};
    if (model->steady) {
        struct range range = possible(&search, seconds(&search, at));
        *least = range.least;
        *most = range.most;
        return;
    }
    for (size_t i = 0; i < model->count; ++i) {
        const struct clocks_path *other = &model->path[i];
        narrow(&point, other, other->at < at ? change(other, &point) : change(&point, other));
    }
    *least = point.least;
    *most = point.most;
}

void clocks_model_free(struct clocks_model *model)
{
    free(model->path);
    model->path = NULL;
}
