#include "export/samples.h"

#include <stdlib.h>
#include <string.h>

/* The samples of a queue's kernels, or (queue RTL_TRACE_NONE) of a process's ranges. */
struct samples_stream {
    uint32_t process, queue;
    rtl_sample_iter_t *iter; /* NULL: it has come to its end */
    rtl_trace_sample_t next; /* that was read last */
    bool has_next, given;    /* given: somebody has asked for it */
    uint64_t begin;          /* what is below was not read */
    uint64_t skipped;        /* samples that nobody has asked for yet */
};

static size_t slot_of(const struct samples *samples, uint32_t process, uint32_t queue)
{
    uint64_t hash = ((uint64_t)process << 32 | queue) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t slot = (size_t)(hash >> 32);; ++slot) {
        size_t place = samples->table[slot & (samples->table_size - 1)];
        const struct samples_stream *stream = place ? &samples->streams[place - 1] : NULL;
        if (!stream || (stream->process == process && stream->queue == queue))
            return slot & (samples->table_size - 1);
    }
}

static bool grow(struct samples *samples)
{
    size_t capacity = samples->capacity ? 2 * samples->capacity : 16;
    struct samples_stream *streams = realloc(samples->streams, capacity * sizeof *streams);
    if (streams)
        samples->streams = streams;
    size_t *table = calloc(2 * capacity, sizeof *table);
    if (!streams || !table) {
        free(table);
        return false;
    }
    free(samples->table);
    samples->table = table;
    samples->table_size = 2 * capacity;
    samples->capacity = capacity;
    for (size_t i = 0; i < samples->count; ++i)
        table[slot_of(samples, streams[i].process, streams[i].queue)] = i + 1;
    return true;
}

static rtl_status_t advance(struct samples_stream *stream)
{
    rtl_status_t status = rtlSampleNext(stream->iter, &stream->next);
    stream->has_next = status == RTL_OK;
    if (status != RTL_OK) {
        rtlSampleIterFree(stream->iter);
        stream->iter = NULL;
    }
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t begin(struct samples_stream *stream, rtl_trace_t *trace, uint64_t owner)
{
    const rtl_sample_filter_t filter = {stream->process, stream->queue, owner, 0};
    rtl_status_t status = stream->queue == RTL_TRACE_NONE
                              ? rtlTraceRangeSamples(trace, &filter, &stream->iter)
                              : rtlTraceKernelSamples(trace, &filter, &stream->iter);
    stream->begin = owner;
    return status == RTL_OK ? advance(stream) : status;
}

/* The stream of a process and queue, which begins with `owner` if it is new. */
static rtl_status_t stream_of(struct samples *samples, rtl_trace_t *trace, uint32_t process,
                              uint32_t queue, uint64_t owner, struct samples_stream **stream)
{
    if (samples->count == samples->capacity && !grow(samples))
        return RTL_E_MEMORY;
    size_t *slot = &samples->table[slot_of(samples, process, queue)];
    if (*slot) {
        *stream = &samples->streams[*slot - 1];
        return RTL_OK;
    }
    samples->streams[samples->count] = (struct samples_stream){.process = process, .queue = queue};
    *slot = ++samples->count;
    *stream = &samples->streams[*slot - 1];
    return begin(*stream, trace, owner);
}

/* Goes on to `owner`: RTL_OK if it is what was read last, RTL_END if it is not there. */
static rtl_status_t seek(struct samples_stream *stream, uint64_t owner)
{
    rtl_status_t status = RTL_OK;
    while (status == RTL_OK && stream->has_next && stream->next.owner < owner) {
        stream->skipped += !stream->given;
        stream->given = false;
        status = advance(stream);
    }
    if (status == RTL_OK && stream->has_next && stream->next.owner == owner)
        return RTL_OK;
    return status == RTL_OK ? RTL_END : status;
}

/* It may be among those that were not read, or skipped. */
static bool may_lie_behind(const struct samples_stream *stream, uint64_t owner)
{
    return owner < stream->begin || stream->skipped > 0;
}

rtl_status_t samples_kernel(struct samples *samples, rtl_trace_t *trace, const rtl_kernel_t *kernel,
                            const rtl_trace_sample_t **sample)
{
    struct samples_stream *stream;
    *sample = NULL;
    if (!samples->of_kernels)
        return RTL_OK;
    rtl_status_t status =
        stream_of(samples, trace, kernel->process, kernel->queue, kernel->packet, &stream);
    if (status == RTL_OK)
        status = seek(stream, kernel->packet);
    if (status == RTL_OK) {
        stream->given = true;
        *sample = &stream->next;
    }
    if (status != RTL_END)
        return status;
    if (!may_lie_behind(stream, kernel->packet))
        return RTL_OK;
    status = rtlTraceKernelSample(trace, kernel->process, kernel->queue, kernel->packet,
                                  &samples->behind);
    if (status != RTL_OK)
        return status == RTL_END ? RTL_OK : status;
    stream->skipped -= stream->skipped > 0;
    *sample = &samples->behind;
    return RTL_OK;
}

/* ---- ranges ---- */

static bool keep(struct samples *samples, size_t count, const rtl_trace_sample_t *sample)
{
    if (count == samples->found_capacity) {
        size_t capacity = count ? 2 * count : 4;
        rtl_trace_sample_t *found = realloc(samples->found, capacity * sizeof *found);
        if (!found)
            return false;
        samples->found = found;
        samples->found_capacity = capacity;
    }
    while (samples->value_count + sample->count > samples->value_capacity) {
        size_t capacity = samples->value_capacity ? 2 * samples->value_capacity : 64;
        uint64_t *values = realloc(samples->values, capacity * sizeof *values);
        if (!values)
            return false;
        samples->values = values;
        samples->value_capacity = capacity;
    }
    samples->found[count] = *sample;
    if (sample->count)
        memcpy(samples->values + samples->value_count, sample->values,
               sample->count * sizeof *samples->values);
    samples->value_count += sample->count;
    return true;
}

/* The values may have moved while there were more of them. */
static void point(struct samples *samples, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
        samples->found[i].values = samples->values + at;
        at += samples->found[i].count;
    }
}

