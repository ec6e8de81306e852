/**
 * What a process of a session is not recorded for, told to who collects.
 */
#ifndef RTL_INTERCEPT_BASE_REFUSE_H
#define RTL_INTERCEPT_BASE_REFUSE_H

#include "ring/files.h"

#include <stdbool.h>
#include <stddef.h>

/** The session that this process was given, NULL if it has none. */
const char *rtl_refuse_session(void);

/** Leaves the reason in the session's folder, or sends it where that cannot be reached
 * (RTL_REPORT). `ring_bytes` is for RTL_REFUSED_RING. False if neither could be: then nobody knows.
 * Keeps errno. Any thread; some system calls. */
bool rtl_refuse(enum rtl_refused why, int error, size_t ring_bytes);

#endif
