#include "export/html_segments.h"

#include "common/folder.h"
#include "store/thread_pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The golden ratio, less one. */
#define GOLDEN 0.6180339887498949

/* By how much a share is too large when it is guessed, and by how much it shrinks. */
#define GUESS  1.25
#define SHRINK 0.95

/* Hardly a segment is smaller, bytes. Where so many cannot get into the page a share is guessed
 * from the first few, and not only when those that were put aside are too many. */
#define LEAST_SIZE 32768u
#define FIRST_FEW  16u

/* Segments that are deflated at a time. The number of threads does not matter for what is kept. */
#define PACKING 4u

void html_segments_begin(struct html_segments *segments, uint64_t most, uint64_t events)
{
    *segments = (struct html_segments){
        .most = most, .expected = events / HTML_SEGMENT, .share = 1, .wanted = true};
}

/* Lists. */

static void *grown(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    size_t more = *capacity ? 2 * *capacity : 64;
    void *larger = realloc(list, more * size);
    if (larger)
        *capacity = more;
    return larger;
}

static bool add_ids(struct html_segments *segments, uint32_t process)
{
    struct html_ids *ids =
        grown(segments->ids, segments->id_count, &segments->id_capacity, sizeof *ids);
    if (!ids)
        return false;
    segments->ids = ids;
    ids[segments->id_count++] = (struct html_ids){.process = process,
                                                  .call_from = UINT64_MAX,
                                                  .range_from = UINT64_MAX,
                                                  .work_from = UINT64_MAX};
    return true;
}

/* The ids of a process in the segment that is being made. */
static struct html_ids *ids_of(struct html_segments *segments, size_t first, uint32_t process)
{
    for (size_t i = first; i < segments->id_count; ++i)
        if (segments->ids[i].process == process)
            return &segments->ids[i];
    return add_ids(segments, process) ? &segments->ids[segments->id_count - 1] : NULL;
}

static void widen(uint64_t *from, uint64_t *to, uint64_t id)
{
    if (id == 0)
        return;
    if (id < *from)
        *from = id;
    if (id > *to)
        *to = id;
}

static bool note_ids(struct html_segments *segments, size_t first, const struct html_lane *lane)
{
    struct html_ids *ids = ids_of(segments, first, lane->key.process);
    if (!ids)
        return false;
    for (size_t i = 0; i < lane->slice_count; ++i) {
        const struct html_slice *slice = &lane->slices[i];
        if (lane->key.kind != HTML_THREAD)
            widen(&ids->work_from, &ids->work_to, slice->correlation);
        else if (slice->item & 3)
            widen(&ids->range_from, &ids->range_to, slice->id);
        else
            widen(&ids->call_from, &ids->call_to, slice->correlation);
    }
    return true;
}

/* What counters counted. */

uint32_t html_segments_sample(struct html_segments *segments)
{
    struct html_sample *samples = grown(segments->samples, segments->sample_count,
                                        &segments->sample_capacity, sizeof *samples);
    if (!samples)
        return 0;
    segments->samples = samples;
    samples[segments->sample_count] = (struct html_sample){segments->number_count, 0};
    return (uint32_t)++segments->sample_count;
}

static bool add_number(struct html_segments *segments, uint64_t number)
{
    uint64_t *numbers = grown(segments->numbers, segments->number_count, &segments->number_capacity,
                              sizeof *numbers);
    if (!numbers)
        return false;
    segments->numbers = numbers;
    numbers[segments->number_count++] = number;
    return true;
}

bool html_segments_count(struct html_segments *segments, uint64_t counter, uint64_t value)
{
    ++segments->samples[segments->sample_count - 1].count;
    return add_number(segments, counter) && add_number(segments, value);
}

/* What has not ended. */

static bool copy_sample(const struct html_segments *segments, struct html_crossing *crossing)
{
    const struct html_sample *sample = &segments->samples[crossing->slice.sample - 1];
    size_t count = 2 * sample->count;
    crossing->numbers = malloc((count + 1) * sizeof *crossing->numbers);
    if (!crossing->numbers)
        return false;
    crossing->pairs = sample->count;
    if (count)
        memcpy(crossing->numbers, &segments->numbers[sample->first],
               count * sizeof *crossing->numbers);
    return true;
}

