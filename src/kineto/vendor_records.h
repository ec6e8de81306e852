/**
 * From RTL's events (rtl_callbacks.h) to records of PrivateUse1 tracing: what is wanted, by kind
 * and by when it was launched, in the host's clock.
 */
#ifndef RTL_KINETO_VENDOR_RECORDS_H
#define RTL_KINETO_VENDOR_RECORDS_H

#include <PrivateUse1TracingApi.h>
#include <rtl/rtl_callbacks.h>

#include <stdbool.h>

/** What is launched from now on is wanted; until rtl_records_close. False: there is no memory. Any
 * thread. */
bool rtl_records_open(pu1ActivityKind kind);
void rtl_records_close(pu1ActivityKind kind);

/** True if some kind is open. Any thread. */
bool rtl_records_any_open(void);

/** Nothing that was launched before is wanted any more. Any thread. */
void rtl_records_forget(void);

/** The functions that RTL calls. */
extern const rtl_callbacks_t rtl_records_callbacks;

/** Kernels and copies that RTL has lost, so far. Any thread. */
uint64_t rtl_records_lost(void);

/** In a forked child. */
void rtl_records_forked(void);

#endif
