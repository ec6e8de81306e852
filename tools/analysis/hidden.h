/**
 * When other kernels ran on a GPU beside collectives: what of these they hide, and what is exposed.
 */
#ifndef RTL_TOOLS_HIDDEN_H
#define RTL_TOOLS_HIDDEN_H

#include "analysis/collectives.h"

#include <stddef.h>

/** Zeroed memory is none. */
struct hidden {
    struct hidden_gpu *gpus; /**< a process's GPU each */
    size_t count;
};

/** A time in which a collective ran, and nothing hid it, ns. */
struct exposed {
    uint64_t start, end;
};

/** Reads which kernels overlap the collectives, sorted as collectives_read gives them. `hides` is
 * asked once for each name: kernels that it says no to hide nothing. One pass over the chunks of
 * kernels that lie beside collectives, in threads. The caller frees it, on failure as well; then
 * rtlTraceError tells. Memory that is short ends the program with a sentence. */
rtl_status_t hidden_read(rtl_trace_t *trace, const struct collective *list, size_t count,
                         const struct collectives_wanted *hides, struct hidden *hidden);

/** The first time in [from, to) in which nothing hides a collective of a process's GPU that runs
 * all that time. False if there is none. */
bool hidden_next(const struct hidden *hidden, uint32_t process, uint32_t gpu, uint64_t from,
                 uint64_t to, struct exposed *exposed);

/** On how many GPUs a process ran collectives. */
size_t hidden_gpus(const struct hidden *hidden, uint32_t process);

void hidden_free(struct hidden *hidden);

#endif
