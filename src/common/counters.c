#include "common/counters.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

enum {
    GFX900 = RTL_GFX900,
    GFX908 = RTL_GFX908,
    GFX90A = RTL_GFX90A,
    GFX940 = RTL_GFX940,
    GFX10 = RTL_GFX10,
    GFX11 = RTL_GFX11,
    GFX9 = RTL_GFX9
};

static const struct rtl_counter counters[] = {
#define COUNTER(name, block, event, families, unit, text)                                          \
    {#name, RTL_BLOCK_##block, event, families, unit, text},
#include "common/counters.def"
#undef COUNTER
};

enum { COUNTERS = sizeof counters / sizeof counters[0], LONGEST_WORD = 47 };

static const struct {
    const char *agent;
    unsigned family;
} families[] = {
    {"gfx900", RTL_GFX900}, {"gfx902", RTL_GFX900}, {"gfx904", RTL_GFX900}, {"gfx906", RTL_GFX900},
    {"gfx909", RTL_GFX900}, {"gfx90c", RTL_GFX900}, {"gfx908", RTL_GFX908}, {"gfx90a", RTL_GFX90A},
    {"gfx940", RTL_GFX940}, {"gfx941", RTL_GFX940}, {"gfx942", RTL_GFX940},
};

unsigned rtl_gfx_of(const char *agent)
{
    size_t length = strcspn(agent, ":");
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strlen(families[i].agent) == length && memcmp(agent, families[i].agent, length) == 0)
            return families[i].family;
    if (length == 7 && strncmp(agent, "gfx10", 5) == 0)
        return RTL_GFX10;
    if (length == 7 && strncmp(agent, "gfx11", 5) == 0)
        return RTL_GFX11;
    return 0;
}

const struct rtl_counter *rtl_counters(size_t *count)
{
    *count = COUNTERS;
    return counters;
}

const struct rtl_counter *rtl_counter_find(const char *name, unsigned among)
{
    for (size_t i = 0; i < COUNTERS; i++)
        if ((counters[i].families & among) && strcmp(counters[i].name, name) == 0)
            return &counters[i];
    return NULL;
}

const struct rtl_counter *rtl_counter_of(uint32_t block, uint32_t event, unsigned among)
{
    for (size_t i = 0; i < COUNTERS; i++)
        if ((counters[i].families & among) && counters[i].block == block &&
            counters[i].event == event)
            return &counters[i];
    return NULL;
}

const char *rtl_block_name(uint32_t block)
{
    switch (block) {
    case RTL_BLOCK_CPC:
        return "CPC";
    case RTL_BLOCK_CPF:
        return "CPF";
    case RTL_BLOCK_GRBM:
        return "GRBM";
    case RTL_BLOCK_SPI:
        return "SPI";
    case RTL_BLOCK_SQ:
        return "SQ";
    case RTL_BLOCK_TA:
        return "TA";
    case RTL_BLOCK_TCC:
        return "TCC";
    case RTL_BLOCK_TCP:
        return "TCP";
    case RTL_BLOCK_TD:
        return "TD";
    case RTL_BLOCK_GL2C:
        return "GL2C";
    default:
        return NULL;
    }
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned rtl_word_distance(const char *a, const char *b)
{
    size_t length = strlen(b);
    unsigned row[LONGEST_WORD + 1];
    if (length > LONGEST_WORD || strlen(a) > LONGEST_WORD)
        return UINT_MAX;
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (; *a; a++) {
        unsigned diagonal = row[0]++;
        for (size_t j = 1; j <= length; j++) {
            unsigned above = row[j];
            bool differ = toupper((unsigned char)*a) != toupper((unsigned char)b[j - 1]);
            row[j] = least(diagonal + differ, least(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[length];
}

/* Keeps `near` sorted by likeness; names that are equally like stay in the table's order. */
static size_t put(const char *name, unsigned distance, const char **near, unsigned *distances,
                  size_t count, size_t most)
{
    size_t at = count;
    while (at > 0 && distances[at - 1] > distance)
        at--;
    if (at == most)
        return count;
    size_t moved = (count < most ? count : most - 1) - at;
    memmove(near + at + 1, near + at, moved * sizeof near[0]);
    memmove(distances + at + 1, distances + at, moved * sizeof distances[0]);
    near[at] = name;
    distances[at] = distance;
    return count < most ? count + 1 : most;
}

size_t rtl_counters_near(const char *name, const char **near, size_t most)
{
    enum { MOST = 8 };
    unsigned distances[MOST];
    unsigned far = (unsigned)strlen(name) / 3 + 1;
    size_t count = 0;
    most = most < MOST ? most : MOST;
    if (most == 0)
        return 0;
    for (size_t i = 0; i < COUNTERS; i++) {
        if (i > 0 && strcmp(counters[i].name, counters[i - 1].name) == 0)
            continue;
        unsigned distance = rtl_word_distance(name, counters[i].name);
        if (distance <= far)
            count = put(counters[i].name, distance, near, distances, count, most);
    }
    return count;
}
