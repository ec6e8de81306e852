/* Which correlations name something. */
#include "store/origin_sets.h"

#include "common/lower_bound.h"
#include "store/scan.h"
#include "store/tables.h"

#include <stdio.h>
#include <stdlib.h>

/* Stretches are joined when there are so many more than when they were last. */
#define JOIN_FIRST ((size_t)1 << 16)

struct ids {
    struct rtl_list list; /* struct rtl_stretch_of_ids */
    size_t joined;        /* how many there were when they were joined */
};

/* What the correlations of a process name. */
struct rtl_origin_ids {
    struct ids calls, ranges;
};

struct rtl_origin_sets {
    rtl_trace_t *trace;
    bool deep;
    rtl_digest_tell tell;
    void *context;
    struct rtl_origin_ids *of; /* by place in the trace's processes */
    size_t count;
};

/* Sets. */

static int by_first(const void *left, const void *right)
{
    const struct rtl_stretch_of_ids *a = left;
    const struct rtl_stretch_of_ids *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

static void join(struct ids *ids)
{
    struct rtl_stretch_of_ids *items = ids->list.items;
    size_t kept = 0;
    if (ids->list.count)
        qsort(items, ids->list.count, sizeof *items, by_first);
    for (size_t i = 0; i < ids->list.count; i++) {
        struct rtl_stretch_of_ids *last = kept ? &items[kept - 1] : NULL;
        if (last && (items[i].first <= last->last || items[i].first - 1 == last->last))
            last->last = items[i].last > last->last ? items[i].last : last->last;
        else
            items[kept++] = items[i];
    }
    ids->list.count = ids->joined = kept;
}

static bool append(struct rtl_list *list, struct rtl_stretch_of_ids stretch)
{
    struct rtl_stretch_of_ids *items = list->items;
    struct rtl_stretch_of_ids *last = list->count ? &items[rtl_list_last(list)] : NULL;
    if (last && last->last + 1 == stretch.first && stretch.first != 0) {
        last->last = stretch.last;
        return true;
    }
    last = rtl_list_append(list, sizeof *last);
    if (last)
        *last = stretch;
    return last != NULL;
}

static bool add(struct ids *ids, struct rtl_stretch_of_ids stretch)
{
    if (ids->list.count >= 2 * ids->joined + JOIN_FIRST)
        join(ids);
    return append(&ids->list, stretch);
}

static struct rtl_origin_ids *of_process(const struct rtl_origin_sets *sets, uint32_t process)
{
    uint32_t place = rtl_index_get(&sets->trace->process_index, process);
    return place < sets->count ? &sets->of[place] : NULL;
}

/* Chunks of host calls. */

/* What a thread has: the calls of a chunk. */
struct worker {
    struct rtl_api_codec *codec;
    struct rtl_call *calls;
    uint64_t *words, *correlations;
    size_t call_room, word_room, correlation_room;
};

static void worker_free(void *pointer)
{
    struct worker *worker = pointer;
    rtl_api_codec_free(worker->codec);
    free(worker->calls);
    free(worker->words);
    free(worker->correlations);
}

static void result_free(void *result)
{
    struct ids *ids = result;
    rtl_list_free(&ids->list);
}

/* Room for `count` items in place of `items`; NULL when memory is short. */
static void *grown(void *items, size_t *room, size_t count, size_t size)
{
    if (items && *room >= count)
        return items;
    free(items);
    items = malloc((count + 1) * size);
    *room = items ? count : 0;
    return items;
}

static int unpack_whole(struct worker *worker, const struct rtl_api_chunk *chunk,
                        const struct rtl_scan_data *data)
{
    worker->calls = grown(worker->calls, &worker->call_room, chunk->calls, sizeof *worker->calls);
    worker->words = grown(worker->words, &worker->word_room, chunk->words, sizeof *worker->words);
    if (!worker->calls || !worker->words)
        return -2;
    int decoded =
        rtl_api_decode(worker->codec, chunk, data->data, data->size, worker->calls, worker->words);
    if (decoded != 0 || !rtl_api_within(chunk, worker->calls))
        return decoded ? decoded : -1;
    for (uint32_t i = 0; i < chunk->calls; i++)
        worker->correlations[i] = worker->calls[i].correlation;
    return 0;
}

/* The correlations of a chunk, into the thread's own. */
static int unpack(const struct rtl_origin_sets *sets, struct worker *worker,
                  const struct rtl_api_chunk *chunk, const struct rtl_scan_data *data)
{
    if (!rtl_api_intact(chunk, data->data, data->size))
        return -1;
    worker->correlations = grown(worker->correlations, &worker->correlation_room, chunk->calls,
                                 sizeof *worker->correlations);
    if (!worker->correlations || (!worker->codec && !(worker->codec = rtl_api_codec_new())))
        return -2;
    return sets->deep ? unpack_whole(worker, chunk, data)
                      : rtl_api_correlations(worker->codec, chunk, data->data, data->size,
                                             worker->correlations);
}

static int work(void *context, void *pointer, const struct rtl_scan_data *data, void *result)
{
    const struct rtl_api_chunk *chunk = &((const struct rtl_api_row *)data->row)->chunk;
    const struct worker *worker = pointer;
    struct ids *ids = result;
    int status = unpack(context, pointer, chunk, data);
    ids->list.count = 0;
    for (uint32_t i = 0; i < chunk->calls && status == 0; i++) {
        uint64_t id = worker->correlations[i];
        status = append(&ids->list, (struct rtl_stretch_of_ids){id, id}) ? 0 : -2;
    }
    if (status == 0)
        join(ids);
    return status;
}

static void tell_damage(const struct rtl_origin_sets *sets, const struct rtl_api_row *row)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   "chunk %lld of host calls does not hold what its row says, though its checksum "
                   "is right",
                   (long long)row->number);
    sets->tell(sets->context, text);
}

