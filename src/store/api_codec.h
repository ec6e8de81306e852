/**
 * Packing the host calls of one process into a chunk and back. Pure: no file, no SQLite, no clock.
 *
 * A chunk can be read without others, as one of kernels can (codec.h). A call is stored as its
 * difference to the call before it in its thread, and its arguments as differences to those of the
 * thread's last call of the same function: programs call the same few over and over.
 * docs/format.md specifies every byte.
 */
#ifndef RTL_STORE_API_CODEC_H
#define RTL_STORE_API_CODEC_H

#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>

/** Most calls, and words of arguments, in a chunk that a writer makes. */
#define RTL_CHUNK_CALLS 16384u
#define RTL_CHUNK_WORDS 262144u

/** Most of both in a chunk that a reader takes. A call's id has 16 bits for its place. */
#define RTL_CHUNK_CALLS_MAX 65536u
#define RTL_CHUNK_WORDS_MAX 1048576u

/** A host call; as rtl_wire_api but for its stream, which has a number in its process. */
struct rtl_call {
    uint64_t start, end;
    uint64_t correlation;
    uint64_t range;  /**< 0 if none */
    uint32_t stream; /**< RTL_NONE if none */
    uint32_t call;
    uint32_t thread;
    int32_t result;
    uint32_t first; /**< its first word among those of the chunk */
    uint32_t words;
};

/** What stands beside a chunk's data in its table row. */
struct rtl_api_chunk {
    uint32_t process;
    uint32_t calls;
    uint32_t words;
    uint64_t start_min; /**< earliest start */
    uint64_t end_max;   /**< latest start or end */
    uint64_t correlation_min, correlation_max;
    uint32_t checksum; /**< CRC-32C over the fields above and the data */
};

/** Buffers and zstd contexts, used again for every chunk. One thread at a time. */
struct rtl_api_codec;

/** NULL when memory is short. */
struct rtl_api_codec *rtl_api_codec_new(void);

/** NULL is allowed. */
void rtl_api_codec_free(struct rtl_api_codec *codec);

/** Packs `count` calls (1 to RTL_CHUNK_CALLS) of one process, in the order given. `words` has their
 * arguments, call by call: `first` is not looked at. Fills `chunk` but for process, which the
 * caller has set; `*data` belongs to the codec and lives until its next use. 0, or -1 when memory
 * is short. */
int rtl_api_encode(struct rtl_api_codec *codec, const struct rtl_call *calls, uint32_t count,
                   const uint64_t *words, struct rtl_api_chunk *chunk, const unsigned char **data,
                   size_t *size);

/** True if the checksum of a chunk is right and its counts are within bounds: only then memory
 * should be asked for to unpack it. */
int rtl_api_intact(const struct rtl_api_chunk *chunk, const unsigned char *data, size_t size);

/** True if the checksum alone is right. */
bool rtl_api_sum_is_right(const struct rtl_api_chunk *chunk, const unsigned char *data,
                          size_t size);

/** Unpacks an intact chunk into `calls`, which has room for chunk->calls, and `words` for
 * chunk->words. 0; -1 if the data is damaged (whatever the bytes are, nothing outside is read or
 * written), -2 when memory is short. */
int rtl_api_decode(struct rtl_api_codec *codec, const struct rtl_api_chunk *chunk,
                   const unsigned char *data, size_t size, struct rtl_call *calls, uint64_t *words);

/** Unpacks nothing but the correlations of an intact chunk into `correlations`, which has room for
 * chunk->calls. As rtl_api_decode. */
int rtl_api_correlations(struct rtl_api_codec *codec, const struct rtl_api_chunk *chunk,
                         const unsigned char *data, size_t size, uint64_t *correlations);

/** True if calls that were unpacked lie within the bounds of their chunk, which readers rely on. */
bool rtl_api_within(const struct rtl_api_chunk *chunk, const struct rtl_call *calls);

#endif
