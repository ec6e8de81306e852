#include "store/codec.h"

#include "store/checksum.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

enum column {
    COLUMN_PACKET,
    COLUMN_GAP,
    COLUMN_DURATION,
    COLUMN_SHAPE,
    COLUMN_CORRELATION,
    COLUMN_LAUNCH,
    COLUMN_ORDINAL,
    COLUMNS
};

#define EXPECTATIONS 4096u

/* What the last kernels of the same shape and ordinal took. */
struct expectation {
    uint64_t gap, duration;
};

/* What is known when a kernel is predicted: the same on both sides. */
struct history {
    uint64_t packet, end, correlation;
    uint32_t launch, ordinal;
    struct expectation expected[EXPECTATIONS];
};

struct rtl_codec {
    struct history history;
    struct rtl_columns columns;
    struct rtl_column column[COLUMNS];
};

struct rtl_codec *rtl_codec_new(void)
{
    struct rtl_codec *codec = calloc(1, sizeof *codec);
    if (codec)
        codec->columns = (struct rtl_columns){.columns = codec->column, .count = COLUMNS};
    return codec;
}

void rtl_codec_free(struct rtl_codec *codec)
{
    if (codec)
        rtl_columns_free(&codec->columns);
    free(codec);
}

static void history_begin(struct history *history, const struct rtl_chunk *chunk)
{
    memset(history, 0, sizeof *history);
    history->packet = chunk->packet_min - 1;
    history->end = chunk->start_min;
    history->launch = RTL_NONE;
    history->ordinal = RTL_NONE;
}

static struct expectation *expectation_of(struct history *history, uint32_t shape, uint32_t node)
{
    uint32_t hash = (shape * 0x9E3779B1u) ^ (node * 0x85EBCA77u);
    return &history->expected[hash >> 20];
}

_Static_assert(EXPECTATIONS == 1u << (32 - 20), "the hash picks one of all expectations");

/* Moves an expectation a quarter of the way to what came, rounded towards zero, or all the way the
 * first time: jitter is averaged, a lasting change is followed. Differences are taken modulo 2^64,
 * so that extremes are exact. */
static void learn(uint64_t *expected, uint64_t value)
{
    uint64_t away = value - *expected;
    uint64_t distance = away >> 63 ? 0 - away : away;
    uint64_t step = *expected == 0 ? distance : distance / 4;
    *expected += away >> 63 ? 0 - step : step;
}

static void history_add(struct history *history, struct expectation *expected,
                        const struct rtl_wire_kernel *kernel)
{
    learn(&expected->gap, kernel->start - history->end);
    learn(&expected->duration, kernel->end - kernel->start);
    history->packet = kernel->packet;
    history->end = kernel->end;
    history->correlation = kernel->correlation;
    history->launch = kernel->launch;
    history->ordinal = kernel->ordinal;
}

/* The seven numbers that stand for a kernel. */
static void predict(struct history *history, const struct rtl_wire_kernel *kernel,
                    uint64_t out[COLUMNS])
{
    struct expectation *expected = expectation_of(history, kernel->shape, kernel->ordinal);
    out[COLUMN_PACKET] = rtl_zigzag(kernel->packet - history->packet);
    out[COLUMN_GAP] = rtl_zigzag(kernel->start - history->end - expected->gap);
    out[COLUMN_DURATION] = rtl_zigzag(kernel->end - kernel->start - expected->duration);
    out[COLUMN_SHAPE] = kernel->shape;
    out[COLUMN_CORRELATION] = rtl_zigzag(kernel->correlation - history->correlation);
    out[COLUMN_LAUNCH] = rtl_zigzag32(kernel->launch - history->launch);
    out[COLUMN_ORDINAL] = rtl_zigzag32(kernel->ordinal - history->ordinal);
    history_add(history, expected, kernel);
}

