/**
 * How a program is led to the software GPU: libsoftgpu.so is preloaded into it.
 */
#ifndef RTL_TOOLS_SOFTGPU_H
#define RTL_TOOLS_SOFTGPU_H

#include <stdbool.h>

/** True if our environment preloads a software GPU, of whatever build, into programs. */
bool softgpu_is_led(void);

/** `environment` of a program that is led to the software GPU in `folder`, behind what LD_PRELOAD
 * has there already. The given one is freed, unless it is our own. NULL if memory is short, or for
 * NULL. */
char **softgpu_environment(char **environment, const char *folder);

#endif
