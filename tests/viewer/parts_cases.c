/* The parts that a page is made of, against counts and sums that the test makes itself. */
#include "../common/check.h"

#include "common/bytes.h"
#include "export/html_bins.h"
#include "export/html_items.h"
#include "export/html_lanes.h"
#include "export/html_spread.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define THINGS 20000u

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Numbers of every size up to 2 to the `bits`. */
static uint64_t draw_wide(uint64_t *state, unsigned bits)
{
    return draw(state) >> (31 - draw(state) % (bits + 1));
}

struct thing {
    uint64_t start, end;
};

/* How long things are busy in [from, to). */
static uint64_t truly_busy(const struct thing *things, size_t count, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; ++i) {
        uint64_t start = things[i].start > from ? things[i].start : from;
        uint64_t end = things[i].end < to ? things[i].end : to;
        sum += end > start ? end - start : 0;
    }
    return sum;
}

/* Each bin is behind the one before, as busy as the things in its time, and has the number of those
 * that begin in it. */
static const char *check_bins(const struct bins *bins, const struct thing *things, size_t count)
{
    uint64_t end = 0;
    size_t next = 0;
    for (size_t i = 0; i < bins->count; ++i) {
        const struct bin *bin = &bins->list[i];
        uint64_t from = bin->first << bins->shift;
        uint64_t to = (bin->first + bin->length) << bins->shift;
        uint64_t begins = 0;
        CHECK(bin->length > 0);
        CHECK(bin->first >= end);
        end = bin->first + bin->length;
        size_t first = next;
        while (first > 0 && things[first - 1].end > from)
            --first;
        while (next < count && things[next].start < to) {
            CHECK(things[next].start >= from);
            ++next;
            ++begins;
        }
        CHECK(bin->count == begins);
        CHECK(bin->busy == truly_busy(things + first, next - first, from, to));
    }
    CHECK(next == count);
    return NULL;
}

const char *Page_Bins(void)
{
    static struct thing things[THINGS];
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        struct bins bins = {0};
        uint64_t state = seed;
        uint64_t at = draw(&state);
        for (size_t i = 0; i < THINGS; ++i) {
            things[i].start = at += draw(&state) % 3 ? draw_wide(&state, 14) : 0;
            things[i].end = at += draw(&state) % 4 ? draw_wide(&state, 20) : 0;
            CHECK(bins_add(&bins, things[i].start, things[i].end, (uint32_t)(i % 5), 500));
        }
        CHECK(bins.count <= 503);
        CHECK_DONE(check_bins(&bins, things, THINGS));
        bins_free(&bins);
    }
    return NULL;
}

const char *Page_BinsOfOneLongThing(void)
{
    struct bins bins = {0};
    const struct thing things[] = {{5, 5}, {1024, 1024}, {1024, UINT64_C(1) << 40}};
    for (size_t i = 0; i < 3; ++i)
        CHECK(bins_add(&bins, things[i].start, things[i].end, 1, 100));
    CHECK(bins.count <= 4);
    CHECK(bins.shift == BINS_FINEST);
    CHECK_DONE(check_bins(&bins, things, 3));
    bins_free(&bins);
    return NULL;
}

/* The end of the last bin is a number too large for 64 bits. */
const char *Page_BinsAtTheEndOfTime(void)
{
    struct bins bins = {0};
    CHECK(bins_add(&bins, 5, 10, 1, 100));
    CHECK(bins_add(&bins, UINT64_MAX - 3000, UINT64_MAX, 2, 100));
    uint64_t busy = 0;
    uint64_t begins = 0;
    for (size_t i = 0; i < bins.count; ++i) {
        busy += bins.list[i].busy;
        begins += bins.list[i].count;
    }
    CHECK(bins.count <= 5);
    CHECK(busy == 5 + 3000);
    CHECK(begins == 2);
    bins_free(&bins);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static bool near(uint64_t got, uint64_t want)
{
    uint64_t away = got > want ? got - want : want - got;
    return away * 128 <= want;
}

const char *Page_Spread(void)
{
    static uint64_t values[THINGS];
    static const double shares[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999};
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        struct spread spread = {0};
        uint64_t state = seed;
        uint64_t sum = 0;
        for (size_t i = 0; i < THINGS; ++i) {
            values[i] = draw_wide(&state, 31) << (seed == 10 ? 32 : 0);
            sum += values[i];
            CHECK(spread_add(&spread, values[i]));
        }
        qsort(values, THINGS, sizeof values[0], compare);
        CHECK(spread.count == THINGS);
        CHECK(spread.sum == sum);
        CHECK(spread.least == values[0]);
        CHECK(spread.most == values[THINGS - 1]);
        for (size_t i = 0; i < sizeof shares / sizeof shares[0]; ++i)
            CHECK(near(spread_quantile(&spread, shares[i]),
                       values[(size_t)(shares[i] * THINGS + 0.999999) - 1]));
        CHECK(spread_quantile(&spread, 1) == spread.most);
        spread_free(&spread);
    }
    struct spread none = {0};
    CHECK(spread_quantile(&none, 0.5) == 0);
    CHECK(spread_mean(&none) == 0 && spread_deviation(&none) == 0);
    struct spread two = {0};
    CHECK(spread_add(&two, 10) && spread_add(&two, 14));
    CHECK(spread_mean(&two) == 12 && spread_deviation(&two) == 2);
    spread_free(&two);
    return NULL;
}

