/* Looking up what a correlation names.
 *
 * Kernels come mostly in the order of their calls, so a few chunks of calls answer nearly all: of
 * those that were used last, what is asked for is kept, sorted by correlation. */
#include "store/tables.h"

#include "common/lower_bound.h"

#include <stdlib.h>
#include <string.h>

/* Chunks that are kept at least, and for each process. */
#define KEPT_LEAST       8u
#define KEPT_PER_PROCESS 2u

/* Chunks that are kept whole, for look-ups of whole calls. */
#define WHOLE 4u

/* What is kept of a call. */
struct entry {
    uint64_t correlation, range, start;
    uint32_t stream, thread, place;
};

struct kept {
    const struct rtl_api_row *row; /* NULL: free */
    struct entry *entries;         /* by correlation */
    uint64_t used;
};

struct whole {
    const struct rtl_api_row *row; /* NULL: free */
    struct rtl_call *calls;
    uint64_t *words;
    uint64_t used;
};

/* The ranges of a process among all ids. */
struct ranges {
    uint32_t process;
    size_t first, end;
};

struct rtl_origins {
    struct rtl_api_codec *codec;
    struct kept *kept;
    size_t kept_count;
    struct whole whole[WHOLE];
    uint64_t clock; /* counts uses */
    bool asked;     /* the last question: what follows is its answer */
    uint32_t process;
    uint64_t correlation;
    rtl_trace_origin_t answer;
    bool ranges_read;
    struct rtl_list ranges; /* struct ranges, by process */
    struct rtl_list ids;    /* int64_t, by process and value */
};

static size_t count_processes(const rtl_trace_t *trace)
{
    const struct rtl_api_place *places = trace->api_places.items;
    size_t count = 0;
    for (size_t i = 0; i < trace->api_places.count; i++)
        count += i == 0 || places[i].row->chunk.process != places[i - 1].row->chunk.process;
    return count;
}

/* What is kept, made when it is first needed; NULL when memory is short. */
static struct rtl_origins *origins_of(rtl_trace_t *trace)
{
    if (trace->origins)
        return trace->origins;
    struct rtl_origins *origins = calloc(1, sizeof *origins);
    if (!origins)
        return NULL;
    origins->kept_count = KEPT_PER_PROCESS * count_processes(trace);
    if (origins->kept_count < KEPT_LEAST)
        origins->kept_count = KEPT_LEAST;
    origins->kept = calloc(origins->kept_count, sizeof *origins->kept);
    origins->codec = rtl_api_codec_new();
    trace->origins = origins;
    if (origins->kept && origins->codec)
        return origins;
    rtl_trace_forget_origins(trace);
    return NULL;
}

void rtl_trace_forget_origins(rtl_trace_t *trace)
{
    struct rtl_origins *origins = trace->origins;
    if (!origins)
        return;
    for (size_t i = 0; origins->kept && i < origins->kept_count; i++)
        free(origins->kept[i].entries);
    for (size_t i = 0; i < WHOLE; i++) {
        free(origins->whole[i].calls);
        free(origins->whole[i].words);
    }
    free(origins->kept);
    rtl_api_codec_free(origins->codec);
    rtl_list_free(&origins->ranges);
    rtl_list_free(&origins->ids);
    free(origins);
    trace->origins = NULL;
}

/* Chunks. */

static int by_correlation(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static struct entry *make_entries(const struct rtl_call *calls, uint32_t count)
{
    bool sorted = true;
    struct entry *entries = malloc(count * sizeof *entries);
    if (!entries)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = (struct entry){.correlation = calls[i].correlation,
                                    .range = calls[i].range,
                                    .start = calls[i].start,
                                    .stream = calls[i].stream,
                                    .thread = calls[i].thread,
                                    .place = i};
        sorted = sorted && (i == 0 || entries[i - 1].correlation <= entries[i].correlation);
    }
    if (!sorted)
        qsort(entries, count, sizeof *entries, by_correlation);
    return entries;
}

/* The place of the chunk that was not used for longest, emptied. */
static struct kept *make_place(struct rtl_origins *origins)
{
    struct kept *oldest = &origins->kept[0];
    for (size_t i = 1; i < origins->kept_count; i++)
        if (origins->kept[i].used < oldest->used)
            oldest = &origins->kept[i];
    free(oldest->entries);
    *oldest = (struct kept){0};
    return oldest;
}

