/**
 * How `rtl steps` shows what was found.
 */
#ifndef RTL_TOOLS_STEPS_VIEW_H
#define RTL_TOOLS_STEPS_VIEW_H

#include "analysis/selection.h"
#include "analysis/steps.h"

struct steps_view {
    rtl_trace_t *trace;
    const char *path;
    const struct steps *steps;
    uint64_t start;     /**< of the recording */
    unsigned top;       /**< phases that are shown in detail, 0: all */
    bool list;          /**< show each step */
    const char *ranges; /**< a name of ranges that repeat, too; NULL: none */
    uint64_t range_count;
    const struct selection *selection;
    size_t thread, phase; /**< with --phase: places of the only one that is shown */
};

/** True if a phase is shown; `thread` is its thread's place. */
bool steps_shows_phase(const struct steps_view *view, size_t thread, size_t phase);

/** The same of a step. */
bool steps_shows_step(const struct steps_view *view, size_t thread, const struct step *step);

/** How many steps are shown. */
uint64_t steps_shown(const struct steps_view *view);

/** How many there are. */
uint64_t steps_all(const struct steps_view *view);

/** True if only some phases or steps of a thread are shown: then nothing is told of the rest. */
bool steps_is_part(const struct steps_view *view);

/** Text to stdout. */
int steps_show_text(const struct steps_view *view);

/** JSON to stdout. */
int steps_show_json(const struct steps_view *view);

#endif
