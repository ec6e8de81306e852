/**
 * What `rtl trace` runs, and the environment in which RTL and the GPU runtime find each other
 * there.
 */
#ifndef RTL_TOOLS_TRACE_TARGET_H
#define RTL_TOOLS_TRACE_TARGET_H

#include "trace/options.h"

#include <limits.h>

/** Zeroed memory is empty. */
struct target {
    char path[PATH_MAX]; /**< the program */
    char librtl[PATH_MAX];
    char mpi[PATH_MAX];  /**< librtlmpi.so, "": it is not to be preloaded */
    char soft[PATH_MAX]; /**< folder of the software GPU where the program must be led to it */
    char preload[3 * PATH_MAX]; /**< what LD_PRELOAD gets, "": nothing */
    char roctx[PATH_MAX];       /**< folder of RTL's roctx libraries, "": not there */
};

/** Finds all of it, and checks that the options can be had here. 0, or an exit status when a
 * sentence has been said. */
int target_find(const struct trace_options *options, struct target *target);

/** The program's environment, a copy of ours with what it needs for the recording; freed with
 * child_environment_free. NULL when memory is short. Settings of HIP that take packets or doorbells
 * out of RTL's sight are switched off in it, unless ours has them. */
char **target_environment(const struct trace_options *options, const struct target *target,
                          const char *session, const char *report, unsigned pass);

/** Says which settings of HIP that environment switches off, and which it leaves. */
void target_say(void);

#endif
