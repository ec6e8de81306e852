#include "store/columns.h"

#include <endian.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Measured with tests/store/bench_store.c: higher levels take several times as long for a few
 * hundredths of a byte per kernel, because what is left after prediction is noise. */
#define ZSTD_LEVEL 1

#define ROOM_FIRST ((size_t)1 << 12)

/* How a column's payload is stored. Values are in files. */
enum encoding {
    ENCODING_CONSTANT = 0, /* one varint, that of every row */
    ENCODING_PLAIN = 1,    /* a varint per row */
    ENCODING_ZSTD = 2      /* the length of the varints (a varint), then a zstd frame of them */
};

void rtl_columns_free(struct rtl_columns *columns)
{
    for (unsigned i = 0; i < columns->count; i++) {
        free(columns->columns[i].bytes);
        columns->columns[i] = (struct rtl_column){0};
    }
    free(columns->data);
    (void)ZSTD_freeCCtx(columns->compress);
    (void)ZSTD_freeDCtx(columns->decompress);
    columns->data = NULL;
    columns->compress = NULL;
    columns->decompress = NULL;
}

void rtl_columns_begin(struct rtl_columns *columns)
{
    columns->short_of_memory = false;
    for (unsigned i = 0; i < columns->count; i++) {
        struct rtl_column *column = &columns->columns[i];
        column->size = 0;
        column->numbers = column->first = column->varies = 0;
    }
}

static bool reserve(struct rtl_column *column, size_t capacity)
{
    if (column->capacity >= capacity)
        return true;
    unsigned char *bytes = realloc(column->bytes, capacity);
    if (!bytes)
        return false;
    column->bytes = bytes;
    column->capacity = capacity;
    return true;
}

bool rtl_column_grow(struct rtl_column *column)
{
    return reserve(column, column->capacity ? 2 * column->capacity : ROOM_FIRST);
}

/* Packing. */

static bool prepare(struct rtl_columns *columns)
{
    size_t most = 0;
    for (unsigned i = 0; i < columns->count; i++)
        most += ZSTD_compressBound(columns->columns[i].size) + (size_t)4 * RTL_VARINT_MAX;
    if (columns->capacity < most) {
        unsigned char *data = realloc(columns->data, most);
        if (!data)
            return false;
        columns->data = data;
        columns->capacity = most;
    }
    if (!columns->compress)
        columns->compress = ZSTD_createCCtx();
    return columns->compress != NULL;
}

static unsigned char *put_bytes(unsigned char *to, const unsigned char *bytes, size_t size)
{
    if (size)
        memcpy(to, bytes, size);
    return to + size;
}

static unsigned char *put_plain(unsigned char *to, enum encoding encoding,
                                const unsigned char *bytes, size_t size)
{
    *to++ = (unsigned char)encoding;
    to = rtl_varint_put(to, size);
    return put_bytes(to, bytes, size);
}

/* Appends a column at `to`. */
static unsigned char *put_column(struct rtl_columns *columns, unsigned char *to,
                                 const struct rtl_column *column)
{
    size_t size = column->size;
    if (column->numbers && !column->varies)
        return put_plain(to, ENCODING_CONSTANT, column->bytes, size / column->numbers);
    unsigned char head[RTL_VARINT_MAX];
    size_t head_size = (size_t)(rtl_varint_put(head, size) - head);
    /* The frame is made where it will stand if lengths take the most bytes, then moved. */
    unsigned char *frame = to + 1 + (size_t)2 * RTL_VARINT_MAX;
    size_t room = (size_t)(columns->data + columns->capacity - frame);
    size_t frame_size =
        ZSTD_compressCCtx(columns->compress, frame, room, column->bytes, size, ZSTD_LEVEL);
    if (ZSTD_isError(frame_size) || head_size + frame_size >= size)
        return put_plain(to, ENCODING_PLAIN, column->bytes, size);
    *to++ = ENCODING_ZSTD;
    to = rtl_varint_put(to, head_size + frame_size);
    to = put_bytes(to, head, head_size);
    memmove(to, frame, frame_size);
    return to + frame_size;
}

int rtl_columns_pack(struct rtl_columns *columns, const unsigned char **data, size_t *size)
{
    if (columns->short_of_memory || !prepare(columns))
        return -1;
    unsigned char *to = columns->data;
    for (unsigned i = 0; i < columns->count; i++)
        to = put_column(columns, to, &columns->columns[i]);
    *data = columns->data;
    *size = (size_t)(to - columns->data);
    return 0;
}

/* Reading. */

/* Unpacks the zstd payload at `column->next` into the column's own bytes. */
static bool inflate(struct rtl_columns *columns, struct rtl_column *column, size_t most)
{
    uint64_t raw = 0;
    const unsigned char *frame = rtl_varint_get(column->next, column->end, &raw);
    if (!frame || raw > (uint64_t)most * RTL_VARINT_MAX)
        return false;
    columns->short_of_memory = !reserve(column, (size_t)raw + 1);
    if (columns->short_of_memory)
        return false;
    size_t size = ZSTD_decompressDCtx(columns->decompress, column->bytes, (size_t)raw, frame,
                                      (size_t)(column->end - frame));
    if (ZSTD_isError(size) || size != raw)
        return false;
    column->next = column->bytes;
    column->end = column->bytes + size;
    return true;
}

