/**
 * The session (rtl_session.h) for the rest of the library.
 */
#ifndef RTL_INTERCEPT_RANGES_SESSION_H
#define RTL_INTERCEPT_RANGES_SESSION_H

#include <stdbool.h>

/** True if there is a session. Any thread. */
bool rtl_session_is_on(void);

#endif
