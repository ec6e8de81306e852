/** Names of HIP's enumerations, for the arguments of host calls. */
#ifndef RTL_STORE_ENUMS_H
#define RTL_STORE_ENUMS_H

#include <stdint.h>

/** Name of a value, such as "hipMemcpyHostToDevice" for 1 of "hipMemcpyKind"; NULL if either is not
 * known. Only enumerations whose values are the same in all releases of HIP (5.2 to 7) are: those
 * of hipGraphNodeType and hipMemoryType are not. */
const char *rtl_enum_name(const char *enumeration, int64_t value);

#endif