/* Takes the column at `*from`; one that is not wanted has no numbers. */
static bool open_column(struct rtl_columns *columns, struct rtl_column *column,
                        const unsigned char **from, const unsigned char *end, size_t most,
                        bool wanted)
{
    if (*from == end)
        return false;
    unsigned encoding = *(*from)++;
    uint64_t size = 0;
    const unsigned char *payload = rtl_varint_get(*from, end, &size);
    if (!payload || size > (size_t)(end - payload))
        return false;
    column->next = payload;
    column->end = payload + size;
    column->constant = encoding == ENCODING_CONSTANT;
    *from = column->end;
    if (!wanted)
        column->next = column->end;
    if (!wanted && encoding <= ENCODING_ZSTD)
        return true;
    switch (encoding) {
    case ENCODING_CONSTANT:
        return rtl_varint_get(payload, column->end, &column->first) == column->end;
    case ENCODING_PLAIN:
        return true;
    case ENCODING_ZSTD:
        return inflate(columns, column, most);
    default:
        return false;
    }
}

bool rtl_columns_open_some(struct rtl_columns *columns, const unsigned char *data, size_t size,
                           size_t most, unsigned wanted)
{
    if (!columns->decompress)
        columns->decompress = ZSTD_createDCtx();
    columns->short_of_memory = !columns->decompress;
    if (columns->short_of_memory)
        return false;
    const unsigned char *from = data;
    const unsigned char *end = size ? data + size : data; /* of nothing, it may be NULL */
    for (unsigned i = 0; i < columns->count; i++)
        if (!open_column(columns, &columns->columns[i], &from, end, most, (wanted >> i & 1) != 0))
            return false;
    return from == end;
}

bool rtl_columns_open(struct rtl_columns *columns, const unsigned char *data, size_t size,
                      size_t most)
{
    return rtl_columns_open_some(columns, data, size, most, UINT_MAX);
}

/* The top bits of eight bytes: set in all bytes of a varint but its last. */
#define GOES_ON UINT64_C(0x8080808080808080)

static uint64_t load(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return le64toh(word);
}

/* A number of which the first bytes have been read. */
struct unfinished {
    uint64_t value;
    unsigned shift; /* 7 for each byte */
};

/* Takes eight bytes, none of which is the ninth of a number. Without a branch, because how long
 * numbers are is mostly random. */
static uint64_t *take_bytes(const unsigned char *from, struct unfinished *number, uint64_t *to)
{
    uint64_t value = number->value;
    unsigned shift = number->shift;
    for (unsigned i = 0; i < 8; i++) {
        unsigned more = from[i] >> 7;
        *to = value |= (uint64_t)(from[i] & 0x7f) << shift;
        to += 1 - more;
        value &= 0 - (uint64_t)more;
        shift = (shift + 7) & (0 - more);
    }
    number->value = value;
    number->shift = shift;
    return to;
}

/* Takes numbers eight bytes at a time, as long as there are as many and no number is longer.
 * Returns the place behind the last number, `*end` that in the bytes. */
static uint64_t *take_groups(const unsigned char *from, const unsigned char *end, uint64_t *to,
                             const uint64_t *last, const unsigned char **reached)
{
    struct unfinished number = {0};
    while (last - to >= 8 && end - from >= 8) {
        uint64_t stop = ~load(from) & GOES_ON;
        if (stop == GOES_ON && number.shift == 0) {
            for (unsigned i = 0; i < 8; i++)
                to[i] = from[i];
            to += 8;
        } else if (stop == 0 || number.shift + (unsigned)__builtin_ctzll(stop) > 55) {
            break;
        } else {
            to = take_bytes(from, &number, to);
        }
        from += 8;
    }
    *reached = from - number.shift / 7;
    return to;
}

bool rtl_columns_take(struct rtl_columns *columns, unsigned which, uint64_t *numbers, size_t count)
{
    struct rtl_column *column = &columns->columns[which];
    const unsigned char *next = column->next;
    const uint64_t *last = numbers + count;
    if (column->constant) {
        while (numbers < last)
            *numbers++ = column->first;
        return true;
    }
    while (numbers < last) {
        numbers = take_groups(next, column->end, numbers, last, &next);
        for (unsigned i = 0; i < 8 && numbers < last; i++)
            if ((next = rtl_varint_get(next, column->end, numbers++)) == NULL)
                return false;
    }
    column->next = next;
    return true;
}

bool rtl_columns_ended(const struct rtl_columns *columns)
{
    for (unsigned i = 0; i < columns->count; i++) {
        const struct rtl_column *column = &columns->columns[i];
        if (!column->constant && column->next != column->end)
            return false;
    }
    return true;
}
