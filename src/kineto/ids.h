/**
 * The stacks of external ids, one in each thread, which a session's vendors get: pu1_session_push
 * and pu1_session_pop (session.h).
 */
#ifndef RTL_KINETO_IDS_H
#define RTL_KINETO_IDS_H

#include "kineto/loader.h"

/** Another session: what its predecessors' scopes have pushed is taken off by and by, and nothing
 * is lost yet. One thread at a time. */
void pu1_ids_begin(void);

/** Pushes go to the vendors whose places are bits here, from now on. Any thread. */
void pu1_ids_to(const pu1_vendors_t *vendors, uint32_t places);

/** Pushes since pu1_ids_begin that a vendor has not taken, or for which there was no memory: what
 * was launched in these scopes carries the id of a scope around them. Any thread. */
uint64_t pu1_ids_lost(void);

#endif
