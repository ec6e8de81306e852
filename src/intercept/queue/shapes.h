/**
 * Launch shapes: a symbol with its grid, workgroup and group segment, defined once and then named
 * by an id.
 */
#ifndef RTL_INTERCEPT_QUEUE_SHAPES_H
#define RTL_INTERCEPT_QUEUE_SHAPES_H

#include "intercept/queue/pending.h"

/** Makes the table, before the first kernel is recorded. False: there is no memory. */
bool rtl_shapes_begin(void);

/** Id of the shape of a harvested kernel, defined in the ring now if it is new. False if the ring
 * had no room for the definition: the kernel cannot be sent either. Lock-free, any thread. */
bool rtl_shapes_find(const struct rtl_kernel_facts *facts, uint32_t *shape);

/** Takes memory for the shapes of most programs before they are met (pages.h). Once; any thread. */
void rtl_shapes_prefault(void);

#endif
