/**
 * Pending records for tests, in chunks that all queues of a test program share as those of a
 * process do.
 */
#ifndef RTL_TESTS_FAKE_RECORDS_H
#define RTL_TESTS_FAKE_RECORDS_H

#include "intercept/pending.h"

#include <string.h>

/** Begins, or begins again, with no records, and room for so many. The memory is zeros, or what an
 * earlier test has left. */
static inline bool fake_records(struct rtl_pending *pending, uint64_t records)
{
    if (pending->table != NULL)
        rtl_pending_end(pending);
    memset(pending, 0, sizeof *pending);
    return (rtl_chunks.pieces != NULL || rtl_chunks_init(&rtl_chunks)) &&
           rtl_pending_init(pending, &rtl_chunks, records);
}

#endif
