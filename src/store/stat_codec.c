#include "store/stat_codec.h"

#include "store/checksum.h"
#include "store/columns.h"

#include <stdlib.h>

/* The last two have a number for each step of a histogram that has kernels, all others one for each
 * group. */
enum column {
    COLUMN_QUEUE,
    COLUMN_SHAPE,
    COLUMN_GRAPH,
    COLUMN_GENERATION,
    COLUMN_NODE,
    COLUMN_KERNELS,
    COLUMN_LEAST,
    COLUMN_GREATEST, /* beyond the least */
    COLUMN_TOTAL,    /* beyond that of as many of the least */
    COLUMN_SQUARES,  /* low 64 bits */
    COLUMN_SQUARES_HIGH,
    COLUMN_BINS, /* how many steps */
    COLUMN_BIN,
    COLUMN_BIN_KERNELS,
    COLUMNS
};

static const struct rtl_stat_group nothing = {0};

struct rtl_stat_codec {
    struct rtl_stat_group before;
    uint32_t groups, bins; /* put, or still to be read */
    uint64_t kernels;
    struct rtl_columns columns;
    struct rtl_column column[COLUMNS];
};

struct rtl_stat_codec *rtl_stat_codec_new(void)
{
    struct rtl_stat_codec *codec = calloc(1, sizeof *codec);
    if (!codec)
        return NULL;
    codec->columns = (struct rtl_columns){.columns = codec->column, .count = COLUMNS};
    rtl_stat_begin(codec);
    return codec;
}

void rtl_stat_codec_free(struct rtl_stat_codec *codec)
{
    if (codec)
        rtl_columns_free(&codec->columns);
    free(codec);
}

static uint32_t checksum(const struct rtl_stat_block *block, const unsigned char *data, size_t size)
{
    const uint64_t fields[] = {block->process, block->groups, block->bins, block->kernels};
    return rtl_checksum_row(fields, sizeof fields / sizeof *fields, data, size);
}

/* Packing. */

void rtl_stat_begin(struct rtl_stat_codec *codec)
{
    codec->before = nothing;
    codec->groups = codec->bins = 0;
    codec->kernels = 0;
    rtl_columns_begin(&codec->columns);
}

bool rtl_stat_is_full(const struct rtl_stat_codec *codec)
{
    return codec->groups >= RTL_STAT_BLOCK_GROUPS || codec->bins >= RTL_STAT_BLOCK_BINS;
}

bool rtl_stat_is_empty(const struct rtl_stat_codec *codec)
{
    return codec->groups == 0;
}

static void put_group(struct rtl_stat_codec *codec, const struct rtl_stat_group *group)
{
    struct rtl_columns *columns = &codec->columns;
    const struct rtl_stat_group *before = &codec->before;
    rtl_columns_put(columns, COLUMN_QUEUE, rtl_zigzag32(group->queue - before->queue));
    rtl_columns_put(columns, COLUMN_SHAPE, rtl_zigzag32(group->shape - before->shape));
    rtl_columns_put(columns, COLUMN_GRAPH, rtl_zigzag32(group->graph - before->graph));
    rtl_columns_put(columns, COLUMN_GENERATION,
                    rtl_zigzag32(group->generation - before->generation));
    rtl_columns_put(columns, COLUMN_NODE, rtl_zigzag32(group->node - before->node));
    codec->before = *group;
}

static void put_bins(struct rtl_stat_codec *codec, const struct rtl_stat *stat)
{
    struct rtl_columns *columns = &codec->columns;
    uint32_t next = 0; /* the first that may come */
    uint32_t bin = 0;
    uint32_t bins = 0;
    for (uint64_t count; (count = rtl_stat_next_bin(stat, &bin)) > 0; next = ++bin, bins++) {
        rtl_columns_put(columns, COLUMN_BIN, bin - next);
        rtl_columns_put(columns, COLUMN_BIN_KERNELS, count - 1);
    }
    rtl_columns_put(columns, COLUMN_BINS, bins);
    codec->bins += bins;
}

void rtl_stat_put(struct rtl_stat_codec *codec, const struct rtl_stat_group *group,
                  const struct rtl_stat *stat)
{
    struct rtl_columns *columns = &codec->columns;
    uint64_t least = rtl_stat_min(stat);
    put_group(codec, group);
    rtl_columns_put(columns, COLUMN_KERNELS, stat->count);
    rtl_columns_put(columns, COLUMN_LEAST, least);
    rtl_columns_put(columns, COLUMN_GREATEST, stat->max - least);
    rtl_columns_put(columns, COLUMN_TOTAL, stat->total - stat->count * least);
    rtl_columns_put(columns, COLUMN_SQUARES, (uint64_t)stat->squares);
    rtl_columns_put(columns, COLUMN_SQUARES_HIGH, (uint64_t)(stat->squares >> 64));
    put_bins(codec, stat);
    codec->groups++;
    codec->kernels += stat->count;
}

