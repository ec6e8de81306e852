/**
 * The host's buffers: asked for when there is a record, filled from both ends (records from the
 * front, their metadata from the back), handed back once.
 *
 * The host's functions are called under the lock of this module, which nothing else takes locks
 * under.
 */
#ifndef RTL_KINETO_VENDOR_BUFFER_H
#define RTL_KINETO_VENDOR_BUFFER_H

#include <PrivateUse1TracingApi.h>

#include <stdbool.h>

/** Other functions from now on. The old ones get back what they gave. Any thread. */
void rtl_buffer_use(pu1BufferRequestFn request, pu1BufferCompleteFn complete);

/** Writes a record, with a copy of `metadata` (NULL: none; left out where it does not fit), or
 * counts it as dropped. Any thread. */
void rtl_buffer_put(const pu1ActivityRecord *record, const char *metadata);

/** Hands the buffer back, if there is one. `valid`: with what is in it; else that is
 * forgotten. Any thread. */
void rtl_buffer_complete(bool valid);

/** Counts records that no buffer will have. Any thread. */
void rtl_buffer_drop(uint64_t count);
uint64_t rtl_buffer_dropped(void);

/** True if the calling thread is in a function of the host's. */
bool rtl_buffer_is_calling(void);

/** In a forked child: the buffer is the parent's, there are no functions. */
void rtl_buffer_forked(void);

#endif
