/**
 * Starts of the GPU runtime, seen from where librtl.so is preloaded: whether they come to an end,
 * and whether the runtime has loaded librtl.so as its tool.
 */
#ifndef RTL_INTERCEPT_HIP_STARTS_H
#define RTL_INTERCEPT_HIP_STARTS_H

#include <stdbool.h>

/** The runtime has called OnLoad, or OnUnload. */
void rtl_starts_attached(bool attached);

/** What somebody is given who has asked for hsa_init and would find `found`: librtl.so's, unless
 * that would go on to another runtime; NULL if there is none. Where the linker may be asked. */
void *rtl_starts_instead_of(void *found);

/** Looks whether the runtime is up and has not loaded librtl.so, which is told to who collects
 * once. For calls of HIP that end before OnLoad was called, outside the runtime. Keeps errno. */
void rtl_starts_look(void);

#endif
