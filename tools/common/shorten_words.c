#include "common/shorten_words.h"

#include "common/memory.h"

#include <stdlib.h>

#define DEEPEST 64u /* words in which names part from each other, one after the other */

/* Where names have not the same number of words, they are compared in those that begin alike: the
 * first word in which they differ stays, and parts them. */

struct words {
    struct piece piece;
    struct piece_elements elements;
    size_t place; /* of the word that is looked at */
};

static struct piece word_of(const struct words *words)
{
    struct piece word = {.name = words->piece.name, .at = {words->piece.at.to, words->piece.at.to}};
    if (words->place < words->elements.count)
        word.at = words->elements.list[words->place].at;
    return word;
}

static int by_word(const void *left, const void *right)
{
    struct piece a = word_of(left);
    struct piece b = word_of(right);
    return piece_compare(&a, a.at, &b, b.at);
}

static bool same_number(const struct words *words, size_t count)
{
    for (size_t i = 1; i < count; ++i)
        if (words[i].elements.count != words->elements.count)
            return false;
    return true;
}

/* Looks at the next word; lets it go if all have the same one, and says so. */
static bool word_goes(const struct words *words, size_t count, unsigned *number)
{
    struct piece *column = memory_new(count, sizeof *column);
    for (size_t i = 0; i < count; ++i)
        column[i] = word_of(&words[i]);
    bool equal = pieces_equal(column, count);
    for (size_t i = 0; equal && i < count; ++i)
        column[i].at.to = words[i].elements.list[words[i].place].next;
    if (equal)
        pieces_let_go(column, count, SHORTEN_WORD, number);
    free(column);
    return equal;
}

static void compare_words(struct words *words, size_t count, unsigned level, unsigned *number)
{
    bool same = same_number(words, count);
    for (;;) {
        if (same && words->place >= words->elements.count)
            return;
        bool gone = word_goes(words, count, number);
        if (!gone && !same)
            break;
        for (size_t i = 0; i < count; ++i)
            ++words[i].place;
    }
    if (level > DEEPEST)
        return;
    qsort(words, count, sizeof *words, by_word);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && by_word(&words[from], &words[to]) == 0)
            ++to;
        for (size_t i = from + 1; i < to; ++i)
            ++words[i].place;
        ++words[from].place;
        compare_words(words + from, to - from, level + 1, number);
    }
}

void shorten_words(const struct piece *pieces, size_t count, unsigned *number)
{
    struct words *words = memory_new(count, sizeof *words);
    for (size_t i = 0; i < count; ++i) {
        struct piece base = {.name = pieces[i].name, .at = pieces[i].base};
        words[i] = (struct words){base, piece_split(&base, PIECE_WORDS), 1};
    }
    compare_words(words, count, 0, number);
    for (size_t i = 0; i < count; ++i)
        free(words[i].elements.list);
    free(words);
}
