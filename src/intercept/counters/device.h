/**
 * The GPUs whose hardware counters are read: what is planned for each, what counts, and the account
 * of what was not counted.
 */
#ifndef RTL_INTERCEPT_COUNTERS_DEVICE_H
#define RTL_INTERCEPT_COUNTERS_DEVICE_H

#include "intercept/counters/aqlprofile.h"
#include "intercept/counters/plan.h"
#include "ring/wire.h"

#include <hsa/hsa.h>
#include <stdatomic.h>

#define RTL_MOST_COUNTED 64u /* GPUs */

struct rtl_counters_agent {
    hsa_agent_t handle;
    uint32_t agent;
    bool planned; /**< its counters of this pass can be read, as far as is known */
    struct rtl_counters_plan plan;
    struct rtl_aql_event events[RTL_MOST_COUNTERS]; /**< of this pass */
    uint32_t event_count;
    _Atomic uint64_t uncounted[RTL_UNCOUNTED_REASONS];
    uint64_t
        reported[RTL_UNCOUNTED_REASONS]; /**< what the trace knows of it; the counter thread's */
};

/** Plans all GPUs: `names` as RTL_METRICS, `pass` from 0. Tells the trace which counters there are,
 * and why a device has none. Returns how many passes the plans have, 0 if nothing can be counted.
 * When the tool is loaded, after rtl_agents_list. */
uint32_t rtl_counters_plan_devices(const char *names, uint32_t pass);

/** The GPU of an agent id; NULL if nothing of it is counted. Any thread. */
struct rtl_counters_agent *rtl_counters_agent(uint32_t agent);

/** Place of a device, below RTL_MOST_COUNTED. */
uint32_t rtl_counters_place(const struct rtl_counters_agent *device);

/** Nothing of the device is counted any more, for a reason that the trace is told. */
void rtl_counters_give_up(struct rtl_counters_agent *device, const char *why);

/** Profiles for the device's counters of this pass, NULL if that fails. Slow. */
struct rtl_aql_block *rtl_counters_profiles(const struct rtl_counters_agent *device,
                                            uint32_t profiles);

/** Counts kernels or ranges that were not counted. `device` NULL: it is not known. Any thread,
 * lock-free. */
void rtl_counters_miss(struct rtl_counters_agent *device, enum rtl_uncounted_why why,
                       uint64_t count);

/** Sends what a kernel or range counted: as many values as the device has in this pass. False (and
 * it is counted as missed) if the ring is full. Any thread, lock-free. */
bool rtl_counters_send(struct rtl_counters_agent *device, const struct rtl_wire_sample *sample,
                       const uint64_t *values);

/** True if something was missed for that reason. */
bool rtl_counters_missed(enum rtl_uncounted_why why);

/** Tells the trace of what was missed since the last call. One thread at a time, no harvester. */
void rtl_counters_account(void);

#endif
