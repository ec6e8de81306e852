/**
 * Going over all chunks of a table in threads: the calling thread reads packed data from the file,
 * threads unpack them and work on what they find, and the calling thread takes the results, in the
 * order in which the chunks were given. Memory is that of a few chunks.
 *
 * rtl_scan_kernels is for whoever looks at each kernel of a trace and needs neither the order of an
 * iterator nor what that tells of each: it takes a tenth of the time on one processor, and less on
 * several.
 */
#ifndef RTL_STORE_SCAN_H
#define RTL_STORE_SCAN_H

#include "store/codec.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>

/* Chunks of any table. */

/** A chunk of which the data were read. They live until the call ends. */
struct rtl_scan_data {
    const void *row;           /**< as it was given */
    const unsigned char *data; /**< packed; NULL only where `size` is 0 */
    size_t size;
};

/** What is done with chunks. `result` is memory that is used again for another chunk, zeroed once:
 * whoever fills it finds there what was left. */
struct rtl_scan {
    const char *query; /**< the data of the chunk whose number is the parameter */
    void *context;
    size_t worker_size, result_size;
    void (*worker_free)(void *worker); /**< frees what lies in the memory of a thread's own */
    void (*result_free)(void *result);
    /** In any thread. 0; -1 if the data are damaged, -2 when memory is short. */
    int (*work)(void *context, void *worker, const struct rtl_scan_data *data, void *result);
    /** In the calling thread: takes the result of a chunk, RTL_OK, or is told that it is damaged
     * (RTL_E_DAMAGED) or that memory is short. What it returns ends the scan unless it is RTL_OK.
     */
    rtl_status_t (*done)(void *context, const struct rtl_scan_data *data, rtl_status_t status,
                         void *result);
    unsigned threads; /**< 0: as many as there are processors */
};

/** A chunk's number, and what the functions are told it is. */
struct rtl_scan_item {
    int64_t number;
    const void *row;
};

/** Goes over chunks. On failure rtlTraceError tells, but what `done` returned is its own. */
rtl_status_t rtl_scan(rtl_trace_t *trace, const struct rtl_scan *scan,
                      const struct rtl_scan_item *items, size_t count);

/* Kernels. */

/** A chunk of kernels. All are of one queue; times are ns on the trace's clock. */
struct rtl_scan_chunk {
    int64_t number;
    uint32_t process, queue, gpu;
    uint32_t kernels;   /**< with those that do not pass */
    uint64_t from, to;  /**< earliest start, latest start or end */
    uint64_t before;    /**< latest end of the chunks of its queue before it, 0: none */
    uint64_t next;      /**< earliest start of those behind it, UINT64_MAX: none */
    const void *source; /**< for the scan */
};

/** What tells which node a kernel is. */
struct rtl_scan_kernel {
    uint64_t packet;
    uint32_t launch, ordinal;
};

/** What is done with kernels. As struct rtl_scan, where nothing else is said. */
struct rtl_kernel_scan {
    rtl_kernel_filter_t filter; /**< `by_queue` is not looked at */
    void *context;
    size_t result_size;
    void (*result_free)(void *result);
    /** In the calling thread: what is wanted of a chunk, a set of enum rtl_codec_columns; 0: it is
     * left out. Where the filter or the selection asks for more, that is looked at, too. */
    unsigned (*choose)(void *context, const struct rtl_scan_chunk *chunk);
    /** In any thread: before the first block of a chunk, with each, and after the last; false when
     * memory is short. The block is the callee's until it returns. Its times, where they are
     * wanted, are ns, and no kernel ends before it starts; kernels that do not pass are not in it.
     * `begin` and `end` may be NULL. */
    bool (*begin)(void *context, const struct rtl_scan_chunk *chunk, void *result);
    bool (*take)(void *context, const struct rtl_scan_chunk *chunk, struct rtl_codec_block *block,
                 void *result);
    bool (*end)(void *context, const struct rtl_scan_chunk *chunk, void *result);
    /** In the calling thread. `intact`: the checksum of a chunk that is damaged is right; what it
     * was made of is not. NULL: a chunk that is damaged ends the scan. */
    rtl_status_t (*done)(void *context, const struct rtl_scan_chunk *chunk, rtl_status_t status,
                         bool intact, void *result);
    unsigned threads;
};

/** Goes over the kernels that pass the filter and the selection (select.h), chunks by process and
 * queue, those of a queue in the order of their earliest starts. */
rtl_status_t rtl_scan_kernels(rtl_trace_t *trace, const struct rtl_kernel_scan *scan);

/** Says that a chunk of kernels is damaged, as a `done` that wants no such chunk; returns
 * RTL_E_DAMAGED. */
rtl_status_t rtl_scan_damaged(rtl_trace_t *trace, const struct rtl_scan_chunk *chunk);

/** Which graph's node a kernel of a chunk is, of which the scan has the whole; RTL_TRACE_NONE if
 * none. For the calling thread. */
rtl_status_t rtl_scan_node(rtl_trace_t *trace, const struct rtl_scan_chunk *chunk,
                           const struct rtl_scan_kernel *kernel, uint32_t *node);

/** When the kernels of chunks that pass the filter's process and queue, and the selection's
 * processes and GPUs, ran: the earliest start and the latest end. `*known` is false where only a
 * look at each kernel tells (a selection asks for more); without kernels `*to` is 0. Looks at no
 * data. */
void rtl_scan_extent(const rtl_trace_t *trace, const rtl_kernel_filter_t *filter, bool *known,
                     uint64_t *from, uint64_t *to);

/* Names of kernels, by number. */

struct rtl_scan_names;

/** The names of all shapes of a trace, each once, in the order of their letters; NULL when memory
 * is short. It lives no longer than the trace. */
struct rtl_scan_names *rtl_scan_names_new(const rtl_trace_t *trace);

/** NULL is allowed. */
void rtl_scan_names_free(struct rtl_scan_names *names);

uint32_t rtl_scan_names_count(const struct rtl_scan_names *names);
const char *rtl_scan_names_text(const struct rtl_scan_names *names, uint32_t number);

/** The numbers of the names of a chunk's kernels, of which there is one for each of a block; for
 * any thread. */
void rtl_scan_names_of(const struct rtl_scan_names *names, const struct rtl_scan_chunk *chunk,
                       const struct rtl_codec_block *block, uint32_t *numbers);

/** The number of the name of the kernels of a shape; for any thread. */
uint32_t rtl_scan_names_shape(const struct rtl_scan_names *names, uint32_t process, uint32_t shape);

/** The demangled name of the kernels of a shape, "unknown kernel" if there is none; it lives as
 * long as the trace. For any thread. */
const char *rtl_trace_shape_name(const rtl_trace_t *trace, uint32_t process, uint32_t shape);

#endif
