/* Runs in sequences: planted ones, and drawn sequences against what must hold of any cut. */
#include "../common/check.h"
#include "analysis/runs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 400u

/* Items are letters; the runs as text: "2+3x4" is four blocks of three from place 2 on. */
static bool is(const char *text, const char *wanted)
{
    uint32_t items[MOST];
    char got[512] = "";
    struct run *runs;
    size_t count = strlen(text);
    for (size_t i = 0; i < count; ++i)
        items[i] = (uint32_t)text[i];
    size_t found = runs_find(items, count, &runs);
    for (size_t i = 0; i < found; ++i)
        (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s%zu+%ux%u", i ? " " : "",
                       runs[i].begin, runs[i].length, runs[i].count);
    free(runs);
    if (strcmp(got, wanted) != 0)
        (void)fprintf(stderr, "%s: got '%s', want '%s'\n", text, got, wanted);
    return strcmp(got, wanted) == 0;
}

const char *Runs_Planted(void)
{
    CHECK(is("", "") && is("a", "") && is("aa", "") && is("abab", ""));
    CHECK(is("aaa", "0+1x3") && is("ababab", "0+2x3"));
    /* A warm-up, two batch sizes, and what is left of the last block. */
    CHECK(is("xyaaaaabbbb", "2+1x5 7+1x4"));
    CHECK(is("abcabcabcab", "0+3x3"));
    return NULL;
}

/* Requests of a prefill and some tokens are no steps: the tokens are. */
const char *Runs_Requests(void)
{
    CHECK(is("pdddpdddpdddpddd", "1+1x3 5+1x3 9+1x3 13+1x3"));
    CHECK(is("pabababpabababpababab", "1+2x3 8+2x3 15+2x3"));
    /* Two drafts and a check are one. */
    CHECK(is("ddtddtddtddt", "0+3x4"));
    return NULL;
}

const char *Runs_LongestBlock(void)
{
    char text[MOST] = "";
    for (unsigned block = 0; block < 3; ++block)
        for (unsigned i = 0; i < RUNS_MOST_LENGTH; ++i)
            text[block * RUNS_MOST_LENGTH + i] = (char)('0' + i);
    CHECK(is(text, "0+64x3"));
    for (unsigned block = 0; block < 3; ++block)
        for (unsigned i = 0; i <= RUNS_MOST_LENGTH; ++i)
            text[block * (RUNS_MOST_LENGTH + 1) + i] = (char)('0' + i);
    CHECK(is(text, ""));
    return NULL;
}

const char *Runs_Rotation(void)
{
    static const uint32_t block[] = {3, 1, 2, 1, 1};
    static const uint32_t same[] = {4, 4, 4};
    CHECK(runs_least_rotation(block, 5) == 3); /* 1 1 3 1 2 */
    CHECK(runs_least_rotation(same, 3) == 0);
    CHECK(runs_least_rotation(block, 1) == 0);
    return NULL;
}

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (uint32_t)(state >> 33) % below;
}

/* The shortest length of a block without inner runs that repeats from a place on, by trying. */
static uint32_t shortest(const uint32_t *items, size_t count, size_t begin)
{
    for (size_t length = 1; length <= RUNS_MOST_LENGTH && begin + 3 * length <= count; ++length) {
        bool repeats = true;
        for (size_t i = begin; i < begin + 2 * length; ++i)
            repeats &= items[i] == items[i + length];
        /* Three blocks hold each rotation of one. */
        for (size_t at = begin; repeats && at < begin + length; ++at)
            for (size_t inner = 1; 3 * inner < length; ++inner) {
                bool run = true;
                for (size_t i = at; i < at + 2 * inner; ++i)
                    run &= items[i] == items[i + inner];
                repeats &= !run;
            }
        if (repeats)
            return (uint32_t)length;
    }
    return 0;
}

const char *Runs_AsByTrying(void)
{
    size_t all = 0;
    for (unsigned round = 0; round < 5000; ++round) {
        uint32_t items[120] = {0};
        uint32_t length = 1 + draw(6);
        uint32_t letters = 1 + draw(4);
        size_t count = draw(120);
        for (size_t i = 0; i < count; ++i)
            items[i] = i < length || draw(25) == 0 ? draw(letters) : items[i - length];
        struct run *runs;
        size_t found = runs_find(items, count, &runs);
        size_t next = 0;
        for (size_t at = 0; at < count;) {
            uint32_t wanted = shortest(items, count, at);
            if (!wanted) {
                ++at;
                continue;
            }
            size_t end = at + wanted;
            while (end < count && items[end] == items[end - wanted])
                ++end;
            CHECK(next < found && runs[next].begin == at && runs[next].length == wanted);
            CHECK(runs[next].count == (end - at) / wanted);
            at += (size_t)wanted * runs[next++].count;
        }
        CHECK(next == found);
        all += found;
        free(runs);
    }
    CHECK(all > 5000);
    return NULL;
}