int rtl_stat_pack(struct rtl_stat_codec *codec, struct rtl_stat_block *block,
                  const unsigned char **data, size_t *size)
{
    block->groups = codec->groups;
    block->bins = codec->bins;
    block->kernels = codec->kernels;
    if (rtl_columns_pack(&codec->columns, data, size) != 0)
        return -1;
    block->checksum = checksum(block, *data, *size);
    return 0;
}

/* Unpacking. */

int rtl_stat_open(struct rtl_stat_codec *codec, const struct rtl_stat_block *block,
                  const unsigned char *data, size_t size)
{
    uint32_t most = block->groups > block->bins ? block->groups : block->bins;
    if (block->groups > RTL_STAT_BLOCK_GROUPS_MAX || block->bins > RTL_STAT_BLOCK_BINS_MAX ||
        block->checksum != checksum(block, data, size))
        return -1;
    codec->before = nothing;
    codec->groups = block->groups;
    codec->bins = block->bins;
    codec->kernels = block->kernels;
    if (rtl_columns_open(&codec->columns, data, size, most))
        return 0;
    return codec->columns.short_of_memory ? -2 : -1;
}

/* The inverse of put_group, in the order of its columns. */
static bool get_group(struct rtl_stat_codec *codec, struct rtl_stat_group *group)
{
    uint32_t *const fields[] = {&codec->before.queue, &codec->before.shape, &codec->before.graph,
                                &codec->before.generation, &codec->before.node};
    for (unsigned column = 0; column <= COLUMN_NODE; column++) {
        uint64_t number = 0;
        if (!rtl_columns_get(&codec->columns, column, &number) || number > UINT32_MAX)
            return false;
        *fields[column] += rtl_unzigzag32((uint32_t)number);
    }
    *group = codec->before;
    return true;
}

/* 0, -1: damaged, -2: memory is short. */
static int get_bins(struct rtl_stat_codec *codec, uint64_t bins, struct rtl_stat *stat)
{
    uint64_t bin = 0;
    uint64_t kernels = 0;
    for (uint64_t i = 0; i < bins; i++, bin++) {
        uint64_t gap = 0;
        uint64_t more = 0;
        if (!rtl_columns_get(&codec->columns, COLUMN_BIN, &gap) ||
            !rtl_columns_get(&codec->columns, COLUMN_BIN_KERNELS, &more) ||
            gap >= (uint64_t)RTL_STAT_BINS - bin || more >= stat->count - kernels)
            return -1;
        bin += gap;
        kernels += more + 1;
        if (!rtl_stat_add_bin(stat, (uint32_t)bin, more + 1))
            return -2;
    }
    return kernels == stat->count ? 0 : -1;
}

int rtl_stat_get(struct rtl_stat_codec *codec, struct rtl_stat_group *group, struct rtl_stat *stat)
{
    uint64_t in[COLUMN_BIN];
    if (codec->groups == 0)
        return codec->bins == 0 && codec->kernels == 0 && rtl_columns_ended(&codec->columns) ? 0
                                                                                             : -1;
    if (!get_group(codec, group))
        return -1;
    for (unsigned column = COLUMN_KERNELS; column < COLUMN_BIN; column++)
        if (!rtl_columns_get(&codec->columns, column, &in[column]))
            return -1;
    if (in[COLUMN_KERNELS] == 0 || in[COLUMN_KERNELS] > codec->kernels ||
        in[COLUMN_BINS] > codec->bins || in[COLUMN_GREATEST] > UINT64_MAX - in[COLUMN_LEAST])
        return -1;
    stat->count = in[COLUMN_KERNELS];
    stat->total = in[COLUMN_TOTAL] + stat->count * in[COLUMN_LEAST];
    stat->squares = (rtl_wide)in[COLUMN_SQUARES_HIGH] << 64 | in[COLUMN_SQUARES];
    stat->least_inverted = ~in[COLUMN_LEAST];
    stat->max = in[COLUMN_LEAST] + in[COLUMN_GREATEST];
    int got = get_bins(codec, in[COLUMN_BINS], stat);
    codec->groups--;
    codec->bins -= (uint32_t)in[COLUMN_BINS];
    codec->kernels -= stat->count;
    return got == 0 ? 1 : got;
}
