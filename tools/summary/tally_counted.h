/**
 * What hardware counters counted in the kernels of a trace, by their names. Memory grows with
 * names. Memory that is short ends the program with a sentence.
 */
#ifndef RTL_TOOLS_TALLY_COUNTED_H
#define RTL_TOOLS_TALLY_COUNTED_H

#include "analysis/counts.h"

/** The kernels of one name. */
struct tally_counted_name {
    uint64_t kernels, kernel_ns; /**< those that were counted, of the first pass */
    struct rtl_count *counts;    /**< by the places of counts, NULL: nothing was counted */
};

struct tally_counted {
    struct counts counts;
    struct rtl_measure measures[METRICS_MOST]; /**< the metrics that the trace was made for */
    size_t measure_count;
    const rtl_trace_uncounted_t *uncounted; /**< of the trace */
    size_t uncounted_count;
    struct texts texts; /**< names of kernels, as in `names` */
    struct tally_counted_name *names;
    size_t count, capacity;
};

/** Reads which counters there are and, if kernels were counted, all kernels that overlap [from,
 * to), to 0: no end. The caller frees the tally, on failure as well; then rtlTraceError tells. */
rtl_status_t tally_counted_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                                struct tally_counted *tally);

/** The kernels of a name, NULL if none of them was counted. */
const struct tally_counted_name *tally_counted_find(struct tally_counted *tally, const char *name);

/** A metric of kernels that ran for `busy_ns` one after the other. As rtl_measure_value. */
bool tally_counted_value(const struct rtl_measure *measure, const struct rtl_count *counts,
                         uint64_t busy_ns, struct rtl_value *value);

void tally_counted_free(struct tally_counted *tally);

#endif
