/**
 * Starting a collector of our own, where the program was not started by `rtl trace`.
 */
#ifndef RTL_INTERCEPT_RUNTIME_SPAWN_H
#define RTL_INTERCEPT_RUNTIME_SPAWN_H

#include <stdbool.h>

/** Starts `rtl collect` for the session, as a process that is nobody's child: the program's wait()
 * and SIGCHLD never see it. `rtl` is looked for beside this library. `output` NULL: the collector's
 * default. False with a sentence on stderr if it could not be started. */
bool rtl_spawn_collector(const char *session, const char *output);

#endif
