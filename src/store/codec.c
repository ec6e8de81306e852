#include "store/codec.h"

#include "store/checksum.h"
#include "store/columns.h"

#include <limits.h>
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

/* A chunk that is unpacked. */
struct reading {
    struct rtl_chunk chunk;
    uint32_t left;   /* kernels */
    unsigned wanted; /* enum rtl_codec_columns; each with what it implies */
};

struct rtl_codec {
    struct history history;
    struct reading reading;
    struct rtl_codec_block block; /* of rtl_codec_decode */
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

static void history_add(struct history *history, struct expectation *expected,
                        const struct rtl_wire_kernel *kernel)
{
    rtl_learn(&expected->gap, kernel->start - history->end - expected->gap);
    rtl_learn(&expected->duration, kernel->end - kernel->start - expected->duration);
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

/* Unpacking: columns first, a block at a time, then what depends on the kernel before. */

/* What is looked at for what is wanted. */
static unsigned columns_of(unsigned wanted)
{
    unsigned columns = wanted & RTL_CODEC_WHOLE ? UINT_MAX : 0;
    if (wanted & RTL_CODEC_SHAPES)
        columns |= 1u << COLUMN_SHAPE;
    if (wanted & RTL_CODEC_CORRELATIONS)
        columns |= 1u << COLUMN_CORRELATION;
    if (wanted & RTL_CODEC_TIMES)
        columns |= 1u << COLUMN_GAP | 1u << COLUMN_DURATION | 1u << COLUMN_ORDINAL;
    return columns;
}

static unsigned with_implied(unsigned wanted)
{
    if (wanted & RTL_CODEC_WHOLE)
        wanted |= RTL_CODEC_TIMES | RTL_CODEC_CORRELATIONS;
    return wanted & RTL_CODEC_TIMES ? wanted | RTL_CODEC_SHAPES : wanted;
}

bool rtl_codec_intact(const struct rtl_chunk *chunk, const unsigned char *data, size_t size)
{
    return chunk->checksum == checksum(chunk, data, size);
}

int rtl_codec_open_some(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                        const unsigned char *data, size_t size, unsigned wanted)
{
    if (chunk->kernels == 0 || chunk->kernels > RTL_CHUNK_KERNELS_MAX ||
        !rtl_codec_intact(chunk, data, size))
        return -1;
    wanted = with_implied(wanted);
    if (!rtl_columns_open_some(&codec->columns, data, size, chunk->kernels, columns_of(wanted)))
        return codec->columns.short_of_memory ? -2 : -1;
    codec->reading = (struct reading){*chunk, chunk->kernels, wanted};
    history_begin(&codec->history, chunk);
    return 0;
}

int rtl_codec_open(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                   const unsigned char *data, size_t size, bool whole)
{
    return rtl_codec_open_some(codec, chunk, data, size, whole ? RTL_CODEC_WHOLE : RTL_CODEC_TIMES);
}

/* Takes numbers of 32 bits. */
static bool take(struct rtl_codec *codec, unsigned column, uint32_t *numbers, uint32_t count)
{
    uint64_t wide[RTL_CODEC_BLOCK];
    uint64_t bits = 0;
    if (!rtl_columns_take(&codec->columns, column, wide, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        bits |= wide[i];
        numbers[i] = (uint32_t)wide[i];
    }
    return bits <= UINT32_MAX;
}

static void add_up(uint64_t *numbers, uint32_t count, uint64_t *last)
{
    uint64_t sum = *last;
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = sum += rtl_unzigzag(numbers[i]);
    *last = sum;
}

static void add_up32(uint32_t *numbers, uint32_t count, uint32_t *last)
{
    uint32_t sum = *last;
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = sum += rtl_unzigzag32(numbers[i]);
    *last = sum;
}

/* Turns gaps (in `start`) and durations (in `end`) into times, the inverse of predict. */
static void restore_times(struct history *history, struct rtl_codec_block *block)
{
    uint64_t last = history->end;
    for (uint32_t i = 0; i < block->count; i++) {
        struct expectation *expected = expectation_of(history, block->shape[i], block->ordinal[i]);
        uint64_t gap = rtl_unzigzag(block->start[i]);
        uint64_t duration = rtl_unzigzag(block->end[i]);
        uint64_t start = last + expected->gap + gap;
        last = start + expected->duration + duration;
        rtl_learn(&expected->gap, gap);
        rtl_learn(&expected->duration, duration);
        block->start[i] = start;
        block->end[i] = last;
    }
    history->end = last;
}

/* True if the kernels lie where the chunk's row says; readers rely on it. */
static bool within(const struct reading *reading, const struct rtl_codec_block *block)
{
    const struct rtl_chunk *chunk = &reading->chunk;
    bool timed = (reading->wanted & RTL_CODEC_TIMES) != 0;
    bool whole = (reading->wanted & RTL_CODEC_WHOLE) != 0;
    uint64_t span = chunk->end_max - chunk->start_min;
    uint64_t packets = chunk->packet_max - chunk->packet_min;
    /* Bounds the wrong way round hold everything, modulo 2^64. */
    bool outside = chunk->start_min > chunk->end_max || chunk->packet_min > chunk->packet_max;
    for (uint32_t i = 0; timed && i < block->count; i++)
        outside |= block->start[i] - chunk->start_min > span || block->end[i] > chunk->end_max;
    for (uint32_t i = 0; whole && i < block->count; i++)
        outside |= block->packet[i] - chunk->packet_min > packets;
    return !outside;
}

static bool take_times(struct rtl_codec *codec, struct rtl_codec_block *block)
{
    uint32_t count = block->count;
    if (!rtl_columns_take(&codec->columns, COLUMN_GAP, block->start, count) ||
        !rtl_columns_take(&codec->columns, COLUMN_DURATION, block->end, count) ||
        !take(codec, COLUMN_ORDINAL, block->ordinal, count))
        return false;
    add_up32(block->ordinal, count, &codec->history.ordinal);
    restore_times(&codec->history, block);
    return true;
}

static bool take_correlations(struct rtl_codec *codec, struct rtl_codec_block *block)
{
    if (!rtl_columns_take(&codec->columns, COLUMN_CORRELATION, block->correlation, block->count))
        return false;
    add_up(block->correlation, block->count, &codec->history.correlation);
    return true;
}

static bool take_rest(struct rtl_codec *codec, struct rtl_codec_block *block)
{
    struct history *history = &codec->history;
    uint32_t count = block->count;
    if (!rtl_columns_take(&codec->columns, COLUMN_PACKET, block->packet, count) ||
        !take(codec, COLUMN_LAUNCH, block->launch, count))
        return false;
    add_up(block->packet, count, &history->packet);
    add_up32(block->launch, count, &history->launch);
    return true;
}

int rtl_codec_next(struct rtl_codec *codec, struct rtl_codec_block *block)
{
    struct reading *reading = &codec->reading;
    unsigned wanted = reading->wanted;
    uint32_t count = reading->left < RTL_CODEC_BLOCK ? reading->left : RTL_CODEC_BLOCK;
    block->count = count;
    if (count == 0)
        return 0;
    if ((wanted & RTL_CODEC_SHAPES && !take(codec, COLUMN_SHAPE, block->shape, count)) ||
        (wanted & RTL_CODEC_TIMES && !take_times(codec, block)) ||
        (wanted & RTL_CODEC_CORRELATIONS && !take_correlations(codec, block)) ||
        (wanted & RTL_CODEC_WHOLE && !take_rest(codec, block)))
        return -1;
    reading->left -= count;
    bool ended = reading->left > 0 || rtl_columns_ended(&codec->columns);
    return ended && within(reading, block) ? 0 : -1;
}

void rtl_codec_give(const struct rtl_codec_block *block, uint32_t queue,
                    struct rtl_wire_kernel *kernels)
{
    for (uint32_t i = 0; i < block->count; i++)
        kernels[i] = (struct rtl_wire_kernel){.packet = block->packet[i],
                                              .start = block->start[i],
                                              .end = block->end[i],
                                              .correlation = block->correlation[i],
                                              .queue = queue,
                                              .shape = block->shape[i],
                                              .launch = block->launch[i],
                                              .ordinal = block->ordinal[i]};
}

int rtl_codec_decode(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                     const unsigned char *data, size_t size, struct rtl_wire_kernel *kernels)
{
    int opened = rtl_codec_open(codec, chunk, data, size, true);
    if (opened != 0)
        return opened;
    for (;;) {
        if (rtl_codec_next(codec, &codec->block) != 0)
            return -1;
        if (codec->block.count == 0)
            return 0;
        rtl_codec_give(&codec->block, chunk->queue, kernels);
        kernels += codec->block.count;
    }
}
