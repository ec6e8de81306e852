#include "analysis/align.h"

#include "common/memory.h"

#include <stdbool.h>
#include <stdlib.h>

#define MOST_PAIRS ((size_t)64 << 20)

/* Worth of a match: a node of the same name counts more than any shape. */
#define NAME_COUNTS  65536u
#define SHAPE_COUNTS 1u

/* How a cell of the table was reached. */
enum step { SKIP_A, SKIP_B, MATCH };

static uint32_t worth(const struct align_key *a, const struct align_key *b)
{
    if (a->name != b->name)
        return 0;
    return NAME_COUNTS + (a->shape == b->shape ? SHAPE_COUNTS : 0);
}

static bool equal(const struct align_key *a, const struct align_key *b)
{
    return a->name == b->name && a->shape == b->shape;
}

/* The steps of the best way to each pair of ends; two rows of worths are enough. */
static unsigned char *find_steps(const struct align_key *a, size_t a_count,
                                 const struct align_key *b, size_t b_count)
{
    size_t width = b_count + 1;
    unsigned char *steps = memory_new((a_count + 1) * width, 1);
    uint64_t *above = memory_new(width, sizeof *above);
    uint64_t *row = memory_new(width, sizeof *row);
    for (size_t j = 1; j < width; ++j)
        steps[j] = SKIP_B;
    for (size_t i = 1; i <= a_count; ++i) {
        for (size_t j = 1; j < width; ++j) {
            uint32_t match = worth(&a[i - 1], &b[j - 1]);
            uint64_t best = above[j];
            enum step step = SKIP_A;
            if (row[j - 1] > best) {
                best = row[j - 1];
                step = SKIP_B;
            }
            if (match && above[j - 1] + match >= best) {
                best = above[j - 1] + match;
                step = MATCH;
            }
            row[j] = best;
            steps[i * width + j] = (unsigned char)step;
        }
        uint64_t *swap = above;
        above = row;
        row = swap;
    }
    free(above);
    free(row);
    return steps;
}

static void match_best(const struct align_key *a, size_t a_count, const struct align_key *b,
                       size_t b_count, size_t offset, size_t *matches)
{
    unsigned char *steps = find_steps(a, a_count, b, b_count);
    size_t i = a_count;
    size_t j = b_count;
    while (i > 0 && j > 0) {
        switch (steps[i * (b_count + 1) + j]) {
        case MATCH:
            matches[--i] = offset + --j;
            break;
        case SKIP_A:
            --i;
            break;
        default:
            --j;
            break;
        }
    }
    free(steps);
}

struct named {
    size_t name, place;
};

static int by_name(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static struct named *sorted_names(const struct align_key *keys, size_t count)
{
    struct named *names = memory_new(count, sizeof *names);
    for (size_t i = 0; i < count; ++i)
        names[i] = (struct named){keys[i].name, i};
    qsort(names, count, sizeof *names, by_name);
    return names;
}

static void match_in_turn(const struct align_key *a, size_t a_count, const struct align_key *b,
                          size_t b_count, size_t offset, size_t *matches)
{
    struct named *left = sorted_names(a, a_count);
    struct named *right = sorted_names(b, b_count);
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        if (left[i].name < right[j].name) {
            ++i;
        } else if (left[i].name > right[j].name) {
            ++j;
        } else {
            matches[left[i++].place] = offset + right[j++].place;
        }
    }
    free(left);
    free(right);
}

size_t *align(const struct align_key *a, size_t a_count, const struct align_key *b, size_t b_count)
{
    size_t *matches = memory_new(a_count, sizeof *matches);
    size_t begin = 0;
    for (size_t i = 0; i < a_count; ++i)
        matches[i] = SIZE_MAX;
    while (begin < a_count && begin < b_count && equal(&a[begin], &b[begin])) {
        matches[begin] = begin;
        ++begin;
    }
    while (a_count > begin && b_count > begin && equal(&a[a_count - 1], &b[b_count - 1]))
        matches[--a_count] = --b_count;
    size_t a_left = a_count - begin;
    size_t b_left = b_count - begin;
    if (a_left == 0 || b_left == 0)
        return matches;
    bool few = b_left + 1 <= MOST_PAIRS / (a_left + 1);
    (few ? match_best : match_in_turn)(a + begin, a_left, b + begin, b_left, begin,
                                       matches + begin);
    return matches;
}