static rtl_status_t take_next(struct samples *samples, struct samples_stream *stream,
                              uint64_t owner, size_t *count)
{
    rtl_status_t status = seek(stream, owner);
    while (status == RTL_OK && stream->has_next && stream->next.owner == owner) {
        if (!keep(samples, (*count)++, &stream->next))
            return RTL_E_MEMORY;
        status = advance(stream);
    }
    return status;
}

static rtl_status_t take_behind(struct samples *samples, rtl_trace_t *trace,
                                const rtl_range_t *range, size_t *count)
{
    const rtl_sample_filter_t filter = {range->process, RTL_TRACE_NONE, range->id, range->id};
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t sample;
    rtl_status_t status = rtlTraceRangeSamples(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlSampleNext(iter, &sample)) == RTL_OK)
        if (!keep(samples, (*count)++, &sample))
            status = RTL_E_MEMORY;
    rtlSampleIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

rtl_status_t samples_range(struct samples *samples, rtl_trace_t *trace, const rtl_range_t *range,
                           const rtl_trace_sample_t **list, size_t *count)
{
    struct samples_stream *stream;
    *count = 0;
    samples->value_count = 0;
    if (!samples->of_ranges)
        return RTL_OK;
    rtl_status_t status =
        stream_of(samples, trace, range->process, RTL_TRACE_NONE, range->id, &stream);
    if (status == RTL_OK)
        status = take_next(samples, stream, range->id, count);
    if (status == RTL_END)
        status =
            may_lie_behind(stream, range->id) ? take_behind(samples, trace, range, count) : RTL_OK;
    point(samples, *count);
    *list = samples->found;
    return status;
}

void samples_free(struct samples *samples)
{
    for (size_t i = 0; i < samples->count; ++i)
        rtlSampleIterFree(samples->streams[i].iter);
    free(samples->streams);
    free(samples->table);
    free(samples->found);
    free(samples->values);
    *samples = (struct samples){0};
}
