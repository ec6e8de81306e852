/**
 * Ends of the process by _exit, _Exit and quick_exit, which run no destructor: that it was one of
 * these is left in the ring, so that the trace does not tell it from a kill only by guessing.
 *
 * librtl.so exports _exit and _Exit where it is preloaded; a process that ends by the system call
 * itself is not known.
 */
#ifndef RTL_INTERCEPT_RUNTIME_EXITS_H
#define RTL_INTERCEPT_RUNTIME_EXITS_H

#include "ring/ring.h"

/** Leaves it in that ring, of this process, from now on. Once. */
void rtl_exits_watch(struct rtl_ring *ring);

#endif
