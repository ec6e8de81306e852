#include "merge/clocks.h"

#include <math.h>

/* Of a search over concave functions; each halves what is left, or nearly. */
#define ROUNDS 100

struct search {
    const struct clocks_bound *bounds;
    size_t count;
    uint64_t middle;
    double low, high; /* drifts that are possible */
};

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

/* How far a shift may be off at a time. */
static double error_at(const struct search *search, double shift, uint64_t at)
{
    double time = seconds(search, at);
    double top = peak(search, greatest, time, search->low, search->high);
    double bottom = peak(search, least_negated, time, search->low, search->high);
    return fmax(greatest(search, top, time) - shift, shift + least_negated(search, bottom, time));
}

bool clocks_find(const struct clocks_bound *bounds, size_t count, struct clocks *clocks)
{
    struct search search = {.bounds = bounds, .count = count};
    uint64_t first;
    uint64_t last;
    double least;
    double most;
    if (count == 0)
        return false;
    find_middle(&search, &first, &last);
    double drift = peak(&search, room, 0, -CLOCKS_DRIFT, CLOCKS_DRIFT);
    if (room(&search, drift, 0) < 0)
        return false;
    search.low = edge(&search, drift, -CLOCKS_DRIFT);
    search.high = edge(&search, drift, CLOCKS_DRIFT);
    range_of(&search, drift, &least, &most);
    double shift = round((least + most) / 2);
    double error = fmax(error_at(&search, shift, first), error_at(&search, shift, last));
    *clocks = (struct clocks){.shift = (int64_t)shift,
                              .error = (uint64_t)ceil(error) + 1,
                              .drift = drift,
                              .drift_least = search.low,
                              .drift_most = search.high};
    return true;
}
