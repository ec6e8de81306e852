#include "analysis/graph_places_diff.h"

#include "common/memory.h"
#include "common/open.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "common/texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST_WHAT 30u /* columns: the table has 80 */

static const char *name_at(const struct places_diff *diff, unsigned side, size_t place)
{
    const struct places_side *of = &diff->sides[side];
    return of->reading->nodes[graph_layers_node(of->layers, 0, place)].name;
}

static size_t number_of(struct texts *texts, const char *text)
{
    size_t number = texts_number(texts, text);
    if (number == TEXTS_NONE)
        memory_is_short();
    return number;
}

static struct graph_place_key *keys_of(const struct places_diff *diff, unsigned side,
                                       struct texts *texts)
{
    size_t count = diff->sides[side].layers->period.length;
    struct graph_place_key *keys = memory_new(count, sizeof *keys);
    for (size_t i = 0; i < count; ++i) {
        const char *name = name_at(diff, side, i);
        const struct places_side *of = &diff->sides[side];
        const struct graph_node *node = &of->reading->nodes[graph_layers_node(of->layers, 0, i)];
        char shape[128];
        (void)snprintf(shape, sizeof shape,
                       "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32,
                       node->grid[0], node->grid[1], node->grid[2], node->block[0], node->block[1],
                       node->block[2]);
        keys[i].name = number_of(texts, name);
        keys[i].family = number_of(texts, family_of(diff->rules, name));
        keys[i].shape = number_of(texts, shape);
    }
    return keys;
}

/* The k-th place of a group on a side. */
static size_t place_of(const struct places_diff *diff, const struct graph_places_group *group,
                       unsigned side, size_t k)
{
    return side == 0 ? group->a + k : graph_places_second(&diff->places, group->b + k);
}

static size_t count_of(const struct graph_places_group *group, unsigned side)
{
    return side == 0 ? group->a_count : group->b_count;
}

/* The mean of the runs. */
static double p50_of(const struct places_diff *diff, const struct graph_places_group *group,
                     unsigned side)
{
    const struct places_side *of = &diff->sides[side];
    double sum = 0;
    for (size_t k = 0; k < count_of(group, side); ++k)
        for (size_t run = 0; run < of->count; ++run)
            sum += (double)stats_quantile(
                &of->runs[run]->places[place_of(diff, group, side, k)].time, 500);
    return sum / (double)of->count;
}

/* A place's durations by run; the caller frees the list. */
static struct stats **times_of(const struct places_diff *diff,
                               const struct graph_places_group *group, unsigned side)
{
    const struct places_side *of = &diff->sides[side];
    struct stats **times = memory_new(of->count, sizeof(struct stats *));
    for (size_t run = 0; run < of->count; ++run)
        times[run] = &of->runs[run]->places[place_of(diff, group, side, 0)].time;
    return times;
}

static bool is_single(const struct graph_places_group *group)
{
    return group->a_count == 1 && group->b_count == 1;
}

static void compare_group(const struct places_diff *diff, const struct graph_places_group *group,
                          struct comparison *time)
{
    if (is_single(group)) {
        struct stats **times[] = {times_of(diff, group, 0), times_of(diff, group, 1)};
        const struct compare_group a = {times[0], diff->sides[0].count};
        const struct compare_group b = {times[1], diff->sides[1].count};
        compare_runs(&a, &b, COMPARE_WORK, time);
        free(times[0]);
        free(times[1]);
        return;
    }
    *time = (struct comparison){.a = p50_of(diff, group, 0),
                                .b = p50_of(diff, group, 1),
                                .p = 1,
                                .verdict = COMPARE_TOO_FEW};
    time->difference = time->b - time->a;
}

/* The mean of the runs. */
static uint64_t work_of(const struct places_diff *diff, unsigned side, size_t layer)
{
    const struct places_side *of = &diff->sides[side];
    uint64_t sum = 0;
    for (size_t run = 0; run < of->count; ++run)
        sum += stats_quantile(&of->runs[run]->layers[layer].work, 500);
    return of->count ? sum / of->count : 0;
}

static void find_usual(struct places_diff *diff, unsigned side)
{
    size_t count = diff->sides[side].layers->period.count;
    uint64_t *values = memory_new(count, sizeof *values);
    for (size_t i = 0; i < count; ++i)
        values[i] = work_of(diff, side, i);
    diff->usual[side] = graph_usual_of(values, count);
    free(values);
}

