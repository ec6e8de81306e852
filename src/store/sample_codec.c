#include "store/sample_codec.h"

#include "store/checksum.h"
#include "store/columns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Counts have as many columns; the next after the last goes into the first again. */
#define COUNT_COLUMNS 16u

enum column {
    COLUMN_OWNER,
    COLUMN_AGENT,
    COLUMN_COUNTS,
    COLUMN_FLAGS,
    COLUMN_BACK,
    COLUMN_COUNT,
    COLUMNS = COLUMN_COUNT + COUNT_COLUMNS
};

/* What is known when a sample is predicted: the same on both sides. */
struct history {
    uint64_t owner;
    uint32_t agent;
    const struct rtl_sample *samples; /* so far */
    uint32_t count;
    const uint64_t *counts; /* theirs */
};

/* Where the latest sample with a count is found: its place + 1, by the hash of that. */
#define FOUND 8192u
/* Counts of a sample that others are found by. */
#define CLUES 8u

struct rtl_sample_codec {
    struct history history;
    struct rtl_columns columns;
    struct rtl_column column[COLUMNS];
    uint32_t found[FOUND];
};

struct rtl_sample_codec *rtl_sample_codec_new(void)
{
    struct rtl_sample_codec *codec = calloc(1, sizeof *codec);
    if (codec)
        codec->columns = (struct rtl_columns){.columns = codec->column, .count = COLUMNS};
    return codec;
}

void rtl_sample_codec_free(struct rtl_sample_codec *codec)
{
    if (codec)
        rtl_columns_free(&codec->columns);
    free(codec);
}

static void history_begin(struct history *history, const struct rtl_sample_chunk *chunk,
                          const struct rtl_sample *samples, const uint64_t *counts)
{
    *history =
        (struct history){.owner = chunk->owner_min - 1, .samples = samples, .counts = counts};
}

static void history_add(struct history *history, const struct rtl_sample *sample)
{
    history->owner = sample->owner;
    history->agent = sample->agent;
    history->count++;
}

/* A sample that another is compared with. */
struct model {
    const uint64_t *counts;
    uint32_t count;
};

/* That which is `back` before the next one; 0: none. */
static struct model model_of(const struct history *history, uint32_t back)
{
    if (back == 0)
        return (struct model){NULL, 0};
    const struct rtl_sample *sample = &history->samples[history->count - back];
    return (struct model){history->counts + sample->first, sample->counts};
}

/* What a sample is expected to have counted; 0 beyond what its model has. */
static uint64_t expected(const struct model *model, uint32_t which)
{
    return which < model->count ? model->counts[which] : 0;
}

/* Packing. */

static uint32_t hash(uint64_t count, uint32_t which)
{
    uint64_t mixed = (count ^ (uint64_t)which << 56) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> (64 - 13));
}

_Static_assert(FOUND == 1u << 13, "the hash picks one of all places");

static unsigned bits(uint64_t number)
{
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

/* About how many bits a sample takes if it is said to be like the one `back` before it. */
static unsigned cost(const struct history *history, const struct rtl_sample *sample,
                     const uint64_t *counts, uint32_t back)
{
    struct model model = model_of(history, back);
    unsigned sum = 0;
    for (uint32_t i = 0; i < sample->counts; i++)
        sum += bits(rtl_zigzag(counts[i] - expected(&model, i)));
    return sum;
}

/* Changing how far back one looks takes some bits, too. */
#define COST_OF_CHANGE 6u

/* How far back the sample is that this one is most like: as far as the one before it looked, one
 * that has a count in common, or the last. */
static uint32_t choose(const struct rtl_sample_codec *codec, const struct rtl_sample *sample,
                       const uint64_t *counts, uint32_t last)
{
    const struct history *history = &codec->history;
    uint32_t best = last <= history->count ? last : 0;
    unsigned least = cost(history, sample, counts, best);
    for (uint32_t i = 0; i <= CLUES && i <= sample->counts && least > COST_OF_CHANGE; i++) {
        uint32_t back = 1;
        if (i > 0) {
            uint32_t place = codec->found[hash(counts[i - 1], i - 1)];
            back = place ? history->count - (place - 1) : 0;
        }
        if (back == best || back > history->count)
            continue;
        unsigned sum = cost(history, sample, counts, back) + COST_OF_CHANGE;
        if (sum < least) {
            least = sum;
            best = back;
        }
    }
    return best;
}

static void remember(struct rtl_sample_codec *codec, const struct rtl_sample *sample,
                     const uint64_t *counts)
{
    for (uint32_t i = 0; i < CLUES && i < sample->counts; i++)
        codec->found[hash(counts[i], i)] = codec->history.count + 1;
}

static void put_counts(struct rtl_sample_codec *codec, const struct rtl_sample *sample,
                       const uint64_t *counts, uint32_t back)
{
    struct model model = model_of(&codec->history, back);
    for (uint32_t i = 0; i < sample->counts; i++)
        rtl_columns_put(&codec->columns, COLUMN_COUNT + i % COUNT_COLUMNS,
                        rtl_zigzag(counts[i] - expected(&model, i)));
}

static void put_sample(struct rtl_sample_codec *codec, const struct rtl_sample *sample,
                       const uint64_t *counts, uint32_t back)
{
    struct history *history = &codec->history;
    struct rtl_columns *columns = &codec->columns;
    rtl_columns_put(columns, COLUMN_OWNER, rtl_zigzag(sample->owner - history->owner));
    rtl_columns_put(columns, COLUMN_AGENT, rtl_zigzag32(sample->agent - history->agent));
    rtl_columns_put(columns, COLUMN_COUNTS, sample->counts);
    rtl_columns_put(columns, COLUMN_FLAGS, sample->flags);
    rtl_columns_put(columns, COLUMN_BACK, back);
    put_counts(codec, sample, counts, back);
    remember(codec, sample, counts);
    history_add(history, sample);
}

static uint32_t checksum(const struct rtl_sample_chunk *chunk, const unsigned char *data,
                         size_t size)
{
    const uint64_t fields[] = {chunk->process, chunk->queue,     chunk->samples,
                               chunk->counts,  chunk->owner_min, chunk->owner_max};
    return rtl_checksum_row(fields, sizeof fields / sizeof *fields, data, size);
}

static void describe(struct rtl_sample_chunk *chunk, const struct rtl_sample *samples,
                     uint32_t count)
{
    chunk->samples = count;
    chunk->counts = 0;
    chunk->owner_min = chunk->owner_max = samples[0].owner;
    for (uint32_t i = 0; i < count; i++) {
        chunk->counts += samples[i].counts;
        if (samples[i].owner < chunk->owner_min)
            chunk->owner_min = samples[i].owner;
        if (samples[i].owner > chunk->owner_max)
            chunk->owner_max = samples[i].owner;
    }
}

int rtl_sample_encode(struct rtl_sample_codec *codec, const struct rtl_sample *samples,
                      uint32_t count, const uint64_t *counts, struct rtl_sample_chunk *chunk,
                      const unsigned char **data, size_t *size)
{
    uint32_t back = 0;
    describe(chunk, samples, count);
    history_begin(&codec->history, chunk, samples, counts);
    memset(codec->found, 0, sizeof codec->found);
    rtl_columns_begin(&codec->columns);
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_sample *sample = &samples[i];
        back = choose(codec, sample, counts + sample->first, back);
        put_sample(codec, sample, counts + sample->first, back);
    }
    if (rtl_columns_pack(&codec->columns, data, size) != 0)
        return -1;
    chunk->checksum = checksum(chunk, *data, *size);
    return 0;
}

