/**
 * Processes of a session that are not recorded, as they tell themselves (private to the collector).
 * Each gets a row in the trace and a note that says why; of very many the first ones.
 */
#ifndef RTL_COLLECT_ABSENT_H
#define RTL_COLLECT_ABSENT_H

#include "collect/collect.h"
#include "ring/files.h"

/** Zeroed memory, but for the pointers. */
struct absent {
    const char *session;
    struct rtl_writer *writer;
    rtl_collector_say say; /* NULL: nobody is told */
    void *context;
    const struct rtl_report_end *end; /* NULL: nothing is sent */
    unsigned unrecorded, unstarted;
};

/** Takes what the process has left under that name, once. Names of other files do no harm. */
void absent_take(struct absent *absent, const char *name);

/** Takes what processes have sent: at most some hundreds at a time, whoever sends. */
void absent_receive(struct absent *absent);

/** Takes what processes have left whose GPU runtime did not come up. */
void absent_take_starts(struct absent *absent);

#endif
