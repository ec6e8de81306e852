/** Clocks of the hosts of traces that are merged, by the messages that they exchanged with each
 * other or with a third one, and by the collectives that all ranks ran. */
#ifndef RTL_TOOLS_MERGE_HOSTS_H
#define RTL_TOOLS_MERGE_HOSTS_H

#include "store/merge.h"

#include <stdbool.h>

struct hosts {
    bool exchanges, collectives; /**< hosts are to be aligned by them */
    bool required;               /**< it is a mistake if they cannot be */
};

/** An rtl_merge_align, whose context is a struct hosts: aligns hosts that have no clock in
 * common, where what is wanted tells. Why it does not is in the inputs' `unaligned`, and so is what
 * contradicts the rest. */
int hosts_align(void *context, struct rtl_merge_input *inputs, size_t count, char *error,
                size_t error_size);

#endif