void places_diff_make(const struct places_side sides[2], struct family_rules *rules,
                      struct places_diff *diff)
{
    struct texts texts = {0};
    *diff = (struct places_diff){.sides = {sides[0], sides[1]}, .rules = rules};
    diff->found = sides[0].layers->found && sides[1].layers->found;
    if (!diff->found)
        return;
    struct graph_place_key *keys[] = {keys_of(diff, 0, &texts), keys_of(diff, 1, &texts)};
    graph_places_match(keys[0], sides[0].layers->period.length, keys[1],
                       sides[1].layers->period.length, &diff->places);
    free(keys[0]);
    free(keys[1]);
    texts_free(&texts);
    find_usual(diff, 0);
    find_usual(diff, 1);
    diff->rows = memory_new(diff->places.count, sizeof *diff->rows);
    struct comparison **family = memory_new(diff->places.count, sizeof(struct comparison *));
    for (size_t i = 0; i < diff->places.count; ++i) {
        compare_group(diff, &diff->places.list[i], &diff->rows[i].time);
        family[i] = &diff->rows[i].time;
    }
    compare_family(family, diff->places.count);
    free(family);
    for (size_t i = 0; i < diff->places.count; ++i) {
        enum compare_verdict verdict = diff->rows[i].time.verdict;
        diff->rows[i].told =
            !diff->places.list[i].same || verdict == COMPARE_SLOWER || verdict == COMPARE_FASTER;
    }
}

/* Text. */

static const char *kind_of(const struct graph_places_group *group)
{
    if (group->same)
        return "same";
    if (group->b_count == 0)
        return "gone";
    if (group->a_count == 0)
        return "new";
    if (is_single(group))
        return "other kernel";
    return group->a_count > group->b_count   ? "fused"
           : group->a_count < group->b_count ? "split"
                                             : "other kernels";
}

/* "4+5", or "4-9" of more than two in a row; "-" of none. */
static struct shown show_places(const struct places_diff *diff,
                                const struct graph_places_group *group, unsigned side)
{
    struct shown text = {"-"};
    size_t count = count_of(group, side);
    size_t used = 0;
    for (size_t k = 0; k<count; k += count> 2 && k == 0 ? count - 1 : 1) {
        const char *sign = k == 0 ? "" : count > 2 ? "-" : "+";
        used += (size_t)snprintf(text.text + used, sizeof text.text - used, "%s%zu", sign,
                                 place_of(diff, group, side, k));
    }
    return text;
}

static const char *family_at(const struct places_diff *diff, const struct graph_places_group *group,
                             unsigned side, size_t k)
{
    return family_of(diff->rules, name_at(diff, side, place_of(diff, group, side, k)));
}

/* "gemm", "fused: norm+elementwise", "other kernel: gemm" into a text of the caller's. */
static void write_what(const struct places_diff *diff, const struct graph_places_group *group,
                       char *buffer, size_t size)
{
    char *text = NULL;
    size_t length;
    unsigned side = group->a_count == 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        memory_is_short();
    if (!group->same)
        (void)fprintf(out, "%s: ", kind_of(group));
    for (size_t k = 0; k < count_of(group, side); ++k)
        (void)fprintf(out, "%s%s", k ? "+" : "", family_at(diff, group, side, k));
    if (fclose(out) != 0)
        memory_is_short();
    (void)plain_fit(text, WIDEST_WHAT, buffer, size);
    free(text);
}

static double percent(double value, double whole)
{
    return whole > 0 ? 100 * value / whole : 0;
}

static void show_row(const struct places_diff *diff, struct table *table, size_t number)
{
    const struct graph_places_group *group = &diff->places.list[number];
    const struct comparison *time = &diff->rows[number].time;
    char text[4 * WIDEST_WHAT + 1];
    table_cell(table, show_places(diff, group, 0).text);
    table_cell(table, show_places(diff, group, 1).text);
    table_cell(table, group->a_count ? show_duration(time->a).text : "-");
    table_cell(table, group->b_count ? show_duration(time->b).text : "-");
    (void)snprintf(text, sizeof text, "%+.1f %%", percent(time->difference, time->a));
    table_cell(table, group->a_count && group->b_count ? text : "");
    (void)snprintf(text, sizeof text, "%.1f %%", percent(time->high - time->difference, time->a));
    table_cell(table, time->verdict != COMPARE_TOO_FEW ? text : is_single(group) ? "few" : "");
    write_what(diff, group, text, sizeof text);
    table_cell(table, text);
}

static void show_layers(const struct places_diff *diff)
{
    const struct graph_layers *a = diff->sides[0].layers;
    const struct graph_layers *b = diff->sides[1].layers;
    double before = (double)diff->usual[0].value;
    double then = (double)diff->usual[1].value;
    (void)printf("\n  %s of %s, then %s of %s\n", show_things(a->period.count, "layer").text,
                 show_things(a->period.length, "node").text,
                 show_things(b->period.count, "layer").text,
                 show_things(b->period.length, "node").text);
    (void)printf("  the kernels of a layer take %s, then %s (%+.1f %%)\n",
                 show_duration(before).text, show_duration(then).text,
                 percent(then - before, before));
}

static bool is_outlying(const struct places_diff *diff, unsigned side, size_t layer)
{
    return layer < diff->sides[side].layers->period.count &&
           graph_usual_is_not(&diff->usual[side], work_of(diff, side, layer));
}

