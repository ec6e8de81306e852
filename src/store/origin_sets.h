/**
 * Which correlations name host calls of a trace, and which ranges: all of them, to be asked by
 * several threads. For who asks for every kernel and wants to know no more; rtlTraceOrigin tells
 * what is named.
 *
 * Numbers are kept as stretches without a gap. A process counts its calls and ranges on, so that
 * they are few where nothing was lost; memory is 16 bytes for each.
 */
#ifndef RTL_STORE_ORIGIN_SETS_H
#define RTL_STORE_ORIGIN_SETS_H

#include "store/digest.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_origin_sets;

/** Numbers `first` to `last`, both included. */
struct rtl_stretch_of_ids {
    uint64_t first, last;
};

/** Reads the correlations of host calls, or (`deep`) unpacks all that chunks of calls hold and
 * looks whether that is as it must be, in threads. What is damaged is left out; `tell` is told of
 * it, unless it is the checksum, which rtl_digest_check tells. On failure rtlTraceError tells; else
 * the caller frees `*sets`. */
rtl_status_t rtl_origin_sets_read(rtl_trace_t *trace, bool deep, rtl_digest_tell tell,
                                  void *context, struct rtl_origin_sets **sets);

/** NULL is allowed. */
void rtl_origin_sets_free(struct rtl_origin_sets *sets);

enum rtl_origin_kind { RTL_ORIGIN_NONE, RTL_ORIGIN_CALL, RTL_ORIGIN_RANGE };

/** A look at what correlations of a process name; one for each thread. */
struct rtl_origin_look {
    const struct rtl_origin_ids *ids; /**< NULL: the process is not known */
    struct rtl_stretch_of_ids last;   /**< what is known of: as `named` */
    enum rtl_origin_kind named;
};

void rtl_origin_look_begin(const struct rtl_origin_sets *sets, uint32_t process,
                           struct rtl_origin_look *look);

/** What a correlation other than 0 names, as rtlTraceOrigin finds it. */
enum rtl_origin_kind rtl_origin_find(struct rtl_origin_look *look, uint64_t correlation);

/** The same, for correlations of which many name the same, or neighbours. */
static inline enum rtl_origin_kind rtl_origin_look(struct rtl_origin_look *look,
                                                   uint64_t correlation)
{
    return correlation - look->last.first <= look->last.last - look->last.first
               ? look->named
               : rtl_origin_find(look, correlation);
}

#endif
