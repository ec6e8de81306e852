/**
 * The end of `rtl ctl record`: what was recorded is in the trace before the command ends, so that
 * whoever looks next sees it.
 */
#ifndef RTL_TOOLS_CTL_RECORD_H
#define RTL_TOOLS_CTL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Finds the trace of a session of this user's. False and errno: it is not known. */
bool ctl_record_trace(const char *session, char *path, size_t size);

/** Waits until the trace of a session tells that so many processes were stopped at `since` or
 * later (CLOCK_MONOTONIC, ns), for some seconds at most: the recorder writes once a second. */
void ctl_record_wait(const char *path, uint64_t since, unsigned processes);

/** The kernels that are in the trace so far. */
uint64_t ctl_record_kernels(const char *path);

/** Tells how many kernels were recorded, and where. */
void ctl_record_tell(const char *path, uint64_t kernels);

#endif