/* Keeps a chunk; NULL with the reason in `*status` if that fails. */
static struct kept *keep(rtl_trace_t *trace, const struct rtl_api_row *row, rtl_status_t *status)
{
    struct rtl_origins *origins = trace->origins;
    struct rtl_call *calls = NULL;
    uint64_t *words = NULL;
    *status = rtl_trace_unpack_calls(trace, origins->codec, row, &calls, &words);
    if (*status != RTL_OK)
        return NULL;
    struct entry *entries = make_entries(calls, row->chunk.calls);
    free(calls);
    free(words);
    if (!entries) {
        *status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
        return NULL;
    }
    struct kept *place = make_place(origins);
    *place = (struct kept){.row = row, .entries = entries};
    return place;
}

static const struct entry *find_in(struct rtl_origins *origins, struct kept *kept,
                                   uint64_t correlation)
{
    size_t low;
    kept->used = ++origins->clock;
    RTL_LOWER_BOUND(low, kept->row->chunk.calls, kept->entries[low].correlation < correlation);
    bool found = low < kept->row->chunk.calls && kept->entries[low].correlation == correlation;
    return found ? &kept->entries[low] : NULL;
}

static bool may_hold(const struct rtl_api_row *row, uint32_t process, uint64_t correlation)
{
    return row->chunk.process == process && row->chunk.correlation_min <= correlation &&
           row->chunk.correlation_max >= correlation;
}

static struct kept *kept_of(struct rtl_origins *origins, const struct rtl_api_row *row)
{
    for (size_t i = 0; i < origins->kept_count; i++)
        if (origins->kept[i].row == row)
            return &origins->kept[i];
    return NULL;
}

static bool begins_by(const struct rtl_api_chunk *chunk, uint32_t process, uint64_t correlation)
{
    return chunk->process < process ||
           (chunk->process == process && chunk->correlation_min <= correlation);
}

/* The last chunk whose least correlation is not above: those that may hold it are this and some
 * before it. The number of chunks that are not above. */
static size_t not_above(const rtl_trace_t *trace, uint32_t process, uint64_t correlation)
{
    const struct rtl_api_place *places = trace->api_places.items;
    size_t low;
    RTL_LOWER_BOUND(low, trace->api_places.count,
                    begins_by(&places[low].row->chunk, process, correlation));
    return low;
}

struct hit {
    const struct rtl_api_row *row;
    const struct entry *entry;
};

static bool find_in_kept(struct rtl_origins *origins, uint32_t process, uint64_t correlation,
                         struct hit *hit)
{
    for (size_t i = 0; i < origins->kept_count; i++) {
        struct kept *kept = &origins->kept[i];
        if (!kept->row || !may_hold(kept->row, process, correlation))
            continue;
        *hit = (struct hit){kept->row, find_in(origins, kept, correlation)};
        if (hit->entry)
            return true;
    }
    return false;
}

/* False if no chunk has it, or (then `*status` is not RTL_OK) one cannot be read. */
static bool find(rtl_trace_t *trace, uint32_t process, uint64_t correlation, struct hit *hit,
                 rtl_status_t *status)
{
    struct rtl_origins *origins = trace->origins;
    const struct rtl_api_place *places = trace->api_places.items;
    *status = RTL_OK;
    if (find_in_kept(origins, process, correlation, hit))
        return true;
    for (size_t i = not_above(trace, process, correlation); i-- > 0;) {
        const struct rtl_api_row *row = places[i].row;
        if (row->chunk.process != process || places[i].most < correlation)
            break;
        if (!may_hold(row, process, correlation) || kept_of(origins, row))
            continue;
        struct kept *kept = keep(trace, row, status);
        if (!kept)
            return false;
        *hit = (struct hit){row, find_in(origins, kept, correlation)};
        if (hit->entry)
            return true;
    }
    return false;
}

/* Whole calls. */

static rtl_status_t whole_of(rtl_trace_t *trace, const struct rtl_api_row *row,
                             struct whole **found)
{
    struct rtl_origins *origins = trace->origins;
    struct whole *oldest = &origins->whole[0];
    for (size_t i = 0; i < WHOLE; i++) {
        struct whole *whole = &origins->whole[i];
        if (whole->used < oldest->used)
            oldest = whole;
        if (whole->row != row)
            continue;
        whole->used = ++origins->clock;
        *found = whole;
        return RTL_OK;
    }
    free(oldest->calls);
    free(oldest->words);
    *oldest = (struct whole){0};
    rtl_status_t status =
        rtl_trace_unpack_calls(trace, origins->codec, row, &oldest->calls, &oldest->words);
    if (status != RTL_OK)
        return status;
    oldest->row = row;
    oldest->used = ++origins->clock;
    *found = oldest;
    return RTL_OK;
}

