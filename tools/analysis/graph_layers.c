#include "analysis/graph_layers.h"

#include "common/memory.h"
#include "common/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTLYING_DISTANCES 4u
#define OUTLYING_PART      20u /* of the usual: 5 % */

/* The part of one launch that lies in a section. */
struct stretch {
    uint64_t start, end, gap;
    bool seen, first; /* first: it has the launch's first kernel */
};

struct watcher {
    struct graph_layers *layers;
    uint32_t *order; /* by number of node: its place among those with kernels, or RTL_TRACE_NONE */
    size_t order_count;
    bool *seen;                /* by place: in this launch */
    uint64_t *work;            /* by layer: of its kernels in this launch */
    struct stretch *stretches; /* before, layers, the odd one, after */
};

size_t graph_layers_begin(const struct graph_layers *layers)
{
    return layers->period.begin;
}

size_t graph_layers_end(const struct graph_layers *layers)
{
    return layers->period.begin + layers->period.length * layers->period.count;
}

size_t graph_layers_odd_end(const struct graph_layers *layers)
{
    return graph_layers_end(layers) + layers->odd_length;
}

uint32_t graph_layers_node(const struct graph_layers *layers, size_t layer, size_t place)
{
    return layers->nodes[layers->period.begin + layer * layers->period.length + place];
}

/* What makes two nodes the same item, as a number. */
static uint32_t item_of(struct texts *texts, const struct graph_node *node)
{
    size_t room = strlen(node->name) + 80;
    char *text = memory_new(room, 1);
    (void)snprintf(text, room,
                   "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %s",
                   node->grid[0], node->grid[1], node->grid[2], node->block[0], node->block[1],
                   node->block[2], node->name);
    size_t number = texts_number(texts, text);
    free(text);
    if (number == TEXTS_NONE)
        memory_is_short();
    return (uint32_t)number;
}

static void find_block(struct graph_layers *layers, const struct graph_reading *reading)
{
    struct texts texts = {0};
    uint32_t *items = memory_new(layers->node_count, sizeof *items);
    for (size_t i = 0; i < layers->node_count; ++i)
        items[i] = item_of(&texts, &reading->nodes[layers->nodes[i]]);
    layers->found = period_find(items, layers->node_count, &layers->period);
    if (layers->found)
        layers->odd_length = period_odd_block(items, layers->node_count, &layers->period);
    free(items);
    texts_free(&texts);
    if (!layers->found)
        return;
    layers->layers = memory_new(layers->period.count, sizeof *layers->layers);
    layers->places = memory_new(layers->period.length, sizeof *layers->places);
}

/* The nodes of the first launch that counts are those of the graph: it is whole. */
static void begin(struct watcher *watcher, const struct graph_reading *reading,
                  const struct graph_kernel *kernels, size_t count)
{
    struct graph_layers *layers = watcher->layers;
    watcher->order_count = reading->node_count;
    watcher->order = memory_new(reading->node_count, sizeof *watcher->order);
    layers->nodes = memory_new(count, sizeof *layers->nodes);
    for (size_t i = 0; i < count; ++i)
        watcher->order[kernels[i].node] = 1;
    for (uint32_t i = 0; i < reading->node_count; ++i) {
        bool has_kernels = watcher->order[i] != 0;
        watcher->order[i] = has_kernels ? (uint32_t)layers->node_count : RTL_TRACE_NONE;
        if (has_kernels)
            layers->nodes[layers->node_count++] = i;
    }
    watcher->seen = memory_new(layers->node_count, sizeof *watcher->seen);
    find_block(layers, reading);
    watcher->stretches = memory_new(layers->period.count + 3, sizeof *watcher->stretches);
    watcher->work = memory_new(layers->period.count, sizeof *watcher->work);
}

/* Whether a launch has kernels of just the nodes that the first one had. */
static bool has_same_nodes(struct watcher *watcher, const struct graph_kernel *kernels,
                           size_t count)
{
    size_t nodes = 0;
    for (size_t i = 0; i < watcher->layers->node_count; ++i)
        watcher->seen[i] = false;
    for (size_t i = 0; i < count; ++i) {
        uint32_t number = kernels[i].node;
        uint32_t place = number < watcher->order_count ? watcher->order[number] : RTL_TRACE_NONE;
        if (place == RTL_TRACE_NONE)
            return false;
        nodes += !watcher->seen[place];
        watcher->seen[place] = true;
    }
    return nodes == watcher->layers->node_count;
}

static void stretch(struct stretch *stretch, const struct graph_kernel *kernel, bool first)
{
    if (!stretch->seen)
        *stretch = (struct stretch){kernel->start, kernel->end, kernel->gap, true, first};
    stretch->end = kernel->end > stretch->end ? kernel->end : stretch->end;
}

static void add_stretch(struct graph_section *section, const struct stretch *stretch)
{
    if (!stretch->seen)
        return;
    stats_add(&section->time, stretch->end - stretch->start);
    if (!stretch->first)
        stats_add(&section->gap, stretch->gap);
}

