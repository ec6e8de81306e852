/**
 * The process's connection to the software GPU: open, close, fork.
 */
#ifndef SOFTGPU_PROCESS_H
#define SOFTGPU_PROCESS_H

#include <stdbool.h>

/** True while the thunk is open in this very process: a child forked from a process that had it
 * open sees false until it opens the thunk itself, so every call fails cleanly there, as with the
 * real thunk. Any thread. */
bool sg_process_is_open(void);

/** True in a forked child of a process that had the thunk open, until the child opens it itself.
 * Calls that give something back succeed there and do nothing, for nothing is the child's: ROCr
 * built with assertions, as Debian's is, would otherwise abort a child that ends with exit(). Any
 * thread. */
bool sg_process_is_orphan(void);

#endif