/* Unpacking. */

int rtl_sample_intact(const struct rtl_sample_chunk *chunk, const unsigned char *data, size_t size)
{
    return chunk->samples > 0 && chunk->samples <= RTL_CHUNK_SAMPLES_MAX &&
           chunk->counts <= RTL_CHUNK_COUNTS_MAX && chunk->checksum == checksum(chunk, data, size);
}

/* The inverse of put_sample but for the counts; how far back it looks goes into `back`. False if a
 * number does not fit its field. */
static bool get_sample(struct rtl_sample_codec *codec, struct rtl_sample *sample, uint32_t *back)
{
    const struct history *history = &codec->history;
    uint64_t in[COLUMN_COUNT];
    for (unsigned column = 0; column < COLUMN_COUNT; column++)
        if (!rtl_columns_get(&codec->columns, column, &in[column]))
            return false;
    if (in[COLUMN_AGENT] > UINT32_MAX || in[COLUMN_COUNTS] > RTL_CHUNK_COUNTS_MAX ||
        in[COLUMN_FLAGS] > UINT32_MAX || in[COLUMN_BACK] > history->count)
        return false;
    sample->owner = history->owner + rtl_unzigzag(in[COLUMN_OWNER]);
    sample->agent = history->agent + rtl_unzigzag32((uint32_t)in[COLUMN_AGENT]);
    sample->counts = (uint32_t)in[COLUMN_COUNTS];
    sample->flags = (uint32_t)in[COLUMN_FLAGS];
    *back = (uint32_t)in[COLUMN_BACK];
    return true;
}

static bool get_counts(struct rtl_sample_codec *codec, const struct rtl_sample *sample,
                       uint32_t back, uint64_t *counts)
{
    struct model model = model_of(&codec->history, back);
    for (uint32_t i = 0; i < sample->counts; i++) {
        uint64_t folded = 0;
        if (!rtl_columns_get(&codec->columns, COLUMN_COUNT + i % COUNT_COLUMNS, &folded))
            return false;
        counts[i] = expected(&model, i) + rtl_unzigzag(folded);
    }
    return true;
}

static bool within(const struct rtl_sample_chunk *chunk, const struct rtl_sample *sample)
{
    return sample->owner >= chunk->owner_min && sample->owner <= chunk->owner_max;
}

int rtl_sample_decode(struct rtl_sample_codec *codec, const struct rtl_sample_chunk *chunk,
                      const unsigned char *data, size_t size, struct rtl_sample *samples,
                      uint64_t *counts)
{
    size_t most = chunk->samples > chunk->counts ? chunk->samples : chunk->counts;
    uint32_t used = 0;
    if (!rtl_columns_open(&codec->columns, data, size, most))
        return codec->columns.short_of_memory ? -2 : -1;
    history_begin(&codec->history, chunk, samples, counts);
    for (uint32_t i = 0; i < chunk->samples; i++) {
        struct rtl_sample *sample = &samples[i];
        uint32_t back = 0;
        if (!get_sample(codec, sample, &back) || sample->counts > chunk->counts - used ||
            !within(chunk, sample) || !get_counts(codec, sample, back, counts + used))
            return -1;
        sample->first = used;
        used += sample->counts;
        history_add(&codec->history, sample);
    }
    return used == chunk->counts && rtl_columns_ended(&codec->columns) ? 0 : -1;
}
