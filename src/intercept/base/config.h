/**
 * Settings of the library, from the environment.
 */
#ifndef RTL_INTERCEPT_BASE_CONFIG_H
#define RTL_INTERCEPT_BASE_CONFIG_H

#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** RTL_QUEUE. Automatic is interposition: it sees batches on every runtime. */
enum rtl_interception_setting {
    RTL_INTERCEPTION_AUTO,
    RTL_INTERCEPTION_INTERPOSE,
    RTL_INTERCEPTION_INTERCEPT
};

/** By which functions a range is set. */
enum rtl_range_by { RTL_RANGE_BY_RTL = 1, RTL_RANGE_BY_ROCTX = 2, RTL_RANGE_BY_ALL = 3 };

struct rtl_config {
    enum rtl_mode
        mode; /**< RTL_MODE: lite (default of the bare library), standard, default, hip, full */
    bool mode_set; /**< RTL_MODE says something */
    bool embedded; /**< RTL_EMBEDDED: whoever set HSA_TOOLS_LIB wanted callbacks, in its own process
                    */
    enum rtl_interception_setting interception;
    bool starts_stopped;  /**< RTL_START=off: nothing is recorded before rtlStart */
    uint64_t delay_ns;    /**< RTL_DELAY: recording begins so long after the library; 0: at once */
    uint64_t duration_ns; /**< RTL_DURATION: recording stops so long after it began; 0: never */
    uint64_t
        exit_wait_ns;    /**< RTL_EXIT_WAIT: most that the process's end waits for the collector */
    const char *session; /**< RTL_SESSION: folder of the collector, NULL if we have to start one */
    const char *output;  /**< RTL_OUTPUT, for the collector that we start; NULL if not set */
    size_t ring_bytes;   /**< RTL_BUFFER: size of the ring, bytes or with K, M, G */
    uint32_t pool_limit; /**< RTL_POOL: most signals */
    const char *metrics; /**< RTL_METRICS: metrics and counters to be counted, NULL if not set */
    enum rtl_counting_mode counting; /**< RTL_COUNTING: how */
    const char *metrics_kernel; /**< RTL_METRICS_KERNEL: which kernels, by a pattern; NULL: all */
    uint32_t pass;              /**< RTL_PASS: which of the passes this process makes */
    bool interception_forced;   /**< it is for the counters' sake: where it does not go, another way
                                   does */
    uint32_t pending; /**< RTL_PENDING: least records per queue; 0: twice the queue's size */
};

/** The mode of a name; false if there is none such. */
bool rtl_config_mode(const char *name, enum rtl_mode *mode);

/** What RTL_RANGES asks for (`value`: rtl, roctx or both), as bits of enum rtl_range_by: ranges
 * that sessions tell of and counters are read for. Others are *aside*: in the trace, with what lies
 * in them, and their work belongs to the measured ranges around them as well. False, and all of
 * them, if it is none of these; all if it is NULL or empty. */
bool rtl_config_ranges(const char *value, unsigned *by);

/** Reads the environment; a setting that cannot be used is named in one sentence and its default is
 * taken. */
void rtl_config_read(struct rtl_config *config);

/** True unless RTL_MODE names a mode without host calls; where it is not set, a subscriber may ask
 * for one with. Reads nothing else, and says nothing. */
bool rtl_config_wants_calls(void);

#endif
