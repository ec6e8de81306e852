/**
 * A host's session with all vendors: enables kinds, provides buffers, and keeps copies of the
 * records. For the bridge to Kineto and for the host in C.
 *
 * A vendor's callbacks have no context, so there is one session at a time, and a pair of functions
 * for each vendor; of more than PU1_SESSION_VENDORS the last ones are left out, and said to be.
 */
#ifndef RTL_KINETO_SESSION_H
#define RTL_KINETO_SESSION_H

#include "kineto/loader.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PU1_SESSION_VENDORS 8u

/** A bit for each kind. */
#define PU1_KIND_BIT(kind) (1u << (unsigned)(kind))
#define PU1_DEVICE_KINDS                                                                           \
    (PU1_KIND_BIT(CONCURRENT_KERNEL) | PU1_KIND_BIT(GPU_MEMCPY) | PU1_KIND_BIT(GPU_MEMSET))
#define PU1_ALL_KINDS                                                                              \
    (PU1_DEVICE_KINDS | PU1_KIND_BIT(PRIVATEUSE1_RUNTIME) | PU1_KIND_BIT(PRIVATEUSE1_DRIVER))

/** A record with its vendor's place in pu1_vendors_t. The texts are the session's, and valid UTF-8;
 * `name` is never NULL, and `metadata` is NULL or a JSON object. The kind is one that this version
 * knows, the end is not before the start, neither is beyond INT64_MAX, and the process is this one
 * where the record has none that Linux has. */
typedef struct pu1_item {
    pu1ActivityRecord record;
    size_t vendor;
} pu1_item_t;

typedef struct pu1_session pu1_session_t;

/** Gets a sentence about what went wrong. */
typedef void (*pu1_error_fn)(void *context, const char *sentence);

/** A session that has not started. NULL without memory. */
pu1_session_t *pu1_session_new(const pu1_vendors_t *vendors);

/** Enables `kinds`; a vendor that has none of a kind is no error. One vendor's error does not touch
 * the others. Returns how many vendors have something enabled; 0, with an error, if another session
 * is running. One thread at a time, as all that follows. */
size_t pu1_session_start(pu1_session_t *session, uint32_t kinds, pu1_error_fn error, void *context);

/** True if the vendor of this place has something enabled, or had before the session stopped. */
bool pu1_session_has(const pu1_session_t *session, size_t vendor);

/** Disables what was enabled. What was launched by then may still come. */
void pu1_session_stop(pu1_session_t *session);

/** Waits for what was launched. After pu1_session_stop; nothing comes any more. */
void pu1_session_finish(pu1_session_t *session, pu1_error_fn error, void *context);

/** What has come, in no order. After pu1_session_finish, until pu1_session_free. */
const pu1_item_t *pu1_session_items(const pu1_session_t *session, size_t *count);

/** How many records the vendors have dropped since the start, and how many found no memory here.
 * After pu1_session_finish. */
uint64_t pu1_session_dropped(const pu1_session_t *session);

/** Says what is missing or wrong in the items, a sentence for each sort of loss: dropped records,
 * records that break the contract (those without times are not among the items), kinds that this
 * version does not know, scopes whose ids a vendor has not taken. After pu1_session_finish. */
void pu1_session_tell(const pu1_session_t *session, pu1_error_fn error, void *context);

/** Ends it, whatever it is doing. NULL is no session. */
void pu1_session_free(pu1_session_t *session);

/** The calling thread's stack of ids, at all vendors that the running session has enabled. A pop
 * reaches those that have had its push. What is still pushed when another session starts is taken
 * off first. Any thread, whether a session runs or not. */
void pu1_session_push(uint64_t id);
void pu1_session_pop(void);

/** A correlation id that is unlike those of all other vendors; with a single vendor it is as the
 * vendor has it, and 0 stays 0. */
uint64_t pu1_flow_id(const pu1_vendors_t *vendors, const pu1_item_t *item);

#ifdef __cplusplus
}
#endif

#endif
