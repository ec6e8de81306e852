/**
 * What `rtl view` shows of a large trace while its page is made, which takes long because each
 * kernel is read: what `rtl summary` and `rtl timeline` say, who have it from the statistics.
 */
#ifndef RTL_TOOLS_VIEW_FIRST_H
#define RTL_TOOLS_VIEW_FIRST_H

#include "common/filter.h"

#include <stdbool.h>

struct first {
    const char *trace;
    const struct filter *filter;
};

/** True if the page takes long to make, and this one does not: there are many kernels, the trace
 * has statistics of them, and no filter asks for what these do not tell. */
bool first_is_wanted(const struct first *first);

/** Writes it to the standard output; what goes wrong is not said. Forks. Returns an exit status. */
int first_write(const struct first *first);

#endif
