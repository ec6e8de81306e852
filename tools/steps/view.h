/**
 * How `rtl steps` shows what was found.
 */
#ifndef RTL_TOOLS_STEPS_VIEW_H
#define RTL_TOOLS_STEPS_VIEW_H

#include "analysis/steps.h"

struct steps_view {
    rtl_trace_t *trace;
    const char *path;
    const struct steps *steps;
    uint64_t start; /**< of the recording */
    unsigned top;   /**< phases that are shown in detail, 0: all */
    bool list;      /**< show each step */
};

/** Text to stdout. */
int steps_show_text(const struct steps_view *view);

/** JSON to stdout. */
int steps_show_json(const struct steps_view *view);

#endif