static rtl_status_t take_calls(void *context, const struct rtl_scan_data *data, rtl_status_t status,
                               void *result)
{
    const struct rtl_origin_sets *sets = context;
    const struct rtl_api_row *row = data->row;
    const struct rtl_list *list = &((const struct ids *)result)->list;
    struct rtl_origin_ids *of = of_process(sets, row->chunk.process);
    if (status == RTL_E_DAMAGED) {
        if (rtl_api_sum_is_right(&row->chunk, data->data, data->size))
            tell_damage(sets, row);
        return RTL_OK;
    }
    for (size_t i = 0; status == RTL_OK && of && i < list->count; i++)
        if (!add(&of->calls, ((const struct rtl_stretch_of_ids *)list->items)[i]))
            status = RTL_E_MEMORY;
    return status;
}

static rtl_status_t read_calls(struct rtl_origin_sets *sets)
{
    const struct rtl_scan scan = {
        .query = "SELECT data FROM main.api_chunks WHERE chunk = ?",
        .context = sets,
        .worker_size = sizeof(struct worker),
        .result_size = sizeof(struct ids),
        .worker_free = worker_free,
        .result_free = result_free,
        .work = work,
        .done = take_calls,
    };
    const struct rtl_list *rows = &sets->trace->api_rows;
    struct rtl_scan_item *items = calloc(rows->count + 1, sizeof *items);
    if (!items)
        return rtl_trace_fail_sqlite(sets->trace, SQLITE_NOMEM);
    for (size_t i = 0; i < rows->count; i++) {
        const struct rtl_api_row *row = (const struct rtl_api_row *)rows->items + i;
        items[i] = (struct rtl_scan_item){row->number, row};
    }
    rtl_status_t status = rtl_scan(sets->trace, &scan, items, rows->count);
    free(items);
    return status;
}

/* Ranges. */

