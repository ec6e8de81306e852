/**
 * How many steps of a session's trace there are so far, while it is being recorded.
 */
#ifndef RTL_TOOLS_CTL_STEPS_H
#define RTL_TOOLS_CTL_STEPS_H

#include <stddef.h>
#include <stdint.h>

/** Finds the trace of a session of this user's. EXIT_FINE, or EXIT_USAGE when a sentence has been
 * said. */
int ctl_steps_trace(const char *session, char *path, size_t size);

/** The steps that `rtl steps` finds in the trace, of all threads; 0 where there are none yet, or it
 * cannot be read at the moment. */
uint64_t ctl_steps_count(const char *path);

#endif
