#include "graph/repeats.h"

#include <stdlib.h>
#include <string.h>

static void free_class(struct rtl_batch_class *class)
{
    free(class->entries);
    free(class->kept);
    *class = (struct rtl_batch_class){0};
}

static void free_segment(struct rtl_segment *segment)
{
    free(segment->members);
    free(segment->shapes);
    free(segment->arguments);
    *segment = (struct rtl_segment){0};
}

void rtl_repeats_begin(struct rtl_repeats *repeats, struct rtl_registry *registry)
{
    *repeats = (struct rtl_repeats){
        .registry = registry, .free_class = RTL_NONE, .free_segment = RTL_NONE};
}

void rtl_repeats_free(struct rtl_repeats *repeats)
{
    for (uint32_t i = 0; i < repeats->class_count; i++)
        free_class(&repeats->classes[i]);
    for (uint32_t i = 0; i < repeats->segment_count; i++)
        free_segment(&repeats->segments[i]);
    free(repeats->classes);
    free(repeats->segments);
    free(repeats->once_classes.places);
    free(repeats->once_classes.keys);
    free(repeats->once_segments.places);
    free(repeats->once_segments.keys);
    rtl_index_free(&repeats->by_fingerprint);
    rtl_index_free(&repeats->by_join);
}

/* What was seen once: a queue, whose oldest goes when it is full. */

static bool once_add(struct rtl_once *once, uint32_t place, uint64_t key, uint32_t *oldest)
{
    *oldest = RTL_NONE;
    if (!once->places)
        once->places = malloc(RTL_GRAPHS_ONCE * sizeof *once->places);
    if (!once->keys)
        once->keys = malloc(RTL_GRAPHS_ONCE * sizeof *once->keys);
    if (!once->places || !once->keys)
        return false;
    uint32_t at = (once->first + once->count) % RTL_GRAPHS_ONCE;
    if (once->count == RTL_GRAPHS_ONCE) {
        *oldest = once->first;
        once->first = (once->first + 1) % RTL_GRAPHS_ONCE;
    } else {
        once->count++;
    }
    if (*oldest == RTL_NONE) {
        once->places[at] = place;
        once->keys[at] = key;
    }
    return true;
}

/* Classes. */

uint64_t rtl_repeats_key(uint64_t fingerprint, uint32_t packets, uint32_t kernels)
{
    return rtl_index_mix(fingerprint, (uint64_t)packets << 32 | kernels);
}

static void forget_class(struct rtl_repeats *repeats, uint32_t place)
{
    struct rtl_batch_class *class = &repeats->classes[place];
    rtl_index_remove(&repeats->by_fingerprint,
                     rtl_repeats_key(class->fingerprint, class->packets, class->kernels));
    free_class(class);
    class->next_free = repeats->free_class;
    repeats->free_class = place;
}

static void add_once_class(struct rtl_repeats *repeats, uint32_t place)
{
    struct rtl_once *once = &repeats->once_classes;
    uint32_t oldest = RTL_NONE;
    if (!once_add(once, place, repeats->classes[place].plan, &oldest) || oldest == RTL_NONE)
        return;
    uint32_t old = once->places[oldest];
    if (repeats->classes[old].plan == once->keys[oldest] && repeats->classes[old].seen < 2 &&
        !repeats->classes[old].wanted)
        forget_class(repeats, old);
    once->places[oldest] = place;
    once->keys[oldest] = repeats->classes[place].plan;
}

static uint32_t free_class_place(struct rtl_repeats *repeats)
{
    uint32_t place = repeats->free_class;
    if (place != RTL_NONE) {
        repeats->free_class = repeats->classes[place].next_free;
        return place;
    }
    if (!rtl_registry_grow((void **)&repeats->classes, &repeats->class_capacity,
                           repeats->class_count + 1, sizeof *repeats->classes))
        return RTL_NONE;
    return repeats->class_count++;
}

