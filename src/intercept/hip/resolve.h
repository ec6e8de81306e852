/**
 * Where the real functions are, and whose names are whose.
 */
#ifndef RTL_INTERCEPT_HIP_RESOLVE_H
#define RTL_INTERCEPT_HIP_RESOLVE_H

#include "intercept/base/objects.h"
#include "intercept/hip/hip.h"

/** libc's own dlsym and dlvsym, past those that librtl.so exports; NULL if this libc has none that
 * could be found. */
typedef void *rtl_dlsym_function(void *handle, const char *name);
typedef void *rtl_dlvsym_function(void *handle, const char *name, const char *version);
rtl_dlsym_function *rtl_libc_dlsym(void);
rtl_dlvsym_function *rtl_libc_dlvsym(void);

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

/** The name of an entry. */
const char *rtl_hip_name(enum rtl_hip_entry entry);

/** The real function of an entry as far as it has been looked for; looks for nothing. Any thread,
 * within the runtime, too. */
rtl_hip_function rtl_hip_known(enum rtl_hip_entry entry);

/** True if an object is a HIP: exports its functions. librtl.so is none. */
bool rtl_hip_is_library(const struct rtl_object *object);

/** Where the wrappers stand in the dynamic linker's search. */
enum rtl_hip_place {
    RTL_HIP_BEHIND,      /**< not found first: librtl.so is not preloaded */
    RTL_HIP_IN_FRONT,    /**< in front of HIP */
    RTL_HIP_IN_NAMESPACE /**< librtl.so was loaded by dlmopen, or by what was */
};
enum rtl_hip_place rtl_hip_place(void);

/** Has the objects that were loaded since the last time call the wrappers where they would call the
 * real functions past them (follow.c). `ask`: the dynamic linker may be asked for symbols, which
 * nobody may who is called by the runtime. Keeps errno. Any thread. */
void rtl_hip_follow(bool ask);

/** What is loaded now has found the wrappers: it need not be looked at. */
void rtl_hip_follow_from_now(void);

/** True if more than one copy of HIP has been loaded, and libraries find each its own: none is in
 * the global scope. */
bool rtl_hip_several(void);

/** What the object that an address of code lies in finds among what it was linked with, NULL if
 * there is nothing. Where the linker may be asked. */
rtl_hip_function rtl_hip_own_symbol(const void *address, const char *name);

/** dlsym gives data pointers; ISO C has no conversion of them to functions but through memory. */
rtl_hip_function rtl_hip_as_function(void *symbol);
void *rtl_hip_as_symbol(rtl_hip_function function);

#endif
