/**
 * hsa_amd_queue_create and hsa_amd_counted_queue_release, with which ROCm 10 makes and gives back
 * queues. The queues themselves are followed from their first use on (adoption.h).
 *
 * A descriptor may ask for a ring in device memory, which the host writes to and cannot read back
 * at a sane price: RTL has to read each packet. That is a flag of the descriptor and nothing else,
 * which RTL clears, and the trace says so. Only descriptors of the version that is known are looked
 * into; the others pass, and the trace says so.
 *
 * Where the program's calls go through librtl.so's functions of these names, since it is preloaded,
 * or through a table whose layout is certain (its size and its step together name one). Elsewhere
 * they are not seen.
 */
#ifndef RTL_INTERCEPT_QUEUE_CREATION_H
#define RTL_INTERCEPT_QUEUE_CREATION_H

#include "intercept/base/api_types.h"

#include <stdbool.h>

/** A function of the runtime that comes behind librtl.so's of that name, NULL if there is none. */
typedef void *rtl_creation_find_next(const char *name);

/** Before the program calls. */
void rtl_creation_begin(rtl_creation_find_next *find);

/** Hooks what the tables are certain to have. After rtl_api_take; before the first queue. */
void rtl_creation_hook(void);

/** Librtl.so's function in the place of the runtime's, if `found` is that; else `found`. Any
 * thread.
 */
void *rtl_creation_instead_of(const char *name, void *found);

/** True if librtl.so has a function of that name for programs that find it there first. */
bool rtl_creation_has(const char *name);

#endif
