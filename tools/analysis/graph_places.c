#include "analysis/graph_places.h"

#include "analysis/align.h"
#include "common/memory.h"

#include <stdint.h>
#include <stdlib.h>

#define MOST_TURNED 256u /* places: all begins are tried, which takes the cube of them */

/* What places are matched by. */
enum by { BY_NAME, BY_FAMILY };

static size_t *match_by(const struct graph_place_key *a, size_t a_count,
                        const struct graph_place_key *b, size_t b_count, enum by by)
{
    struct align_key *left = memory_new(a_count, sizeof *left);
    struct align_key *right = memory_new(b_count, sizeof *right);
    for (size_t i = 0; i < a_count; ++i)
        left[i] = (struct align_key){by == BY_NAME ? a[i].name : a[i].family, a[i].shape};
    for (size_t i = 0; i < b_count; ++i)
        right[i] = (struct align_key){by == BY_NAME ? b[i].name : b[i].family, b[i].shape};
    size_t *matches = align(left, a_count, right, b_count);
    free(left);
    free(right);
    return matches;
}

static void add(struct graph_places *places, struct graph_places_group group)
{
    places->list[places->count++] = group;
}

/* Between places of one name, `a` and `b` being where the two stretches begin: each that is matched
 * by its family takes what follows it, the first also what is before it. */
static void match_stretch(const struct graph_place_key *left, struct graph_places_group all,
                          const struct graph_place_key *right, struct graph_places *places)
{
    size_t *matches = match_by(left + all.a, all.a_count, right + all.b, all.b_count, BY_FAMILY);
    struct graph_places_group group = {.a = all.a, .b = all.b};
    bool first = true;
    for (size_t i = 0; i < all.a_count; ++i) {
        if (matches[i] == SIZE_MAX)
            continue;
        if (!first) {
            group.a_count = all.a + i - group.a;
            group.b_count = all.b + matches[i] - group.b;
            add(places, group);
            group.a = all.a + i;
            group.b = all.b + matches[i];
        }
        first = false;
    }
    group.a_count = all.a + all.a_count - group.a;
    group.b_count = all.b + all.b_count - group.b;
    add(places, group);
    free(matches);
}

static void match(const struct graph_place_key *a, size_t a_count, const struct graph_place_key *b,
                  size_t b_count, struct graph_places *places)
{
    size_t *matches = match_by(a, a_count, b, b_count, BY_NAME);
    size_t i = 0;
    size_t j = 0;
    places->count = 0;
    while (i < a_count || j < b_count) {
        size_t end = i;
        while (end < a_count && matches[end] == SIZE_MAX)
            ++end;
        size_t other = end < a_count ? matches[end] : b_count;
        if (end > i || other > j)
            match_stretch(a, (struct graph_places_group){i, end - i, j, other - j, false}, b,
                          places);
        if (end < a_count)
            add(places, (struct graph_places_group){end, 1, other, 1, true});
        i = end + 1;
        j = other + 1;
    }
    free(matches);
}

/* A match by name counts more than all else, then equal shapes and what has a counterpart. */
static size_t worth(const struct graph_places *places, const struct graph_place_key *a,
                    const struct graph_place_key *b, size_t all)
{
    size_t sum = 0;
    for (size_t i = 0; i < places->count; ++i) {
        const struct graph_places_group *group = &places->list[i];
        if (group->same)
            sum += 2 * all + (a[group->a].shape == b[group->b].shape);
        sum += group->a_count > 0 && group->b_count > 0;
    }
    return sum;
}

static struct graph_place_key *turned(const struct graph_place_key *keys, size_t count, size_t turn)
{
    struct graph_place_key *list = memory_new(count, sizeof *list);
    for (size_t i = 0; i < count; ++i)
        list[i] = keys[(i + turn) % count];
    return list;
}

void graph_places_match(const struct graph_place_key *a, size_t a_count,
                        const struct graph_place_key *b, size_t b_count,
                        struct graph_places *places)
{
    size_t turns = a_count <= MOST_TURNED && b_count <= MOST_TURNED ? b_count : 1;
    size_t best = 0;
    size_t most = 0;
    *places = (struct graph_places){.list = memory_new(a_count + b_count, sizeof *places->list),
                                    .b_count = b_count};
    for (size_t turn = 0; turn <= turns; ++turn) {
        size_t of = turn < turns ? turn : best; /* the best once more, to have it */
        struct graph_place_key *list = turned(b, b_count, of);
        match(a, a_count, list, b_count, places);
        size_t got = worth(places, a, list, a_count + b_count);
        free(list);
        if (got > most) {
            most = got;
            best = of;
        }
    }
    places->turn = best;
}

size_t graph_places_second(const struct graph_places *places, size_t place)
{
    return (place + places->turn) % places->b_count;
}

void graph_places_free(struct graph_places *places)
{
    free(places->list);
    *places = (struct graph_places){0};
}
