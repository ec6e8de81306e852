/**
 * Chunks of samples of hardware counters, unpacked: private to the reader. A few are kept, and what
 * somebody holds is found by others, so that looking one sample up after the other unpacks each
 * chunk once.
 */
#ifndef RTL_STORE_SAMPLES_READ_H
#define RTL_STORE_SAMPLES_READ_H

#include "store/reader.h"
#include "store/sample_codec.h"

/** A row of sample_chunks without its data. */
struct rtl_sample_row {
    int64_t number;
    struct rtl_sample_chunk chunk;
    struct rtl_sample_set *set; /**< as long as somebody uses it, else NULL */
};

/** A sample of a chunk and what it is found by. */
struct rtl_sample_place {
    uint64_t owner;
    uint32_t agent;
    uint32_t sample;
};

/** A chunk that is unpacked. */
struct rtl_sample_set {
    struct rtl_sample_row *row;
    struct rtl_sample *samples; /**< row->chunk.samples of them */
    uint64_t *counts;
    struct rtl_sample_place *places; /**< of them all, by owner, then agent */
    unsigned users;
};

/** The counters that a sample with `count` counts of an agent has, by number; NULL if it is not
 * known which they are. */
const rtl_trace_counter_t *const *rtl_trace_counters_of(const rtl_trace_t *trace, uint32_t process,
                                                        uint32_t agent, uint32_t count);

/** Unpacks a chunk, unless it is (`*set` stays as it was where that fails); give it back with
 * rtl_sample_set_leave, which takes NULL too. It is kept for a while as the one that was used last.
 */
rtl_status_t rtl_trace_sample_set(rtl_trace_t *trace, struct rtl_sample_row *row,
                                  struct rtl_sample_set **set);
void rtl_sample_set_leave(struct rtl_sample_set *set);

/** Which of `places` is the first whose owner is not below `owner`. */
uint32_t rtl_sample_set_find(const struct rtl_sample_set *set, uint64_t owner);

/** Tells the sample at one of `places`. */
void rtl_trace_describe_sample(const rtl_trace_t *trace, const struct rtl_sample_set *set,
                               uint32_t place, rtl_trace_sample_t *sample);

#endif
