#include "store/api_codec.h"

#include "store/checksum.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

/* Arguments have as many columns; the next word after the last goes into the first again. */
#define ARGUMENT_COLUMNS 8u

enum column {
    COLUMN_GAP,
    COLUMN_DURATION,
    COLUMN_CORRELATION,
    COLUMN_RANGE,
    COLUMN_STREAM,
    COLUMN_CALL,
    COLUMN_THREAD,
    COLUMN_RESULT,
    COLUMN_WORDS,
    COLUMN_ARGUMENT,
    COLUMNS = COLUMN_ARGUMENT + ARGUMENT_COLUMNS
};

#define LANES      256u
#define REMEMBERED 4096u

/* The last call of a thread; threads whose numbers collide share one, on both sides. */
struct lane {
    uint64_t end, range;
    uint32_t stream; /* as stored: 0 for none */
};

/* What is known when a call is predicted: the same on both sides. */
struct history {
    uint64_t correlation;
    uint32_t thread;
    struct lane lanes[LANES];
    uint64_t words[REMEMBERED];
};

struct rtl_api_codec {
    struct history history;
    struct rtl_columns columns;
    struct rtl_column column[COLUMNS];
};

struct rtl_api_codec *rtl_api_codec_new(void)
{
    struct rtl_api_codec *codec = calloc(1, sizeof *codec);
    if (codec)
        codec->columns = (struct rtl_columns){.columns = codec->column, .count = COLUMNS};
    return codec;
}

void rtl_api_codec_free(struct rtl_api_codec *codec)
{
    if (codec)
        rtl_columns_free(&codec->columns);
    free(codec);
}

static void history_begin(struct history *history, const struct rtl_api_chunk *chunk)
{
    memset(history, 0, sizeof *history);
    history->correlation = chunk->correlation_min - 1;
    for (unsigned i = 0; i < LANES; i++)
        history->lanes[i].end = chunk->start_min;
}

static struct lane *lane_of(struct history *history, uint32_t thread)
{
    return &history->lanes[(thread * 0x9E3779B1u) >> 24];
}

_Static_assert(LANES == 1u << (32 - 24), "the hash picks one of all lanes");

/* Where the last word at a place of the arguments of an entry in a thread is kept. */
static uint64_t *remembered(struct history *history, const struct rtl_call *call, uint32_t word)
{
    uint32_t hash =
        (call->call * 0x9E3779B1u) ^ (word * 0x85EBCA77u) ^ (call->thread * 0xC2B2AE3Du);
    return &history->words[hash >> 20];
}

_Static_assert(REMEMBERED == 1u << (32 - 20), "the hash picks one of all words");

static void history_add(struct history *history, struct lane *lane, const struct rtl_call *call,
                        uint32_t stream)
{
    *lane = (struct lane){.end = call->end, .range = call->range, .stream = stream};
    history->correlation = call->correlation;
    history->thread = call->thread;
}

static void put_call(struct rtl_api_codec *codec, const struct rtl_call *call)
{
    struct history *history = &codec->history;
    struct rtl_columns *columns = &codec->columns;
    struct lane *lane = lane_of(history, call->thread);
    uint32_t stream = call->stream + 1; /* none is all ones */
    rtl_columns_put(columns, COLUMN_GAP, rtl_zigzag(call->start - lane->end));
    rtl_columns_put(columns, COLUMN_DURATION, rtl_zigzag(call->end - call->start));
    rtl_columns_put(columns, COLUMN_CORRELATION,
                    rtl_zigzag(call->correlation - history->correlation));
    rtl_columns_put(columns, COLUMN_RANGE, rtl_zigzag(call->range - lane->range));
    rtl_columns_put(columns, COLUMN_STREAM, rtl_zigzag32(stream - lane->stream));
    rtl_columns_put(columns, COLUMN_CALL, call->call);
    rtl_columns_put(columns, COLUMN_THREAD, rtl_zigzag32(call->thread - history->thread));
    rtl_columns_put(columns, COLUMN_RESULT, rtl_zigzag32((uint32_t)call->result));
    rtl_columns_put(columns, COLUMN_WORDS, call->words);
    history_add(history, lane, call, stream);
}

