/* Places in the layers of two graphs, as letters. */
#include "../common/check.h"
#include "analysis/graph_places.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MOST 32u

/* "a" and "A" are of one family; 1 to 9 are the kernel "a" in that shape. */
static void keys_of(const char *text, struct graph_place_key *keys)
{
    for (size_t i = 0; text[i]; ++i) {
        bool shaped = isdigit((unsigned char)text[i]);
        char name = shaped ? 'a' : text[i];
        keys[i].name = (unsigned char)name;
        keys[i].family = (size_t)tolower((unsigned char)name);
        keys[i].shape = shaped ? (unsigned char)text[i] : 0;
    }
}

/* Writes the groups as "0=0 1+2:1 3-": the same, a group, one side alone. */
static bool is_matched(const char *a, const char *b, const char *wanted)
{
    struct graph_place_key left[MOST];
    struct graph_place_key right[MOST];
    struct graph_places places;
    char got[256] = "";
    size_t used = 0;
    keys_of(a, left);
    keys_of(b, right);
    graph_places_match(left, strlen(a), right, strlen(b), &places);
    for (size_t i = 0; i < places.count; ++i) {
        const struct graph_places_group *group = &places.list[i];
        used += (size_t)snprintf(got + used, sizeof got - used, "%s", i ? " " : "");
        for (size_t k = 0; k < group->a_count; ++k)
            used += (size_t)snprintf(got + used, sizeof got - used, "%s%zu", k ? "+" : "",
                                     group->a + k);
        used += (size_t)snprintf(got + used, sizeof got - used, "%s", group->same ? "=" : ":");
        for (size_t k = 0; k < group->b_count; ++k)
            used += (size_t)snprintf(got + used, sizeof got - used, "%s%zu", k ? "+" : "",
                                     graph_places_second(&places, group->b + k));
    }
    graph_places_free(&places);
    if (strcmp(got, wanted) != 0)
        (void)fprintf(stderr, "%s, %s: got %s, want %s\n", a, b, got, wanted);
    return strcmp(got, wanted) == 0;
}

const char *Places_ByHand(void)
{
    CHECK(is_matched("abcd", "abcd", "0=0 1=1 2=2 3=3"));
    /* Another batch size: one kernel of another name, or all. */
    CHECK(is_matched("abcd", "aBcd", "0=0 1:1 2=2 3=3"));
    CHECK(is_matched("abcd", "ABCD", "0:0 1:1 2:2 3:3"));
    /* Fusions and their reverse; what is gone or new beside what is the same. */
    CHECK(is_matched("abcd", "axd", "0=0 1+2:1 3=2"));
    CHECK(is_matched("abcd", "aBd", "0=0 1+2:1 3=2"));
    CHECK(is_matched("abcd", "aCd", "0=0 1+2:1 3=2"));
    CHECK(is_matched("aBd", "abcd", "0=0 1:1+2 2=3"));
    CHECK(is_matched("abcd", "abd", "0=0 1=1 2: 3=2"));
    CHECK(is_matched("abd", "abcd", "0=0 1=1 :2 2=3"));
    /* Two fusions in a row part by their families. */
    CHECK(is_matched("abcdex", "aBDx", "0=0 1+2:1 3+4:2 5=3"));
    /* Nothing in common. */
    CHECK(is_matched("abc", "xy", "0+1+2:0+1"));
    CHECK(is_matched("a", "a", "0=0"));
    return NULL;
}

/* The second's layers begin elsewhere. */
const char *Places_Turned(void)
{
    CHECK(is_matched("abcdef", "defabc", "0=3 1=4 2=5 3=0 4=1 5=2"));
    CHECK(is_matched("abcdef", "eFabCd", "0=2 1=3 2:4 3=5 4=0 5:1"));
    CHECK(is_matched("abcdef", "efaxd", "0=2 1+2:3 3=4 4=0 5=1"));
    /* Of kernels of one name those of one shape match: layers that are turned have one gone. */
    CHECK(is_matched("1bc2", "1bC", "0=0 1=1 2+3:2"));
    return NULL;
}