uint32_t rtl_repeats_class(struct rtl_repeats *repeats, uint64_t fingerprint, uint32_t packets,
                           uint32_t kernels)
{
    uint64_t key = rtl_repeats_key(fingerprint, packets, kernels);
    uint32_t place = rtl_index_get(&repeats->by_fingerprint, key);
    if (place != RTL_INDEX_MISSING)
        return place;
    place = free_class_place(repeats);
    if (place == RTL_NONE || rtl_index_put(&repeats->by_fingerprint, key, place) != 0) {
        repeats->registry->forgotten++;
        return RTL_NONE;
    }
    repeats->classes[place] = (struct rtl_batch_class){.plan = ++repeats->registry->last_plan,
                                                       .packets = packets,
                                                       .kernels = kernels,
                                                       .fingerprint = fingerprint};
    add_once_class(repeats, place);
    return place;
}

bool rtl_repeats_is_class(const struct rtl_repeats *repeats, uint32_t place, uint32_t plan)
{
    return place < repeats->class_count && plan && repeats->classes[place].plan == plan;
}

void rtl_repeats_want(struct rtl_repeats *repeats, struct rtl_batch_class *class)
{
    class->wanted = true;
    if (!class->kept)
        return;
    repeats->registry->sink.launch(repeats->registry->sink.context, &class->kept->launch);
    free(class->kept);
    class->kept = NULL;
}

void rtl_repeats_keep(struct rtl_repeats *repeats, struct rtl_batch_class *class,
                      const struct rtl_in_flight *in_flight)
{
    if (class->kept)
        return;
    struct rtl_kept_launch *kept = malloc(sizeof *kept);
    if (!kept) {
        repeats->registry->forgotten++;
        return;
    }
    kept->body = in_flight->body;
    memcpy(kept->spans, in_flight->spans, sizeof kept->spans);
    kept->launch = (struct rtl_graphs_launch){.body = &kept->body,
                                              .plan = class->plan,
                                              .recorded = in_flight->count,
                                              .spans = kept->spans,
                                              .span_count = in_flight->span_count};
    class->kept = kept;
}

void rtl_repeats_merge(struct rtl_repeats *repeats, struct rtl_batch_class *class,
                       const struct rtl_in_flight_kernel *entries, uint32_t count)
{
    if (class->entry_count == class->kernels || count == 0)
        return;
    struct rtl_in_flight_kernel *merged =
        malloc(((size_t) class->entry_count + count) * sizeof *merged);
    if (!merged) {
        repeats->registry->forgotten++;
        return;
    }
    uint32_t made = 0;
    uint32_t i = 0;
    uint32_t j = 0;
    while (i < class->entry_count || j < count) {
        bool old = j == count ||
                   (i < class->entry_count && class->entries[i].ordinal <= entries[j].ordinal);
        bool both = old && j < count && class->entries[i].ordinal == entries[j].ordinal;
        merged[made++] = old ? class->entries[i++] : entries[j++];
        j += both;
    }
    free(class->entries);
    class->entries = merged;
    class->entry_count = made;
}

/* Segments. */

static void forget_segment(struct rtl_repeats *repeats, uint32_t place)
{
    struct rtl_segment *segment = &repeats->segments[place];
    rtl_index_remove(&repeats->by_join, rtl_repeats_key(segment->fingerprint, 0, segment->kernels));
    free_segment(segment);
    segment->next_free = repeats->free_segment;
    repeats->free_segment = place;
}

static void add_once_segment(struct rtl_repeats *repeats, uint32_t place)
{
    struct rtl_once *once = &repeats->once_segments;
    uint32_t oldest = RTL_NONE;
    uint64_t key = repeats->segments[place].fingerprint;
    if (!once_add(once, place, key, &oldest) || oldest == RTL_NONE)
        return;
    uint32_t old = once->places[oldest];
    if (repeats->segments[old].kernels &&
        repeats->segments[old].fingerprint == once->keys[oldest] && repeats->segments[old].seen < 2)
        forget_segment(repeats, old);
    once->places[oldest] = place;
    once->keys[oldest] = key;
}

static uint32_t free_segment_place(struct rtl_repeats *repeats)
{
    uint32_t place = repeats->free_segment;
    if (place != RTL_NONE) {
        repeats->free_segment = repeats->segments[place].next_free;
        return place;
    }
    if (!rtl_registry_grow((void **)&repeats->segments, &repeats->segment_capacity,
                           repeats->segment_count + 1, sizeof *repeats->segments))
        return RTL_NONE;
    return repeats->segment_count++;
}

