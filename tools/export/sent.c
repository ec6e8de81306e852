#include "export/sent.h"

#include <stdlib.h>
#include <string.h>

/* Two bits for each correlation of the window: it is there; it was asked for. */
struct sent_process {
    uint32_t process;
    uint64_t top; /* above all that were added */
    uint64_t *bits;
};

enum { THERE = 1, ASKED = 2, WORDS = SENT_WINDOW / 32 };

static struct sent_process *of(const struct sent *sent, uint32_t process)
{
    for (size_t i = 0; i < sent->count; ++i)
        if (sent->list[i].process == process)
            return &sent->list[i];
    return NULL;
}

static struct sent_process *add(struct sent *sent, uint32_t process)
{
    struct sent_process *list = realloc(sent->list, (sent->count + 1) * sizeof *list);
    uint64_t *bits = calloc(WORDS, sizeof *bits);
    if (list)
        sent->list = list;
    if (!list || !bits) {
        free(bits);
        return NULL;
    }
    list[sent->count] = (struct sent_process){.process = process, .bits = bits};
    return &list[sent->count++];
}

static unsigned get(const struct sent_process *one, uint64_t correlation)
{
    uint64_t place = correlation % SENT_WINDOW;
    if (correlation >= one->top || correlation + SENT_WINDOW < one->top)
        return 0;
    return (unsigned)(one->bits[place / 32] >> (place % 32 * 2)) & 3u;
}

static void put(struct sent_process *one, uint64_t correlation, unsigned bits)
{
    uint64_t place = correlation % SENT_WINDOW;
    uint64_t *word = &one->bits[place / 32];
    *word = (*word & ~(UINT64_C(3) << (place % 32 * 2))) | (uint64_t)bits << (place % 32 * 2);
}

/* Makes room up to `correlation`: what falls out of the window is forgotten. */
static void advance(struct sent_process *one, uint64_t correlation)
{
    if (correlation - one->top >= SENT_WINDOW)
        memset(one->bits, 0, WORDS * sizeof *one->bits);
    else
        for (uint64_t i = one->top; i <= correlation; ++i)
            put(one, i, 0);
    one->top = correlation + 1;
}

bool sent_add(struct sent *sent, uint32_t process, uint64_t correlation)
{
    struct sent_process *one = of(sent, process);
    if (!one)
        one = add(sent, process);
    if (!one)
        return false;
    if (correlation >= one->top)
        advance(one, correlation);
    if (correlation + SENT_WINDOW >= one->top)
        put(one, correlation, THERE);
    return true;
}

bool sent_has(const struct sent *sent, uint32_t process, uint64_t correlation)
{
    const struct sent_process *one = of(sent, process);
    return one && (get(one, correlation) & THERE);
}

bool sent_first(struct sent *sent, uint32_t process, uint64_t correlation)
{
    struct sent_process *one = of(sent, process);
    if (!one || get(one, correlation) != THERE)
        return false;
    put(one, correlation, THERE | ASKED);
    return true;
}

void sent_clear(struct sent *sent)
{
    for (size_t i = 0; i < sent->count; ++i) {
        memset(sent->list[i].bits, 0, WORDS * sizeof *sent->list[i].bits);
        sent->list[i].top = 0;
    }
}

void sent_free(struct sent *sent)
{
    for (size_t i = 0; i < sent->count; ++i)
        free(sent->list[i].bits);
    free(sent->list);
    *sent = (struct sent){0};
}
