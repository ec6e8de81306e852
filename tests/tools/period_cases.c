/* Blocks that repeat in sequences: planted ones, and drawn sequences against a search by trying. */
#include "../common/check.h"
#include "analysis/period.h"

#include <string.h>

/* Items are letters. */
static bool find(const char *text, struct period *period)
{
    uint32_t items[512];
    size_t count = strlen(text);
    for (size_t i = 0; i < count; ++i)
        items[i] = (uint32_t)text[i];
    return period_find(items, count, period);
}

static bool is(const char *text, size_t begin, size_t length, size_t count)
{
    struct period period = {0};
    return find(text, &period) && period.begin == begin && period.length == length &&
           period.count == count;
}

static bool none(const char *text)
{
    struct period period = {7, 8, 9};
    return !find(text, &period) && period.begin == 7 && period.length == 8 && period.count == 9;
}

const char *Period_Exact(void)
{
    CHECK(is("abcabcabc", 0, 3, 3));
    CHECK(is("aaa", 0, 1, 3));
    CHECK(is("aabaabaabaab", 0, 3, 4));
    return NULL;
}

const char *Period_BetweenHeadAndTail(void)
{
    CHECK(is("xyzabcdabcdabcdabcdpqrstuv", 3, 4, 4));
    /* Half of the items, and just less, in front, behind and in the middle. */
    CHECK(is("abababcdefgh", 0, 2, 3) && none("abababcdefghi"));
    CHECK(is("cdefghababab", 6, 2, 3) && none("cdefghiababab"));
    CHECK(is("cdeabababfgh", 3, 2, 3) && none("cdeabababfghi"));
    /* The run goes on into the tail, as a norm before the logits does. */
    CHECK(is("xnabcnabcnabcny", 1, 4, 3));
    /* The head ends as a block does. */
    CHECK(is("xycabcabcabcz", 2, 3, 3));
    return NULL;
}

/* A block that is itself twice the same, or holds a run of its own. */
const char *Period_Nested(void)
{
    CHECK(is("abcabcabcabcabcabc", 0, 3, 6));
    CHECK(is("xaaaabaaaabaaaaby", 1, 5, 3));
    CHECK(is("ababcababcababcababc", 0, 5, 4));
    return NULL;
}

const char *Period_None(void)
{
    CHECK(none("") && none("a") && none("aa") && none("abcdefgh"));
    CHECK(none("abcdabcd")); /* twice is not enough */
    CHECK(none("abcdefabcabcabc0123456789"));
    CHECK(none("abacabadabacabaeabacabadabacaba"));
    return NULL;
}

/* Two blocks in turn are one. */
const char *Period_Interleaved(void)
{
    CHECK(is("habcdexabcdexabcdexabcdext", 1, 6, 4));
    CHECK(is("aabbaabbaabbaabb", 0, 4, 4));
    /* One behind the other: the longer run. */
    CHECK(is("ababababcdecdecdecde", 8, 3, 4));
    return NULL;
}

/* What is behind an odd one belongs to another run. */
const char *Period_OneOdd(void)
{
    CHECK(is("abcabcabxabcabcabcabcabc", 9, 3, 5));
    CHECK(is("abcabcabcabcabcacabcabc", 0, 3, 5));
    CHECK(none("abcdabcdabxdabcdabcd"));
    /* The first lacks a kernel: what follows it in the first is in the run. */
    CHECK(is("abdeabcdeabcdeabcdez", 2, 5, 3));
    return NULL;
}

/* A last block with others among its items, a quarter as many at most. */
static size_t odd(const char *text)
{
    struct period period;
    uint32_t items[512];
    size_t count = strlen(text);
    for (size_t i = 0; i < count; ++i)
        items[i] = (uint32_t)text[i];
    return find(text, &period) ? period_odd_block(items, count, &period) : SIZE_MAX;
}

const char *Period_OddBlock(void)
{
    CHECK(odd("xabcdabcdabcdaXbcdyz") == 5 && odd("xabcdabcdabcdXabcdyz") == 5);
    CHECK(odd("abcdefghabcdefghabcdefghabXcdeYfghz") == 10);
    CHECK(odd("abcdefghabcdefghabcdefghabXcdeYfgZhz") == 0); /* three others are too many */
    CHECK(odd("xabcdabcdabcdabXYcd") == 0 && odd("xabcdabcdabcdabdc") == 0);
    CHECK(odd("abcdabcdabcd") == 0 && odd("abcdabcdabcdabc") == 0 && odd("aaaXa") == 0);
    return NULL;
}

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (uint32_t)(state >> 33) % below;
}

/* By trying all. */
static struct period tried(const uint32_t *items, size_t count)
{
    struct period best = {0};
    for (size_t length = 1; 3 * length <= count; ++length)
        for (size_t begin = 0; begin + length < count; ++begin) {
            size_t end = begin + length;
            while (end < count && items[end] == items[end - length])
                ++end;
            size_t blocks = (end - begin) / length;
            if (blocks >= 3 && 2 * blocks * length >= count &&
                blocks * length > best.count * best.length)
                best = (struct period){begin, length, blocks};
        }
    return best;
}

/* Copies of a drawn block with a few items changed, put in or left out. */
static size_t make(uint32_t *items)
{
    size_t length = 1 + draw(5);
    size_t count = draw(60);
    uint32_t letters = 1 + draw(3);
    for (size_t i = 0; i < count; ++i)
        items[i] = i < length || draw(20) == 0 ? draw(letters) : items[i - length];
    return count;
}

const char *Period_AsByTrying(void)
{
    unsigned found = 0;
    for (unsigned round = 0; round < 20000; ++round) {
        uint32_t items[64] = {0};
        size_t count = make(items);
        struct period wanted = tried(items, count);
        struct period period = {0};
        CHECK(period_find(items, count, &period) == (wanted.count > 0));
        CHECK(memcmp(&period, &wanted, sizeof period) == 0);
        found += wanted.count > 0;
    }
    CHECK(found > 1000 && found < 19000); /* both outcomes were met */
    return NULL;
}

/* The hardest for a search by trying: all alike, and all alike but for the last. */
const char *Period_ManyItems(void)
{
    enum { COUNT = 100000, BLOCK = 30000 };
    static uint32_t items[COUNT];
    struct period period;
    CHECK(period_find(items, COUNT, &period));
    CHECK(period.begin == 0 && period.length == 1 && period.count == COUNT);
    for (size_t i = 0; i < COUNT; ++i)
        items[i] = (i + 10) % BLOCK == 0;
    CHECK(period_find(items, COUNT, &period));
    CHECK(period.begin == 0 && period.length == BLOCK && period.count == 3);
    for (size_t i = 0; i < COUNT; ++i)
        items[i] = draw(2);
    CHECK(!period_find(items, COUNT, &period));
    return NULL;
}
