/**
 * The parts of an export (--split-size) whose files have their events kind by kind, so that what
 * goes into a part is to be known before it is written: a part has what begins in a window of time.
 *
 * While a part is written the export's times are those of its window, for every export_walk.
 */
#ifndef RTL_TOOLS_EXPORT_PARTS_H
#define RTL_TOOLS_EXPORT_PARTS_H

#include "export/export.h"

/** Bytes that an event takes in the file, about. */
typedef uint64_t (*parts_weigh)(void *state, const struct export_event *event);

struct parts {
    struct export *export;
    uint64_t from, to; /**< of the whole export */
    unsigned number;   /**< of the part, from 1 */
    bool left;         /**< there are events behind this part */
    uint64_t planned;  /**< bytes that its events weigh */
    double correction; /**< bytes of a file for each that was planned */
    /* While a part is planned: */
    parts_weigh weigh;
    void *state;
    uint64_t room, last;
    uint64_t reach; /**< when the first call was made of which something is in the part */
};

/** Begins; the times are those of the whole export again when it ends. */
void parts_begin(struct parts *parts, struct export *export);
void parts_end(struct parts *parts);

/** Sets the window of the next part: events of `kinds` (enum export_kind) until they fill what
 * `fixed` bytes, which each part repeats, leave of --split-size. What begins at the same time is
 * not parted. Without --split-size, and of the last part, the window is all that is left. Returns
 * EXIT_FINE, or EXIT_USAGE when a sentence has been said. */
int parts_next(struct parts *parts, unsigned kinds, uint64_t fixed, parts_weigh weigh, void *state);

/** Visits the events of `kinds` that are in earlier parts and were going on when the first of the
 * calls was made of which something is in this part. */
int parts_earlier(struct parts *parts, unsigned kinds,
                  int (*visit)(void *state, const struct export_event *event), void *state);

/** Tells what the events of the part have taken: the next ones are planned by that. */
void parts_took(struct parts *parts, uint64_t bytes);

#endif