static rtl_status_t read_ranges(struct rtl_origin_sets *sets)
{
    rtl_trace_t *trace = sets->trace;
    sqlite3_stmt *row = NULL;
    bool kept = true;
    if (!rtl_trace_has_calls(trace))
        return RTL_OK;
    int result = sqlite3_prepare_v2(
        trace->db, "SELECT process, id FROM main.ranges WHERE start IS NOT NULL", -1, &row, NULL);
    while (kept && result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        struct rtl_origin_ids *of = of_process(sets, rtl_row_u32(trace, row, 0));
        uint64_t id = rtl_row_u64(row, 1);
        kept = !of || add(&of->ranges, (struct rtl_stretch_of_ids){id, id});
        result = SQLITE_OK;
    }
    trace->damaged = false; /* a process that is none is told by rtl_digest_check */
    (void)sqlite3_finalize(row);
    if (!kept)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    return result == SQLITE_DONE ? RTL_OK : rtl_trace_fail_sqlite(trace, result);
}

/* Making and asking. */

rtl_status_t rtl_origin_sets_read(rtl_trace_t *trace, bool deep, rtl_digest_tell tell,
                                  void *context, struct rtl_origin_sets **sets)
{
    struct rtl_origin_sets *made = calloc(1, sizeof *made);
    *sets = NULL;
    if (!made)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    *made =
        (struct rtl_origin_sets){.trace = trace, .deep = deep, .tell = tell, .context = context};
    made->of = calloc(trace->processes.count + 1, sizeof *made->of);
    made->count = made->of ? trace->processes.count : 0;
    rtl_status_t status = made->of ? read_calls(made) : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (status == RTL_OK)
        status = read_ranges(made);
    if (status != RTL_OK) {
        rtl_origin_sets_free(made);
        return status;
    }
    for (size_t i = 0; i < made->count; i++) {
        join(&made->of[i].calls);
        join(&made->of[i].ranges);
    }
    *sets = made;
    return RTL_OK;
}

void rtl_origin_sets_free(struct rtl_origin_sets *sets)
{
    if (!sets)
        return;
    for (size_t i = 0; i < sets->count; i++) {
        rtl_list_free(&sets->of[i].calls.list);
        rtl_list_free(&sets->of[i].ranges.list);
    }
    free(sets->of);
    free(sets);
}

void rtl_origin_look_begin(const struct rtl_origin_sets *sets, uint32_t process,
                           struct rtl_origin_look *look)
{
    /* No correlation is 0: what is known at first is nothing that anybody asks for. */
    *look = (struct rtl_origin_look){.ids = of_process(sets, process)};
}

/* The stretch that a number lies in; false: `around` gets the gap. */
static bool find(const struct ids *ids, uint64_t number, struct rtl_stretch_of_ids *around)
{
    const struct rtl_stretch_of_ids *items = ids->list.items;
    size_t at;
    RTL_LOWER_BOUND(at, ids->list.count, items[at].last < number);
    bool found = at < ids->list.count && items[at].first <= number;
    if (found) {
        *around = items[at];
        return true;
    }
    around->first = at ? items[at - 1].last + 1 : 0;
    around->last = at < ids->list.count ? items[at].first - 1 : UINT64_MAX;
    return false;
}

enum rtl_origin_kind rtl_origin_find(struct rtl_origin_look *look, uint64_t correlation)
{
    struct rtl_stretch_of_ids call = {0, UINT64_MAX};
    struct rtl_stretch_of_ids range = call;
    if (look->ids && find(&look->ids->calls, correlation, &call)) {
        look->last = call;
        return look->named = RTL_ORIGIN_CALL;
    }
    bool named = look->ids && find(&look->ids->ranges, correlation, &range);
    look->last.first = call.first > range.first ? call.first : range.first;
    look->last.last = call.last < range.last ? call.last : range.last;
    return look->named = named ? RTL_ORIGIN_RANGE : RTL_ORIGIN_NONE;
}