bool html_segments_cross(struct html_segments *segments, const struct html_lane *lane, size_t place,
                         const struct html_slice *slice)
{
    struct html_crossing *crossings = grown(segments->crossings, segments->crossing_count,
                                            &segments->crossing_capacity, sizeof *crossings);
    if (!crossings)
        return false;
    segments->crossings = crossings;
    struct html_crossing *crossing = &crossings[segments->crossing_count];
    bool range = lane->key.kind == HTML_THREAD && (slice->item & 3);
    *crossing = (struct html_crossing){.lane = place, .slice = *slice};
    if (range || slice->text) {
        crossing->text = strdup(segments->texts.list[range ? slice->item >> 2 : slice->text - 1]);
        if (!crossing->text)
            return false;
    }
    ++segments->crossing_count;
    return slice->sample == 0 || copy_sample(segments, crossing);
}

/* The data of a segment: for each row its place, the number of its slices and their columns. A
 * column is 0 and the number of every slice, or 1 and a number for each. */

typedef int64_t column(const struct html_slice *slice, const struct html_slice *before);

static int64_t gap(const struct html_slice *slice, const struct html_slice *before)
{
    return (int64_t)(slice->start - before->end);
}

static int64_t length(const struct html_slice *slice, const struct html_slice *before)
{
    (void)before;
    return (int64_t)(slice->end - slice->start);
}

static int64_t item(const struct html_slice *slice, const struct html_slice *before)
{
    (void)before;
    return slice->item;
}

static int64_t id(const struct html_slice *slice, const struct html_slice *before)
{
    return (int64_t)(slice->id - before->id);
}

static int64_t correlation(const struct html_slice *slice, const struct html_slice *before)
{
    return (int64_t)(slice->correlation - before->correlation);
}

static int64_t range(const struct html_slice *slice, const struct html_slice *before)
{
    return (int64_t)(slice->range - before->range);
}

static int64_t launch(const struct html_slice *slice, const struct html_slice *before)
{
    return (int64_t)slice->launch - (int64_t)before->launch;
}

static int64_t node(const struct html_slice *slice, const struct html_slice *before)
{
    return (int64_t)slice->node - (int64_t)before->node;
}

static int64_t more(const struct html_slice *slice, const struct html_slice *before)
{
    (void)before;
    return slice->more;
}

static int64_t text(const struct html_slice *slice, const struct html_slice *before)
{
    (void)before;
    return slice->text;
}

static int64_t sample(const struct html_slice *slice, const struct html_slice *before)
{
    return (int64_t)slice->sample - (int64_t)before->sample;
}

static column *const columns[] = {gap,    length, item, id,   correlation, range,
                                  launch, node,   more, text, sample};

static void write_column(struct bytes *bytes, const struct html_lane *lane, column *value)
{
    static const struct html_slice none;
    const struct html_slice *slices = lane->slices;
    int64_t first = value(&slices[0], &none);
    bool constant = true;
    for (size_t i = 1; i < lane->slice_count && constant; ++i)
        constant = value(&slices[i], &slices[i - 1]) == first;
    bytes_varint(bytes, !constant);
    bytes_signed(bytes, first);
    for (size_t i = 1; i < lane->slice_count && !constant; ++i)
        bytes_signed(bytes, value(&slices[i], &slices[i - 1]));
}

static void write_lane(struct bytes *bytes, const struct html_lane *lane, size_t place)
{
    bytes_varint(bytes, place);
    bytes_varint(bytes, lane->slice_count);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        write_column(bytes, lane, columns[i]);
}

static void write_texts(struct bytes *bytes, const struct texts *texts)
{
    bytes_varint(bytes, texts->count);
    for (size_t i = 0; i < texts->count; ++i) {
        size_t size = strlen(texts->list[i]);
        bytes_varint(bytes, size);
        bytes_add(bytes, texts->list[i], size);
    }
}

