#include "graph/chains.h"

#include "graph/fingerprint.h"
#include "graph/rows.h"

#include <stdlib.h>
#include <string.h>

/* A generation has the same kernels as the one before in so many of four places. */
#define ALIKE_OF_4 3

/* The segment that the class belongs to: the one that was seen most often. */
static struct rtl_home *home_of(const struct rtl_repeats *repeats, struct rtl_batch_class *class)
{
    struct rtl_home *best = NULL;
    for (uint32_t i = 0; i < class->home_count; i++) {
        struct rtl_home *home = &class->homes[i];
        uint64_t seen = rtl_repeats_seen(repeats, home);
        if (seen >= 2 &&
            (!best || seen > rtl_repeats_seen(repeats, best) ||
             (seen == rtl_repeats_seen(repeats, best) &&
              repeats->segments[home->segment].kernels > repeats->segments[best->segment].kernels)))
            best = home;
    }
    return best;
}

static bool is_whole(const struct rtl_batch_class *class)
{
    return class->entry_count == class->kernels;
}

/* Where in its class an entry is; certain if none is missing, or there are no other packets. */
static uint32_t rank_of(const struct rtl_batch_class *class, uint32_t entry)
{
    return class->packets == class->kernels ? class->entries[entry].ordinal : entry;
}

/* A class that was seen often, and never twice in the same surroundings, is a segment of its own.
 */
static struct rtl_home *make_home(struct rtl_repeats *repeats, struct rtl_batch_class *class)
{
    uint32_t place = class->seen >= 2 ? rtl_repeats_segment(repeats, class->fingerprint,
                                                            class->kernels, class->first)
                                      : RTL_NONE;
    if (place == RTL_NONE)
        return NULL;
    struct rtl_segment *segment = &repeats->segments[place];
    segment->seen = class->seen;
    segment->last = class->last;
    segment->before = segment->after = RTL_SEGMENT_MANY;
    class->home_count = 1;
    class->homes[0] = (struct rtl_home){.segment = place, .fingerprint = segment->fingerprint};
    return class->homes;
}

static void fill_segment(struct rtl_repeats *repeats, struct rtl_batch_class *class)
{
    struct rtl_home *home = home_of(repeats, class);
    if (!home)
        home = make_home(repeats, class);
    if (!home)
        return;
    struct rtl_segment *segment = &repeats->segments[home->segment];
    segment->used = true;
    if (!segment->shapes) {
        segment->shapes = malloc(segment->kernels * sizeof *segment->shapes);
        if (!segment->shapes) {
            repeats->registry->forgotten++;
            return;
        }
        memset(segment->shapes, 0xff, segment->kernels * sizeof *segment->shapes);
    }
    for (uint32_t i = 0; i < class->entry_count; i++) {
        uint32_t rank = rank_of(class, i);
        if (rank < class->kernels && home->offset + rank < segment->kernels)
            segment->shapes[home->offset + rank] = class->entries[i].shape;
    }
}

static int by_first(const void *left, const void *right)
{
    struct rtl_segment *const *a = left;
    struct rtl_segment *const *b = right;
    return ((*a)->first > (*b)->first) - ((*a)->first < (*b)->first);
}

/* A graph: its segments, in a row. */
struct chain {
    struct rtl_segment **segments;
    struct rtl_segment *whole; /* the same in one piece, NULL: none */
    uint32_t count, kernels;
    uint64_t fingerprint; /* of all its kernels */
    uint32_t first, last; /* launches */
    uint32_t graph, generation;
    bool succeeded; /* another generation came after it */
    bool merged;    /* it is another chain, seen in one piece */
};

struct chains {
    struct rtl_segment **segments;
    uint32_t segment_count;
    struct chain *chains;
    uint32_t count;
};

static int by_first_launch(const void *left, const void *right)
{
    const struct chain *a = left;
    const struct chain *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

static void add_to_chain(struct chain *chain, struct rtl_segment *segment)
{
    chain->count++;
    segment->placed = true;
    segment->offset = chain->kernels;
    chain->kernels += segment->kernels;
    chain->first = segment->first < chain->first ? segment->first : chain->first;
    chain->last = segment->last;
}

/* The segments of a row, which are in place behind those of the chains before. */
static void cut_row(struct chains *chains, uint32_t count)
{
    struct rtl_segment **row = chains->segments + chains->segment_count;
    struct chain *chain = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!chain || !rtl_rows_joined(row[i - 1], row[i])) {
            chain = &chains->chains[chains->count++];
            chain->segments = row + i;
            chain->first = UINT32_MAX;
        }
        add_to_chain(chain, row[i]);
    }
    chains->segment_count += count;
}

