#include "intercept/runtime/share.h"

#include "common/allowance.h"
#include "common/pages.h"
#include "intercept/base/emit.h"
#include "intercept/queue/signal_pool.h"

#include <inttypes.h>
#include <stdatomic.h>
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
#define LITTLE          (4 * MIB)

struct share {
    struct rtl_allowance allowance;
    uint64_t bytes; /* UINT64_MAX: no limit */
};

/* As they were when recording began, or when the program had changed one last. */
struct shares {
    struct share addresses, data;
};

static struct shares at_first;
static uint32_t pool_limit;                          /* where memory has no limit */
static _Atomic uint64_t known_addresses, known_data; /* the limits that are allowed for */
static _Atomic uint32_t signals_allowed;

static struct share share_of(int resource)
{
    struct share share = {.allowance = rtl_allowance(resource), .bytes = UINT64_MAX};
    if (share.allowance.limit != UINT64_MAX)
        share.bytes = share.allowance.left / PART;
    return share;
}

static struct shares look(void)
{
    return (struct shares){share_of(RLIMIT_AS), share_of(RLIMIT_DATA)};
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool suffice(const struct shares *shares)
{
    return shares->addresses.bytes >= LEAST_ADDRESSES && shares->data.bytes >= LEAST_DATA;
}

static uint32_t signals_of(const struct shares *shares)
{
    uint64_t bytes =
        least(shares->addresses.bytes / SIGNALS_PART, shares->data.bytes / SIGNALS_OF_DATA);
    return (uint32_t)least(pool_limit, bytes / SIGNAL_BYTES);
}

/* ---- when the program changes a limit ---- */

static void tell_change(const struct share *share, const char *ulimit, uint32_t signals)
{
    if (share->allowance.limit == UINT64_MAX)
        rtl_emit_note(RTL_NONE, "the program has no limit of memory any more (%s)", ulimit);
    else
        rtl_emit_note(RTL_NONE,
                      "the program has set its limit of memory (%s) to %" PRIu64
                      " MB, of which %" PRIu64 " MB were left: RTL has up to %" PRIu32
                      " completion signals",
                      ulimit, share->allowance.limit / MIB, share->allowance.left / MIB, signals);
}

/* True for one thread for each change. */
static bool has_changed(_Atomic uint64_t *known, int resource)
{
    uint64_t before = atomic_load_explicit(known, memory_order_relaxed);
    uint64_t limit = rtl_allowance_limit(resource);
    return limit != before && atomic_compare_exchange_strong(known, &before, limit);
}

/* What RTL has by then may be more than its share would be: it gets no more, and for signals all
 * that there are count, since the runtime takes memory for as many as it has at once. */
static void allow_for(bool addresses, bool data)
{
    const struct shares now = look();
    uint64_t more = now.addresses.bytes < LEAST_ADDRESSES ? 0 : now.addresses.bytes;
    rtl_pages_allow(more == UINT64_MAX ? more : rtl_pages_held() + more);
    uint32_t made = atomic_load_explicit(&rtl_signals.made, memory_order_relaxed);
    uint32_t signals = suffice(&now) ? signals_of(&now) : 0;
    signals = signals < made ? made : signals;
    atomic_store_explicit(&signals_allowed, signals, memory_order_relaxed);
    rtl_signal_pool_resume();
    if (addresses)
        tell_change(&now.addresses, "ulimit -v", signals);
    if (data)
        tell_change(&now.data, "ulimit -d", signals);
}

static uint32_t allowed_signals(void)
{
    bool addresses = has_changed(&known_addresses, RLIMIT_AS);
    bool data = has_changed(&known_data, RLIMIT_DATA);
    if (addresses || data)
        allow_for(addresses, data);
    return atomic_load_explicit(&signals_allowed, memory_order_relaxed);
}

/* ---- when recording begins ---- */

bool rtl_share_begin(struct rtl_config *config)
{
    const struct shares now = look();
    uint64_t ring = now.addresses.bytes > LEAST_ADDRESSES ? now.addresses.bytes : LEAST_ADDRESSES;
    config->ring_bytes = (size_t)least(config->ring_bytes, ring / RING_PART);
    if (!suffice(&now))
        return false;
    at_first = now;
    pool_limit = config->pool_limit;
    config->pool_limit = signals_of(&now);
    atomic_store(&known_addresses, now.addresses.allowance.limit);
    atomic_store(&known_data, now.data.allowance.limit);
    atomic_store(&signals_allowed, config->pool_limit);
    rtl_signal_pool_limit_by(allowed_signals);
    rtl_pages_allow(now.addresses.bytes);
    if (now.addresses.bytes == UINT64_MAX)
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
    tell(&at_first.addresses, "ulimit -v");
    tell(&at_first.data, "ulimit -d");
}

bool rtl_share_is_used_up(void)
{
    return rtl_allowance(RLIMIT_AS).left < LITTLE || rtl_allowance(RLIMIT_DATA).left < LITTLE;
}