static void write_samples(struct bytes *bytes, const struct html_segments *segments)
{
    bytes_varint(bytes, segments->sample_count);
    for (size_t i = 0; i < segments->sample_count; ++i) {
        const struct html_sample *sample = &segments->samples[i];
        bytes_varint(bytes, sample->count);
        for (size_t j = 0; j < 2 * sample->count; ++j)
            bytes_varint(bytes, segments->numbers[sample->first + j]);
    }
}

static size_t rows_with_slices(const struct html_lanes *lanes)
{
    size_t count = 0;
    for (size_t i = 0; i < lanes->count; ++i)
        count += lanes->list[i].slice_count != 0;
    return count;
}

static void write_rows(struct bytes *bytes, const struct html_lanes *lanes)
{
    bytes_varint(bytes, rows_with_slices(lanes));
    for (size_t i = 0; i < lanes->count; ++i)
        if (lanes->list[i].slice_count)
            write_lane(bytes, &lanes->list[i], i);
}

/* Notes what a row has and takes what has not ended out of it. */
static bool gather(struct html_segments *segments, struct html_segment *segment,
                   struct html_lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; ++i) {
        struct html_lane *lane = &lanes->list[i];
        if (lane->slice_count == 0)
            continue;
        if (segment->kept && !note_ids(segments, segment->ids, lane))
            return false;
        if (lane->slices[0].start < segment->from)
            segment->from = lane->slices[0].start;
        if (lane->slices[lane->slice_count - 1].end > segment->to) {
            if (!html_segments_cross(segments, lane, i, &lane->slices[lane->slice_count - 1]))
                return false;
            --lane->slice_count;
            --segment->events;
        }
    }
    segment->ids_to = segments->id_count;
    return true;
}

static void clear(struct html_segments *segments, struct html_lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; ++i)
        lanes->list[i].slice_count = 0;
    texts_free(&segments->texts);
    segments->events = 0;
    segments->sample_count = 0;
    segments->number_count = 0;
}

/* Which share a segment belongs to: all that are greater. */
static double place_of(size_t number)
{
    return fmod((double)number * GOLDEN, 1);
}

static uint64_t size_of(const struct html_segment *segment)
{
    return BYTES_BASE64((uint64_t)segment->size);
}

static void shrink(struct html_segments *segments, double share)
{
    segments->share = share;
    for (size_t i = 0; i < segments->count; ++i) {
        struct html_segment *segment = &segments->list[i];
        if (!segment->kept || place_of(i) < share)
            continue;
        segment->kept = false;
        segments->used -= size_of(segment);
    }
}

/* Which share it may be in the end, if segments go on as they are. */
static double guess(const struct html_segments *segments)
{
    size_t count = segments->count - segments->packing;
    if (segments->expected <= count || count == 0 || segments->used == 0)
        return segments->share;
    double all = (double)segments->used * (double)segments->expected / (double)count;
    return segments->share * (GUESS * (double)segments->most / all);
}

/* Shares below have no segment but the first. */
static bool is_least(const struct html_segments *segments)
{
    return segments->share * 4 * (double)(segments->count + 1) < 1;
}

static void keep_within(struct html_segments *segments)
{
    bool hopeless =
        segments->count == FIRST_FEW && segments->expected > segments->most / LEAST_SIZE * 3 / 2;
    if (segments->used <= segments->most && !hopeless)
        return;
    double share = guess(segments);
    if (share < segments->share)
        shrink(segments, share);
    while (segments->used > segments->most && !is_least(segments))
        shrink(segments, segments->share * SHRINK);
}

/* A segment that a thread deflates. */
struct job {
    size_t segment;
    struct bytes plain, packed;
    bool failed; /* memory was short */
};

static void pack(void *worker, void *pointer)
{
    struct job *job = pointer;
    (void)worker;
    bytes_clear(&job->packed);
    job->failed = !bytes_deflate(&job->packed, &job->plain);
}

static void release_job(void *pointer)
{
    struct job *job = pointer;
    bytes_free(&job->plain);
    bytes_free(&job->packed);
}

