/**
 * Serves the page of a trace to a browser on this machine, until a signal ends it.
 *
 * The page is made once, as `rtl export -F html` would; where that takes long, the browser has
 * another one meanwhile (first.h), which waits for it. What of its events is not in it the page
 * asks for, window by window, one at a time. Each is made by a process of its own (job.h), so what
 * this one needs does not grow. HTTP is http.h's.
 */
#ifndef RTL_TOOLS_VIEW_SERVE_H
#define RTL_TOOLS_VIEW_SERVE_H

#include "common/filter.h"

#include <stdbool.h>

struct serve {
    int argc; /**< as of export_served, the output is the standard output */
    char **argv;
    const char *trace; /**< what is shown: served no more once another file has its name */
    const struct filter *filter; /**< as in argv */
    unsigned port;               /**< 0: any */
    bool closed;                 /**< no browser is opened */
    const char *browser;
};

/** True if this rtl can serve; loads what it takes. Says why not where a part that was built cannot
 * be loaded. */
bool serve_can(void);

/** Serves until SIGINT or SIGTERM. serve_can has been true. Returns an exit status. */
int serve(const struct serve *serve);

#endif