const char *Page_Lanes(void)
{
    struct html_lanes lanes = {0};
    uint64_t state = 7;
    uint64_t start = 0;
    uint64_t puts[50] = {0};
    for (size_t i = 0; i < THINGS; ++i) {
        struct html_key key = {.process = 1, .kind = HTML_QUEUE, .queue = draw(&state) % 50};
        start += draw(&state) % 20;
        struct html_slice slice = {.start = start, .end = start + draw_wide(&state, 12)};
        struct html_lane *lane = html_lanes_take(&lanes, &key, start);
        CHECK(lane && lane->key.queue == key.queue);
        CHECK(lane->free <= start);
        CHECK(html_lanes_count(&lanes, lane, &slice, 0) && html_lanes_keep(lane, &slice, true));
        ++puts[key.queue];
    }
    for (size_t i = 0; i < lanes.count; ++i) {
        const struct html_lane *lane = &lanes.list[i];
        puts[lane->key.queue] -= lane->count;
        for (size_t j = 1; j < lane->slice_count; ++j)
            CHECK(lane->slices[j - 1].end <= lane->slices[j].start);
        for (size_t j = 0; j < i; ++j)
            CHECK(lanes.list[j].key.queue != lane->key.queue ||
                  lanes.list[j].number < lane->number);
    }
    for (size_t i = 0; i < 50; ++i)
        CHECK(puts[i] == 0);
    html_lanes_free(&lanes);
    return NULL;
}

const char *Page_Items(void)
{
    struct html_items items = {0};
    for (unsigned round = 0; round < 2; ++round)
        for (uint32_t i = 0; i < 5000; ++i) {
            struct html_item item = {{i % 10, i / 10, 0, 0, 0, 0, 0, 0, 0, i % 7}};
            CHECK(html_items_number(&items, &item) == i);
        }
    CHECK(items.count == 5000);
    html_items_free(&items);
    return NULL;
}

const char *Page_Deflate(void)
{
    static unsigned char again[200000];
    struct bytes plain = {0};
    struct bytes packed = {0};
    uint64_t state = 3;
    for (size_t i = 0; i < THINGS; ++i)
        bytes_signed(&plain, (int64_t)draw_wide(&state, 31) * (draw(&state) % 2 ? 1 : -1));
    CHECK(!plain.failed && plain.used < sizeof again);
    CHECK(bytes_deflate(&packed, &plain));
    uLongf size = sizeof again;
    CHECK(uncompress(again, &size, packed.data, (uLong)packed.used) == Z_OK);
    CHECK(size == plain.used && memcmp(again, plain.data, size) == 0);

    /* The limits, as docs say of varints: low bits first, folded. */
    static const unsigned char want[] = {0x00, 0x01, 0x02, 0x7f, 0x80, 0x01, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    bytes_clear(&plain);
    bytes_signed(&plain, 0);
    bytes_signed(&plain, -1);
    bytes_signed(&plain, 1);
    bytes_signed(&plain, -64);
    bytes_signed(&plain, 64);
    bytes_signed(&plain, INT64_MIN);
    CHECK(plain.used == sizeof want && memcmp(plain.data, want, sizeof want) == 0);
    bytes_free(&plain);
    bytes_free(&packed);
    return NULL;
}
