#include "merge/exchanges.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

/* Bounds as they are found. */
struct found {
    struct clocks_bound *list;
    size_t count;
};

static void add(struct found *found, uint64_t at, int64_t least, int64_t most)
{
    found->list = memory_grown(found->list, found->count + 1, sizeof *found->list);
    found->list[found->count++] = (struct clocks_bound){at, least, most};
}

/* How long the messages were under way. */
static uint64_t under_way(const struct rtl_exchange *exchange)
{
    return exchange->returned - exchange->sent - (exchange->answered - exchange->received);
}

static int by_received(const void *left, const void *right)
{
    const struct rtl_exchange *a = left;
    const struct rtl_exchange *b = right;
    return (a->received > b->received) - (a->received < b->received);
}

/* Keeps the shortest of each part of the time, in order. */
static size_t thin(struct rtl_exchange *list, size_t count, size_t most)
{
    if (count)
        qsort(list, count, sizeof *list, by_received);
    if (count <= most)
        return count;
    uint64_t span = (list[count - 1].received - list[0].received) / most + 1;
    uint64_t first = list[0].received;
    size_t kept = 0;
    uint64_t part = UINT64_MAX;
    for (size_t i = 0; i < count; ++i) {
        uint64_t own = (list[i].received - first) / span;
        if (own != part)
            list[kept++] = list[i];
        else if (under_way(&list[i]) < under_way(&list[kept - 1]))
            list[kept - 1] = list[i];
        part = own;
    }
    return kept;
}

/* Those with one responder; the caller frees them. */
static struct rtl_exchange *with(const struct exchanges *host, const char *peer, size_t most,
                                 size_t *count)
{
    struct rtl_exchange *list = memory_new(host->count, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < host->count; ++i)
        if (strcmp(host->list[i].peer_boot, peer) == 0)
            list[(*count)++] = host->list[i];
    *count = thin(list, *count, most);
    return list;
}

/* Of a damaged trace they may be anything: as unsigned numbers they have no bounds to pass. */
static int64_t apart(uint64_t a, uint64_t b, int64_t shift)
{
    return (int64_t)(a - b - (uint64_t)shift);
}

/* The other host asked the reference. */
static void add_asked(struct found *found, const struct rtl_exchange *list, size_t count,
                      int64_t shift)
{
    for (size_t i = 0; i < count; ++i)
        add(found, list[i].received, apart(list[i].answered, list[i].returned, shift),
            apart(list[i].received, list[i].sent, shift));
}

/* The reference asked the other host. */
static void add_answered(struct found *found, const struct rtl_exchange *list, size_t count,
                         int64_t shift)
{
    for (size_t i = 0; i < count; ++i)
        add(found, list[i].sent, apart(list[i].sent, list[i].received, shift),
            apart(list[i].returned, list[i].answered, shift));
}

/* The responder's clock, set by `base`, minus a host's, at times of the responder's. */
static struct clocks_bound *towards(const struct rtl_exchange *list, size_t count, int64_t shift,
                                    uint64_t base)
{
    struct clocks_bound *bounds = memory_new(count, sizeof *bounds);
    for (size_t i = 0; i < count; ++i)
        bounds[i] = (struct clocks_bound){list[i].received,
                                          apart(list[i].answered - base, list[i].returned, shift),
                                          apart(list[i].received - base, list[i].sent, shift)};
    return bounds;
}

/* The difference of the hosts whenever one of them asked: what that leaves possible of its own
 * difference to the responder, and what all that the other one asked leaves of the other's. */
static void combine(struct found *found, const struct clocks_model *reference,
                    const struct clocks_model *other, uint64_t base)
{
    size_t count = reference->count + other->count;
    for (size_t i = 0; i < count; ++i) {
        uint64_t at =
            i < reference->count ? reference->bounds[i].at : other->bounds[i - reference->count].at;
        double here[2];
        double there[2];
        clocks_model_at(reference, at, &here[0], &here[1]);
        clocks_model_at(other, at, &there[0], &there[1]);
        uint64_t ahead = (uint64_t)clocks_ns((here[0] + here[1]) / 2) + base;
        add(found, at - ahead, clocks_ns(there[0] - here[1]), clocks_ns(there[1] - here[0]));
    }
}

/* Both asked one responder. False if what one of them exchanged fits no clocks. */
static bool add_third(struct found *found, const struct exchanges *reference,
                      const struct exchanges *other, const char *peer)
{
    struct clocks_model here;
    struct clocks_model there;
    size_t here_count;
    size_t there_count;
    struct rtl_exchange *here_list = with(reference, peer, EXCHANGES_MOST_THIRD, &here_count);
    struct rtl_exchange *there_list = with(other, peer, EXCHANGES_MOST_THIRD, &there_count);
    bool fits = true;
    if (here_count && there_count) {
        uint64_t base = here_list[0].received - here_list[0].sent;
        struct clocks_bound *a = towards(here_list, here_count, 0, base);
        struct clocks_bound *b = towards(there_list, there_count, other->shift, base);
        bool is_here = clocks_model_make(a, here_count, &here);
        bool is_there = clocks_model_make(b, there_count, &there);
        fits = is_here && is_there;
        if (fits)
            combine(found, &here, &there, base);
        if (is_here)
            clocks_model_free(&here);
        if (is_there)
            clocks_model_free(&there);
        free(a);
        free(b);
    }
    free(here_list);
    free(there_list);
    return fits;
}

/* Whether an exchange is the first with its responder. */
static bool is_first(const struct exchanges *host, size_t place)
{
    for (size_t i = 0; i < place; ++i)
        if (strcmp(host->list[i].peer_boot, host->list[place].peer_boot) == 0)
            return false;
    return true;
}

size_t exchanges_bounds(const struct exchanges *reference, const struct exchanges *other,
                        struct clocks_bound **bounds, bool *fits)
{
    struct found found = {0};
    size_t count;
    *fits = true;
    struct rtl_exchange *asked = with(other, reference->boot, EXCHANGES_MOST, &count);
    add_asked(&found, asked, count, other->shift);
    free(asked);
    struct rtl_exchange *answered = with(reference, other->boot, EXCHANGES_MOST, &count);
    add_answered(&found, answered, count, other->shift);
    free(answered);
    for (size_t i = 0; i < other->count; ++i)
        if (is_first(other, i) && strcmp(other->list[i].peer_boot, reference->boot) != 0 &&
            !add_third(&found, reference, other, other->list[i].peer_boot))
            *fits = false;
    *bounds = found.list;
    return found.count;
}
