/**
 * What a process of a session is not recorded for, told to the collector.
 */
#ifndef RTL_INTERCEPT_BASE_REFUSE_H
#define RTL_INTERCEPT_BASE_REFUSE_H

#include "ring/files.h"

#include <stdbool.h>
#include <stddef.h>

/** The session that this process was given, NULL if it has none. */
const char *rtl_refuse_session(void);

/** Leaves the reason in the session's folder, or sends it where that cannot be reached
 * (RTL_REPORT), or, where no session is named, leaves it in that of an ancestor that records
 * (ring/ancestor.h). `ring_bytes` is for RTL_REFUSED_RING. False if neither could be: then only who
 * looks at what the process has mapped knows, while it lives. Keeps errno. Any thread; some system
 * calls. */
bool rtl_refuse(enum rtl_refused why, int error, size_t ring_bytes);

/** Shows a reason in what the process has mapped (rtl_refusal_show), and opens the file of the GPU
 * runtime, which makes the collector look. Keeps errno. */
void rtl_refuse_show(const struct rtl_refusal *refusal);

#endif
