#include "intercept/runtime/share.h"

#include "common/allowance.h"
#include "common/pages.h"
#include "intercept/base/emit.h"
#include "intercept/queue/signal_pool.h"

#include <inttypes.h>
#include <stdint.h>
#include <sys/resource.h>

#define PART         32u  /* of what is left: one is RTL's */
#define SIGNAL_BYTES 384u /* that the runtime takes for one, some 300, and the pool's tables */
#define MIB          (UINT64_C(1) << 20)

/* Of addresses: tables of 4.2 MiB, the worker's stack, records in flight for 1.6 MiB, and a quarter
 * each at most for the ring and for signals; what is left then is for more queues and records. Of
 * data, which the ring and what comes from rtl_pages are no part of: signals are one
 * half, and what is noted of each kernel and graph of the program's the other. */
#define LEAST_ADDRESSES (14 * MIB)
#define LEAST_DATA      (3 * MIB)
#define RING_PART       4u
#define SIGNALS_PART    4u
#define SIGNALS_OF_DATA 2u

struct share {
    struct rtl_allowance allowance;
    uint64_t bytes; /* UINT64_MAX: no limit */
};

static struct share addresses, data;

static struct share share_of(int resource)
{
    struct share share = {.allowance = rtl_allowance(resource), .bytes = UINT64_MAX};
    if (share.allowance.limit != UINT64_MAX)
        share.bytes = share.allowance.left / PART;
    return share;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool rtl_share_begin(struct rtl_config *config)
{
    addresses = share_of(RLIMIT_AS);
    data = share_of(RLIMIT_DATA);
    uint64_t ring = addresses.bytes > LEAST_ADDRESSES ? addresses.bytes : LEAST_ADDRESSES;
    uint64_t signals = least(addresses.bytes / SIGNALS_PART, data.bytes / SIGNALS_OF_DATA);
    config->ring_bytes = (size_t)least(config->ring_bytes, ring / RING_PART);
    if (addresses.bytes < LEAST_ADDRESSES || data.bytes < LEAST_DATA)
        return false;
    config->pool_limit = (uint32_t)least(config->pool_limit, signals / SIGNAL_BYTES);
    rtl_pages_allow(addresses.bytes);
    if (addresses.bytes == UINT64_MAX)
        return true;
    rtl_signal_pool_leave_to_program();
    return rtl_pages_charge((uint64_t)config->pool_limit * SIGNAL_BYTES);
}

static void tell(const struct share *share, const char *ulimit)
{
    if (share->bytes != UINT64_MAX)
        rtl_emit_note(RTL_NONE,
                      "RTL holds up to %" PRIu64 " MB of the %" PRIu64
                      " MB that %s allows the program",
                      share->bytes / MIB, share->allowance.limit / MIB, ulimit);
}

void rtl_share_tell(void)
{
    tell(&addresses, "ulimit -v");
    tell(&data, "ulimit -d");
}
