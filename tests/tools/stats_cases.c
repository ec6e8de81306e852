/* Numbers about many durations, against straightforward computations and what is known of chance.
 */
#include "../common/check.h"
#include "analysis/align.h"
#include "analysis/compare.h"
#include "analysis/stats.h"
#include "common/plain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A generator of its own (xorshift64*), so that each run draws the same. */
static uint64_t state;

static uint64_t draw(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545F4914F6CDD1D);
}

static double uniform(void)
{
    return (double)(draw() >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * 3.14159265358979 * uniform());
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint64_t drawn(unsigned kind)
{
    switch (kind) {
    case 0:
        return draw() % 1000;
    case 1:
        return 5000;
    case 2:
        return draw() >> (draw() % 64);
    default:
        return (uint64_t)(1e5 * exp(normal()));
    }
}

/* Exact up to STATS_KEPT values, within 0.2 % beyond; the rest is exact always. */
static const char *check_quantiles(unsigned kind, size_t count)
{
    static const unsigned per_milles[] = {0, 1, 10, 250, 500, 900, 990, 999, 1000};
    struct stats stats = {0};
    uint64_t *values = malloc(count * sizeof *values);
    uint64_t total = 0;
    CHECK(values != NULL);
    for (size_t i = 0; i < count; ++i) {
        values[i] = drawn(kind);
        total += values[i];
        stats_add(&stats, values[i]);
    }
    qsort(values, count, sizeof *values, by_size);
    CHECK(stats.count == count && stats.total == total);
    CHECK(stats.min == values[0] && stats.max == values[count - 1]);
    CHECK(stats_exact(&stats) == (count <= STATS_KEPT));
    for (size_t i = 0; i < sizeof per_milles / sizeof *per_milles; ++i) {
        size_t rank = (count * per_milles[i] + 999) / 1000;
        double want = (double)values[rank ? rank - 1 : 0];
        double got = (double)stats_quantile(&stats, per_milles[i]);
        CHECK(fabs(got - want) <= (stats_exact(&stats) ? 0 : want * 0.002 + 0.5));
    }
    free(values);
    stats_free(&stats);
    return NULL;
}

const char *Stats_Quantiles(void)
{
    static const size_t counts[] = {1, 2, 3, 7, 1000, STATS_KEPT, STATS_KEPT + 1, 100000};
    state = 1;
    for (unsigned kind = 0; kind < 4; ++kind)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
            CHECK_DONE(check_quantiles(kind, counts[i]));
    return NULL;
}

const char *Stats_Moments(void)
{
    struct stats stats = {0};
    double sum = 0;
    double square = 0;
    CHECK(stats_quantile(&stats, 500) == 0 && stats_variation(&stats) == 0);
    state = 2;
    for (int i = 0; i < 20000; ++i) {
        uint64_t value = 1000000000 + draw() % 1000;
        stats_add(&stats, value);
        sum += (double)(value - 1000000000);
        square += (double)(value - 1000000000) * (double)(value - 1000000000);
    }
    double mean = sum / 20000;
    double deviation = sqrt(square / 20000 - mean * mean);
    CHECK(fabs(stats.mean - 1e9 - mean) < 1e-3);
    CHECK(fabs(stats_deviation(&stats) - deviation) < 1e-3);
    CHECK(fabs(stats_variation(&stats) - deviation / (1e9 + mean)) < 1e-12);
    stats_free(&stats);
    return NULL;
}

/* What is kept of many values is each n-th, in order. */
const char *Stats_Thinned(void)
{
    struct stats stats = {0};
    for (uint64_t i = 0; i < UINT64_C(10) * STATS_KEPT; ++i)
        stats_add(&stats, i);
    CHECK(stats.stride == 16 && stats.kept_count == 10 * STATS_KEPT / 16);
    for (size_t i = 0; i < stats.kept_count; ++i)
        CHECK(stats.kept[i] == i * 16);
    stats_free(&stats);
    return NULL;
}

/* `count` values around `middle`, of which neighbours are alike: 0 not at all, 0.9 much. */
static void fill(struct stats *stats, size_t count, double middle, double alike)
{
    double last = normal();
    *stats = (struct stats){0};
    for (size_t i = 0; i < count; ++i) {
        last = alike * last + sqrt(1 - alike * alike) * normal();
        stats_add(stats, (uint64_t)(middle + 1000 * last));
    }
}

/* How often two series are found different, and how often the interval holds the truth. */
static void repeat(size_t a, size_t b, double difference, double alike, unsigned *found,
                   unsigned *held)
{
    *found = *held = 0;
    for (int i = 0; i < 500; ++i) {
        struct stats one;
        struct stats other;
        struct comparison comparison;
        struct comparison *const family[] = {&comparison};
        fill(&one, a, 100000, alike);
        fill(&other, b, 100000 + difference, alike);
        compare(&one, &other, &comparison);
        compare_family(family, 1);
        *found += comparison.verdict == COMPARE_SLOWER || comparison.verdict == COMPARE_FASTER;
        *held += comparison.low <= difference && difference <= comparison.high;
        stats_free(&one);
        stats_free(&other);
    }
}

/* Where nothing differs, 1 % of 500 is 5; the binomial distribution exceeds 16 once in 30 000. The
 * intervals hold the truth 475 times of 500, and 450 at least. Neighbours that are alike make both
 * harder: their correlation is itself an estimate. */
const char *Compare_Chance(void)
{
    static const struct {
        size_t a, b;
        double alike;
        unsigned most_found, least_held;
    } cases[] = {
        {400, 400, 0, 16, 450},   {20, 300, 0, 16, 450},    {30, 30, 0, 16, 450},
        {400, 400, 0.5, 20, 440}, {400, 400, 0.9, 25, 425},
    };
    state = 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        unsigned found;
        unsigned held;
        repeat(cases[i].a, cases[i].b, 0, cases[i].alike, &found, &held);
        CHECK(found <= cases[i].most_found);
        CHECK(held >= cases[i].least_held);
    }
    return NULL;
}

