/**
 * libc's own dlsym and dlvsym, past those that librtl.so exports.
 */
#ifndef RTL_INTERCEPT_HIP_LIBC_H
#define RTL_INTERCEPT_HIP_LIBC_H

#include "intercept/hip/hip.h"

/** libc's dlsym and dlvsym; NULL if this libc has none that could be found. Any thread. */
typedef void *rtl_dlsym_function(void *handle, const char *name);
typedef void *rtl_dlvsym_function(void *handle, const char *name, const char *version);
rtl_dlsym_function *rtl_libc_dlsym(void);
rtl_dlvsym_function *rtl_libc_dlvsym(void);

/** A call of it, from librtl.so: that is where RTLD_NEXT begins. */
void *rtl_dlsym(void *handle, const char *name);

/** What the object that an address of code lies in finds among what it was linked with, NULL if
 * there is nothing. Where the linker may be asked. */
rtl_hip_function rtl_hip_own_symbol(const void *address, const char *name);

/** dlsym gives data pointers; ISO C has no conversion of them to functions but through memory. */
rtl_hip_function rtl_hip_as_function(void *symbol);
void *rtl_hip_as_symbol(rtl_hip_function function);

#endif
