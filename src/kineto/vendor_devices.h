/**
 * What the HSA runtime says of the GPUs, for a trace's head.
 */
#ifndef RTL_KINETO_VENDOR_DEVICES_H
#define RTL_KINETO_VENDOR_DEVICES_H

#include <PrivateUse1TracingApi.h>

#include <stdbool.h>

/** How many GPUs there are; 0 before the runtime has come up. Any thread. */
uint32_t rtl_devices_count(void);

/** Sets all but struct_size, with 0 for what the runtime does not say. False: no such GPU. Any
 * thread. */
bool rtl_devices_get(uint32_t gpu, pu1DeviceProperties *properties);

#endif