rtl_status_t rtl_trace_find_call(rtl_trace_t *trace, uint32_t process, uint64_t correlation,
                                 struct rtl_found_call *found)
{
    struct hit hit;
    struct whole *whole = NULL;
    if (!origins_of(trace))
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    rtl_status_t status = RTL_OK;
    if (!find(trace, process, correlation, &hit, &status))
        return status == RTL_OK ? RTL_END : status;
    status = whole_of(trace, hit.row, &whole);
    if (status != RTL_OK)
        return status;
    const struct rtl_call *call = &whole->calls[hit.entry->place];
    *found = (struct rtl_found_call){hit.row, hit.entry->place, call, whole->words + call->first};
    return RTL_OK;
}

/* Ranges. */

static int take_range(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_origins *origins = trace->origins;
    uint32_t process = rtl_row_u32(trace, row, 0);
    *(int64_t *)item = sqlite3_column_int64(row, 1);
    struct ranges *last = origins->ranges.count ? (struct ranges *)origins->ranges.items +
                                                      rtl_list_last(&origins->ranges)
                                                : NULL;
    if (!last || last->process != process) {
        last = rtl_list_append(&origins->ranges, sizeof *last);
        if (!last)
            return -1;
        *last = (struct ranges){process, rtl_list_last(&origins->ids), 0};
    }
    last->end = origins->ids.count;
    return 0;
}

static rtl_status_t read_ranges(rtl_trace_t *trace)
{
    struct rtl_origins *origins = trace->origins;
    const struct rtl_table table = {"SELECT process, id FROM main.ranges WHERE start IS NOT NULL"
                                    " ORDER BY process, id",
                                    sizeof(int64_t), take_range, &origins->ids};
    if (origins->ranges_read)
        return RTL_OK;
    rtl_status_t status = rtl_trace_has_calls(trace) ? rtl_table_load(trace, &table) : RTL_OK;
    origins->ranges_read = status == RTL_OK;
    return status;
}

static const struct ranges *ranges_of(const struct rtl_origins *origins, uint32_t process)
{
    const struct ranges *ranges = origins->ranges.items;
    size_t low = 0;
    size_t high = origins->ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].process == process)
            return &ranges[middle];
        if (ranges[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool is_range(const struct rtl_origins *origins, uint32_t process, uint64_t id)
{
    const struct ranges *ranges = ranges_of(origins, process);
    const int64_t *ids = origins->ids.items;
    size_t low = ranges ? ranges->first : 0;
    size_t high = ranges ? ranges->end : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] == (int64_t)id)
            return true;
        if (ids[middle] < (int64_t)id)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* What a correlation names. */

static rtl_status_t answer(rtl_trace_t *trace, uint32_t process, uint64_t correlation,
                           rtl_trace_origin_t *origin)
{
    struct hit hit;
    rtl_status_t status = RTL_OK;
    if (find(trace, process, correlation, &hit, &status)) {
        *origin = (rtl_trace_origin_t){.call = correlation,
                                       .range = hit.entry->range,
                                       .stream = hit.entry->stream,
                                       .thread = hit.entry->thread,
                                       .start = hit.entry->start};
        return RTL_OK;
    }
    *origin = (rtl_trace_origin_t){.stream = RTL_TRACE_NONE};
    if (status == RTL_OK)
        status = read_ranges(trace);
    if (status == RTL_OK && is_range(trace->origins, process, correlation))
        origin->range = correlation;
    return status;
}

rtl_status_t rtlTraceOrigin(rtl_trace_t *trace, uint32_t process, uint64_t correlation,
                            rtl_trace_origin_t *origin)
{
    if (!trace || !origin)
        return RTL_E_ARGUMENT;
    *origin = (rtl_trace_origin_t){.stream = RTL_TRACE_NONE};
    if (correlation == 0)
        return RTL_OK;
    struct rtl_origins *origins = origins_of(trace);
    if (!origins)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (origins->ranges_read && origins->ids.count == 0 && trace->api_places.count == 0)
        return RTL_OK;
    if (!origins->asked || origins->process != process || origins->correlation != correlation) {
        origins->asked = false;
        rtl_status_t status = answer(trace, process, correlation, &origins->answer);
        if (status != RTL_OK)
            return status;
        origins->process = process;
        origins->correlation = correlation;
        origins->asked = true;
    }
    *origin = origins->answer;
    return RTL_OK;
}

rtl_status_t rtlTraceKernelRange(rtl_trace_t *trace, const rtl_kernel_t *kernel, uint64_t *range)
{
    rtl_trace_origin_t origin;
    if (!trace || !kernel || !range)
        return RTL_E_ARGUMENT;
    rtl_status_t status = rtlTraceOrigin(trace, kernel->process, kernel->correlation, &origin);
    *range = status == RTL_OK ? origin.range : 0;
    return status;
}
