/* Finding one kernel, by its packet or by its id. The chunks that were unpacked last are kept. */
#include "store/reader.h"

#include "common/lower_bound.h"

#include <stdlib.h>
#include <string.h>

/* Chunks that are kept, 2 MB each. */
#define KEPT 4u

/* A kernel of a chunk and what it is found by. */
struct place {
    uint64_t packet;
    uint32_t kernel;
};

/* A chunk that is unpacked. */
struct unpacked {
    const struct rtl_chunk_row *row; /* NULL: none */
    struct rtl_wire_kernel *kernels;
    struct place *places; /* of its kernels, by packet */
    uint32_t capacity;    /* of both arrays */
};

struct rtl_kernel_finder {
    struct rtl_codec *codec;
    struct unpacked chunks[KEPT]; /* the one that was used last first */
};

void rtl_trace_forget_kernels(rtl_trace_t *trace)
{
    struct rtl_kernel_finder *finder = trace->finder;
    if (!finder)
        return;
    for (unsigned i = 0; i < KEPT; i++) {
        free(finder->chunks[i].kernels);
        free(finder->chunks[i].places);
    }
    rtl_codec_free(finder->codec);
    free(finder);
    trace->finder = NULL;
}

/* A finder that is whole, or none. */
static rtl_status_t make_finder(rtl_trace_t *trace)
{
    if (trace->finder)
        return RTL_OK;
    rtl_status_t status = rtl_trace_load_graphs(trace);
    if (status != RTL_OK)
        return status;
    trace->finder = calloc(1, sizeof *trace->finder);
    if (!trace->finder || !(trace->finder->codec = rtl_codec_new()))
        status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (status != RTL_OK)
        rtl_trace_forget_kernels(trace);
    return status;
}

static int by_packet(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    if (a->packet != b->packet)
        return a->packet < b->packet ? -1 : 1;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static void put_in_order(struct unpacked *unpacked)
{
    bool sorted = true;
    uint32_t count = unpacked->row->chunk.kernels;
    for (uint32_t i = 0; i < count; i++) {
        unpacked->places[i] = (struct place){unpacked->kernels[i].packet, i};
        sorted = sorted && (i == 0 || unpacked->places[i - 1].packet <= unpacked->places[i].packet);
    }
    if (!sorted)
        qsort(unpacked->places, count, sizeof *unpacked->places, by_packet);
}

static bool make_room(struct unpacked *unpacked, uint32_t count)
{
    if (unpacked->capacity >= count)
        return true;
    free(unpacked->kernels);
    free(unpacked->places);
    unpacked->kernels = calloc(count, sizeof *unpacked->kernels);
    unpacked->places = calloc(count, sizeof *unpacked->places);
    unpacked->capacity = unpacked->kernels && unpacked->places ? count : 0;
    return unpacked->capacity != 0;
}

/* With a statement that is not kept: the connection may be another's, who closes it before the
 * trace. */
static rtl_status_t unpack(rtl_trace_t *trace, const struct rtl_chunk_row *row,
                           struct unpacked *unpacked)
{
    sqlite3_stmt *statement = NULL;
    const unsigned char *data = NULL;
    size_t size = 0;
    unpacked->row = NULL;
    /* Before memory is asked for: a damaged row may claim anything. */
    if (row->chunk.kernels == 0 || row->chunk.kernels > RTL_CHUNK_KERNELS_MAX)
        return rtl_trace_fail_chunk(trace, row);
    if (!make_room(unpacked, row->chunk.kernels))
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    rtl_status_t status = rtl_trace_prepare_data(trace, &statement);
    if (status == RTL_OK)
        status = rtl_trace_chunk_data(trace, statement, row, &data, &size);
    int decoded = status == RTL_OK ? rtl_codec_decode(trace->finder->codec, &row->chunk, data, size,
                                                      unpacked->kernels)
                                   : 0;
    if (decoded == -2)
        status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    else if (decoded != 0)
        status = rtl_trace_fail_chunk(trace, row);
    (void)sqlite3_finalize(statement);
    if (status != RTL_OK)
        return status;
    unpacked->row = row;
    put_in_order(unpacked);
    return RTL_OK;
}

/* Puts a chunk first: one that is kept, or the one that was used longest ago, unpacked anew. */
static rtl_status_t take_up(rtl_trace_t *trace, const struct rtl_chunk_row *row)
{
    struct unpacked *chunks = trace->finder->chunks;
    unsigned which = 0;
    while (which < KEPT - 1 && chunks[which].row != row)
        which++;
    const struct unpacked taken = chunks[which];
    memmove(&chunks[1], &chunks[0], which * sizeof *chunks);
    chunks[0] = taken;
    return taken.row == row ? RTL_OK : unpack(trace, row, &chunks[0]);
}

static rtl_status_t find_in(rtl_trace_t *trace, const struct rtl_chunk_row *row, uint64_t packet,
                            rtl_kernel_t *kernel)
{
    rtl_status_t status = take_up(trace, row);
    if (status != RTL_OK)
        return status;
    const struct unpacked *chunk = &trace->finder->chunks[0];
    uint32_t low;
    RTL_LOWER_BOUND(low, row->chunk.kernels, chunk->places[low].packet < packet);
    if (low == row->chunk.kernels || chunk->places[low].packet != packet)
        return RTL_END;
    uint32_t place = chunk->places[low].kernel;
    return rtl_trace_describe_kernel(trace, row, place, &chunk->kernels[place], kernel);
}

static bool may_hold(const struct rtl_chunk_row *row, uint32_t process, uint32_t queue,
                     uint64_t packet)
{
    return row->chunk.process == process && row->chunk.queue == queue &&
           row->chunk.packet_min <= packet && packet <= row->chunk.packet_max;
}

rtl_status_t rtlTraceKernelAt(rtl_trace_t *trace, uint32_t process, uint32_t queue, uint64_t packet,
                              rtl_kernel_t *kernel)
{
    if (!trace || !kernel)
        return RTL_E_ARGUMENT;
    const struct rtl_chunk_row *rows = trace->chunks.items;
    rtl_status_t status = make_finder(trace);
    if (status != RTL_OK)
        return status;
    status = RTL_END;
    for (size_t i = 0; i < trace->chunks.count && status == RTL_END; i++)
        if (may_hold(&rows[i], process, queue, packet))
            status = find_in(trace, &rows[i], packet, kernel);
    return status;
}

rtl_status_t rtl_trace_kernel_by_id(rtl_trace_t *trace, uint64_t id, rtl_kernel_t *kernel)
{
    const struct rtl_chunk_row *rows = trace->chunks.items;
    uint32_t place = (uint32_t)(id % RTL_CHUNK_KERNELS_MAX);
    rtl_status_t status = make_finder(trace);
    for (size_t i = 0; i < trace->chunks.count && status == RTL_OK; i++) {
        if ((uint64_t)rows[i].number != id / RTL_CHUNK_KERNELS_MAX)
            continue;
        if (place >= rows[i].chunk.kernels)
            return RTL_END;
        status = take_up(trace, &rows[i]);
        if (status != RTL_OK)
            return status;
        return rtl_trace_describe_kernel(trace, &rows[i], place,
                                         &trace->finder->chunks[0].kernels[place], kernel);
    }
    return status == RTL_OK ? RTL_END : status;
}
