/**
 * Packing what hardware counters counted, during the kernels of one queue or the ranges of one
 * process, into a chunk and back. Pure: no file, no SQLite, no clock.
 *
 * A chunk stands alone, as one of kernels does (codec.h). Programs run the same kernels over and
 * over, so a sample says which earlier one it is like, and how much its counts differ from those of
 * that. docs/format.md specifies every byte.
 */
#ifndef RTL_STORE_SAMPLE_CODEC_H
#define RTL_STORE_SAMPLE_CODEC_H

#include "ring/wire.h"

#include <stddef.h>

/** Most samples, and counts of all of them, in a chunk that a writer makes. */
#define RTL_CHUNK_SAMPLES 16384u
#define RTL_CHUNK_COUNTS  262144u

/** Most of both in a chunk that a reader takes. */
#define RTL_CHUNK_SAMPLES_MAX 65536u
#define RTL_CHUNK_COUNTS_MAX  1048576u

/** A sample; as rtl_wire_sample but for its queue, which all of a chunk share. */
struct rtl_sample {
    uint64_t owner; /**< packet, or id of a range */
    uint32_t agent;
    uint32_t first;  /**< its first count among those of the chunk */
    uint32_t counts; /**< how many it has */
    uint32_t flags;  /**< enum rtl_sample_flags */
};

/** What stands beside a chunk's data in its table row. */
struct rtl_sample_chunk {
    uint32_t process;
    uint32_t queue; /**< RTL_NONE: samples of ranges */
    uint32_t samples;
    uint32_t counts;
    uint64_t owner_min, owner_max;
    uint32_t checksum; /**< CRC-32C over the fields above and the data */
};

/** Buffers and zstd contexts, used again for every chunk. One thread at a time. */
struct rtl_sample_codec;

/** NULL when memory is short. */
struct rtl_sample_codec *rtl_sample_codec_new(void);

/** NULL is allowed. */
void rtl_sample_codec_free(struct rtl_sample_codec *codec);

/** Packs `count` samples (1 to RTL_CHUNK_SAMPLES_MAX), in the order given. `counts` has what they
 * counted, sample by sample. Fills `chunk` but for process and queue,
 * which the caller has set; `*data` belongs to the codec and lives until its next use. 0, or -1
 * when memory is short. */
int rtl_sample_encode(struct rtl_sample_codec *codec, const struct rtl_sample *samples,
                      uint32_t count, const uint64_t *counts, struct rtl_sample_chunk *chunk,
                      const unsigned char **data, size_t *size);

/** True if the checksum of a chunk is right and its numbers are within bounds: only then memory
 * should be asked for to unpack it. */
int rtl_sample_intact(const struct rtl_sample_chunk *chunk, const unsigned char *data, size_t size);

/** Unpacks an intact chunk into `samples`, which has room for chunk->samples, and `counts` for
 * chunk->counts. 0; -1 if the data is damaged, or a sample does not lie within the bounds of
 * `chunk` (whatever the bytes are, nothing outside is read or written); -2 when memory is short. */
int rtl_sample_decode(struct rtl_sample_codec *codec, const struct rtl_sample_chunk *chunk,
                      const unsigned char *data, size_t size, struct rtl_sample *samples,
                      uint64_t *counts);

#endif