static void put_words(struct rtl_api_codec *codec, const struct rtl_call *call,
                      const uint64_t *words)
{
    for (uint32_t i = 0; i < call->words; i++) {
        uint64_t *last = remembered(&codec->history, call, i);
        rtl_columns_put(&codec->columns, COLUMN_ARGUMENT + i % ARGUMENT_COLUMNS,
                        rtl_zigzag(words[i] - *last));
        *last = words[i];
    }
}

static uint32_t checksum(const struct rtl_api_chunk *chunk, const unsigned char *data, size_t size)
{
    const uint64_t fields[] = {chunk->process,        chunk->calls,   chunk->words,
                               chunk->start_min,      chunk->end_max, chunk->correlation_min,
                               chunk->correlation_max};
    return rtl_checksum_row(fields, sizeof fields / sizeof *fields, data, size);
}

static void describe(struct rtl_api_chunk *chunk, const struct rtl_call *calls, uint32_t count)
{
    chunk->calls = count;
    chunk->words = 0;
    chunk->start_min = calls[0].start;
    chunk->end_max = calls[0].end;
    chunk->correlation_min = chunk->correlation_max = calls[0].correlation;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_call *call = &calls[i];
        chunk->words += call->words;
        if (call->start < chunk->start_min)
            chunk->start_min = call->start;
        uint64_t last = call->end > call->start ? call->end : call->start;
        if (last > chunk->end_max)
            chunk->end_max = last;
        if (call->correlation < chunk->correlation_min)
            chunk->correlation_min = call->correlation;
        if (call->correlation > chunk->correlation_max)
            chunk->correlation_max = call->correlation;
    }
}

int rtl_api_encode(struct rtl_api_codec *codec, const struct rtl_call *calls, uint32_t count,
                   const uint64_t *words, struct rtl_api_chunk *chunk, const unsigned char **data,
                   size_t *size)
{
    describe(chunk, calls, count);
    history_begin(&codec->history, chunk);
    rtl_columns_begin(&codec->columns);
    for (uint32_t i = 0; i < count; i++) {
        put_call(codec, &calls[i]);
        put_words(codec, &calls[i], words);
        words += calls[i].words;
    }
    if (rtl_columns_pack(&codec->columns, data, size) != 0)
        return -1;
    chunk->checksum = checksum(chunk, *data, *size);
    return 0;
}

/* The numbers of a call but for its arguments. */
static bool get_numbers(struct rtl_api_codec *codec, uint64_t numbers[COLUMN_ARGUMENT])
{
    for (unsigned column = 0; column < COLUMN_ARGUMENT; column++)
        if (!rtl_columns_get(&codec->columns, column, &numbers[column]))
            return false;
    return numbers[COLUMN_STREAM] <= UINT32_MAX && numbers[COLUMN_CALL] <= UINT32_MAX &&
           numbers[COLUMN_THREAD] <= UINT32_MAX && numbers[COLUMN_RESULT] <= UINT32_MAX &&
           numbers[COLUMN_WORDS] <= RTL_CHUNK_WORDS_MAX;
}

/* The inverse of put_call. False if a number does not fit its field. */
static bool get_call(struct rtl_api_codec *codec, struct rtl_call *call)
{
    struct history *history = &codec->history;
    uint64_t in[COLUMN_ARGUMENT];
    if (!get_numbers(codec, in))
        return false;
    call->thread = history->thread + rtl_unzigzag32((uint32_t)in[COLUMN_THREAD]);
    struct lane *lane = lane_of(history, call->thread);
    uint32_t stream = lane->stream + rtl_unzigzag32((uint32_t)in[COLUMN_STREAM]);
    call->start = lane->end + rtl_unzigzag(in[COLUMN_GAP]);
    call->end = call->start + rtl_unzigzag(in[COLUMN_DURATION]);
    call->correlation = history->correlation + rtl_unzigzag(in[COLUMN_CORRELATION]);
    call->range = lane->range + rtl_unzigzag(in[COLUMN_RANGE]);
    call->stream = stream - 1;
    call->call = (uint32_t)in[COLUMN_CALL];
    call->result = (int32_t)rtl_unzigzag32((uint32_t)in[COLUMN_RESULT]);
    call->words = (uint32_t)in[COLUMN_WORDS];
    history_add(history, lane, call, stream);
    return true;
}

