/**
 * Which queues a HIP made, and whether librtl.so sees the host calls of that HIP.
 *
 * Kernels tell nothing of the HIP that they come from, and a program reaches HIP in ways that pass
 * librtl.so by. What is known is who asked the runtime for the queue: the object that called. It is
 * a HIP if it exports HIP's functions, or if it has loaded the kernels of ROCclr, on which HIP
 * stands, and is no OpenCL. The trace then says of each of its queues what became of its host
 * calls.
 */
#ifndef RTL_INTERCEPT_HIP_MAKERS_H
#define RTL_INTERCEPT_HIP_MAKERS_H

#include "intercept/base/config.h"

/** Before the first queue. */
void rtl_makers_open(const struct rtl_config *config);

/** The object that an address of code lies in, as a number; RTL_NONE if there is none, or there are
 * too many. Any thread; takes no lock of the linker's but for a moment. */
uint32_t rtl_makers_at(const void *address);

/** The object has made a queue. Any thread. */
void rtl_makers_queue(uint32_t maker, uint32_t queue);

/** Code at that address has loaded kernels of ROCclr's. Any thread. */
void rtl_makers_rocclr(const void *address);

/** Says anew what is known of host calls, where that has changed. Any thread. */
void rtl_makers_look(void);

/** Sends a note for each HIP whose host calls are missing. At the end of the recording. */
void rtl_makers_account(void);

#endif
