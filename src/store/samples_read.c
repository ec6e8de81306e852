#include "store/samples_read.h"

#include <stdlib.h>
#include <string.h>

/* Chunks that are kept beyond their use. */
#define KEPT 8u

struct rtl_sample_cache {
    struct rtl_sample_codec *codec;
    struct rtl_sample_set *sets[KEPT]; /* the one that was used last first */
    uint32_t count;
};

static rtl_status_t fail_memory(rtl_trace_t *trace)
{
    return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
}

static rtl_status_t fail_chunk(rtl_trace_t *trace, const struct rtl_sample_row *row)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: sample chunk %lld does not match its checksum "
                          "or its format",
                          trace->path, (long long)row->number);
}

void rtl_sample_set_leave(struct rtl_sample_set *set)
{
    if (!set || --set->users > 0)
        return;
    free(set->samples);
    free(set->counts);
    free(set->places);
    free(set);
}

void rtl_trace_forget_samples(rtl_trace_t *trace)
{
    struct rtl_sample_cache *cache = trace->sample_cache;
    if (!cache)
        return;
    for (uint32_t i = 0; i < cache->count; i++)
        rtl_sample_set_leave(cache->sets[i]);
    rtl_sample_codec_free(cache->codec);
    free(cache);
    trace->sample_cache = NULL;
}

static rtl_status_t make_cache(rtl_trace_t *trace)
{
    if (trace->sample_cache)
        return RTL_OK;
    trace->sample_cache = calloc(1, sizeof *trace->sample_cache);
    if (!trace->sample_cache || !(trace->sample_cache->codec = rtl_sample_codec_new()))
        return fail_memory(trace);
    return RTL_OK;
}

static struct rtl_sample_set *new_set(const struct rtl_sample_row *row)
{
    struct rtl_sample_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->row = row;
    set->users = 1;
    set->samples = calloc(row->chunk.samples, sizeof *set->samples);
    set->counts = calloc((size_t)row->chunk.counts + 1, sizeof *set->counts);
    set->places = calloc(row->chunk.samples, sizeof *set->places);
    if (set->samples && set->counts && set->places)
        return set;
    rtl_sample_set_leave(set);
    return NULL;
}

static int compare(const void *left, const void *right)
{
    const struct rtl_sample_place *a = left;
    const struct rtl_sample_place *b = right;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

/* They mostly are in order. */
static void put_in_order(struct rtl_sample_set *set)
{
    bool sorted = true;
    uint32_t count = set->row->chunk.samples;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_sample *sample = &set->samples[i];
        set->places[i] = (struct rtl_sample_place){sample->owner, sample->agent, i};
        sorted = sorted && (i == 0 || compare(&set->places[i - 1], &set->places[i]) < 0);
    }
    if (!sorted)
        qsort(set->places, count, sizeof *set->places, compare);
}

/* NULL, with the status, if it cannot be had; so of the next one. */
static struct rtl_sample_set *decode(rtl_trace_t *trace, const struct rtl_sample_row *row,
                                     const unsigned char *data, size_t size, rtl_status_t *status)
{
    /* Before memory is asked for: a damaged row may claim anything. */
    if (!data || !rtl_sample_intact(&row->chunk, data, size)) {
        bool short_of_memory = !data && sqlite3_errcode(trace->db) == SQLITE_NOMEM;
        *status = short_of_memory ? fail_memory(trace) : fail_chunk(trace, row);
        return NULL;
    }
    struct rtl_sample_set *set = new_set(row);
    if (!set) {
        *status = fail_memory(trace);
        return NULL;
    }
    int decoded = rtl_sample_decode(trace->sample_cache->codec, &row->chunk, data, size,
                                    set->samples, set->counts);
    if (decoded != 0) {
        rtl_sample_set_leave(set);
        *status = decoded == -2 ? fail_memory(trace) : fail_chunk(trace, row);
        return NULL;
    }
    put_in_order(set);
    return set;
}

/* With a statement that is not kept: the connection may be another's, who closes it before the
 * trace. */
static struct rtl_sample_set *unpack(rtl_trace_t *trace, const struct rtl_sample_row *row,
                                     rtl_status_t *status)
{
    struct rtl_sample_set *set = NULL;
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(
        trace->db, "SELECT data FROM main.sample_chunks WHERE chunk = ?", -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(statement, 1, row->number);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        set = decode(trace, row, sqlite3_column_blob(statement, 0),
                     (size_t)sqlite3_column_bytes(statement, 0), status);
    else
        *status =
            result == SQLITE_DONE ? fail_chunk(trace, row) : rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(statement);
    return set;
}

/* Puts a set first, before `count` others. */
static void put_first(struct rtl_sample_cache *cache, struct rtl_sample_set *set, uint32_t count)
{
    memmove(&cache->sets[1], &cache->sets[0], count * sizeof(struct rtl_sample_set *));
    cache->sets[0] = set;
}

static void keep(struct rtl_sample_cache *cache, struct rtl_sample_set *set)
{
    if (cache->count == KEPT)
        rtl_sample_set_leave(cache->sets[--cache->count]);
    put_first(cache, set, cache->count++);
}

rtl_status_t rtl_trace_sample_set(rtl_trace_t *trace, const struct rtl_sample_row *row,
                                  struct rtl_sample_set **set)
{
    rtl_status_t status = make_cache(trace);
    if (status != RTL_OK) {
        rtl_trace_forget_samples(trace);
        return status;
    }
    struct rtl_sample_cache *cache = trace->sample_cache;
    struct rtl_sample_set *found = NULL;
    for (uint32_t i = 0; i < cache->count && !found; i++)
        if (cache->sets[i]->row == row) {
            found = cache->sets[i];
            put_first(cache, found, i);
        }
    if (!found) {
        found = unpack(trace, row, &status);
        if (!found)
            return status;
        keep(cache, found);
    }
    found->users++;
    *set = found;
    return RTL_OK;
}

uint32_t rtl_sample_set_find(const struct rtl_sample_set *set, uint64_t owner)
{
    uint32_t low = 0;
    uint32_t high = set->row->chunk.samples;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->places[middle].owner < owner)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rtl_trace_describe_sample(const rtl_trace_t *trace, const struct rtl_sample_set *set,
                               uint32_t place, rtl_trace_sample_t *sample)
{
    const struct rtl_sample_chunk *chunk = &set->row->chunk;
    const struct rtl_sample *stored = &set->samples[set->places[place].sample];
    *sample = (rtl_trace_sample_t){
        .process = chunk->process,
        .agent = stored->agent,
        .queue = chunk->queue,
        .owner = stored->owner,
        .shared = (stored->flags & RTL_SAMPLE_SHARED) != 0,
        .counters = rtl_trace_counters_of(trace, chunk->process, stored->agent, stored->counts),
        .values = set->counts + stored->first,
    };
    sample->count = sample->counters ? stored->counts : 0;
}
