/**
 * The session (rtl_session.h) for the rest of the library.
 */
#ifndef RTL_INTERCEPT_RANGES_SESSION_H
#define RTL_INTERCEPT_RANGES_SESSION_H

#include "common/metrics.h"

#include <stdbool.h>
#include <stdint.h>

/** True if there is a session. Any thread. */
bool rtl_session_is_on(void);

/** Has sessions keep what metrics need, from the next one on. -1 if there is one now, else 0. */
int rtl_session_want_shapes(bool wanted);

/** In a forked child. In ranges_metrics.c. */
void rtl_session_metrics_forked(void);

/** Adds up what metrics of a range are made of; the session keeps that. 0, or an errno: ESRCH (no
 * session), ENOENT (it has no such range that has ended), ENOMEM. Any thread. */
int rtl_session_quantities(uint64_t range, struct rtl_quantities *quantities);

#endif
