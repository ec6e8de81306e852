/**
 * How `rtl check` and `rtl info` tell what hardware counters counted: how many kernels or ranges
 * should have been, how many were, and why the others were not.
 */
#ifndef RTL_TOOLS_COUNTED_H
#define RTL_TOOLS_COUNTED_H

#include <rtl/rtl_trace.h>

#include <jansson.h>
#include <stdio.h>

/** A process that read hardware counters, or wanted to. */
struct counted {
    const rtl_trace_counting_t *counting;
    uint64_t expected; /**< kernels that it submitted to devices whose counters it read; 0 if it
                          counted ranges: which of those had work on a device, nobody knows */
    uint64_t samples;
    uint64_t counted; /**< kernels, or ranges, that have one or more */
    uint64_t shared;  /**< samples of ranges that others had a part in */
    uint64_t orphans; /**< samples whose kernel or range is not in the trace */
    uint64_t unknown; /**< samples whose counters are not known */
    const rtl_trace_uncounted_t *uncounted; /**< why others were not */
    size_t uncounted_count;
    uint64_t uncounted_sum;
    uint64_t unexplained; /**< expected, and neither counted nor in `uncounted`; 0 where a whole
                             queue or device is in that */
};

struct counted_list {
    struct counted *items;
    size_t count;
};

/** Reads all samples. The caller frees the list, on failure as well; then rtlTraceError tells. */
rtl_status_t counted_read(rtl_trace_t *trace, struct counted_list *list);

void counted_free(struct counted_list *list);

/** Writes some lines for each process, or nothing. */
void counted_show(rtl_trace_t *trace, const struct counted_list *list, FILE *out);

/** An array with an object for each process. */
json_t *counted_json(const struct counted_list *list);

/** For `rtl info`: which counters each process read, without a look at the samples. */
rtl_status_t counted_show_counters(rtl_trace_t *trace, FILE *out);
rtl_status_t counted_counters_json(rtl_trace_t *trace, json_t **list);

#endif
