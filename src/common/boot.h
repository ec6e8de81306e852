/** Which start of the machine this is. */
#ifndef RTL_COMMON_BOOT_H
#define RTL_COMMON_BOOT_H

#include <stddef.h>

/** The kernel's name for this start of the host (boot_id), the same in all its containers; "" if it
 * cannot be told. Returns `text`. Any thread. */
const char *rtl_boot(char *text, size_t size);

#endif