/* Half a deviation is seen with 400 values on each side, and the interval holds it. */
const char *Compare_Power(void)
{
    unsigned found;
    unsigned held;
    state = 4;
    repeat(400, 400, 500, 0, &found, &held);
    CHECK(found >= 495 && held >= 450);
    repeat(400, 400, -500, 0, &found, &held);
    CHECK(found >= 495 && held >= 450);
    return NULL;
}

/* Small cases by hand: the test's p is that of the normal distribution of the mean ranks. */
const char *Compare_ByHand(void)
{
    struct stats a = {0};
    struct stats b = {0};
    struct comparison one;
    static const uint64_t left[] = {30, 10, 50, 20, 70, 40, 80, 60};
    static const uint64_t right[] = {130, 110, 150, 120, 170, 140, 180, 160};
    for (size_t i = 0; i < 8; ++i)
        stats_add(&a, left[i]);
    for (size_t i = 0; i < 7; ++i)
        stats_add(&b, right[i]);
    compare(&a, &b, &one);
    CHECK(one.verdict == COMPARE_TOO_FEW && one.a == 40 && one.b == 140);
    stats_add(&b, right[7]);
    compare(&a, &b, &one);
    /* Ranks 1-8 and 9-16: means 4.5 and 12.5; their variance is 340/15 (1/8 + 1/8); no series has
     * neighbours that are alike, so all values count. */
    CHECK(one.verdict == COMPARE_ALIKE && one.difference == 100);
    CHECK(fabs(one.p - erfc(8 / sqrt(340.0 / 15 / 4) / sqrt(2))) < 1e-12);
    CHECK(one.low > 0 && one.high < 200 && fabs(one.low + one.high - 200) < 1e-9);
    stats_free(&a);
    stats_free(&b);
    return NULL;
}