static bool collect_chains(struct rtl_repeats *repeats, struct chains *chains)
{
    size_t room = (size_t)repeats->segment_count + 1;
    struct rtl_segment **sorted = malloc(room * sizeof(struct rtl_segment *));
    chains->segments = malloc(room * sizeof(struct rtl_segment *));
    chains->chains = calloc(room, sizeof *chains->chains);
    uint32_t count = 0;
    if (!sorted || !chains->segments || !chains->chains) {
        free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < repeats->segment_count; i++)
        if (repeats->segments[i].used && repeats->segments[i].kernels)
            sorted[count++] = &repeats->segments[i];
    qsort(sorted, count, sizeof(struct rtl_segment *), by_first);
    for (uint32_t i = 0; i < count; i++)
        if (!sorted[i]->placed)
            cut_row(chains,
                    rtl_rows_collect(repeats, sorted[i], chains->segments + chains->segment_count));
    qsort(chains->chains, chains->count, sizeof *chains->chains, by_first_launch);
    free(sorted);
    return true;
}

static bool alike(const struct rtl_registry *registry, uint32_t a, uint32_t b)
{
    struct rtl_match_kernel left;
    struct rtl_match_kernel right;
    return a == b || (rtl_registry_kernel(registry, a, &left) &&
                      rtl_registry_kernel(registry, b, &right) && rtl_match_same(&left, &right));
}

/* The segment, seen once perhaps, is the same as a graph that was seen more often. */
static void adopt(struct rtl_repeats *repeats, struct chain *chain, struct rtl_segment *segment)
{
    chain->whole = segment;
    segment->used = segment->placed = true;
    segment->seen = segment->seen < 2 ? 2 : segment->seen;
    rtl_repeats_want_all(repeats, segment);
}

static void merge(struct chain *chain, struct chain *whole)
{
    whole->merged = true;
    chain->whole = whole->segments[0];
    chain->first = whole->first < chain->first ? whole->first : chain->first;
    chain->last = whole->last > chain->last ? whole->last : chain->last;
}

/* A graph that is cut into segments at times, and at times is one: the last packet is reserved
 * alone behind full batches, but not where the device is behind. */
static void merge_chains(struct rtl_repeats *repeats, struct chains *chains)
{
    for (uint32_t i = 0; i < chains->count; i++) {
        struct chain *chain = &chains->chains[i];
        for (uint32_t j = 0; j < chain->count; j++)
            chain->fingerprint = rtl_fingerprint_join(
                chain->fingerprint, chain->segments[j]->fingerprint, chain->segments[j]->kernels);
        uint32_t place = chain->count > 1
                             ? rtl_index_get(&repeats->by_join,
                                             rtl_repeats_key(chain->fingerprint, 0, chain->kernels))
                             : RTL_INDEX_MISSING;
        if (place == RTL_INDEX_MISSING)
            continue;
        if (!repeats->segments[place].placed)
            adopt(repeats, chain, &repeats->segments[place]);
        for (uint32_t j = 0; j < chains->count; j++)
            if (j != i && chains->chains[j].count == 1 &&
                chains->chains[j].segments[0] == &repeats->segments[place])
                merge(chain, &chains->chains[j]);
    }
}

/* A batch that was seen once, and taken to be a part of something else, may be all of a graph: its
 * launch is one of that. */
static void adopt_classes(struct rtl_repeats *repeats, const struct chains *chains)
{
    for (uint32_t i = 0; i < repeats->class_count; i++) {
        struct rtl_batch_class *class = &repeats->classes[i];
        for (uint32_t j = 0; j < chains->count && class->kept && !class->wanted; j++) {
            const struct chain *chain = &chains->chains[j];
            if (chain->merged || chain->kernels != class->kernels ||
                chain->fingerprint != class->fingerprint)
                continue;
            const struct rtl_segment *segment = chain->segments[0];
            class->home_count = 1;
            class->homes[0] = (struct rtl_home){.segment = (uint32_t)(segment - repeats->segments),
                                                .fingerprint = segment->fingerprint};
            rtl_repeats_want(repeats, class);
        }
    }
}

/* Whether `next` is what `chain` became: never launched again once `next` was, and the same kernels
 * in most places. */
static bool became(const struct rtl_repeats *repeats, const struct chain *chain,
                   const struct chain *next)
{
    uint64_t same = 0;
    if (chain->succeeded || chain->kernels != next->kernels || chain->count != next->count ||
        chain->last >= next->first)
        return false;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct rtl_segment *a = chain->segments[i];
        const struct rtl_segment *b = next->segments[i];
        if (a->kernels != b->kernels || !a->shapes || !b->shapes)
            return false;
        for (uint32_t k = 0; k < a->kernels; k++)
            same += alike(repeats->registry, a->shapes[k], b->shapes[k]);
    }
    return same * 4 >= (uint64_t)chain->kernels * ALIKE_OF_4;
}