static double away(const struct places_diff *diff, unsigned side, size_t layer)
{
    double usual = (double)diff->usual[side].value;
    return percent((double)work_of(diff, side, layer) - usual, usual);
}

/* Layers that are so on one side, and not as layers of the same number on the other. */
static void show_outlying(const struct places_diff *diff, unsigned side)
{
    for (size_t i = 0; i < diff->sides[side].layers->period.count; ++i)
        if (is_outlying(diff, side, i) && !is_outlying(diff, !side, i))
            (void)printf("  layer %zu is outlying in the %s alone: its kernels take %+.1f %%\n", i,
                         side ? "second" : "first", away(diff, side, i));
}

static bool has_outlying(const struct places_diff *diff, unsigned side)
{
    bool any = false;
    for (size_t i = 0; i < diff->sides[side].layers->period.count; ++i)
        any |= is_outlying(diff, side, i) && !is_outlying(diff, !side, i);
    return any;
}

bool places_diff_told(const struct places_diff *diff)
{
    if (!diff->found)
        return false;
    bool told = diff->sides[0].layers->period.count != diff->sides[1].layers->period.count;
    for (size_t i = 0; i < diff->places.count; ++i)
        told |= diff->rows[i].told;
    return told || has_outlying(diff, 0) || has_outlying(diff, 1);
}

void places_diff_show(const struct places_diff *diff, bool all)
{
    static const char *const heading[] = {"place", "then", "p50", "then", "change", "+-", "what"};
    size_t told = 0;
    if (!diff->found)
        return;
    show_layers(diff);
    show_outlying(diff, 0);
    show_outlying(diff, 1);
    for (size_t i = 0; i < diff->places.count; ++i)
        told += all || diff->rows[i].told;
    if (told == 0) {
        (void)printf("  no place in them differs\n");
        return;
    }
    struct table *table = table_new("rrrrrrl");
    for (size_t i = 0; i < sizeof heading / sizeof *heading; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < diff->places.count; ++i)
        if (all || diff->rows[i].told)
            show_row(diff, table, i);
    table_print(table, stdout);
}

/* JSON. */

static json_t *json_side(const struct places_diff *diff, unsigned side)
{
    const struct graph_layers *layers = diff->sides[side].layers;
    json_t *outlying = json_array();
    for (size_t i = 0; i < layers->period.count; ++i)
        if (is_outlying(diff, side, i))
            (void)json_array_append_new(outlying, json_pack("{s:I, s:f}", "layer", (json_int_t)i,
                                                            "away", away(diff, side, i) / 100));
    return json_pack("{s:I, s:I, s:o, s:o}", "layers", (json_int_t)layers->period.count, "nodes",
                     (json_int_t)layers->period.length, "usual_ns",
                     open_number(diff->usual[side].value), "outlying", outlying);
}

static json_t *json_places(const struct places_diff *diff, const struct graph_places_group *group,
                           unsigned side)
{
    json_t *list = json_array();
    for (size_t k = 0; k < count_of(group, side); ++k) {
        size_t place = place_of(diff, group, side, k);
        (void)json_array_append_new(list,
                                    json_pack("{s:I, s:o, s:o}", "place", (json_int_t)place, "name",
                                              open_text(name_at(diff, side, place)), "family",
                                              open_text(family_at(diff, group, side, k))));
    }
    return list;
}

static json_t *json_row(const struct places_diff *diff, size_t number)
{
    const struct graph_places_group *group = &diff->places.list[number];
    const struct comparison *time = &diff->rows[number].time;
    bool told = time->verdict != COMPARE_TOO_FEW;
    return json_pack("{s:s, s:o, s:o, s:f, s:f, s:f, s:o, s:o, s:o, s:s}", "what", kind_of(group),
                     "a", json_places(diff, group, 0), "b", json_places(diff, group, 1), "a_p50_ns",
                     time->a, "b_p50_ns", time->b, "difference_ns", time->difference, "low_ns",
                     told ? json_real(time->low) : json_null(), "high_ns",
                     told ? json_real(time->high) : json_null(), "p",
                     told ? json_real(time->p) : json_null(), "verdict",
                     compare_name(time->verdict));
}

json_t *places_diff_json(const struct places_diff *diff)
{
    if (!diff->found)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < diff->places.count; ++i)
        (void)json_array_append_new(list, json_row(diff, i));
    return json_pack("{s:o, s:o, s:o}", "a", json_side(diff, 0), "b", json_side(diff, 1), "places",
                     list);
}

bool places_diff_has(const struct places_diff *diff, unsigned side, uint32_t node)
{
    const struct graph_layers *layers = diff->sides[side].layers;
    if (!diff->found)
        return false;
    for (size_t i = graph_layers_begin(layers); i < graph_layers_end(layers); ++i)
        if (layers->nodes[i] == node)
            return true;
    return false;
}

void places_diff_free(struct places_diff *diff)
{
    graph_places_free(&diff->places);
    free(diff->rows);
    *diff = (struct places_diff){0};
}
