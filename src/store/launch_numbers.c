/* The launches of blocks: their numbers, the records of each, and what these add up to. */
#include "store/launch_blocks.h"

#include "common/lower_bound.h"

#include <stdlib.h>

/* Numbers. */

uint32_t rtl_blocks_before(const struct rtl_launch_counter *counter, size_t block)
{
    const struct rtl_launch_place *places = counter->places.items;
    size_t low;
    RTL_LOWER_BOUND(low, counter->places.count, places[low].block < block);
    return low < counter->places.count ? places[low].before : counter->launches;
}

/* What a block has of a lane, NULL if nothing. */
static const struct rtl_launch_stretch *stretch_of(const struct rtl_launch_lane *lane, size_t block)
{
    const struct rtl_launch_stretch *stretches = lane->stretches.items;
    size_t low;
    RTL_LOWER_BOUND(low, lane->stretches.count, stretches[low].block < block);
    return low < lane->stretches.count && stretches[low].block == block ? &stretches[low] : NULL;
}

static void begin_launch(struct rtl_launch_loaded *loaded, struct rtl_launch_counter *counter,
                         uint32_t place, uint32_t generation)
{
    struct rtl_launch_record *record = &loaded->records[place];
    if (counter->block != loaded->block + 1) {
        counter->block = loaded->block + 1;
        counter->current = rtl_blocks_before(counter, loaded->block);
    }
    record->begins = true;
    record->number = ++counter->current;
    record->generation = generation;
}

/* A record of a graph that was inferred from its packets. */
static void number_inferred(struct rtl_launch_loaded *loaded, struct rtl_launch_counter *counter,
                            struct rtl_launch_lane *lane, uint32_t place)
{
    struct rtl_launch_record *record = &loaded->records[place];
    if (lane->block != loaded->block + 1) {
        lane->block = loaded->block + 1;
        lane->latest = lane->tail = RTL_TRACE_NONE;
    }
    bool begins = rtl_blocks_begins(&loaded->rows[place], record);
    if (!begins && lane->latest == RTL_TRACE_NONE) {
        const struct rtl_launch_stretch *stretch = stretch_of(lane, loaded->block);
        if (stretch && stretch->leads)
            return;
        begins = true;
    }
    if (!begins) {
        record->number = loaded->records[lane->latest].number;
        record->generation = loaded->records[lane->latest].generation;
        loaded->records[lane->tail].next = place;
        lane->tail = place;
        return;
    }
    begin_launch(loaded, counter, place, record->plan->generation);
    if (lane->latest != RTL_TRACE_NONE)
        loaded->records[lane->latest].last = false;
    record->last = true;
    lane->latest = lane->tail = place;
}

/* The order is that in which launches count; what is numbered does not depend on other blocks being
 * in memory. */
static void number_block(rtl_trace_t *trace, struct rtl_launch_loaded *loaded)
{
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    uint32_t process = rtl_blocks_at(blocks, loaded->block)->process;
    struct rtl_launch_counter *counters = blocks->counters.items;
    struct rtl_launch_counter *counter = NULL;
    for (uint32_t i = 0; i < loaded->count; i++) {
        uint32_t place = loaded->order[i];
        const struct rtl_launch_row *row = &loaded->rows[place];
        struct rtl_launch_record *record = &loaded->records[place];
        bool named = row->graph != RTL_TRACE_NONE;
        if (!named && !record->plan)
            continue;
        uint32_t graph = named ? row->graph : record->plan->graph;
        if (!counter || counter->graph != graph)
            counter = rtl_blocks_counter(blocks, process, graph);
        if (!counter)
            continue;
        record->counter = (uint32_t)(counter - counters);
        if (named) {
            begin_launch(loaded, counter, place, row->generation);
            continue;
        }
        struct rtl_launch_lane *lane = rtl_blocks_lane(blocks, record->counter, row->thread);
        if (lane)
            number_inferred(loaded, counter, lane, place);
    }
    /* Whoever counts next starts again. */
    for (size_t i = 0; counters && i < blocks->counters.count; i++)
        counters[i].block = 0;
    struct rtl_launch_lane *lanes = blocks->lanes.items;
    for (size_t i = 0; lanes && i < blocks->lanes.count; i++)
        lanes[i].block = 0;
    loaded->numbered = true;
}

rtl_status_t rtl_blocks_fetch(rtl_trace_t *trace, size_t block,
                              const struct rtl_launch_loaded **loaded)
{
    rtl_status_t status = rtl_blocks_fetch_raw(trace, block, loaded);
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    if (status == RTL_OK && !(*loaded)->numbered)
        number_block(trace, rtl_blocks_at(blocks, block)->loaded);
    return status;
}

/* Finding. */

