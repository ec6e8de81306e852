/**
 * A page that is served: `rtl view` gives it to the browser itself, and the page asks for what is
 * not in it.
 */
#ifndef RTL_TOOLS_EXPORT_SERVED_H
#define RTL_TOOLS_EXPORT_SERVED_H

#include <stdbool.h>
#include <stdint.h>

struct export_served {
    bool window;       /**< not the page: what is in [from, to) */
    uint64_t from, to; /**< ns since the begin of the page */
    uint64_t zero; /**< that begin on the trace's clock, ns: the page sets it, a window needs it */
    _Atomic uint64_t kernels; /**< how many kernels have been read for the page */
};

/** As cmd_export with these arguments, of html. The page is one that asks for windows (at `window`,
 * beside it); a window is what a page with --from and --to would have as data: the length of its
 * head (varint), the head, and so each segment that is kept, all deflated. A window in which there
 * is nothing is no error. Returns an exit status. */
int export_served(int argc, char **argv, struct export_served *served);

#endif