/* Holm: the least p times the number of tests, the next times one less, never falling. */
const char *Compare_Family(void)
{
    struct comparison list[] = {
        {.p = 0.004, .low = 1, .high = 2, .verdict = COMPARE_ALIKE},
        {.p = 0.0001, .low = -2, .high = -1, .verdict = COMPARE_ALIKE},
        {.p = 0.0045, .low = 1, .high = 2, .verdict = COMPARE_ALIKE},
        {.p = 0.0002, .low = -1, .high = 2, .verdict = COMPARE_ALIKE},
        {.p = 1e-9, .verdict = COMPARE_TOO_FEW},
    };
    struct comparison *const family[] = {&list[0], &list[1], &list[2], &list[3], &list[4]};
    compare_family(family, 5);
    CHECK(fabs(list[1].p - 0.0004) < 1e-12 && list[1].verdict == COMPARE_FASTER);
    CHECK(fabs(list[3].p - 0.0006) < 1e-12 && list[3].verdict == COMPARE_ALIKE);
    CHECK(fabs(list[0].p - 0.008) < 1e-12 && list[0].verdict == COMPARE_SLOWER);
    CHECK(fabs(list[2].p - 0.008) < 1e-12 && list[2].verdict == COMPARE_SLOWER);
    CHECK(list[4].verdict == COMPARE_TOO_FEW);
    return NULL;
}

/* Names and shapes as letters: "ab" are two nodes, a capital has another shape. */
static void keys_of(const char *text, struct align_key *keys)
{
    for (; *text; ++text)
        *keys++ = (struct align_key){(size_t)(*text | 0x20), (size_t)*text};
}

static const char *check_align(const char *a, const char *b, const char *want)
{
    struct align_key left[64];
    struct align_key right[64];
    char got[64] = "";
    keys_of(a, left);
    keys_of(b, right);
    size_t *matches = align(left, strlen(a), right, strlen(b));
    for (size_t i = 0; i < strlen(a); ++i)
        got[i] = matches[i] == SIZE_MAX ? '-' : (char)('0' + matches[i]);
    free(matches);
    CHECK(strcmp(got, want) == 0);
    return NULL;
}

const char *Align_ByHand(void)
{
    CHECK_DONE(check_align("abc", "abc", "012"));
    CHECK_DONE(check_align("", "abc", ""));
    CHECK_DONE(check_align("abc", "", "---"));
    CHECK_DONE(check_align("abcd", "axcd", "0-23"));
    CHECK_DONE(check_align("abcd", "abxycd", "0145"));
    CHECK_DONE(check_align("aabbb", "bbbaa", "--012"));
    CHECK_DONE(check_align("xaAay", "wAv", "--1--"));
    CHECK_DONE(check_align("xaAy", "wAv", "--1-"));
    CHECK_DONE(check_align("abA", "ba", "-01"));
    return NULL;
}

/* Any two graphs: matches keep the order and the name, and are as many as the longest common
 * sequence has. */
const char *Align_Random(void)
{
    state = 5;
    for (int round = 0; round < 300; ++round) {
        struct align_key a[30];
        struct align_key b[30];
        unsigned longest[31][31] = {{0}};
        size_t sizes[] = {draw() % 31, draw() % 31};
        for (size_t i = 0; i < sizes[0]; ++i)
            a[i] = (struct align_key){draw() % 4, draw() % 2};
        for (size_t i = 0; i < sizes[1]; ++i)
            b[i] = (struct align_key){draw() % 4, draw() % 2};
        for (size_t i = 0; i < sizes[0]; ++i)
            for (size_t j = 0; j < sizes[1]; ++j) {
                unsigned best =
                    longest[i][j + 1] > longest[i + 1][j] ? longest[i][j + 1] : longest[i + 1][j];
                unsigned with = longest[i][j] + (a[i].name == b[j].name);
                longest[i + 1][j + 1] = with > best ? with : best;
            }
        size_t *matches = align(a, sizes[0], b, sizes[1]);
        size_t next = 0;
        unsigned count = 0;
        for (size_t i = 0; i < sizes[0]; ++i) {
            if (matches[i] == SIZE_MAX)
                continue;
            CHECK(matches[i] >= next && matches[i] < sizes[1]);
            CHECK(a[i].name == b[matches[i]].name);
            next = matches[i] + 1;
            ++count;
        }
        free(matches);
        CHECK(count == longest[sizes[0]][sizes[1]]);
    }
    return NULL;
}

