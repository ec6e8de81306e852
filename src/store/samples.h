/**
 * What hardware counters counted on its way into chunks: one open for each queue, and one for the
 * ranges of each process. Used by the writer only.
 */
#ifndef RTL_STORE_SAMPLES_H
#define RTL_STORE_SAMPLES_H

#include "common/index.h"
#include "store/append.h"
#include "store/rows.h"
#include "store/sample_codec.h"

/** The samples of a queue, or of the ranges of a process. */
struct rtl_sampler;

/** All of them. Zeroed memory is empty. */
struct rtl_samples {
    struct rtl_sampler **list;
    size_t count, capacity;
    struct rtl_index index; /**< places in `list` by process and queue */
    struct rtl_sample_codec *codec;
    uint64_t room;      /**< of all, bytes */
    int64_t last_chunk; /**< number of the last chunk, of all; 0 if none */
};

void rtl_samples_free(struct rtl_samples *samples);

/** That of a queue (RTL_NONE: of ranges), made when it is first asked for; NULL when memory is
 * short. It lives as long as `samples`. */
struct rtl_sampler *rtl_samples_get(struct rtl_samples *samples, uint32_t process, uint32_t queue);

/** Appends a sample to its chunk; sample->values numbers of 64 bits are at `values`, which may be
 * anywhere. */
enum rtl_append rtl_sampler_add(struct rtl_samples *samples, struct rtl_sampler *sampler,
                                const struct rtl_wire_sample *sample, const void *values);

/** Stores what is new of one open chunk. An SQLite result code. */
int rtl_sampler_store(struct rtl_samples *samples, struct rtl_sampler *sampler,
                      struct rtl_rows *rows);

/** The same for all. */
int rtl_samples_store(struct rtl_samples *samples, struct rtl_rows *rows);

/** What was stored last is in the file for good. `seal`: the chunk ends, whatever its size; else
 * only if it is long enough. */
void rtl_sampler_stored(struct rtl_sampler *sampler, bool seal);

/** The same for all; sealed ones give their memory back. */
void rtl_samples_stored(struct rtl_samples *samples, bool seal);

#endif
