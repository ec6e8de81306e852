/**
 * Packing the graph launches of one process into a chunk and back, and what stands beside it: how
 * many launches of each graph it has. Pure: no file, no SQLite, no clock.
 *
 * A chunk stands alone, as one of kernels does (codec.h). docs/format.md specifies every byte.
 */
#ifndef RTL_STORE_LAUNCH_CODEC_H
#define RTL_STORE_LAUNCH_CODEC_H

#include "graph/graphs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most launches in a chunk that a writer makes, and that a reader takes. */
#define RTL_CHUNK_LAUNCHES     8192u
#define RTL_CHUNK_LAUNCHES_MAX 65536u

/** Most spans in a chunk that a reader takes. */
#define RTL_CHUNK_SPANS_MAX (RTL_CHUNK_LAUNCHES_MAX * RTL_GRAPHS_SPANS)

/** How far before its place a launch of one packet may stand (rtl_launch_order), in numbers. */
#define RTL_LAUNCH_REACH 64u

/** A launch as the program made it: rtl_wire_launch with what the registry made of it. */
struct rtl_launch_row {
    uint64_t time;        /**< when its thread began it, ns */
    uint64_t correlation; /**< 0 if none */
    uint64_t range;       /**< 0 if none */
    uint64_t first;       /**< inferred from its packets: index of the first, else 0 */
    uint32_t launch;
    uint32_t graph, generation; /**< graph RTL_NONE: inferred from its packets, generation 0 */
    uint32_t plan, head_plan;   /**< 0: none */
    uint32_t thread;
    uint32_t queue; /**< RTL_NONE: none */
    uint32_t packets, kernels, recorded, unseen;
    uint32_t span, span_count; /**< its spans among those of the chunk */
};

/** What stands beside a chunk's data in its table row. */
struct rtl_launch_chunk {
    uint32_t process;
    uint32_t launches, spans;
    uint32_t headed; /**< launches that have a head_plan */
    uint32_t launch_min, launch_max;
    uint64_t time_min, time_max;
    uint64_t correlation_min, correlation_max;
    uint32_t summary_checksum; /**< CRC-32C over the fields above and the summary */
    uint32_t checksum;         /**< CRC-32C over the fields above and the data */
};

/** Launches of a chunk that are alike: those of a generation of a graph that HIP names, or (`graph`
 * RTL_NONE) those of a plan in a thread. */
struct rtl_launch_group {
    uint32_t graph, generation;
    uint32_t plan, thread; /**< 0 where the graph has a name */
    uint32_t launches;
    uint32_t first; /**< place of the first in the order of rtl_launch_order */
    uint64_t kernels, recorded;
};

/** When the kernels of a chunk's launches ran, on the clock of a queue's agent. */
struct rtl_launch_extent {
    uint32_t queue;
    uint64_t start, end;
};

/** What a summary says. Zeroed memory is empty. */
struct rtl_launch_summary {
    struct rtl_launch_group *groups;
    size_t group_count, group_capacity;
    struct rtl_launch_extent *extents;
    size_t extent_count, extent_capacity;
};

/** Frees what it holds and empties it. */
void rtl_launch_summary_free(struct rtl_launch_summary *summary);

/** Buffers and zstd contexts, used again for every chunk. One thread at a time. */
struct rtl_launch_codec;

/** NULL when memory is short. */
struct rtl_launch_codec *rtl_launch_codec_new(void);

/** NULL is allowed. */
void rtl_launch_codec_free(struct rtl_launch_codec *codec);

/** Packed launches; the bytes belong to the codec and live until its next use. */
struct rtl_launch_packed {
    const unsigned char *data, *summary;
    size_t size, summary_size;
};

/** Packs `count` launches (1 to RTL_CHUNK_LAUNCHES_MAX) of one process, by number. Fills `chunk`
 * but for process, which the caller has set. 0, or -1 when memory is short. */
int rtl_launch_encode(struct rtl_launch_codec *codec, const struct rtl_launch_row *rows,
                      uint32_t count, const struct rtl_graphs_span *spans,
                      struct rtl_launch_chunk *chunk, struct rtl_launch_packed *packed);

/** True if the checksum of a chunk is right and its counts are within bounds: only then memory
 * should be asked for to unpack it. The other is about its summary. */
bool rtl_launch_intact(const struct rtl_launch_chunk *chunk, const unsigned char *data,
                       size_t size);
bool rtl_launch_summary_intact(const struct rtl_launch_chunk *chunk, const unsigned char *bytes,
                               size_t size);

/** Unpacks an intact chunk into `rows`, which has room for chunk->launches, and `spans` for
 * chunk->spans. 0; -1 if the data is damaged or a launch is not where `chunk` says (whatever the
 * bytes are, nothing outside is read or written); -2 when memory is short. */
int rtl_launch_decode(struct rtl_launch_codec *codec, const struct rtl_launch_chunk *chunk,
                      const unsigned char *data, size_t size, struct rtl_launch_row *rows,
                      struct rtl_graphs_span *spans);

/** Unpacks an intact summary; *summary must be empty or of an earlier call. 0; -1 if the bytes are
 * damaged, -2 when memory is short. */
int rtl_launch_summary_decode(const unsigned char *bytes, size_t size,
                              struct rtl_launch_summary *summary);

/** The order in which launches, given by number, count: that of their numbers; but one found by its
 * packets with one packet stands before those of its queue, up to RTL_LAUNCH_REACH numbers earlier,
 * whose first packet is behind its own: it was reserved alone, and got its number when it was
 * submitted. `order` gets their places, `count` of them. 0, or -1 when memory is short. */
int rtl_launch_order(const struct rtl_launch_row *rows, uint32_t count, uint32_t *order);

#endif