/* The inverse of predict. False if a number does not fit its field. */
static bool restore(struct history *history, const uint64_t in[COLUMNS],
                    struct rtl_wire_kernel *kernel)
{
    if (in[COLUMN_SHAPE] > UINT32_MAX || in[COLUMN_LAUNCH] > UINT32_MAX ||
        in[COLUMN_ORDINAL] > UINT32_MAX)
        return false;
    kernel->shape = (uint32_t)in[COLUMN_SHAPE];
    kernel->launch = history->launch + rtl_unzigzag32((uint32_t)in[COLUMN_LAUNCH]);
    kernel->ordinal = history->ordinal + rtl_unzigzag32((uint32_t)in[COLUMN_ORDINAL]);
    struct expectation *expected = expectation_of(history, kernel->shape, kernel->ordinal);
    kernel->packet = history->packet + rtl_unzigzag(in[COLUMN_PACKET]);
    kernel->start = history->end + expected->gap + rtl_unzigzag(in[COLUMN_GAP]);
    kernel->end = kernel->start + expected->duration + rtl_unzigzag(in[COLUMN_DURATION]);
    kernel->correlation = history->correlation + rtl_unzigzag(in[COLUMN_CORRELATION]);
    history_add(history, expected, kernel);
    return true;
}

static uint32_t checksum(const struct rtl_chunk *chunk, const unsigned char *data, size_t size)
{
    const uint64_t fields[] = {chunk->process,    chunk->queue,      chunk->kernels,
                               chunk->packet_min, chunk->packet_max, chunk->start_min,
                               chunk->end_max};
    return rtl_checksum_row(fields, sizeof fields / sizeof *fields, data, size);
}

static void describe(struct rtl_chunk *chunk, const struct rtl_wire_kernel *kernels, uint32_t count)
{
    chunk->queue = kernels[0].queue;
    chunk->kernels = count;
    chunk->packet_min = chunk->packet_max = kernels[0].packet;
    chunk->start_min = kernels[0].start;
    chunk->end_max = kernels[0].end;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_wire_kernel *kernel = &kernels[i];
        if (kernel->packet < chunk->packet_min)
            chunk->packet_min = kernel->packet;
        if (kernel->packet > chunk->packet_max)
            chunk->packet_max = kernel->packet;
        if (kernel->start < chunk->start_min)
            chunk->start_min = kernel->start;
        uint64_t last = kernel->end > kernel->start ? kernel->end : kernel->start;
        if (last > chunk->end_max)
            chunk->end_max = last;
    }
}

int rtl_codec_encode(struct rtl_codec *codec, const struct rtl_wire_kernel *kernels, uint32_t count,
                     struct rtl_chunk *chunk, const unsigned char **data, size_t *size)
{
    describe(chunk, kernels, count);
    history_begin(&codec->history, chunk);
    rtl_columns_begin(&codec->columns);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t numbers[COLUMNS];
        predict(&codec->history, &kernels[i], numbers);
        for (unsigned column = 0; column < COLUMNS; column++)
            rtl_columns_put(&codec->columns, column, numbers[column]);
    }
    if (rtl_columns_pack(&codec->columns, data, size) != 0)
        return -1;
    chunk->checksum = checksum(chunk, *data, *size);
    return 0;
}

static bool unpack(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                   struct rtl_wire_kernel *kernels)
{
    history_begin(&codec->history, chunk);
    for (uint32_t i = 0; i < chunk->kernels; i++) {
        uint64_t numbers[COLUMNS];
        for (unsigned column = 0; column < COLUMNS; column++)
            if (!rtl_columns_get(&codec->columns, column, &numbers[column]))
                return false;
        if (!restore(&codec->history, numbers, &kernels[i]))
            return false;
        kernels[i].queue = chunk->queue;
    }
    return rtl_columns_ended(&codec->columns);
}

int rtl_codec_decode(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                     const unsigned char *data, size_t size, struct rtl_wire_kernel *kernels)
{
    if (chunk->kernels == 0 || chunk->kernels > RTL_CHUNK_KERNELS_MAX ||
        chunk->checksum != checksum(chunk, data, size))
        return -1;
    if (!rtl_columns_open(&codec->columns, data, size, chunk->kernels))
        return codec->columns.short_of_memory ? -2 : -1;
    return unpack(codec, chunk, kernels) ? 0 : -1;
}
