#include "intercept/ranges/counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_SHIFT 44u /* packets of a queue are fewer than 2^44 */

/* ---- which counters there are ---- */

static void take_counting(struct rtl_kept_counts *counts, const struct rtl_wire_counting *wire)
{
    counts->known = true;
    counts->mode = (enum rtl_counting_mode)wire->mode;
    counts->pass = wire->pass;
    counts->passes = wire->passes;
}

/* Place of a name, made if it is not there; SIZE_MAX if memory is short. */
static size_t place_of(struct rtl_kept_counts *counts, const char *name)
{
    void *names = counts->names;
    for (size_t i = 0; i < counts->name_count; i++)
        if (strcmp(counts->names[i], name) == 0)
            return i;
    char *copy = strdup(name);
    bool room = copy != NULL && rtl_kept_room(&names, counts->name_count, &counts->name_capacity,
                                              sizeof *counts->names);
    counts->names = names;
    if (!room) {
        free(copy);
        return SIZE_MAX;
    }
    counts->names[counts->name_count] = copy;
    return counts->name_count++;
}

/* They come in the order of their ids, after the record that tells the pass. */
static void take_counter(struct rtl_kept_counts *counts, const struct rtl_wire_counter *wire)
{
    void *counters = counts->counters;
    struct rtl_kept_counter counter = {
        .counter = wire->counter, .agent = wire->agent, .pass = wire->pass};
    (void)snprintf(counter.name, sizeof counter.name, "%.*s", (int)wire->name_length,
                   (const char *)(wire + 1));
    if (counter.pass == counts->pass)
        counter.place = place_of(counts, counter.name);
    bool room = counter.place != SIZE_MAX &&
                rtl_kept_room(&counters, counts->counter_count, &counts->counter_capacity,
                              sizeof *counts->counters);
    counts->counters = counters;
    if (room)
        counts->counters[counts->counter_count++] = counter;
    else
        counts->lost++;
}

const struct rtl_kept_counter *rtl_kept_counter(const struct rtl_kept_counts *counts,
                                                const char *name)
{
    const struct rtl_kept_counter *found = NULL;
    for (size_t i = 0; i < counts->counter_count; i++) {
        const struct rtl_kept_counter *counter = &counts->counters[i];
        if (strcmp(counter->name, name) == 0 && (found == NULL || counter->pass == counts->pass))
            found = counter;
    }
    return found;
}

/* ---- what they counted ---- */

uint64_t rtl_kept_kernel_key(uint32_t queue, uint64_t packet)
{
    return ((uint64_t)queue + 1) << QUEUE_SHIFT | packet;
}

static bool has_value_room(struct rtl_kept_counts *counts, uint32_t more)
{
    bool room = true;
    void *values = counts->values;
    for (uint32_t i = 0; i < more && room; i++)
        room = rtl_kept_room(&values, counts->value_count + i, &counts->value_capacity,
                             sizeof *counts->values);
    counts->values = values;
    return room;
}

static void take_sample(struct rtl_kept_counts *counts, const struct rtl_wire_sample *wire)
{
    void *samples = counts->samples;
    uint64_t key =
        wire->queue != RTL_NONE ? rtl_kept_kernel_key(wire->queue, wire->owner) : wire->owner;
    const struct rtl_kept_sample sample = {.values = counts->value_count,
                                           .agent = wire->agent,
                                           .count = wire->values,
                                           .flags = wire->flags,
                                           .next = rtl_kept_look_up(&counts->places, key)};
    bool room = rtl_kept_room(&samples, counts->sample_count, &counts->sample_capacity,
                              sizeof *counts->samples);
    counts->samples = samples;
    if (!room || !has_value_room(counts, wire->values) ||
        !rtl_kept_enter(&counts->places, key, (uint32_t)counts->sample_count)) {
        counts->lost++;
        return;
    }
    if (wire->values > 0)
        memcpy(counts->values + counts->value_count, wire + 1, wire->values * sizeof(uint64_t));
    counts->value_count += wire->values;
    counts->samples[counts->sample_count++] = sample;
}

void rtl_kept_count(struct rtl_kept_counts *counts, enum rtl_wire_type type, const void *body)
{
    if (type == RTL_WIRE_COUNTING)
        take_counting(counts, body);
    else if (type == RTL_WIRE_COUNTER)
        take_counter(counts, body);
    else if (type == RTL_WIRE_SAMPLE)
        take_sample(counts, body);
}

/* The values of a sample are those of its device's counters in this pass, by their ids. */
static void add_sample(const struct rtl_kept_counts *counts, const struct rtl_kept_sample *sample,
                       struct rtl_count *row)
{
    uint32_t at = 0;
    for (size_t i = 0; i < counts->counter_count && at < sample->count; i++) {
        const struct rtl_kept_counter *counter = &counts->counters[i];
        if (counter->agent == sample->agent && counter->pass == counts->pass)
            rtl_count_add(&row[counter->place], counts->values[sample->values + at++],
                          counts->mode == RTL_COUNTING_RANGE);
    }
}

uint32_t rtl_kept_counted(const struct rtl_kept_counts *counts, uint64_t key, struct rtl_count *row,
                          uint32_t *flags)
{
    uint32_t found = 0;
    uint32_t at = rtl_kept_look_up(&counts->places, key);
    for (; at != RTL_KEPT_NONE; at = counts->samples[at].next, found++) {
        add_sample(counts, &counts->samples[at], row);
        *flags |= counts->samples[at].flags;
    }
    return found;
}

void rtl_kept_counts_forget(struct rtl_kept_counts *counts)
{
    free(counts->samples);
    free(counts->values);
    free(counts->places.ids);
    free(counts->places.places);
    counts->samples = NULL;
    counts->values = NULL;
    counts->sample_count = counts->sample_capacity = 0;
    counts->value_count = counts->value_capacity = 0;
    counts->places = (struct rtl_kept_places){.size = 0};
    counts->lost = 0;
}

void rtl_kept_counts_free(struct rtl_kept_counts *counts)
{
    rtl_kept_counts_forget(counts);
    for (size_t i = 0; i < counts->name_count; i++)
        free((void *)(uintptr_t)counts->names[i]);
    free((void *)counts->names);
    free(counts->counters);
    memset(counts, 0, sizeof *counts);
}
