/**
 * Libraries that reach HIP past the wrappers are made to call these: see follow.c.
 */
#ifndef RTL_INTERCEPT_HIP_FOLLOW_H
#define RTL_INTERCEPT_HIP_FOLLOW_H

#include <stdbool.h>

/** Has the objects that were loaded since the last time call the wrappers where they would call the
 * real functions past them. `ask`: the dynamic linker may be asked for symbols, which nobody may
 * who is called by the runtime. Keeps errno. Any thread. */
void rtl_hip_follow(bool ask);

/** True if more than one copy of HIP has been loaded, and libraries find each its own: none is in
 * the global scope. Any thread. */
bool rtl_hip_several(void);

#endif
