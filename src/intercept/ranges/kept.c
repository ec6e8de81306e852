#include "intercept/ranges/kept.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PLACES 1024u

/* ---- memory ---- */

bool rtl_kept_room(void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    if (count >= RTL_KEPT_NONE / 2)
        return false;
    size_t more = *capacity > 0 ? 2 * *capacity : FIRST_PLACES;
    void *grown = realloc(*items, more * size);
    if (grown == NULL)
        return false;
    *items = grown;
    *capacity = more;
    return true;
}

/* Where an id is, or the free slot where it belongs. The table has one. */
static size_t slot_of(const struct rtl_kept_places *places, uint64_t id)
{
    size_t mask = places->size - 1;
    size_t slot = (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
    while (places->ids[slot] != 0 && places->ids[slot] != id)
        slot = (slot + 1) & mask;
    return slot;
}

uint32_t rtl_kept_look_up(const struct rtl_kept_places *places, uint64_t id)
{
    if (places->size == 0 || id == 0)
        return RTL_KEPT_NONE;
    size_t slot = slot_of(places, id);
    return places->ids[slot] == id ? places->places[slot] : RTL_KEPT_NONE;
}

static bool grow(struct rtl_kept_places *places)
{
    struct rtl_kept_places more = {.size = places->size > 0 ? 2 * places->size : FIRST_PLACES,
                                   .used = places->used};
    more.ids = calloc(more.size, sizeof *more.ids);
    more.places = calloc(more.size, sizeof *more.places);
    if (more.ids == NULL || more.places == NULL) {
        free(more.ids);
        free(more.places);
        return false;
    }
    for (size_t i = 0; i < places->size; i++) {
        if (places->ids[i] == 0)
            continue;
        size_t slot = slot_of(&more, places->ids[i]);
        more.ids[slot] = places->ids[i];
        more.places[slot] = places->places[i];
    }
    free(places->ids);
    free(places->places);
    *places = more;
    return true;
}

bool rtl_kept_enter(struct rtl_kept_places *places, uint64_t id, uint32_t place)
{
    if (2 * (places->used + 1) > places->size && !grow(places))
        return false;
    size_t slot = slot_of(places, id);
    places->used += places->ids[slot] == 0;
    places->ids[slot] = id;
    places->places[slot] = place;
    return true;
}

/* ---- ranges ---- */

/* The range of that id, made if it is not there; NULL if memory is short. */
static struct rtl_kept_range *range_of(struct rtl_kept *kept, uint64_t id)
{
    uint32_t place = rtl_kept_look_up(&kept->range_places, id);
    if (place != RTL_KEPT_NONE)
        return &kept->ranges[place];
    void *ranges = kept->ranges;
    if (!rtl_kept_room(&ranges, kept->range_count, &kept->range_capacity, sizeof *kept->ranges))
        return NULL;
    kept->ranges = ranges;
    if (!rtl_kept_enter(&kept->range_places, id, (uint32_t)kept->range_count))
        return NULL;
    kept->ranges[kept->range_count] = (struct rtl_kept_range){
        .id = id, .work = RTL_KEPT_NONE, .child = RTL_KEPT_NONE, .other = RTL_KEPT_NONE};
    return &kept->ranges[kept->range_count++];
}

/* Once: what is aside is told twice. */
static void adopt(struct rtl_kept *kept, uint64_t id, uint64_t parent)
{
    uint32_t child = rtl_kept_look_up(&kept->range_places, id);
    if (parent == 0 || kept->ranges[child].adopted)
        return;
    if (range_of(kept, parent) == NULL) {
        kept->lost++;
        return;
    }
    struct rtl_kept_range *outer = &kept->ranges[rtl_kept_look_up(&kept->range_places, parent)];
    kept->ranges[child].adopted = true;
    kept->ranges[child].other = outer->child;
    outer->child = child;
}

void rtl_kept_range(struct rtl_kept *kept, const rtl_range_event_t *event)
{
    bool aside = (event->flags & RTL_EVENT_ASIDE) != 0;
    if (event->kind == RTL_EVENT_MARKED || (event->end == 0 && !aside))
        return;
    struct rtl_kept_range *range = range_of(kept, event->id);
    char *text = strdup(event->text);
    if (range == NULL || text == NULL) {
        free(text);
        kept->lost++;
        return;
    }
    range->parent = event->parent;
    range->start = event->start;
    range->end = event->end;
    range->thread = event->thread;
    range->aside = aside;
    free(range->text);
    range->text = text;
    adopt(kept, event->id, event->parent);
}

void rtl_kept_launch(struct rtl_kept *kept, const rtl_launch_event_t *event)
{
    if (event->range == 0 || event->graph == RTL_EVENT_NONE)
        return;
    struct rtl_kept_range *range = range_of(kept, event->range);
    if (range != NULL)
        range->launches++;
    else
        kept->lost++;
}

void rtl_kept_call(struct rtl_kept *kept, const rtl_call_event_t *event)
{
    void *calls = kept->calls;
    if (event->range == 0)
        return;
    if (!rtl_kept_room(&calls, kept->call_count, &kept->call_capacity, sizeof *kept->calls) ||
        !rtl_kept_enter(&kept->call_places, event->correlation, (uint32_t)kept->call_count)) {
        kept->calls = calls;
        kept->lost++;
        return;
    }
    kept->calls = calls;
    kept->calls[kept->call_count++] =
        (struct rtl_kept_call){event->correlation, event->range, event->start};
}

/* ---- work ---- */

/* False if memory is short. */
static bool assign_to(struct rtl_kept *kept, uint32_t place, uint64_t id)
{
    struct rtl_kept_range *range = range_of(kept, id);
    if (range == NULL)
        return false;
    kept->work[place].range = id;
    kept->work[place].next = range->work;
    range->work = place;
    return true;
}

static bool wait_for_call(struct rtl_kept *kept, uint32_t place)
{
    void *unassigned = kept->unassigned;
    bool room = rtl_kept_room(&unassigned, kept->unassigned_count, &kept->unassigned_capacity,
                              sizeof *kept->unassigned);
    kept->unassigned = unassigned;
    if (room)
        kept->unassigned[kept->unassigned_count++] = place;
    return room;
}

/* Room for one more, in all that is kept of work. */
static bool has_work_room(struct rtl_kept *kept)
{
    void *work = kept->work;
    void *shapes = kept->shapes;
    bool room = rtl_kept_room(&work, kept->work_count, &kept->work_capacity, sizeof *kept->work);
    kept->work = work;
    if (room && kept->with_shapes)
        room =
            rtl_kept_room(&shapes, kept->work_count, &kept->shape_capacity, sizeof *kept->shapes);
    kept->shapes = shapes;
    return room;
}

/* `range` 0: it is in none, or the call that it comes from has not been told yet. */
static void add(struct rtl_kept *kept, const struct rtl_kept_work *work,
                const struct rtl_kept_shape *shape, uint64_t range)
{
    if (range == 0 && work->correlation == 0)
        return;
    if (!has_work_room(kept)) {
        kept->lost++;
        return;
    }
    uint32_t place = (uint32_t)kept->work_count;
    kept->work[place] = *work;
    if (kept->with_shapes)
        kept->shapes[place] = *shape;
    if (range != 0 ? assign_to(kept, place, range) : wait_for_call(kept, place))
        kept->work_count++;
    else
        kept->lost++;
}

void rtl_kept_kernel(struct rtl_kept *kept, const rtl_kernel_event_t *event)
{
    const struct rtl_kept_work work = {
        .work = {.start = event->start, .end = event->end},
        .correlation = event->correlation,
        .packet = event->packet,
        .queue_address = event->queue_address,
        .name = event->name,
        .queue = event->queue_id,
        .device = event->device,
        .launch = event->launch,
        .ordinal = event->ordinal,
    };
    const struct rtl_kept_shape shape = {
        .grid = {event->grid[0], event->grid[1], event->grid[2]},
        .block = {event->block[0], event->block[1], event->block[2]},
        .lds_bytes = event->group_size,
        .scratch_bytes = event->private_size,
    };
    /* A call that has a stream has been told: it was made in no range. */
    if (event->range != 0 || event->has_stream == 0)
        add(kept, &work, &shape, event->range);
}

void rtl_kept_copy(struct rtl_kept *kept, const rtl_copy_event_t *event)
{
    const struct rtl_kept_work work = {
        .work = {event->start, event->end, event->bytes, true},
        .correlation = event->correlation,
    };
    const struct rtl_kept_shape none = {.lds_bytes = 0};
    if (event->range != 0 || event->has_stream == 0)
        add(kept, &work, &none, event->range);
}

void rtl_kept_assign(struct rtl_kept *kept, uint64_t patient_since)
{
    size_t left = 0;
    for (size_t i = 0; i < kept->unassigned_count; i++) {
        uint32_t place = kept->unassigned[i];
        uint64_t correlation = kept->work[place].correlation;
        uint32_t call = rtl_kept_look_up(&kept->call_places, correlation);
        uint64_t range = call != RTL_KEPT_NONE ? kept->calls[call].range : 0;
        if (range == 0 && rtl_kept_look_up(&kept->range_places, correlation) != RTL_KEPT_NONE)
            range = correlation;
        if (range == 0 && kept->work[place].work.end >= patient_since)
            kept->unassigned[left++] = place;
        else if (range != 0 && !assign_to(kept, place, range))
            kept->lost++;
    }
    kept->unassigned_count = left;
}

/* ---- asking ---- */

uint64_t rtl_kept_measured(const struct rtl_kept *kept, uint64_t id)
{
    uint32_t place = rtl_kept_look_up(&kept->range_places, id);
    while (place != RTL_KEPT_NONE && kept->ranges[place].aside) {
        id = kept->ranges[place].parent;
        place = rtl_kept_look_up(&kept->range_places, id);
    }
    return id;
}

const struct rtl_kept_range *rtl_kept_find(const struct rtl_kept *kept, uint64_t id)
{
    uint32_t place = rtl_kept_look_up(&kept->range_places, id);
    if (place == RTL_KEPT_NONE || kept->ranges[place].end == 0 || kept->ranges[place].aside)
        return NULL;
    return &kept->ranges[place];
}

static bool take(struct rtl_kept_list *list, size_t *capacity, uint32_t place)
{
    void *places = list->places;
    bool room = rtl_kept_room(&places, list->count, capacity, sizeof *list->places);
    list->places = places;
    if (room)
        list->places[list->count++] = place;
    return room;
}

/* The ranges within come from a stack of our own: they may lie deep in each other. */
bool rtl_kept_gather(const struct rtl_kept *kept, const struct rtl_kept_range *range,
                     struct rtl_kept_list *list)
{
    struct rtl_kept_list open = {0};
    size_t open_capacity = 0;
    size_t capacity = 0;
    memset(list, 0, sizeof *list);
    bool room = take(&open, &open_capacity, (uint32_t)(range - kept->ranges));
    while (room && open.count > 0) {
        const struct rtl_kept_range *next = &kept->ranges[open.places[--open.count]];
        list->launches += next->launches;
        for (uint32_t work = next->work; work != RTL_KEPT_NONE && room;
             work = kept->work[work].next)
            room = take(list, &capacity, work);
        for (uint32_t child = next->child; child != RTL_KEPT_NONE && room;
             child = kept->ranges[child].other)
            room = take(&open, &open_capacity, child);
    }
    free(open.places);
    if (!room) {
        free(list->places);
        list->places = NULL;
    }
    return room;
}

uint64_t rtl_kept_call_start(const struct rtl_kept *kept, const struct rtl_kept_work *work)
{
    uint32_t call = rtl_kept_look_up(&kept->call_places, work->correlation);
    return call != RTL_KEPT_NONE ? kept->calls[call].start : 0;
}

void rtl_kept_free(struct rtl_kept *kept)
{
    for (size_t i = 0; i < kept->range_count; i++)
        free(kept->ranges[i].text);
    free(kept->work);
    free(kept->shapes);
    free(kept->ranges);
    free(kept->calls);
    free(kept->unassigned);
    free(kept->range_places.ids);
    free(kept->range_places.places);
    free(kept->call_places.ids);
    free(kept->call_places.places);
    memset(kept, 0, sizeof *kept);
}
