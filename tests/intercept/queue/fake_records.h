/**
 * Pending records for tests, in slabs that all queues of a test program share as those of a
 * process do.
 */
#ifndef RTL_TESTS_FAKE_RECORDS_H
#define RTL_TESTS_FAKE_RECORDS_H

#include "intercept/queue/pending.h"

#include <string.h>

/** Begins, or begins again, with no records, and room for so many. The memory is zeros, or what an
 * earlier test has left. */
static inline bool fake_records(struct rtl_pending *pending, uint64_t records)
{
    if (pending->table != NULL)
        rtl_pending_end(pending);
    memset(pending, 0, sizeof *pending);
    return (rtl_slabs.regions != NULL || rtl_slabs_init(&rtl_slabs)) &&
           rtl_pending_init(pending, &rtl_slabs, records);
}

/** Looks at a record, and claims it if it may be taken. */
static inline enum rtl_take take_record(struct rtl_pending *pending, const struct rtl_pool *pool,
                                        uint64_t sequence, bool forwards,
                                        struct rtl_kernel_facts *facts)
{
    enum rtl_take found = rtl_pending_look(pending, pool, sequence, forwards, facts);
    if (found == RTL_TAKE_TAKEN && !rtl_pending_claim(pending, sequence))
        return RTL_TAKE_DONE;
    return found;
}

static inline bool take_rearmed_record(struct rtl_pending *pending, uint64_t sequence,
                                       struct rtl_kernel_facts *facts)
{
    return rtl_pending_look_rearmed(pending, sequence, facts) &&
           rtl_pending_claim(pending, sequence);
}

#endif
