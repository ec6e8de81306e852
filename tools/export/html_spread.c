#include "export/html_spread.h"

#include <math.h>
#include <stdlib.h>

/* Below 64 a value is its own bucket; above, a page is an octave. */
static unsigned page_of(uint64_t value)
{
    return value < SPREAD_BUCKETS ? 0 : 58 - (unsigned)__builtin_clzll(value);
}

static unsigned bucket_of(uint64_t value, unsigned page)
{
    return page ? (unsigned)(value >> (page - 1)) % SPREAD_BUCKETS : (unsigned)value;
}

static uint64_t middle_of(unsigned page, unsigned bucket)
{
    if (page == 0)
        return bucket;
    uint64_t low = (uint64_t)(SPREAD_BUCKETS + bucket) << (page - 1);
    return low + ((UINT64_C(1) << (page - 1)) - 1) / 2;
}

bool spread_add(struct spread *spread, uint64_t value)
{
    unsigned page = page_of(value);
    if (!spread->pages[page])
        spread->pages[page] = calloc(SPREAD_BUCKETS, sizeof *spread->pages[page]);
    if (!spread->pages[page])
        return false;
    ++spread->pages[page][bucket_of(value, page)];
    if (spread->count == 0 || value < spread->least)
        spread->least = value;
    if (value > spread->most)
        spread->most = value;
    ++spread->count;
    spread->sum += value;
    spread->squares += (double)value * (double)value;
    return true;
}

uint64_t spread_quantile(const struct spread *spread, double share)
{
    uint64_t wanted = (uint64_t)ceil(share * (double)spread->count);
    uint64_t seen = 0;
    if (wanted <= 1)
        return spread->least;
    if (wanted >= spread->count)
        return spread->most;
    for (unsigned page = 0; page < SPREAD_PAGES; ++page)
        for (unsigned bucket = 0; spread->pages[page] && bucket < SPREAD_BUCKETS; ++bucket) {
            seen += spread->pages[page][bucket];
            if (spread->pages[page][bucket] == 0 || seen < wanted)
                continue;
            uint64_t middle = middle_of(page, bucket);
            if (middle < spread->least)
                return spread->least;
            return middle < spread->most ? middle : spread->most;
        }
    return spread->most;
}

double spread_mean(const struct spread *spread)
{
    return spread->count ? (double)spread->sum / (double)spread->count : 0;
}

double spread_deviation(const struct spread *spread)
{
    double mean = spread_mean(spread);
    double variance = spread->count ? spread->squares / (double)spread->count - mean * mean : 0;
    return variance > 0 ? sqrt(variance) : 0;
}

void spread_free(struct spread *spread)
{
    for (unsigned page = 0; page < SPREAD_PAGES; ++page)
        free(spread->pages[page]);
    *spread = (struct spread){0};
}
