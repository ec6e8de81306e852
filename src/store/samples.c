#include "store/samples.h"

#include <stdlib.h>
#include <string.h>

/* Room for samples and what they counted, over all queues. */
#define ROOM_MAX ((uint64_t)16 << 20)

/* At a checkpoint a chunk of fewer samples stays open, as one of kernels does. */
#define SEAL_AT 4096u

struct rtl_sampler {
    uint32_t process, queue;
    struct rtl_sample *samples;
    uint64_t *counts;
    uint32_t count, capacity;
    uint32_t counts_used, counts_capacity;
    uint32_t stored; /* of `count`, as last stored under `chunk` */
    int64_t chunk;
};

void rtl_samples_free(struct rtl_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        free(samples->list[i]->samples);
        free(samples->list[i]->counts);
        free(samples->list[i]);
    }
    free(samples->list);
    rtl_index_free(&samples->index);
    rtl_sample_codec_free(samples->codec);
    *samples = (struct rtl_samples){0};
}

static bool reserve_place(struct rtl_samples *samples)
{
    if (!samples->codec && !(samples->codec = rtl_sample_codec_new()))
        return false;
    if (samples->count < samples->capacity)
        return true;
    size_t capacity = samples->capacity ? 2 * samples->capacity : 16;
    struct rtl_sampler **list = realloc(samples->list, capacity * sizeof(struct rtl_sampler *));
    if (!list)
        return false;
    samples->list = list;
    samples->capacity = capacity;
    return true;
}

struct rtl_sampler *rtl_samples_get(struct rtl_samples *samples, uint32_t process, uint32_t queue)
{
    uint64_t key = rtl_index_key(process, queue);
    uint32_t place = rtl_index_get(&samples->index, key);
    if (place != RTL_INDEX_MISSING)
        return samples->list[place];
    struct rtl_sampler *added = reserve_place(samples) ? calloc(1, sizeof *added) : NULL;
    if (!added || rtl_index_put(&samples->index, key, (uint32_t)samples->count) != 0) {
        free(added);
        return NULL;
    }
    added->process = process;
    added->queue = queue;
    samples->list[samples->count++] = added;
    return added;
}

static enum rtl_append make_room(struct rtl_samples *samples, struct rtl_sampler *sampler,
                                 uint32_t counts)
{
    enum rtl_append result = RTL_APPEND_ADDED;
    if (sampler->count == RTL_CHUNK_SAMPLES || counts > RTL_CHUNK_COUNTS - sampler->counts_used)
        return RTL_APPEND_FULL;
    if (sampler->count == sampler->capacity) {
        void *items = sampler->samples;
        result = rtl_append_grow(&items, sizeof *sampler->samples, &sampler->capacity, 0,
                                 &samples->room, ROOM_MAX);
        sampler->samples = items;
    }
    if (result == RTL_APPEND_ADDED && counts > sampler->counts_capacity - sampler->counts_used) {
        void *items = sampler->counts;
        result = rtl_append_grow(&items, sizeof *sampler->counts, &sampler->counts_capacity,
                                 sampler->counts_used + counts, &samples->room, ROOM_MAX);
        sampler->counts = items;
    }
    return result;
}

enum rtl_append rtl_sampler_add(struct rtl_samples *samples, struct rtl_sampler *sampler,
                                const struct rtl_wire_sample *sample, const void *values)
{
    enum rtl_append result = make_room(samples, sampler, sample->values);
    if (result != RTL_APPEND_ADDED)
        return result;
    sampler->samples[sampler->count++] = (struct rtl_sample){.owner = sample->owner,
                                                             .agent = sample->agent,
                                                             .first = sampler->counts_used,
                                                             .counts = sample->values,
                                                             .flags = sample->flags};
    if (sample->values)
        memcpy(sampler->counts + sampler->counts_used, values,
               sample->values * sizeof *sampler->counts);
    sampler->counts_used += sample->values;
    return RTL_APPEND_ADDED;
}

int rtl_sampler_store(struct rtl_samples *samples, struct rtl_sampler *sampler,
                      struct rtl_rows *rows)
{
    struct rtl_sample_chunk chunk = {.process = sampler->process, .queue = sampler->queue};
    const unsigned char *data = NULL;
    size_t size = 0;
    if (sampler->count == sampler->stored)
        return SQLITE_OK;
    if (rtl_sample_encode(samples->codec, sampler->samples, sampler->count, sampler->counts, &chunk,
                          &data, &size) != 0)
        return SQLITE_NOMEM;
    if (sampler->chunk == 0)
        sampler->chunk = ++samples->last_chunk;
    return rtl_rows_sample_chunk(rows, sampler->chunk, &chunk, data, size);
}

int rtl_samples_store(struct rtl_samples *samples, struct rtl_rows *rows)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < samples->count && result == SQLITE_OK; i++)
        result = rtl_sampler_store(samples, samples->list[i], rows);
    return result;
}

void rtl_sampler_stored(struct rtl_sampler *sampler, bool seal)
{
    sampler->stored = sampler->count;
    if (!seal && sampler->count < SEAL_AT)
        return;
    sampler->count = sampler->stored = sampler->counts_used = 0;
    sampler->chunk = 0;
}

static void give_back(struct rtl_samples *samples, struct rtl_sampler *sampler)
{
    samples->room -= sampler->capacity * sizeof *sampler->samples;
    samples->room -= sampler->counts_capacity * sizeof *sampler->counts;
    free(sampler->samples);
    free(sampler->counts);
    sampler->samples = NULL;
    sampler->counts = NULL;
    sampler->capacity = sampler->counts_capacity = 0;
}

void rtl_samples_stored(struct rtl_samples *samples, bool seal)
{
    for (size_t i = 0; i < samples->count; i++) {
        rtl_sampler_stored(samples->list[i], seal);
        if (seal)
            give_back(samples, samples->list[i]);
    }
}
