/** The collectives of the traces that are merged, and what they tell of their hosts' clocks. */
#ifndef RTL_TOOLS_MERGE_COLLECTIVES_H
#define RTL_TOOLS_MERGE_COLLECTIVES_H

#include "store/merge.h"

#include <stdbool.h>

struct collectives {
    bool wanted;   /**< hosts are to be aligned by them */
    bool required; /**< it is a mistake if they cannot be */
};

/** An rtl_merge_align, whose context is a struct collectives: aligns hosts that have no clock in
 * common by collectives that all ranks ran, where they tell. Why they do not is in the inputs'
 * `unaligned`. */
int collectives_align(void *context, struct rtl_merge_input *inputs, size_t count, char *error,
                      size_t error_size);

#endif
