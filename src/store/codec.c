#include "store/codec.h"

#include "store/checksum.h"
#include "store/varint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Measured with tests/store/bench_store.c: higher levels take several times as long for a few
 * hundredths of a byte per kernel, because what is left after prediction is noise. */
#define ZSTD_LEVEL 1

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

/* How a column's payload is stored. Values are in files. */
enum encoding {
    ENCODING_CONSTANT = 0, /* one varint, that of every kernel */
    ENCODING_PLAIN = 1,    /* a varint per kernel */
    ENCODING_ZSTD = 2      /* the length of the varints (a varint), then a zstd frame of them */
};

#define COLUMN_BYTES_MAX ((size_t)RTL_CHUNK_KERNELS_MAX * RTL_VARINT_MAX)

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
    unsigned char *columns[COLUMNS]; /* varints, COLUMN_BYTES_MAX each, made when first needed */
    unsigned char *data;             /* a packed chunk */
    size_t data_capacity;
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
};

struct rtl_codec *rtl_codec_new(void)
{
    return calloc(1, sizeof(struct rtl_codec));
}

void rtl_codec_free(struct rtl_codec *codec)
{
    if (!codec)
        return;
    for (int i = 0; i < COLUMNS; i++)
        free(codec->columns[i]);
    free(codec->data);
    (void)ZSTD_freeCCtx(codec->compress);
    (void)ZSTD_freeDCtx(codec->decompress);
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

static uint32_t difference32(uint32_t value, uint32_t before)
{
    uint32_t difference = value - before;
    return difference << 1 ^ (0 - (difference >> 31));
}

static uint32_t sum32(uint32_t before, uint32_t folded)
{
    return before + (folded >> 1 ^ (0 - (folded & 1)));
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
    out[COLUMN_LAUNCH] = difference32(kernel->launch, history->launch);
    out[COLUMN_ORDINAL] = difference32(kernel->ordinal, history->ordinal);
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
    kernel->launch = sum32(history->launch, (uint32_t)in[COLUMN_LAUNCH]);
    kernel->ordinal = sum32(history->ordinal, (uint32_t)in[COLUMN_ORDINAL]);
    struct expectation *expected = expectation_of(history, kernel->shape, kernel->ordinal);
    kernel->packet = history->packet + rtl_unzigzag(in[COLUMN_PACKET]);
    kernel->start = history->end + expected->gap + rtl_unzigzag(in[COLUMN_GAP]);
    kernel->end = kernel->start + expected->duration + rtl_unzigzag(in[COLUMN_DURATION]);
    kernel->correlation = history->correlation + rtl_unzigzag(in[COLUMN_CORRELATION]);
    history_add(history, expected, kernel);
    return true;
}

/* The checksum covers the row's fields too, as little-endian bytes in the order of the struct. */
static uint32_t checksum(const struct rtl_chunk *chunk, const unsigned char *data, size_t size)
{
    const uint64_t fields[] = {chunk->process,    chunk->queue,      chunk->kernels,
                               chunk->packet_min, chunk->packet_max, chunk->start_min,
                               chunk->end_max};
    unsigned char bytes[sizeof fields];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(fields[i / 8] >> i % 8 * 8);
    return rtl_crc32c(rtl_crc32c(0, bytes, sizeof bytes), data, size);
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

static bool prepare_columns(struct rtl_codec *codec)
{
    for (int i = 0; i < COLUMNS; i++)
        if (!codec->columns[i] && !(codec->columns[i] = malloc(COLUMN_BYTES_MAX)))
            return false;
    return true;
}

static bool prepare_encode(struct rtl_codec *codec, uint32_t count)
{
    size_t column = ZSTD_compressBound((size_t)count * RTL_VARINT_MAX) + (size_t)3 * RTL_VARINT_MAX;
    if (codec->data_capacity < COLUMNS * column) {
        unsigned char *data = realloc(codec->data, COLUMNS * column);
        if (!data)
            return false;
        codec->data = data;
        codec->data_capacity = COLUMNS * column;
    }
    if (!codec->compress && !(codec->compress = ZSTD_createCCtx()))
        return false;
    return prepare_columns(codec);
}

static unsigned char *put_bytes(unsigned char *to, const unsigned char *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

/* Appends a column of `size` bytes of varints at `to`. */
static unsigned char *put_column(struct rtl_codec *codec, unsigned char *to, unsigned char *end,
                                 const unsigned char *varints, size_t size, size_t constant)
{
    if (constant) {
        *to++ = ENCODING_CONSTANT;
        to = rtl_varint_put(to, constant);
        return put_bytes(to, varints, constant);
    }
    unsigned char head[RTL_VARINT_MAX];
    size_t head_size = (size_t)(rtl_varint_put(head, size) - head);
    /* The frame is made where it will stand if lengths take the most bytes, then moved. */
    unsigned char *frame = to + 1 + (size_t)2 * RTL_VARINT_MAX;
    size_t frame_size =
        ZSTD_compressCCtx(codec->compress, frame, (size_t)(end - frame), varints, size, ZSTD_LEVEL);
    if (ZSTD_isError(frame_size) || head_size + frame_size >= size) {
        *to++ = ENCODING_PLAIN;
        to = rtl_varint_put(to, size);
        return put_bytes(to, varints, size);
    }
    *to++ = ENCODING_ZSTD;
    to = rtl_varint_put(to, head_size + frame_size);
    to = put_bytes(to, head, head_size);
    memmove(to, frame, frame_size);
    return to + frame_size;
}

int rtl_codec_encode(struct rtl_codec *codec, const struct rtl_wire_kernel *kernels, uint32_t count,
                     struct rtl_chunk *chunk, const unsigned char **data, size_t *size)
{
    if (!prepare_encode(codec, count))
        return -1;
    describe(chunk, kernels, count);
    history_begin(&codec->history, chunk);

    unsigned char *ends[COLUMNS];
    uint64_t first[COLUMNS] = {0};
    uint64_t varies[COLUMNS] = {0};
    memcpy(ends, codec->columns, sizeof ends);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t numbers[COLUMNS];
        predict(&codec->history, &kernels[i], numbers);
        if (i == 0)
            memcpy(first, numbers, sizeof first);
        for (int column = 0; column < COLUMNS; column++) {
            varies[column] |= numbers[column] ^ first[column];
            ends[column] = rtl_varint_put(ends[column], numbers[column]);
        }
    }

    unsigned char *to = codec->data;
    unsigned char *end = codec->data + codec->data_capacity;
    for (int column = 0; column < COLUMNS; column++) {
        size_t bytes = (size_t)(ends[column] - codec->columns[column]);
        size_t constant = varies[column] ? 0 : bytes / count;
        to = put_column(codec, to, end, codec->columns[column], bytes, constant);
    }
    *data = codec->data;
    *size = (size_t)(to - codec->data);
    chunk->checksum = checksum(chunk, *data, *size);
    return 0;
}

/* A column while it is unpacked. */
struct source {
    const unsigned char *next, *end;
    bool constant;
    uint64_t value;
};

/* Unpacks a zstd payload into the codec's buffer for the column. */
static bool inflate(struct rtl_codec *codec, int column, struct source *source, uint32_t kernels)
{
    uint64_t raw = 0;
    const unsigned char *frame = rtl_varint_get(source->next, source->end, &raw);
    if (!frame || raw > (uint64_t)kernels * RTL_VARINT_MAX)
        return false;
    size_t size = ZSTD_decompressDCtx(codec->decompress, codec->columns[column], (size_t)raw, frame,
                                      (size_t)(source->end - frame));
    if (ZSTD_isError(size) || size != raw)
        return false;
    source->next = codec->columns[column];
    source->end = source->next + size;
    return true;
}

/* Takes the column at `*from`. */
static bool open_column(struct rtl_codec *codec, int column, const unsigned char **from,
                        const unsigned char *end, uint32_t kernels, struct source *source)
{
    if (*from == end)
        return false;
    unsigned encoding = *(*from)++;
    uint64_t size = 0;
    const unsigned char *payload = rtl_varint_get(*from, end, &size);
    if (!payload || size > (size_t)(end - payload))
        return false;
    *source = (struct source){.next = payload, .end = payload + size};
    *from = source->end;
    switch (encoding) {
    case ENCODING_CONSTANT:
        source->constant = true;
        return rtl_varint_get(payload, source->end, &source->value) == source->end;
    case ENCODING_PLAIN:
        return true;
    case ENCODING_ZSTD:
        return inflate(codec, column, source, kernels);
    default:
        return false;
    }
}

static bool prepare_decode(struct rtl_codec *codec)
{
    if (!codec->decompress && !(codec->decompress = ZSTD_createDCtx()))
        return false;
    return prepare_columns(codec);
}

static bool next_number(struct source *source, uint64_t *number)
{
    if (source->constant) {
        *number = source->value;
        return true;
    }
    if (source->next < source->end && *source->next < 0x80) {
        *number = *source->next++;
        return true;
    }
    source->next = rtl_varint_get(source->next, source->end, number);
    return source->next != NULL;
}

static bool unpack(struct rtl_codec *codec, const struct rtl_chunk *chunk, struct source *sources,
                   struct rtl_wire_kernel *kernels)
{
    history_begin(&codec->history, chunk);
    for (uint32_t i = 0; i < chunk->kernels; i++) {
        uint64_t numbers[COLUMNS];
        for (int column = 0; column < COLUMNS; column++)
            if (!next_number(&sources[column], &numbers[column]))
                return false;
        if (!restore(&codec->history, numbers, &kernels[i]))
            return false;
        kernels[i].queue = chunk->queue;
    }
    for (int column = 0; column < COLUMNS; column++)
        if (!sources[column].constant && sources[column].next != sources[column].end)
            return false;
    return true;
}

int rtl_codec_decode(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                     const unsigned char *data, size_t size, struct rtl_wire_kernel *kernels)
{
    if (chunk->kernels == 0 || chunk->kernels > RTL_CHUNK_KERNELS_MAX ||
        chunk->checksum != checksum(chunk, data, size) || !prepare_decode(codec))
        return -1;
    struct source sources[COLUMNS];
    const unsigned char *from = data;
    for (int column = 0; column < COLUMNS; column++)
        if (!open_column(codec, column, &from, data + size, chunk->kernels, &sources[column]))
            return -1;
    return from == data + size && unpack(codec, chunk, sources, kernels) ? 0 : -1;
}