uint32_t rtl_repeats_segment(struct rtl_repeats *repeats, uint64_t fingerprint, uint32_t kernels,
                             uint32_t launch)
{
    uint64_t key = rtl_repeats_key(fingerprint, 0, kernels);
    uint32_t place = rtl_index_get(&repeats->by_join, key);
    if (place != RTL_INDEX_MISSING)
        return place;
    place = free_segment_place(repeats);
    if (place == RTL_NONE || rtl_index_put(&repeats->by_join, key, place) != 0) {
        repeats->registry->forgotten++;
        return RTL_NONE;
    }
    repeats->segments[place] = (struct rtl_segment){.fingerprint = fingerprint,
                                                    .kernels = kernels,
                                                    .before = RTL_NONE,
                                                    .after = RTL_NONE,
                                                    .first = launch,
                                                    .graph = RTL_NONE};
    add_once_segment(repeats, place);
    return place;
}

static void add_member(struct rtl_repeats *repeats, struct rtl_segment *segment, uint32_t class)
{
    uint32_t plan = repeats->classes[class].plan;
    for (uint32_t i = 0; i < segment->member_count; i++)
        if (segment->members[i].plan == plan)
            return;
    if (rtl_registry_grow((void **)&segment->members, &segment->member_capacity,
                          segment->member_count + 1, sizeof *segment->members))
        segment->members[segment->member_count++] = (struct rtl_member){class, plan};
    else
        repeats->registry->forgotten++;
}

void rtl_repeats_add_arguments(struct rtl_repeats *repeats, uint32_t place, uint64_t arguments)
{
    struct rtl_segment *segment = &repeats->segments[place];
    if (arguments == 0 || segment->argument_count == RTL_SEGMENT_ARGUMENTS)
        return;
    for (uint32_t i = 0; i < segment->argument_count; i++)
        if (segment->arguments[i] == arguments)
            return;
    if (rtl_registry_grow((void **)&segment->arguments, &segment->argument_capacity,
                          segment->argument_count + 1, sizeof *segment->arguments))
        segment->arguments[segment->argument_count++] = arguments;
    else
        repeats->registry->forgotten++;
}

uint64_t rtl_repeats_seen(const struct rtl_repeats *repeats, const struct rtl_home *home)
{
    const struct rtl_segment *segment = &repeats->segments[home->segment];
    return segment->kernels && segment->fingerprint == home->fingerprint ? segment->seen : 0;
}

/* Where there is no room the home that was seen least often goes. */
static void add_home(struct rtl_repeats *repeats, struct rtl_batch_class *class, uint32_t segment,
                     uint32_t offset)
{
    const struct rtl_home home = {segment, offset, repeats->segments[segment].fingerprint};
    struct rtl_home *least = &class->homes[0];
    for (uint32_t i = 0; i < class->home_count; i++) {
        struct rtl_home *it = &class->homes[i];
        if (it->segment == segment && it->fingerprint == home.fingerprint)
            return;
        if (rtl_repeats_seen(repeats, it) < rtl_repeats_seen(repeats, least))
            least = it;
    }
    if (class->home_count < RTL_HOMES)
        class->homes[class->home_count++] = home;
    else if (rtl_repeats_seen(repeats, least) <= repeats->segments[segment].seen)
        *least = home;
}

void rtl_repeats_join(struct rtl_repeats *repeats, uint32_t segment, uint32_t class,
                      uint32_t offset)
{
    add_member(repeats, &repeats->segments[segment], class);
    add_home(repeats, &repeats->classes[class], segment, offset);
}

void rtl_repeats_want_all(struct rtl_repeats *repeats, const struct rtl_segment *segment)
{
    for (uint32_t i = 0; i < segment->member_count; i++)
        if (rtl_repeats_is_class(repeats, segment->members[i].class, segment->members[i].plan))
            rtl_repeats_want(repeats, &repeats->classes[segment->members[i].class]);
}
