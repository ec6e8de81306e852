/**
 * Compares the clock of this machine with that of another one while something is recorded.
 *
 * Where the host that is named is this one, a thread answers requests; elsewhere it sends them, a
 * burst at once, then every second, later every ten. The caller is never kept waiting but where it
 * asks to be. All functions from one thread.
 */
#ifndef RTL_SYNC_H
#define RTL_SYNC_H

#include "common/exchange.h"
#include "sync/address.h"

#include <stdbool.h>
#include <stddef.h>

#define RTL_SYNC_SENTENCE 512u

struct rtl_sync;

/** Begins. `boot` is this start of the machine. NULL with errno if there is no thread for it. */
struct rtl_sync *rtl_sync_start(const struct rtl_sync_address *address, const char *boot);

/** Takes the next exchange that is worth keeping; false: there is none now. None with a responder
 * that has this machine's own clock. */
bool rtl_sync_take(struct rtl_sync *sync, struct rtl_exchange *exchange);

/** Takes the next sentence for the user; false: there is none now. */
bool rtl_sync_told(struct rtl_sync *sync, char sentence[RTL_SYNC_SENTENCE]);

/** Has a burst made now, and waits for it, a second at most. */
void rtl_sync_now(struct rtl_sync *sync);

/** Ends and frees it. Where this machine is the one that answers, and `linger` is set, it goes on
 * until its clients have said that they ask no more, two seconds at most. NULL is allowed. */
void rtl_sync_end(struct rtl_sync *sync, bool linger);

#endif
