/**
 * The session (rtl_session.h) for the rest of the library.
 */
#ifndef RTL_INTERCEPT_RANGES_SESSION_H
#define RTL_INTERCEPT_RANGES_SESSION_H

#include "intercept/ranges/counts.h"
#include "intercept/ranges/kept.h"

#include <stdbool.h>
#include <stdint.h>

/** True if there is a session. Any thread. */
bool rtl_session_is_on(void);

/** Has sessions keep what metrics need, from the next one on. -1 if there is one now, else 0. */
int rtl_session_want_shapes(bool wanted);

/** What the session knows of a range. */
struct rtl_session_range {
    const struct rtl_kept *kept;
    const struct rtl_kept_counts *counts; /**< of the process so far */
    const char *why; /**< why no counters are read, a sentence; "" if none was said */
    const struct rtl_kept_range *range;
    const struct rtl_kept_list *list;
    struct rtl_range_time time;
};

/** Has `look` look at a range that has ended (0: at none, `range` and `list` are NULL), under the
 * session's lock; it returns 0 or an errno. Returns that, or ESRCH (no session), ENOENT (it has no
 * such range), ENOMEM. Any thread. */
int rtl_session_look(uint64_t range, int (*look)(void *context, const struct rtl_session_range *),
                     void *context);

#endif
