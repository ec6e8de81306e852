/**
 * Packing statistics of a process's kernels into a block and back. Pure: no file, no SQLite, no
 * clock. docs/format.md ("Statistics") specifies every byte.
 */
#ifndef RTL_STORE_STAT_CODEC_H
#define RTL_STORE_STAT_CODEC_H

#include "store/stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most groups, and steps of histograms, after which a writer ends a block; a group is in one. */
#define RTL_STAT_BLOCK_GROUPS 4096u
#define RTL_STAT_BLOCK_BINS   (1u << 17)

/** Most of both in a block that a reader takes. */
#define RTL_STAT_BLOCK_GROUPS_MAX 65536u
#define RTL_STAT_BLOCK_BINS_MAX   (1u << 20)

/** Kernels of a process that are alike in all this; RTL_NONE: they have none. */
struct rtl_stat_group {
    uint32_t queue, shape;
    uint32_t graph, generation, node;
};

/** What stands beside a block's data in its table row. */
struct rtl_stat_block {
    uint32_t process;
    uint32_t groups;
    uint32_t bins; /**< steps of all histograms that have kernels */
    uint64_t kernels;
    uint32_t checksum; /**< CRC-32C over the fields above and the data */
};

/** Buffers and zstd contexts, used again for every block. One thread at a time. */
struct rtl_stat_codec;

/** NULL when memory is short. */
struct rtl_stat_codec *rtl_stat_codec_new(void);

/** NULL is allowed. */
void rtl_stat_codec_free(struct rtl_stat_codec *codec);

/** Begins a block. */
void rtl_stat_begin(struct rtl_stat_codec *codec);

/** Adds a group, which has kernels. Memory that is short is told by rtl_stat_pack. */
void rtl_stat_put(struct rtl_stat_codec *codec, const struct rtl_stat_group *group,
                  const struct rtl_stat *stat);

/** True if no more should be added; and if there is none yet. */
bool rtl_stat_is_full(const struct rtl_stat_codec *codec);
bool rtl_stat_is_empty(const struct rtl_stat_codec *codec);

/** Packs the block. Fills `block` but for process, which the caller has set; `*data` belongs to the
 * codec and lives until its next use. 0, or -1 when memory is short. */
int rtl_stat_pack(struct rtl_stat_codec *codec, struct rtl_stat_block *block,
                  const unsigned char **data, size_t *size);

/** Begins to read a block, whose data must stay until it is read. 0, -1: damaged, -2: memory is
 * short. */
int rtl_stat_open(struct rtl_stat_codec *codec, const struct rtl_stat_block *block,
                  const unsigned char *data, size_t size);

/** Reads the next group, and adds it to `stat`, which has no durations. 1, 0: there are no more,
 * and the block is right, -1: damaged, -2: memory is short. */
int rtl_stat_get(struct rtl_stat_codec *codec, struct rtl_stat_group *group, struct rtl_stat *stat);

#endif
