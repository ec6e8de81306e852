/**
 * What hardware counters counted, brought together over passes: the program ran once for each, and
 * a kernel of one run is that of another if process, queue (by its place in the process) and packet
 * are the same, and the name is.
 *
 * Functions that return a status leave the sentence to rtlTraceError. Memory that is short ends the
 * program with a sentence.
 */
#ifndef RTL_TOOLS_COUNTS_H
#define RTL_TOOLS_COUNTS_H

#include "analysis/metrics.h"
#include "common/texts.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stdio.h>

struct counts_process {
    uint32_t process;
    uint32_t first; /**< the one that did the same in an earlier pass; itself if there is none */
    uint32_t pass;
    bool counting; /**< it has read counters */
    bool kernels;  /**< for each kernel, not for each range */
};

struct counts {
    struct texts names;               /**< counters, each once; their numbers are places in rows */
    size_t count;                     /**< of them: how long a row is */
    struct counts_process *processes; /**< all of the trace, by number */
    size_t process_count;
    unsigned passes; /**< the most that a process named, 0: nothing was counted */
    bool of_kernels, of_ranges;
};

/** Reads which counters there are. The caller frees it, on failure as well. */
rtl_status_t counts_read(rtl_trace_t *trace, struct counts *counts);

void counts_free(struct counts *counts);

/** What is known of a process; a stranger counts nothing. */
struct counts_process counts_process(const struct counts *counts, uint32_t process);

/** Adds the metrics that were asked for when the trace was made. */
rtl_status_t counts_metrics(rtl_trace_t *trace, struct metrics *metrics);

/** Adds what a sample has to a row of `counts->count`, which is made if it is NULL. */
void counts_add(struct counts *counts, const rtl_trace_sample_t *sample, struct rtl_count **row);

/** As rtl_measure_make, with the counters of the trace. */
bool counts_measure(const struct counts *counts, const struct rtl_metric *metric,
                    struct rtl_measure *measure);

/** Gets a kernel that was counted: that of the first pass. */
typedef void (*counts_take)(void *context, const rtl_kernel_t *kernel,
                            const rtl_trace_sample_t *sample);

/** Hands out all kernels that were counted one by one, in no order that holds over queues; adds to
 * `*strangers` those that have no partner in the first pass, or are not in the trace themselves. */
rtl_status_t counts_kernels(rtl_trace_t *trace, const struct counts *counts, counts_take take,
                            void *context, uint64_t *strangers);

/** Writes "not counted: 3 (in replays of graphs), …" and a newline, or nothing for an empty list.
 */
void counts_show_uncounted(const rtl_trace_uncounted_t *list, size_t count, FILE *out);

/** Where counters were to be read around ranges and none has a reading, writes why, and how kernels
 * are counted; else nothing. */
void counts_show_rangeless(const struct counts *counts, const rtl_trace_info_t *info, FILE *out);

#endif