static void add_launch(struct watcher *watcher, const struct graph_kernel *kernels, size_t count)
{
    struct graph_layers *layers = watcher->layers;
    const struct period *period = &layers->period;
    struct stretch *odd = watcher->stretches + period->count + 1;
    struct stretch *after = odd + 1;
    for (size_t i = 0; i < period->count + 3; ++i)
        watcher->stretches[i].seen = false;
    for (size_t i = 0; i < count; ++i) {
        size_t at = watcher->order[kernels[i].node];
        if (at < graph_layers_begin(layers)) {
            stretch(watcher->stretches, &kernels[i], i == 0);
        } else if (at >= graph_layers_end(layers)) {
            stretch(at < graph_layers_odd_end(layers) ? odd : after, &kernels[i], i == 0);
        } else {
            size_t within = at - period->begin;
            struct graph_place *place = &layers->places[within % period->length];
            stretch(watcher->stretches + 1 + within / period->length, &kernels[i], i == 0);
            stats_add(&place->time, kernels[i].end - kernels[i].start);
            watcher->work[within / period->length] += kernels[i].end - kernels[i].start;
            if (i > 0)
                stats_add(&place->gap, kernels[i].gap);
        }
    }
    add_stretch(&layers->before, watcher->stretches);
    for (size_t i = 0; i < period->count; ++i) {
        add_stretch(&layers->layers[i].took, &watcher->stretches[i + 1]);
        stats_add(&layers->layers[i].work, watcher->work[i]);
        watcher->work[i] = 0;
    }
    add_stretch(&layers->odd, odd);
    add_stretch(&layers->after, after);
}

static void watch(void *context, const struct graph_reading *reading,
                  const struct graph_kernel *kernels, size_t count)
{
    struct watcher *watcher = context;
    for (size_t i = 0; i < count; ++i)
        if (kernels[i].node == RTL_TRACE_NONE)
            return;
    if (!watcher->order)
        begin(watcher, reading, kernels, count);
    if (!has_same_nodes(watcher, kernels, count))
        return;
    ++watcher->layers->launches;
    if (watcher->layers->found)
        add_launch(watcher, kernels, count);
}

uint64_t graph_layers_limit(const struct graph_layers *layers)
{
    uint64_t least = layers->usual / OUTLYING_PART;
    uint64_t limit = OUTLYING_DISTANCES * layers->distance;
    return limit > least ? limit : least;
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Half-way between the two in the middle of an even number: the lower one would be far from half of
 * four layers, two of which are slow. Sorts the values. */
static uint64_t median(uint64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, by_size);
    uint64_t low = values[(count - 1) / 2];
    return low + (values[count / 2] - low) / 2;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

struct graph_usual graph_usual_of(uint64_t *values, size_t count)
{
    struct graph_usual usual = {.value = median(values, count)};
    for (size_t i = 0; i < count; ++i)
        values[i] = distance(values[i], usual.value);
    usual.distance = median(values, count);
    return usual;
}

bool graph_usual_is_not(const struct graph_usual *usual, uint64_t value)
{
    uint64_t away = distance(value, usual->value);
    return away > OUTLYING_DISTANCES * usual->distance && away > usual->value / OUTLYING_PART;
}

void graph_layers_judge(struct graph_layers *layers)
{
    struct graph_usual usual = {0};
    size_t count = layers->period.count;
    uint64_t *values = memory_new(count, sizeof *values);
    for (size_t i = 0; i < count; ++i)
        values[i] = stats_quantile(&layers->layers[i].took.time, 500);
    if (count > 0)
        usual = graph_usual_of(values, count);
    free(values);
    layers->usual = usual.value;
    layers->distance = usual.distance;
    for (size_t i = 0; i < count; ++i) {
        uint64_t p50 = stats_quantile(&layers->layers[i].took.time, 500);
        layers->layers[i].outlying = graph_usual_is_not(&usual, p50);
        layers->outlying += layers->layers[i].outlying;
    }
}

rtl_status_t graph_layers_read(rtl_trace_t *trace, const rtl_graph_t *graph,
                               struct graph_reading *reading, struct graph_layers *layers)
{
    struct watcher watcher = {.layers = layers};
    *layers = (struct graph_layers){0};
    rtl_status_t status = graph_read_watched(trace, graph, 1, watch, &watcher, reading);
    free(watcher.order);
    free(watcher.seen);
    free(watcher.stretches);
    free(watcher.work);
    if (status == RTL_OK)
        graph_layers_judge(layers);
    else
        graph_layers_free(layers);
    return status;
}

static void free_section(struct graph_section *section)
{
    stats_free(&section->time);
    stats_free(&section->gap);
}

void graph_layers_keep_work(struct graph_layers *layers)
{
    for (size_t i = 0; i < layers->period.count; ++i)
        free_section(&layers->layers[i].took);
    for (size_t i = 0; i < layers->period.length; ++i)
        stats_free(&layers->places[i].gap);
    free_section(&layers->before);
    free_section(&layers->odd);
    free_section(&layers->after);
}

void graph_layers_free(struct graph_layers *layers)
{
    for (size_t i = 0; i < layers->period.count; ++i) {
        free_section(&layers->layers[i].took);
        stats_free(&layers->layers[i].work);
    }
    for (size_t i = 0; i < layers->period.length; ++i) {
        stats_free(&layers->places[i].time);
        stats_free(&layers->places[i].gap);
    }
    free_section(&layers->before);
    free_section(&layers->odd);
    free_section(&layers->after);
    free(layers->nodes);
    free(layers->layers);
    free(layers->places);
    *layers = (struct graph_layers){0};
}

double graph_layers_away(const struct graph_layers *layers, struct graph_layer *layer)
{
    double usual = (double)layers->usual;
    double p50 = (double)stats_quantile(&layer->took.time, 500);
    return usual > 0 ? (p50 - usual) / usual : 0;
}

uint64_t graph_layers_total(const struct graph_layers *layers)
{
    uint64_t total = 0;
    for (size_t i = 0; i < layers->period.length; ++i)
        total += layers->places[i].time.total;
    return total;
}

const char *graph_layers_why(const struct graph_layers *layers)
{
    return layers->launches == 0
               ? "layers are not known: no launch is whole, with the nodes of all its kernels"
               : "no repeating block was found: three or more that hold half of the nodes";
}
