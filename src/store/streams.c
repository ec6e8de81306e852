#include "store/streams.h"

#include "store/text.h"

#include <stdlib.h>

/* Generations that a late record is looked for in. */
#define BACK_MOST 16u

struct rtl_stream_item {
    uint64_t handle;
    uint64_t created, destroyed; /* 0: not seen */
    uint64_t used, last_used; /* when the first and the latest call about it began, 0: none has */
    char *name;               /* NULL: none */
    uint32_t generation;      /* of its handle, from 1 */
    uint32_t before;          /* place of the generation before, RTL_NONE if none */
    bool is_new;              /* since it was stored */
};

void rtl_streams_free(struct rtl_streams *streams)
{
    rtl_index_free(&streams->latest);
    for (uint32_t i = 0; i < streams->count; i++)
        free(streams->items[i].name);
    free(streams->items);
    *streams = (struct rtl_streams){0};
}

static void touch(struct rtl_streams *streams, uint32_t place)
{
    streams->items[place].is_new = true;
    if (place < streams->first_new)
        streams->first_new = place;
}

static bool make_room(struct rtl_streams *streams)
{
    if (streams->count < streams->capacity)
        return true;
    uint32_t capacity = streams->capacity ? 2 * streams->capacity : 16;
    struct rtl_stream_item *items = realloc(streams->items, capacity * sizeof *items);
    if (!items)
        return false;
    streams->items = items;
    streams->capacity = capacity;
    return true;
}

static uint32_t add(struct rtl_streams *streams, uint64_t handle)
{
    uint32_t before = rtl_index_get(&streams->latest, handle);
    uint32_t place = streams->count;
    if (!make_room(streams) || rtl_index_put(&streams->latest, handle, place) != 0)
        return RTL_NONE;
    streams->items[place] = (struct rtl_stream_item){
        .handle = handle,
        .generation = before == RTL_INDEX_MISSING ? 1 : streams->items[before].generation + 1,
        .before = before == RTL_INDEX_MISSING ? RTL_NONE : before,
    };
    streams->count++;
    touch(streams, place);
    return place;
}

/* The last generation of a handle, made if there is none; the NULL stream comes before all others.
 */
static uint32_t latest_of(struct rtl_streams *streams, uint64_t handle)
{
    if (streams->count == 0 && add(streams, 0) == RTL_NONE)
        return RTL_NONE;
    uint32_t place = rtl_index_get(&streams->latest, handle);
    return place != RTL_INDEX_MISSING ? place : add(streams, handle);
}

/* The generation that had the handle at `time`, from the last one back: records of calls that
 * destroy come when the handle may have been given out again. */
static uint32_t at_time(const struct rtl_streams *streams, uint32_t place, uint64_t time)
{
    const struct rtl_stream_item *items = streams->items;
    for (unsigned i = 0; i < BACK_MOST; i++) {
        if (time + RTL_STREAM_SLACK_NS >= items[place].created || items[place].before == RTL_NONE)
            break;
        place = items[place].before;
    }
    return place;
}

uint32_t rtl_streams_of(struct rtl_streams *streams, uint64_t handle, uint64_t start, bool done)
{
    uint32_t place = latest_of(streams, handle);
    if (place == RTL_NONE)
        return RTL_NONE;
    const struct rtl_stream_item *item = &streams->items[place];
    if (done && item->destroyed && start > item->destroyed + RTL_STREAM_SLACK_NS)
        place = add(streams, handle);
    else
        place = at_time(streams, place, start);
    if (place == RTL_NONE)
        return RTL_NONE;
    if (streams->items[place].used == 0)
        streams->items[place].used = start;
    if (streams->items[place].last_used < start)
        streams->items[place].last_used = start;
    return place;
}

/* Whether a stream that was made at `time` is one that is known by its calls. */
static bool is_known(const struct rtl_stream_item *item, uint64_t time)
{
    return !item->created && !item->destroyed && !item->name && item->used != 0 &&
           item->used + RTL_STREAM_SLACK_NS >= time;
}

uint32_t rtl_streams_begin(struct rtl_streams *streams, uint64_t handle, uint64_t time,
                           uint32_t *before)
{
    *before = RTL_NONE;
    if (streams->count == 0 && add(streams, 0) == RTL_NONE)
        return RTL_NONE;
    uint32_t place = rtl_index_get(&streams->latest, handle);
    if (place == RTL_INDEX_MISSING || !is_known(&streams->items[place], time)) {
        if (place != RTL_INDEX_MISSING &&
            streams->items[place].last_used + RTL_STREAM_SLACK_NS >= time)
            *before = place;
        place = add(streams, handle);
        if (place == RTL_NONE)
            return RTL_NONE;
    }
    streams->items[place].created = time;
    touch(streams, place);
    return place;
}

int rtl_streams_end(struct rtl_streams *streams, uint64_t handle, uint64_t begun, uint64_t done)
{
    uint32_t place = latest_of(streams, handle);
    if (place == RTL_NONE)
        return -1;
    place = at_time(streams, place, begun); /* the next with its handle may have been told first */
    if (streams->items[place].destroyed)
        return 0;
    streams->items[place].destroyed = done;
    touch(streams, place);
    return 0;
}

int rtl_streams_name(struct rtl_streams *streams, uint64_t handle, const char *text, size_t length)
{
    uint32_t place = latest_of(streams, handle);
    if (place != RTL_NONE && streams->items[place].destroyed)
        place = add(streams, handle);
    char *name = place != RTL_NONE ? rtl_text_copy(text, length) : NULL;
    if (!name)
        return -1;
    free(streams->items[place].name);
    streams->items[place].name = name;
    touch(streams, place);
    return 0;
}

int rtl_streams_store(const struct rtl_streams *streams, uint32_t process, struct rtl_rows *rows)
{
    int result = SQLITE_OK;
    for (uint32_t i = streams->first_new; i < streams->count && result == SQLITE_OK; i++) {
        const struct rtl_stream_item *item = &streams->items[i];
        const struct rtl_row_stream row = {.handle = item->handle,
                                           .created = item->created,
                                           .destroyed = item->destroyed,
                                           .name = item->name,
                                           .process = process,
                                           .stream = i,
                                           .generation = item->generation};
        if (item->is_new)
            result = rtl_rows_stream(rows, &row);
    }
    return result;
}

void rtl_streams_stored(struct rtl_streams *streams)
{
    for (uint32_t i = streams->first_new; i < streams->count; i++)
        streams->items[i].is_new = false;
    streams->first_new = streams->count;
}
