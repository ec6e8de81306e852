/**
 * Where the real functions are, and whose names are whose.
 */
#ifndef RTL_INTERCEPT_HIP_RESOLVE_H
#define RTL_INTERCEPT_HIP_RESOLVE_H

#include "intercept/base/objects.h"
#include "intercept/hip/hip.h"

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

/** Finds that out. Once, when librtl.so is loaded. */
void rtl_hip_find_place(void);

/** Has `resolved` called after the real functions have been found. Before the first queue. */
void rtl_hip_when_resolved(void (*resolved)(void));

#endif
