#include "check/links.h"

#include "common/owned.h"
#include "store/origin_sets.h"
#include "store/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What kernels are looked at by. */
struct reading {
    rtl_trace_t *trace;
    bool deep;
    rtl_digest_tell tell;
    void *context;
    const rtl_trace_hip_queue_t *hips; /* by process and queue */
    size_t hip_count;
    struct rtl_origin_sets *sets;
    struct links *links;
};

/* What is found in a chunk. */
struct found {
    struct rtl_origin_look look;
    bool followed;
    uint64_t unknown, past;
};

static int compare(const void *a, const void *b)
{
    const rtl_trace_hip_queue_t *left = a;
    const rtl_trace_hip_queue_t *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->queue > right->queue) - (left->queue < right->queue);
}

/* True if the queue was made by a HIP whose host calls are followed. */
static bool is_followed(const struct reading *reading, uint32_t process, uint32_t queue)
{
    const rtl_trace_hip_queue_t key = {.process = process, .queue = queue};
    const rtl_trace_hip_queue_t *found =
        reading->hip_count ? bsearch(&key, reading->hips, reading->hip_count, sizeof key, compare)
                           : NULL;
    return found && strcmp(found->calls, "followed") == 0;
}

/* HIP runs these by itself: copies and fills, and what the compiler makes of global objects. */
static bool is_its_own(const char *name)
{
    return strncmp(name, "__amd_", 6) == 0 || strncmp(name, "amdgcn.device.", 14) == 0;
}

static void add_past(const struct reading *reading, uint32_t process, uint64_t count)
{
    const rtl_pause_t *pauses;
    size_t pause_count;
    size_t own;
    if (count == 0)
        return;
    reading->links->past += count;
    if (rtlTracePauses(reading->trace, &pauses, &pause_count) == RTL_OK)
        reading->links->stopped |=
            owned_by(process, pauses, pause_count, sizeof *pauses, &own) != NULL;
}

/* Kernels. A chunk's names are only looked at where it may be that no call launched them. */

static unsigned choose(void *context, const struct rtl_scan_chunk *chunk)
{
    const struct reading *reading = context;
    if (reading->deep)
        return RTL_CODEC_WHOLE;
    return is_followed(reading, chunk->process, chunk->queue)
               ? RTL_CODEC_CORRELATIONS | RTL_CODEC_SHAPES
               : RTL_CODEC_CORRELATIONS;
}

static bool begin(void *context, const struct rtl_scan_chunk *chunk, void *result)
{
    const struct reading *reading = context;
    struct found *found = result;
    *found = (struct found){.followed = is_followed(reading, chunk->process, chunk->queue)};
    rtl_origin_look_begin(reading->sets, chunk->process, &found->look);
    return true;
}

static bool take(void *context, const struct rtl_scan_chunk *chunk, struct rtl_codec_block *block,
                 void *result)
{
    const struct reading *reading = context;
    struct found *found = result;
    for (uint32_t i = 0; i < block->count; ++i) {
        uint64_t correlation = block->correlation[i];
        enum rtl_origin_kind named =
            correlation ? rtl_origin_look(&found->look, correlation) : RTL_ORIGIN_RANGE;
        found->unknown += named == RTL_ORIGIN_NONE;
        if (found->followed && named == RTL_ORIGIN_RANGE &&
            !is_its_own(rtl_trace_shape_name(reading->trace, chunk->process, block->shape[i])))
            ++found->past;
    }
    return true;
}

static rtl_status_t done(void *context, const struct rtl_scan_chunk *chunk, rtl_status_t status,
                         bool intact, void *result)
{
    const struct reading *reading = context;
    const struct found *found = result;
    char text[128];
    if (status == RTL_OK) {
        reading->links->kernels += found->unknown;
        add_past(reading, chunk->process, found->past);
    }
    if (status == RTL_E_DAMAGED && intact) {
        (void)snprintf(text, sizeof text,
                       "chunk %" PRId64 " of kernels does not hold what its row says, though its "
                       "checksum is right",
                       chunk->number);
        reading->tell(reading->context, text);
    }
    return status == RTL_E_DAMAGED ? RTL_OK : status;
}

static rtl_status_t read_kernels(struct reading *reading)
{
    const struct rtl_kernel_scan scan = {
        .filter = RTL_KERNEL_FILTER_ALL,
        .context = reading,
        .result_size = sizeof(struct found),
        .choose = choose,
        .begin = begin,
        .take = take,
        .done = done,
    };
    return rtl_scan_kernels(reading->trace, &scan);
}

static rtl_status_t read_copies(struct reading *reading)
{
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t copy;
    struct rtl_origin_look look = {0};
    uint32_t process = RTL_TRACE_NONE;
    rtl_status_t status = rtlTraceCopies(reading->trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK) {
        if (copy.process != process)
            rtl_origin_look_begin(reading->sets, copy.process, &look);
        process = copy.process;
        reading->links->copies +=
            copy.correlation && rtl_origin_look(&look, copy.correlation) == RTL_ORIGIN_NONE;
    }
    rtlCopyIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

/* What only counts where it is asked for. */
static rtl_status_t read_rest(struct reading *reading)
{
    const rtl_sample_filter_t all = RTL_SAMPLE_FILTER_ALL;
    const rtl_symbol_t *symbols;
    size_t count;
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t sample;
    rtl_status_t status = rtlTraceSymbols(reading->trace, &symbols, &count);
    for (int ranges = 0; ranges < 2 && status == RTL_OK; ++ranges) {
        status = ranges ? rtlTraceRangeSamples(reading->trace, &all, &iter)
                        : rtlTraceKernelSamples(reading->trace, &all, &iter);
        while (status == RTL_OK)
            status = rtlSampleNext(iter, &sample);
        rtlSampleIterFree(iter);
        status = status == RTL_END ? RTL_OK : status;
    }
    if (status != RTL_E_DAMAGED)
        return status;
    /* "the trace FILE is damaged: WHAT" */
    const char *what = strstr(rtlTraceError(reading->trace), "damaged: ");
    reading->tell(reading->context, what ? what + strlen("damaged: ") : "it cannot be unpacked");
    return RTL_OK;
}

rtl_status_t links_read(rtl_trace_t *trace, bool deep, rtl_digest_tell tell, void *context,
                        struct links *links)
{
    struct reading reading = {
        .trace = trace, .deep = deep, .tell = tell, .context = context, .links = links};
    rtl_trace_info_t info;
    memset(links, 0, sizeof *links);
    rtl_status_t status = rtlTraceInfo(trace, &info);
    if (status == RTL_OK)
        status = rtlTraceHipQueues(trace, &reading.hips, &reading.hip_count);
    if (status == RTL_OK)
        status = rtl_origin_sets_read(trace, deep, tell, context, &reading.sets);
    if (status == RTL_OK)
        status = read_kernels(&reading);
    if (status == RTL_OK)
        status = read_copies(&reading);
    if (status == RTL_OK && deep)
        status = read_rest(&reading);
    links->calls = info.calls;
    rtl_origin_sets_free(reading.sets);
    return status;
}