/* True if the record at `place` of the block in which one was found last is the launch. */
static bool is_found(const struct rtl_launch_blocks *blocks, uint32_t process, uint32_t launch,
                     uint32_t place)
{
    return blocks->found && place < blocks->found->count &&
           blocks->found->rows[place].launch == launch &&
           rtl_blocks_at(blocks, blocks->found->block)->process == process;
}

rtl_status_t rtl_blocks_find(rtl_trace_t *trace, uint32_t process, uint32_t launch,
                             const struct rtl_launch_loaded **loaded, uint32_t *place)
{
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    /* Kernels mostly come launch by launch. */
    for (uint32_t i = 0; i < 2; i++) {
        if (!is_found(blocks, process, launch, blocks->place + i))
            continue;
        *loaded = blocks->found;
        *place = blocks->place += i;
        return RTL_OK;
    }
    size_t block = rtl_blocks_of(blocks, process, launch);
    if (block == blocks->blocks.count)
        return RTL_END;
    rtl_status_t status = rtl_blocks_fetch(trace, block, loaded);
    if (status != RTL_OK)
        return status;
    *place = rtl_blocks_place(*loaded, launch);
    if (*place == (*loaded)->count || (*loaded)->rows[*place].launch != launch)
        return RTL_END;
    blocks->found = *loaded;
    blocks->place = *place;
    return RTL_OK;
}

rtl_status_t rtl_blocks_begin(rtl_trace_t *trace, const struct rtl_launch_counter *counter,
                              uint32_t number, size_t *block, uint32_t *place)
{
    const struct rtl_launch_place *places = counter->places.items;
    const struct rtl_launch_loaded *loaded = NULL;
    size_t low = 0;
    if (number == 0 || number > counter->launches)
        return RTL_END;
    RTL_LOWER_BOUND(low, counter->places.count, places[low].before < number);
    if (low == 0)
        return RTL_END;
    *block = places[low - 1].block;
    rtl_status_t status = rtl_blocks_fetch(trace, *block, &loaded);
    if (status != RTL_OK)
        return status;
    uint32_t own =
        (uint32_t)(counter -
                   (const struct rtl_launch_counter *)rtl_trace_blocks(trace)->counters.items);
    for (*place = 0; *place < loaded->count; ++*place) {
        const struct rtl_launch_record *record = &loaded->records[*place];
        if (record->begins && record->counter == own && record->number == number)
            return RTL_OK;
    }
    return RTL_END;
}

/* The launch that the first records of a lane in a block go on with. */
static rtl_status_t find_earlier(rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                                 struct rtl_launch_record *record, uint32_t thread)
{
    const struct rtl_launch_lane *lane =
        rtl_blocks_lane(rtl_trace_blocks(trace), record->counter, thread);
    const struct rtl_launch_stretch *stretches = lane ? lane->stretches.items : NULL;
    const struct rtl_launch_loaded *earlier = NULL;
    size_t i = lane ? lane->stretches.count : 0;
    while (i > 0 && (stretches[i - 1].block >= loaded->block || !stretches[i - 1].begins))
        i--;
    if (i == 0)
        return RTL_OK;
    rtl_status_t status = rtl_blocks_fetch(trace, stretches[i - 1].block, &earlier);
    for (uint32_t j = status == RTL_OK ? earlier->count : 0; j > 0; j--) {
        uint32_t place = earlier->order[j - 1];
        const struct rtl_launch_record *it = &earlier->records[place];
        if (it->counter != record->counter || !it->begins || earlier->rows[place].thread != thread)
            continue;
        record->number = it->number;
        record->generation = it->generation;
        break;
    }
    return status;
}

rtl_status_t rtl_blocks_number(rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                               uint32_t place)
{
    struct rtl_launch_record *record = &loaded->records[place];
    return record->number || record->counter == RTL_TRACE_NONE
               ? RTL_OK
               : find_earlier(trace, loaded, record, loaded->rows[place].thread);
}

/* Launches. */

static int compare_head(const void *key, const void *item)
{
    const struct rtl_launch_head *a = key;
    const struct rtl_launch_head *b = item;
    int order = rtl_blocks_compare(a->process, b->process);
    order = order ? order : rtl_blocks_compare(a->queue, b->queue);
    return order ? order : rtl_blocks_compare(a->packet, b->packet);
}

const struct rtl_launch_head *rtl_blocks_head(const struct rtl_launch_blocks *blocks,
                                              uint32_t process, uint32_t queue, uint64_t packet)
{
    const struct rtl_launch_head key = {.process = process, .queue = queue, .packet = packet};
    return blocks->heads.count
               ? bsearch(&key, blocks->heads.items, blocks->heads.count, sizeof key, compare_head)
               : NULL;
}

static void widen(rtl_graph_launch_t *launch, uint64_t start, uint64_t end)
{
    bool first = launch->start == 0 && launch->end == 0;
    launch->start = first || start < launch->start ? start : launch->start;
    launch->end = first || end > launch->end ? end : launch->end;
}

