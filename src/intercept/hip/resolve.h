/**
 * Where the real functions are, and whose names are whose.
 */
#ifndef RTL_INTERCEPT_HIP_RESOLVE_H
#define RTL_INTERCEPT_HIP_RESOLVE_H

#include "intercept/hip/hip.h"

/** libc's own dlsym, past the one that librtl.so exports. */
typedef void *rtl_dlsym_function(void *handle, const char *name);
rtl_dlsym_function *rtl_libc_dlsym(void);

/** A call of it, from librtl.so: that is where RTLD_NEXT begins. */
void *rtl_dlsym(void *handle, const char *name);

/** Any function of the program's HIP library, NULL if there is none. */
rtl_hip_function rtl_hip_symbol(const char *name);

/** The wrapped call of a name, RTL_HIP_ENTRIES if none is. */
enum rtl_hip_entry rtl_hip_named(const char *name);

/** The wrapper of an entry: the function that librtl.so exports. */
rtl_hip_function rtl_hip_wrapper(enum rtl_hip_entry entry);

/** The wrapper whose real function is `function`, NULL if there is none. */
rtl_hip_function rtl_hip_wrapper_of(rtl_hip_function function);

/** dlsym gives data pointers; ISO C has no conversion of them to functions but through memory. */
rtl_hip_function rtl_hip_as_function(void *symbol);
void *rtl_hip_as_symbol(rtl_hip_function function);

#endif