/* Too large for the best way: each k-th of a name matches the k-th. */
const char *Align_Large(void)
{
    enum { COUNT = 9000 };
    static struct align_key a[COUNT];
    static struct align_key b[COUNT];
    for (size_t i = 0; i < COUNT; ++i) {
        a[i].name = i % 3;
        b[i].name = (i + 1) % 3;
    }
    size_t *matches = align(a, COUNT, b, COUNT);
    for (size_t i = 0; i < COUNT; ++i)
        CHECK(matches[i] == (i % 3 == 0 ? i + 2 : i - 1));
    free(matches);
    return NULL;
}

const char *Plain_Texts(void)
{
    char text[64];
    CHECK(strcmp(plain_text("a\x1b[31mb\x07", text, sizeof text), "a\\x1b[31mb\\a") == 0);
    CHECK(strcmp(plain_text("\xc2\x9b"
                            "2J",
                            text, sizeof text),
                 "\\u009b2J") == 0);
    // NOLINTNEXTLINE(misc-misleading-bidirectional): what must not get through
    CHECK(strcmp(plain_text("x\xe2\x80\xaey", text, sizeof text), "x\\u202ey") == 0);
    CHECK(strcmp(plain_text("\xff\xc0\x80\xe4z", text, sizeof text), "\\xff\\xc0\\x80\\xe4z") == 0);
    CHECK(strcmp(plain_text("\xed\xa0\x80", text, sizeof text), "\\xed\\xa0\\x80") == 0);
    CHECK(strcmp(plain_text("\x7f", text, sizeof text), "\\x7f") == 0);
    CHECK(strcmp(plain_text("na\xc3\xafve", text, sizeof text), "na\xc3\xafve") == 0);
    CHECK(strcmp(plain_text("na\xc3\xafve", text, 4), "na") == 0);
    CHECK(strcmp(plain_text("na\nve", text, 4), "na") == 0);
    CHECK(strcmp(plain_text("new\nline\ttab\r", text, sizeof text), "new\\nline\\ttab\\r") == 0);
    const char *harmless = "na\xc3\xafve \\n";
    CHECK(plain(harmless) == harmless);
    const char *first = plain("first\n");
    for (unsigned i = 1; i < PLAIN_COPIES; ++i)
        CHECK(strcmp(plain("another\x1b"), "another\\x1b") == 0);
    CHECK(strcmp(first, "first\\n") == 0);
    // NOLINTNEXTLINE(misc-misleading-bidirectional): what must not get through
    CHECK(plain_unsafe("\xc2\x9b") == 0x9b && plain_unsafe("\xe2\x80\xae") == 0x202e);
    CHECK(plain_unsafe("\x7f") == 0x7f && plain_unsafe("\x1b") == 0 && plain_unsafe("\xff") == 0);
    CHECK(strcmp(plain_fit("\x1b\x1b\x1b\x1b\x1b", 12, text, sizeof text), "\\x1b\\x...x1b") == 0);
    CHECK(plain_width("na\xc3\xafve") == 5);
    CHECK(plain_width("e\xcc\x81") == 1);
    CHECK(plain_width("\xe7\xaf\x84") == 2);
    return NULL;
}

const char *Plain_Fits(void)
{
    char text[128];
    char name[97] = "";
    for (size_t i = 0; i < 32; ++i)
        memcpy(name + 3 * i, i % 2 ? "\xe7\xaf\x84" : "abc", 3);
    for (unsigned width = 8; width < 120; ++width) {
        (void)plain_fit(name, width, text, sizeof text);
        CHECK(plain_width(text) <= width);
        CHECK(width >= plain_width(name) ? strcmp(text, name) == 0 : strstr(text, "...") != NULL);
        CHECK(plain_width(text) + 2 >= (width < plain_width(name) ? width : plain_width(name)));
    }
    return NULL;
}
