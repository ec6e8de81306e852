/**
 * Processes of a session that are not recorded, as they tell themselves or were found (private to
 * the collector). Each gets a row in the trace and a note that says why; of very many the first
 * ones.
 */
#ifndef RTL_COLLECT_ABSENT_H
#define RTL_COLLECT_ABSENT_H

#include "collect/collect.h"
#include "collect/told.h"
#include "ring/files.h"

/** Zeroed memory, but for the pointers. */
struct absent {
    const char *session;
    struct rtl_writer *writer;
    struct told *told;
    const struct rtl_report_end *end; /* NULL: nothing is sent */
    struct watch *watch;              /* of the program, NULL: none */
    unsigned unrecorded, unstarted;
    uint32_t *known; /* pids that have a row */
    unsigned known_count;
};

/** Takes what the process has left under that name, once. Names of other files do no harm. */
void absent_take(struct absent *absent, const char *name);

/** Takes what processes have sent: at most some hundreds at a time, whoever sends. */
void absent_receive(struct absent *absent);

/** Adds one that tells nothing itself. `command` may be "". */
void absent_add(struct absent *absent, uint32_t pid, const char *command, const char *sentence);

/** Adds one that has told in another way. */
void absent_refused(struct absent *absent, const struct rtl_refusal *refusal);

/** True if a process of that pid has a row. */
bool absent_knows(const struct absent *absent, uint32_t pid);

/** A sentence about the whole recording. */
void absent_note(struct absent *absent, const char *sentence);

void absent_end(struct absent *absent);

/** Takes what processes have left whose GPU runtime did not come up. `has_ring` tells which of them
 * have a row as recorded ones: the runtime had loaded librtl.so, and was not done. Those have the
 * note alone. */
void absent_take_starts(struct absent *absent, bool (*has_ring)(void *context, uint32_t pid),
                        void *context);

#endif
