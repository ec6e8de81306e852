/**
 * Packing the kernels of one queue into a chunk and back. Pure: no file, no SQLite, no clock.
 *
 * A chunk stands alone. Its data is seven columns; each holds, per kernel, a difference to what the
 * kernels before it predict, because launches repeat: the same kernel in the same node takes about
 * the same time after about the same gap. docs/format.md specifies every byte.
 */
#ifndef RTL_STORE_CODEC_H
#define RTL_STORE_CODEC_H

#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>

/** Most kernels in a chunk that a writer makes. */
#define RTL_CHUNK_KERNELS 32768u

/** Most kernels in a chunk that a reader takes: 16 bits of a kernel's id are its place in the
 * chunk. */
#define RTL_CHUNK_KERNELS_MAX 65536u

/** What stands beside a chunk's data in its table row. Times are ticks. */
struct rtl_chunk {
    uint32_t process, queue;
    uint32_t kernels;
    uint64_t packet_min, packet_max;
    uint64_t start_min; /**< earliest start */
    uint64_t end_max;   /**< latest start or end */
    uint32_t checksum;  /**< CRC-32C over the fields above and the data */
};

/** Buffers and zstd contexts, used again for every chunk. One thread at a time. */
struct rtl_codec;

/** NULL when memory is short. */
struct rtl_codec *rtl_codec_new(void);

/** NULL is allowed. */
void rtl_codec_free(struct rtl_codec *codec);

/** Packs `count` kernels (1 to RTL_CHUNK_KERNELS) of one queue, in the order given. Fills `chunk`
 * but for process, which the caller has set; `*data` belongs to the codec and lives until its next
 * use. 0, or -1 when memory is short. */
int rtl_codec_encode(struct rtl_codec *codec, const struct rtl_wire_kernel *kernels, uint32_t count,
                     struct rtl_chunk *chunk, const unsigned char **data, size_t *size);

/** Unpacks a chunk into `kernels`, which has room for chunk->kernels. 0; -1 if the data or a field
 * of `chunk` is damaged, or a kernel does not lie within the bounds of `chunk` (whatever the bytes
 * are, nothing outside is read or written); -2 when memory is short. */
int rtl_codec_decode(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                     const unsigned char *data, size_t size, struct rtl_wire_kernel *kernels);

/** Kernels that are unpacked together: as many as stay in the fastest cache. */
#define RTL_CODEC_BLOCK 256u

/** Some kernels of a chunk, one after the other, a column each; times are ticks. */
struct rtl_codec_block {
    uint32_t count;
    uint64_t start[RTL_CODEC_BLOCK], end[RTL_CODEC_BLOCK];
    uint32_t shape[RTL_CODEC_BLOCK], ordinal[RTL_CODEC_BLOCK];
    /** Only where the whole is wanted, or correlations are. */
    uint64_t packet[RTL_CODEC_BLOCK], correlation[RTL_CODEC_BLOCK];
    uint32_t launch[RTL_CODEC_BLOCK];
};

/** What may be wanted of a chunk, to be combined. Times come with shapes and ordinals, which they
 * are predicted from. */
enum rtl_codec_columns {
    RTL_CODEC_SHAPES = 1,
    RTL_CODEC_CORRELATIONS = 2,
    RTL_CODEC_TIMES = 4,
    RTL_CODEC_WHOLE = 8, /**< all there is */
};

/** Begins to unpack a chunk block by block, times, shapes and ordinals only or the `whole`; `data`
 * must stay until that is done. As rtl_codec_decode. */
int rtl_codec_open(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                   const unsigned char *data, size_t size, bool whole);

/** The same for `wanted`, a set of enum rtl_codec_columns that is not empty. Columns that are not
 * wanted are not looked at, and blocks do not have them. */
int rtl_codec_open_some(struct rtl_codec *codec, const struct rtl_chunk *chunk,
                        const unsigned char *data, size_t size, unsigned wanted);

/** True if the checksum of a chunk is right, whatever it says. */
bool rtl_codec_intact(const struct rtl_chunk *chunk, const unsigned char *data, size_t size);

/** Unpacks the next block; count is 0 after the last one. 0, or -1 if the data is damaged. */
int rtl_codec_next(struct rtl_codec *codec, struct rtl_codec_block *block);

/** Copies a block of the whole of a chunk into `kernels`, which has room for it. */
void rtl_codec_give(const struct rtl_codec_block *block, uint32_t queue,
                    struct rtl_wire_kernel *kernels);

#endif