static void number_chains(struct rtl_repeats *repeats, struct chains *chains)
{
    for (uint32_t i = 0; i < chains->count; i++) {
        struct chain *next = &chains->chains[i];
        struct chain *best = NULL;
        if (next->merged)
            continue;
        for (uint32_t j = 0; j < i; j++)
            if (!chains->chains[j].merged && (!best || chains->chains[j].last > best->last) &&
                became(repeats, &chains->chains[j], next))
                best = &chains->chains[j];
        next->graph = best ? best->graph : ++repeats->registry->last_graph;
        next->generation = best ? best->generation + 1 : 1;
        if (best)
            best->succeeded = true;
        for (uint32_t j = 0; j < next->count; j++) {
            next->segments[j]->graph = next->graph;
            next->segments[j]->generation = next->generation;
        }
        if (next->whole) {
            next->whole->graph = next->graph;
            next->whole->generation = next->generation;
        }
    }
}

static void report_node(struct rtl_repeats *repeats, const struct chain *chain, uint32_t number,
                        uint32_t shape)
{
    const struct rtl_registry *registry = repeats->registry;
    struct rtl_match_kernel kernel;
    bool known = rtl_registry_kernel(registry, shape, &kernel);
    const struct rtl_known_symbol *symbol = NULL;
    if (known && registry->shapes[shape].symbol < registry->symbol_count)
        symbol = &registry->symbols[registry->shapes[shape].symbol];
    struct rtl_wire_node node = {.graph = chain->graph,
                                 .generation = chain->generation,
                                 .node = number,
                                 .parent = RTL_NONE,
                                 .type = RTL_NODE_KERNEL,
                                 .name_length = symbol ? symbol->length : 0};
    if (kernel.group_size != RTL_NONE)
        node.group_size = kernel.group_size;
    memcpy(node.grid, kernel.grid, sizeof node.grid);
    memcpy(node.block, kernel.block, sizeof node.block);
    registry->sink.node(registry->sink.context, &node, symbol ? symbol->text : "");
}

static void report_chain(struct rtl_repeats *repeats, const struct chain *chain)
{
    const struct rtl_wire_graph graph = {
        .graph = chain->graph, .generation = chain->generation, .nodes = chain->kernels};
    repeats->registry->sink.graph(repeats->registry->sink.context, &graph);
    uint32_t number = 0;
    for (uint32_t i = 0; i < chain->count; i++)
        for (uint32_t k = 0; k < chain->segments[i]->kernels; k++)
            report_node(repeats, chain, number++,
                        chain->segments[i]->shapes ? chain->segments[i]->shapes[k] : RTL_NONE);
}

static void report_plan(struct rtl_repeats *repeats, struct rtl_batch_class *class)
{
    const struct rtl_home *home = home_of(repeats, class);
    const struct rtl_segment *segment = home ? &repeats->segments[home->segment] : NULL;
    if (!segment || segment->graph == RTL_NONE)
        return;
    struct rtl_graphs_step *steps = malloc((class->entry_count + (size_t)1) * sizeof *steps);
    if (!steps) {
        repeats->registry->forgotten++;
        return;
    }
    uint32_t base = segment->offset + home->offset;
    bool certain = is_whole(class) || class->packets == class->kernels;
    size_t count = class->entry_count;
    if (class->packets == 1 && count == 0)
        steps[count++] = (struct rtl_graphs_step){0, base, true};
    for (uint32_t i = 0; i < class->entry_count; i++) {
        uint32_t rank = rank_of(class, i);
        steps[i] = (struct rtl_graphs_step){class->entries[i].ordinal, base + rank, certain};
    }
    const struct rtl_graphs_plan plan = {.plan = class->plan,
                                         .graph = segment->graph,
                                         .generation = segment->generation,
                                         .begins = base == 0,
                                         .kernels = class->kernels,
                                         .steps = steps,
                                         .count = count};
    repeats->registry->sink.plan(repeats->registry->sink.context, &plan);
    free(steps);
}

void rtl_chains_report(struct rtl_repeats *repeats)
{
    struct chains chains = {0};
    for (uint32_t i = 0; i < repeats->class_count; i++)
        if (repeats->classes[i].plan && repeats->classes[i].wanted)
            fill_segment(repeats, &repeats->classes[i]);
    if (collect_chains(repeats, &chains)) {
        merge_chains(repeats, &chains);
        adopt_classes(repeats, &chains);
        number_chains(repeats, &chains);
        for (uint32_t i = 0; i < chains.count; i++)
            if (!chains.chains[i].merged)
                report_chain(repeats, &chains.chains[i]);
        for (uint32_t i = 0; i < repeats->class_count; i++)
            if (repeats->classes[i].plan && repeats->classes[i].wanted)
                report_plan(repeats, &repeats->classes[i]);
    } else {
        repeats->registry->forgotten++;
    }
    free(chains.segments);
    free(chains.chains);
}
