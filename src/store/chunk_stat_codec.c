/* The shares of a chunk, packed and back. */
#include "store/chunk_stat.h"

#include "store/checksum.h"
#include "store/codec.h"
#include "store/columns.h"

#include <stdlib.h>

enum column { COLUMN_SHAPE, COLUMN_KERNELS, COLUMN_TOTAL, COLUMNS };

struct rtl_chunk_stat_codec {
    struct rtl_columns columns;
    struct rtl_column column[COLUMNS];
    struct rtl_chunk_share *shares; /* unpacked */
    uint32_t capacity;
};

struct rtl_chunk_stat_codec *rtl_chunk_stat_codec_new(void)
{
    struct rtl_chunk_stat_codec *codec = calloc(1, sizeof *codec);
    if (codec)
        codec->columns = (struct rtl_columns){.columns = codec->column, .count = COLUMNS};
    return codec;
}

void rtl_chunk_stat_codec_free(struct rtl_chunk_stat_codec *codec)
{
    if (!codec)
        return;
    rtl_columns_free(&codec->columns);
    free(codec->shares);
    free(codec);
}

static uint32_t checksum(const struct rtl_chunk_stat_row *row, const unsigned char *data,
                         size_t size)
{
    const uint64_t fields[] = {(uint64_t)row->chunk, row->shapes, row->busy};
    return rtl_checksum_row(fields, sizeof fields / sizeof *fields, data, size);
}

int rtl_chunk_stat_pack(struct rtl_chunk_stat_codec *codec, const struct rtl_chunk_stat *stat,
                        struct rtl_chunk_stat_row *row, const unsigned char **data, size_t *size)
{
    uint32_t before = 0;
    rtl_columns_begin(&codec->columns);
    for (uint32_t i = 0; i < stat->count; before = stat->shares[i++].shape) {
        rtl_columns_put(&codec->columns, COLUMN_SHAPE, stat->shares[i].shape - before);
        rtl_columns_put(&codec->columns, COLUMN_KERNELS, stat->shares[i].kernels - 1);
        rtl_columns_put(&codec->columns, COLUMN_TOTAL, stat->shares[i].total);
    }
    if (rtl_columns_pack(&codec->columns, data, size) != 0)
        return -1;
    row->shapes = stat->count;
    row->busy = stat->busy;
    row->checksum = checksum(row, *data, *size);
    return 0;
}

static bool make_room(struct rtl_chunk_stat_codec *codec, uint32_t count)
{
    if (count <= codec->capacity)
        return true;
    free(codec->shares);
    codec->shares = malloc(count * sizeof *codec->shares);
    codec->capacity = codec->shares ? count : 0;
    return codec->shares != NULL;
}

/* Shapes rise, and there are as many kernels as the chunk has. */
static bool take_shares(struct rtl_chunk_stat_codec *codec, uint32_t count, uint32_t kernels)
{
    uint64_t shape = 0;
    uint64_t left = kernels;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t more = 0;
        uint64_t others = 0;
        struct rtl_chunk_share *share = &codec->shares[i];
        if (!rtl_columns_get(&codec->columns, COLUMN_SHAPE, &more) ||
            !rtl_columns_get(&codec->columns, COLUMN_KERNELS, &others) ||
            !rtl_columns_get(&codec->columns, COLUMN_TOTAL, &share->total) ||
            more > UINT32_MAX - shape || (i && more == 0) || others >= left)
            return false;
        shape += more;
        left -= others + 1;
        share->shape = (uint32_t)shape;
        share->kernels = (uint32_t)others + 1;
    }
    return left == 0 && rtl_columns_ended(&codec->columns);
}

int rtl_chunk_stat_unpack(struct rtl_chunk_stat_codec *codec, const struct rtl_chunk_stat_row *row,
                          const unsigned char *data, size_t size, uint32_t kernels,
                          struct rtl_chunk_stat *stat)
{
    if (row->shapes == 0 || row->shapes > kernels || row->shapes > RTL_CHUNK_KERNELS_MAX ||
        row->checksum != checksum(row, data, size))
        return -1;
    if (!make_room(codec, row->shapes))
        return -2;
    if (!rtl_columns_open(&codec->columns, data, size, row->shapes))
        return codec->columns.short_of_memory ? -2 : -1;
    if (!take_shares(codec, row->shapes, kernels))
        return -1;
    *stat = (struct rtl_chunk_stat){row->busy, codec->shares, row->shapes};
    return 0;
}
