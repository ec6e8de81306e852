/** What is shown of ranks (analysis/ranks.h), as text or JSON. */
#ifndef RTL_TOOLS_RANKS_VIEW_H
#define RTL_TOOLS_RANKS_VIEW_H

#include "analysis/ranks.h"

struct ranks_view {
    const char *path;
    const struct ranks *ranks;
    const struct selection *selection;
    uint64_t start; /**< of the recording */
    unsigned top;   /**< steps that are shown */
    bool list;      /**< JSON: each step */
};

/** Text to stdout. */
int ranks_show_text(const struct ranks_view *view);

/** JSON to stdout. */
int ranks_show_json(const struct ranks_view *view);

#endif