/* The file is written to at its end only. */
static int store(struct html_segments *segments, const struct bytes *packed,
                 struct html_segment *segment)
{
    if (!segments->file)
        segments->file = folder_file();
    if (!segments->file)
        return errno;
    segment->offset = ftell(segments->file);
    segment->size = packed->used;
    if (segment->offset < 0 ||
        fwrite(packed->data, 1, segment->size, segments->file) != segment->size)
        return errno ? errno : EIO;
    segments->used += size_of(segment);
    return 0;
}

/* Puts the segment aside that was given to the pool first. */
static void take(struct html_segments *segments)
{
    const struct job *job = rtl_thread_pool_take(segments->pool);
    struct html_segment *segment = &segments->list[job->segment];
    --segments->packing;
    if (segments->error == 0 && segment->kept)
        segments->error = job->failed ? ENOMEM : store(segments, &job->packed, segment);
    keep_within(segments);
}

static bool has_pool(struct html_segments *segments)
{
    static void *workers[PACKING];
    unsigned threads = rtl_thread_pool_processors();
    if (!segments->pool)
        segments->pool = rtl_thread_pool_new(pack, workers, threads < PACKING ? threads : PACKING,
                                             PACKING, sizeof(struct job));
    return segments->pool != NULL;
}

static int put_aside(struct html_segments *segments, const struct html_lanes *lanes)
{
    struct job *job;
    if (!has_pool(segments))
        return ENOMEM;
    while (!(job = rtl_thread_pool_job(segments->pool)))
        take(segments);
    job->segment = segments->count - 1;
    bytes_clear(&job->plain);
    write_rows(&job->plain, lanes);
    write_texts(&job->plain, &segments->texts);
    write_samples(&job->plain, segments);
    ++segments->packing;
    rtl_thread_pool_give(segments->pool);
    return segments->error;
}

int html_segments_end(struct html_segments *segments, struct html_lanes *lanes, uint64_t to)
{
    struct html_segment *list =
        grown(segments->list, segments->count, &segments->capacity, sizeof *list);
    if (!list)
        return ENOMEM;
    segments->list = list;
    struct html_segment *segment = &list[segments->count];
    *segment =
        (struct html_segment){.from = segments->count ? list[segments->count - 1].to : UINT64_MAX,
                              .to = to,
                              .events = segments->events,
                              .ids = segments->id_count,
                              .kept = segments->wanted};
    if (!gather(segments, segment, lanes))
        return ENOMEM;
    ++segments->count;
    int error = segment->kept ? put_aside(segments, lanes) : 0;
    segments->wanted = place_of(segments->count) < segments->share;
    clear(segments, lanes);
    return error;
}

int html_segments_finish(struct html_segments *segments)
{
    while (segments->packing)
        take(segments);
    rtl_thread_pool_free(segments->pool, release_job);
    segments->pool = NULL;
    return segments->error;
}

size_t html_segments_choose(struct html_segments *segments, uint64_t most)
{
    size_t left_out = 0;
    while (segments->used > most && !is_least(segments))
        shrink(segments, segments->share * SHRINK);
    if (segments->used > most)
        shrink(segments, 0);
    for (size_t i = 0; i < segments->count; ++i)
        left_out += !segments->list[i].kept;
    return left_out;
}

int html_segments_read(struct html_segments *segments, const struct html_segment *segment)
{
    struct bytes *packed = &segments->packed;
    bytes_clear(packed);
    if (!bytes_reserve(packed, segment->size))
        return ENOMEM;
    if (fseek(segments->file, segment->offset, SEEK_SET) != 0)
        return errno;
    packed->used = fread(packed->data, 1, segment->size, segments->file);
    return packed->used == segment->size ? 0 : EIO;
}

void html_segments_free(struct html_segments *segments)
{
    rtl_thread_pool_free(segments->pool, release_job);
    if (segments->file)
        (void)fclose(segments->file);
    for (size_t i = 0; i < segments->crossing_count; ++i) {
        free(segments->crossings[i].text);
        free(segments->crossings[i].numbers);
    }
    free(segments->crossings);
    free(segments->list);
    free(segments->ids);
    free(segments->samples);
    free(segments->numbers);
    texts_free(&segments->texts);
    bytes_free(&segments->packed);
    *segments = (struct html_segments){0};
}