static bool get_words(struct rtl_api_codec *codec, const struct rtl_call *call, uint64_t *words)
{
    for (uint32_t i = 0; i < call->words; i++) {
        uint64_t folded = 0;
        if (!rtl_columns_get(&codec->columns, COLUMN_ARGUMENT + i % ARGUMENT_COLUMNS, &folded))
            return false;
        uint64_t *last = remembered(&codec->history, call, i);
        *last += rtl_unzigzag(folded);
        words[i] = *last;
    }
    return true;
}

bool rtl_api_sum_is_right(const struct rtl_api_chunk *chunk, const unsigned char *data, size_t size)
{
    return chunk->checksum == checksum(chunk, data, size);
}

int rtl_api_intact(const struct rtl_api_chunk *chunk, const unsigned char *data, size_t size)
{
    return chunk->calls > 0 && chunk->calls <= RTL_CHUNK_CALLS_MAX &&
           chunk->words <= RTL_CHUNK_WORDS_MAX && rtl_api_sum_is_right(chunk, data, size);
}

int rtl_api_decode(struct rtl_api_codec *codec, const struct rtl_api_chunk *chunk,
                   const unsigned char *data, size_t size, struct rtl_call *calls, uint64_t *words)
{
    size_t most = chunk->calls > chunk->words ? chunk->calls : chunk->words;
    uint32_t used = 0;
    if (!rtl_columns_open(&codec->columns, data, size, most))
        return codec->columns.short_of_memory ? -2 : -1;
    history_begin(&codec->history, chunk);
    for (uint32_t i = 0; i < chunk->calls; i++) {
        struct rtl_call *call = &calls[i];
        if (!get_call(codec, call) || call->words > chunk->words - used ||
            !get_words(codec, call, words + used))
            return -1;
        call->first = used;
        used += call->words;
    }
    return used == chunk->words && rtl_columns_ended(&codec->columns) ? 0 : -1;
}

int rtl_api_correlations(struct rtl_api_codec *codec, const struct rtl_api_chunk *chunk,
                         const unsigned char *data, size_t size, uint64_t *correlations)
{
    size_t most = chunk->calls > chunk->words ? chunk->calls : chunk->words;
    if (!rtl_columns_open_some(&codec->columns, data, size, most, 1u << COLUMN_CORRELATION))
        return codec->columns.short_of_memory ? -2 : -1;
    if (!rtl_columns_take(&codec->columns, COLUMN_CORRELATION, correlations, chunk->calls))
        return -1;
    uint64_t last = chunk->correlation_min - 1;
    bool outside = false;
    for (uint32_t i = 0; i < chunk->calls; i++) {
        correlations[i] = last += rtl_unzigzag(correlations[i]);
        outside |= last < chunk->correlation_min || last > chunk->correlation_max;
    }
    return !outside && rtl_columns_ended(&codec->columns) ? 0 : -1;
}

bool rtl_api_within(const struct rtl_api_chunk *chunk, const struct rtl_call *calls)
{
    for (uint32_t i = 0; i < chunk->calls; i++) {
        const struct rtl_call *call = &calls[i];
        if (call->start < chunk->start_min || call->start > chunk->end_max ||
            call->end > chunk->end_max || call->correlation < chunk->correlation_min ||
            call->correlation > chunk->correlation_max)
            return false;
    }
    return true;
}
