/**
 * The chosen ranges by name: those of one name that lie in chosen ranges of the same names, of one
 * process, are a group.
 */
#ifndef RTL_TOOLS_RANGES_GROUPS_H
#define RTL_TOOLS_RANGES_GROUPS_H

#include "analysis/stats.h"
#include "ranges/view.h"

struct ranges_group {
    /** Sums over its ranges; `parent` is the place of a group, `id` and the times of begin and end
     * are 0. */
    struct range_row sum;
    uint64_t ranges;
    uint64_t open;      /**< of these, how many never ended */
    uint64_t idle;      /**< of those that ended */
    struct stats walls; /**< of those that ended */
};

struct ranges_groups {
    struct ranges_group *list;
    size_t count;
    size_t *order; /**< places in `list`: a group before those in it, those with the greater sum of
                      walls first */
};

/** The caller frees them. Memory that is short ends the program with a sentence. */
void ranges_groups_make(const struct ranges_view *view, struct ranges_groups *groups);

void ranges_groups_free(struct ranges_groups *groups);

#endif
