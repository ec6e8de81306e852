/**
 * Ids of another profiler in the process (PrivateUse1 tracing): each thread has a stack of them,
 * and what it launches while one is on top belongs to that one.
 *
 * Records have no room for such an id. They have a correlation: of the host call that they come
 * from. Outside of host calls, each push of an external id allocates a correlation
 * (rtl_thread_context.ext_correlation); work submitted while that id is on top carries it. To which
 * id a correlation belongs is kept in a table of fixed size in this process, for the last 262144 of
 * them.
 */
#ifndef RTL_INTERCEPT_CALLBACKS_EXTERNAL_H
#define RTL_INTERCEPT_CALLBACKS_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>

/** Somebody will ask: ids that are pushed from now on are noted. Before that only the stacks are
 * kept, and nothing else is done. Without memory for the notes it stays so. Any thread. */
void rtl_external_watch(void);

/** Puts an id on the calling thread's stack; false if memory is short. errno is kept. */
bool rtl_external_push(uint64_t id);

/** Takes it off; false if there is none. `*last`, unless NULL, is what it was. errno is kept. */
bool rtl_external_pop(uint64_t *last);

/** What the calling thread launches with this correlation belongs to the id on top. While
 * rtl_thread_context.ext_correlation is not 0. Lock-free. */
void rtl_external_note(uint64_t correlation);

/** The id that a correlation belongs to; 0 if none, or if it is no longer known. Any thread,
 * lock-free. */
uint64_t rtl_external_of(uint64_t correlation);

#endif