static void add_span(const rtl_trace_t *trace, rtl_graph_launch_t *launch,
                     const struct rtl_graphs_span *span)
{
    struct rtl_agent_clock *clock = rtl_trace_queue_clock(trace, launch->process, span->queue);
    widen(launch, rtl_trace_ns(clock, span->start), rtl_trace_ns(clock, span->end));
}

static void add_more(const rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                     uint32_t number, rtl_graph_launch_t *launch)
{
    const struct rtl_launch_more *more = loaded->more.items;
    size_t low;
    RTL_LOWER_BOUND(low, loaded->more.count, more[low].launch < number);
    for (; low < loaded->more.count && more[low].launch == number; low++)
        add_span(trace, launch, &more[low].span);
}

static void add_record(const rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                       uint32_t place, rtl_graph_launch_t *launch)
{
    const struct rtl_launch_row *row = &loaded->rows[place];
    const struct rtl_launch_record *record = &loaded->records[place];
    launch->expected += row->kernels;
    launch->kernels += row->recorded;
    launch->unseen += row->unseen;
    if ((row->recorded && !record->plan) || (record->plan && !record->plan->certain))
        launch->certain = 0;
    for (uint32_t i = 0; i < row->span_count; i++)
        add_span(trace, launch, &loaded->spans[row->span + i]);
    add_more(trace, loaded, row->launch, launch);
    if (!record->head)
        return;
    const struct rtl_launch_head *head =
        rtl_blocks_head(rtl_trace_blocks(trace), launch->process, row->queue, row->first - 1);
    launch->expected++;
    if (!head || !head->there)
        return;
    launch->kernels++;
    widen(launch, head->start, head->end);
}

/* The least and the greatest record. */
struct bounds {
    uint32_t least, most;
};

static void add_bound(struct bounds *bounds, uint32_t launch)
{
    bounds->least = launch < bounds->least ? launch : bounds->least;
    bounds->most = launch > bounds->most ? launch : bounds->most;
}

/* Records of later blocks that go on with the last launch of a lane. */
static rtl_status_t add_later(rtl_trace_t *trace, size_t block, uint32_t counter,
                              rtl_graph_launch_t *launch, struct bounds *bounds)
{
    const struct rtl_launch_lane *lane =
        rtl_blocks_lane(rtl_trace_blocks(trace), counter, launch->thread);
    const struct rtl_launch_stretch *stretches = lane ? lane->stretches.items : NULL;
    const struct rtl_launch_loaded *loaded = NULL;
    size_t i = 0;
    rtl_status_t status = RTL_OK;
    while (lane && i < lane->stretches.count && stretches[i].block <= block)
        i++;
    for (; lane && i < lane->stretches.count && stretches[i].leads && status == RTL_OK; i++) {
        status = rtl_blocks_fetch(trace, stretches[i].block, &loaded);
        for (uint32_t j = 0; status == RTL_OK && j < loaded->count; j++) {
            uint32_t place = loaded->order[j];
            const struct rtl_launch_record *record = &loaded->records[place];
            if (record->counter != counter || loaded->rows[place].thread != launch->thread)
                continue;
            if (record->begins)
                break;
            add_record(trace, loaded, place, launch);
            add_bound(bounds, loaded->rows[place].launch);
        }
        if (stretches[i].begins)
            break;
    }
    return status;
}

rtl_status_t rtl_blocks_launch(rtl_trace_t *trace, size_t block, uint32_t place,
                               rtl_graph_launch_t *launch, uint32_t *least, uint32_t *most)
{
    const struct rtl_launch_loaded *loaded = NULL;
    rtl_status_t status = rtl_blocks_fetch(trace, block, &loaded);
    if (status != RTL_OK)
        return status;
    const struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    const struct rtl_launch_row *row = &loaded->rows[place];
    const struct rtl_launch_record *record = &loaded->records[place];
    struct bounds bounds = {row->launch, row->launch};
    *launch = (rtl_graph_launch_t){
        .process = rtl_blocks_at(blocks, block)->process,
        .graph = ((const struct rtl_launch_counter *)blocks->counters.items)[record->counter].graph,
        .generation = record->generation,
        .launch = record->number,
        .thread = row->thread,
        .time = row->time,
        .correlation = row->correlation,
        .range = row->range,
        .certain = 1};
    for (uint32_t i = place; i != RTL_TRACE_NONE; i = loaded->records[i].next) {
        add_record(trace, loaded, i, launch);
        add_bound(&bounds, loaded->rows[i].launch);
    }
    if (record->last)
        status = add_later(trace, block, record->counter, launch, &bounds);
    if (least)
        *least = bounds.least;
    if (most)
        *most = bounds.most;
    return status;
}
